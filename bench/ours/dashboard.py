"""The dashboard: what a page weighs and when it is there, how soon it shows what happened."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import httpx2
from playwright.sync_api import Browser, BrowserContext

from bench import browser as windows
from bench.measure import Measurement, read_peak_bytes, require_count, take_percentile, time_calls
from bench.ours import up
from bench.ours.up import Up
from remit.model.codec import moment
from remit.server import static

LIST: Final = "/tasks?group=none"  # the newest 100
LOADS: Final = 5
ROWS: Final = 20
HANDS: Final = 10
A_SECOND: Final = 50
SECONDS: Final = 12
REPEATS: Final = 100
KB: Final = 1000
ROW_LETTERS: Final = len("Live 000 ")
_ALL_DRAWN: Final = """([from, rows]) => new Set(window.drawn
  .map(([title]) => Number(title.slice(9))).filter((number) => number >= from)).size === rows"""
# Each row that is drawn says which change it shows, and when that was.
_WATCH: Final = """() => {
  window.drawn = [];
  new MutationObserver((changes) => {
    const at = Date.now();
    for (const change of changes) for (const node of change.addedNodes) {
      const title = node.querySelector?.(".ti")?.textContent ?? "";
      if (title.startsWith("Live ")) window.drawn.push([title, at]);
    }
  }).observe(document.body, { childList: true, subtree: true });
}"""


def run(size: int, home: Path) -> list[Measurement]:
    """What the list of so many tasks weighs, when it paints, how soon it shows what changed."""
    with Up(home, size) as site, site.client() as client, windows.browsing() as browser:
        ids = up.plan(client, ROWS)
        keys = windows.signed_in(browser, site.sign_in)
        looks = [
            windows.look(browser, site.url + LIST, "#rows tr[data-row]", keys)
            for _ in range(LOADS + 1)
        ]
        return [_weigh(), *weighed(looks[1:]), *_follow(browser, keys, site, ids)]


def run_lists(size: int, home: Path) -> list[Measurement]:
    """Lists and searches over so many tasks, through HTTP; the pages are whole pages."""
    asked = {
        "page, newest": "/tasks",
        "page, failed": "/tasks?q=status:failed",
        "page, search": "/tasks?q=invoice+Lisbon",
        "page, search, common word": "/tasks?q=invoice",
        "API, newest 50": "/api/tasks?limit=50",
        "API, failed": "/api/tasks?status=failed&limit=50",
        "API, search, common word": "/api/tasks?q=invoice&limit=50",
        "API, common word in failed": "/api/tasks?q=invoice&status=failed&limit=50&count=true",
        "API, search, rare word": "/api/tasks?q=xylophone&limit=50",
        "search everything": "/api/search?q=invoice",
    }
    with Up(home, size) as site, site.client() as client:
        return [_time(client, site, name, path) for name, path in asked.items()]


def _time(client: httpx2.Client, site: Up, name: str, path: str) -> Measurement:
    def ask() -> None:
        client.get(path).raise_for_status()

    ask()
    before = site.cpu_seconds()
    spans = time_calls(ask, REPEATS)
    spent = site.cpu_seconds() - before
    return figure(f"{name}, p95", take_percentile(spans, 95), "ms", len(spans), spent)


def _weigh() -> Measurement:
    own = [file for name, file in static.files().items() if name.startswith("js/")]
    packed = sum(len(file.packed or file.raw) for file in own)
    return figure("own JavaScript, gzip", packed / KB, "kB", len(own))


def weighed(looks: Sequence[windows.Look]) -> list[Measurement]:
    """The figures of cold loads; the middle one speaks for the times."""
    painted, shown = ([look.painted_ms for look in looks], [look.shown_ms for look in looks])
    count = len(looks)
    return [
        figure("first paint, p50", take_percentile(painted, 50), "ms", count),
        figure("its rows there, p50", take_percentile(shown, 50), "ms", count),
        figure("page, over the wire", looks[0].bytes / KB, "kB", count),
        figure("its JavaScript, over the wire", looks[0].script_bytes / KB, "kB", count),
        figure("requests", looks[0].requests, "files", count),
    ]


def _follow(
    browser: Browser, keys: BrowserContext, site: Up, ids: Sequence[str]
) -> list[Measurement]:
    """Change rows that are on the screen, so many a second, and see when each change is there."""
    page = keys.new_page()
    page.goto(site.url + LIST)
    page.wait_for_selector(f"#row-{ids[0]}")
    page.wait_for_function("document.body.dataset.seq && document.readyState === 'complete'")
    page.evaluate(_WATCH)
    cpu, server, started = windows.renderer_seconds(browser, page), site.cpu_seconds(), time.time()
    changed = _change(site, ids)
    page.wait_for_function(_ALL_DRAWN, arg=[len(changed) - len(ids), len(ids)])
    spent = time.time() - started
    cpu, server = windows.renderer_seconds(browser, page) - cpu, site.cpu_seconds() - server
    spans = _delays(changed, page.evaluate("window.drawn"))
    count = len(spans)
    return [
        figure("event to DOM, p50", take_percentile(spans, 50), "ms", count, cpu),
        figure("event to DOM, p95", take_percentile(spans, 95), "ms", count, cpu),
        figure("renderer CPU meanwhile", cpu / spent * 100, "%", count, cpu),
        figure("server CPU meanwhile", server / spent * 100, "%", count, server),
    ]


def _change(site: Up, ids: Sequence[str]) -> list[tuple[str, float]]:
    """Every change: the title it gave, and the server's own time of it in milliseconds."""
    start = time.monotonic()

    def change(number: int) -> tuple[str, float]:
        row = number % len(ids)
        time.sleep(max(0.0, start + number / A_SECOND - time.monotonic()))
        title = up.title(row, number)
        answer = client.patch(f"/api/tasks/{ids[row]}", json={"title": title})
        told = answer.raise_for_status().json()
        return title, moment(told["lastUpdated"]).timestamp() * 1000

    def some(first: int) -> list[tuple[str, float]]:
        # A row is one thread's, so that its changes are made in their order.
        return [change(number) for number in range(first, A_SECOND * SECONDS, HANDS)]

    with site.client() as client, ThreadPoolExecutor(HANDS) as threads:
        return [each for made in threads.map(some, range(HANDS)) for each in made]


def _delays(changed: Sequence[tuple[str, float]], drawn: Sequence[Sequence[object]]) -> list[float]:
    """For each change, until its row first showed it or a later one."""
    spans: list[float] = []
    for title, at in changed:
        row = title[:ROW_LETTERS]
        shown = [float(str(when)) for what, when in drawn if row <= title <= str(what) < row + "~"]
        if shown:
            spans.append(min(shown) - at)
    require_count("changes drawn", len(spans), len(changed))
    return spans


def figure(name: str, value: float, unit: str, count: int, cpu: float = 0.0) -> Measurement:
    return Measurement(name, value, unit, count, 0.0, cpu, read_peak_bytes(), "less")
