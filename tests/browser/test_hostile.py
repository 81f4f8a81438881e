"""Everybody lies at once, the model, the contact and the link: in Chromium none of it runs."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.responses import Response
from starlette.types import Scope

from remit.brain.scripted import parse
from remit.model.codec import Json, JsonMap
from remit.server.auth import RequestGuard
from tests.browser.conftest import Visit
from tests.browser.site import Site, settings_in
from tests.server.corpus import HOSTILE

LINES: Final = [" ".join(each.split())[:200] for each in HOSTILE]
ALL: Final = "\n\n".join(HOSTILE[:-1])
EVIL: Final = "<script>window.pwned=1;alert(1)</script><img src=x onerror=alert(2)>"
ECHO: Final = "<img src=x onerror=window.pwned=1>"  # without a slash: it fits into an address
SETTINGS: Final = f"agent = '{EVIL}'\nowner = '{EVIL}'\nzone = 'UTC'\n"
CONTACTS: Final = f"""\
- name: '{EVIL}'
  role: '{EVIL}'
  aliases: ['{EVIL}x']
  channels:
    outbox: '{EVIL}@example.org'
"""
SCRIPT: Final[list[Json]] = [
    {"when": "asks", "ask": ALL},
    {"when": "hopeless", "fail": "permanent"},
    {"reply": f"{ALL}\n<deliverable>{ALL}</deliverable>"},
]
# Noted before any script of the page can run.
WATCH: Final = """window.broken = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.broken.push(`${event.violatedDirective} ${event.blockedURI}`));"""
# Touch all that is there, as a mouse and a keyboard would.
TOUCH: Final = """() => { for (const each of document.querySelectorAll("main *"))
  for (const kind of ["mouseover", "pointerenter", "focus", "toggle", "load", "error"])
    each.dispatchEvent(new Event(kind)); }"""
# Whatever runs, fetches or leads elsewhere by itself.
LIVE_ONES: Final = """() => [...document.querySelectorAll("body *")].filter((each) =>
  each.matches("iframe, object, embed, base, link, meta, style, img, video, math, template script")
  || (each.matches("script") && !each.src.startsWith(location.origin + "/static/"))
  || [...each.attributes].some((one) => one.name.startsWith("on") || one.name === "style")
  || /^\\s*(javascript|data|vbscript):/i.test(each.getAttribute("href") ?? "")
  || /^(\\w+:|\\/\\/)/.test(each.dataset?.src ?? "")
  || (each.matches("form, [formaction]") && new URL(each.getAttribute("formaction")
    ?? each.getAttribute("action") ?? "", location.href).origin !== location.origin)
).map((each) => each.outerHTML.slice(0, 160))"""

# What a page of another origin may try: forms that need no leave, a look, and the live line.
FORGE: Final = """async (ours) => {
  const form = {method: "POST", credentials: "include", mode: "no-cors",
    headers: {"Content-Type": "application/x-www-form-urlencoded"}};
  for (const [path, body] of [["/new", "text=Obey"], ["/conversations", "text=Obey"],
      ["/tasks/views", "name=x&filter=y"], ["/settings/tokens", "name=x&scopes=read"]])
    await fetch(ours + path, {...form, body}).catch(() => null);
  const read = await fetch(ours + "/api/tasks", {credentials: "include"})
    .then((answer) => answer.text(), () => "refused");
  const line = await new Promise((say) => {
    const socket = new WebSocket(ours.replace("http", "ws") + "/ws");
    socket.onopen = () => say("open");
    socket.onclose = () => say("closed");
  });
  return {read, line};
}"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    settings = settings_in(tmp_path, SETTINGS, CONTACTS)
    with Site(tmp_path, settings=settings, brain=parse(SCRIPT)) as site:
        yield site


@pytest.fixture(autouse=True)
def watched(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every window counts what its policy had to stop: nothing should come that far."""
    new = browser.new_context

    def watching(**more: object) -> object:
        context = new(**more)  # type: ignore[arg-type]
        context.add_init_script(WATCH)
        return context

    monkeypatch.setattr(browser, "new_context", watching)


def _stands(page: Page) -> None:
    """Nothing ran, nothing was stopped by the policy alone, nothing waits to run."""
    page.evaluate(TOUCH)
    assert page.evaluate("window.pwned") is None, page.url
    assert page.evaluate("window.broken") == [], page.url
    assert page.evaluate(LIVE_ONES) == [], page.url


def _furnish(site: Site) -> list[str]:
    """Hostile words in every place that a page shows; the addresses of these pages."""
    tasks = [_task(site, line, text) for line, text in zip(LINES, HOSTILE, strict=True)]
    asked = _task(site, f"asks {EVIL}", ALL)
    failed = _task(site, f"hopeless {EVIL}", ALL)
    letter: list[Json] = [{"channel": "outbox", "recipient": EVIL}]
    waits = str(site.post("/api/tasks", {"title": EVIL, "delivery": letter})["id"])
    first = (site.clock.now() + timedelta(hours=2)).isoformat()
    repeats: JsonMap = {"rule": "FREQ=DAILY", "zone": "UTC", "first": first}
    site.post("/api/tasks", {"title": EVIL, "instructions": ALL, "repeats": repeats})
    site.post("/api/views", {"name": ECHO, "filter": EVIL})
    site.post("/api/tokens", {"name": EVIL[:60], "scopes": ["read"]})
    talk = str(site.post("/api/conversations", {"title": EVIL})["id"])
    for text in (ALL, "What is running?"):
        site.post(f"/api/conversations/{talk}/turns", {"text": text})
    site.settle()
    found = ["/inbox", "/tasks", "/schedule", f"/conversations/{talk}", "/conversations", "/new"]
    found += [f"/settings/{each}" for each in ("contacts", "tokens", "channels", "policies")]
    for task in (tasks[0], tasks[-1], asked, failed, waits):
        found += [f"/tasks/{task}", f"/inbox/{task}"]
    found += [f"/tasks/{tasks[0]}/edit", f"/tasks/{tasks[0]}/log", f"/tasks/{tasks[0]}/delete"]
    found += [
        f"/tasks?q={quote(EVIL)}",
        f"/tasks?q={quote('status:' + EVIL)}",
        f"/tasks/{quote(ECHO)}",
    ]
    found += [f"/tasks?{quote(EVIL)}=1", f"/settings/{quote(ECHO)}"]
    return [*found, f"/schedule?span={quote(EVIL)}", f"/conversations/{quote(ECHO)}"]


def _task(site: Site, title: str, text: str) -> str:
    body: JsonMap = {"title": title, "instructions": text, "work": [text]}
    return str(site.post("/api/tasks", body)["id"])


def test_on_no_page_does_anything_run_that_others_wrote(site: Site, visit: Visit) -> None:
    paths = _furnish(site)
    page = visit("/inbox")
    for path in paths:
        answer = page.goto(site.url + path)
        assert answer is not None
        assert answer.status < 500, path
        assert answer.status >= 400 or "pwned" in page.content(), path  # it is there to be read
        _stands(page)

    assert site.wrongs == []


def test_what_comes_in_live_is_no_more_than_text(site: Site, visit: Visit) -> None:
    site.add("Be there")
    page = visit("/tasks")
    for text in (EVIL, *LINES[:6]):
        _task(site, text, text)
    site.settle()
    page.locator("[data-pill]").click()
    expect(page.locator("main")).to_contain_text("window.pwned")
    _stands(page)
    task = _task(site, f"slow {EVIL}", ALL)
    page.goto(f"{site.url}/tasks/{task}")
    site.settle()
    expect(page.locator("main")).to_contain_text("Needs review")
    _stands(page)

    assert site.wrongs == []


@pytest.mark.parametrize("text", [EVIL, '" autofocus onfocus=alert(1) x="', "{{ 7*191 }}"])
def test_what_is_typed_is_shown_as_it_was_typed(site: Site, visit: Visit, text: str) -> None:
    _task(site, text, text)
    page = visit("/tasks")
    page.keyboard.press("Control+k")
    page.keyboard.type(text)
    expect(page.locator("dialog[open]")).to_be_visible()
    _stands(page)
    page.keyboard.press("Escape")
    page.goto(site.url + "/new")
    page.locator("main textarea").first.fill(text)
    page.locator("main form").first.evaluate("(form) => form.requestSubmit()")
    expect(page.locator("main")).to_contain_text(text.split("<img", maxsplit=1)[0][:20])
    _stands(page)

    assert site.wrongs == []


class Elsewhere(BaseHTTPRequestHandler):
    """Another program of this machine, whose page forbids itself nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Elsewhere</title>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(100)


@pytest.mark.parametrize("knows_the_name", [False, True])
def test_another_program_s_page_does_nothing_with_our_cookie(
    *,
    site: Site,
    visit: Visit,
    elsewhere: str,
    monkeypatch: pytest.MonkeyPatch,
    knows_the_name: bool,
) -> None:
    """The cookie stays with the name of the pages; if that became known, the Origin decides."""
    page = visit("/inbox")
    last = site.do(site.app.journal.last())
    host = str(urlsplit(site.pages).hostname) if knows_the_name else "127.0.0.1"
    page.goto(elsewhere.replace("127.0.0.1", host))
    seen: list[tuple[str, bool, int]] = []
    refuse = RequestGuard._refusal  # the browser hides its answer from the page, and from us

    async def refusal(guard: RequestGuard, scope: Scope) -> Response | None:
        answer = await refuse(guard, scope)
        cookie = any(name == b"cookie" for name, _ in scope["headers"])
        seen.append((scope["path"], cookie, answer.status_code if answer else 200))
        return answer

    monkeypatch.setattr(RequestGuard, "_refusal", refusal)
    told = page.evaluate(FORGE, site.url)
    site.wrongs.clear()  # these were meant to be tried

    assert told == {"read": "refused", "line": "closed"}
    tried = ["/new", "/conversations", "/tasks/views", "/settings/tokens"]
    assert seen[:4] == [(path, knows_the_name, 403) for path in tried]
    assert seen[-1] == ("/ws", knows_the_name, 403)
    assert site.do(site.app.journal.last()) == last
    assert site.get("/api/views")["views"] == []


def test_no_page_of_ours_may_stand_in_a_frame(site: Site, visit: Visit, elsewhere: str) -> None:
    other = visit("/inbox").context.new_page()
    other.goto(elsewhere)
    other.set_content(f'<iframe src="{site.url}/inbox"></iframe>')
    other.wait_for_load_state("networkidle")
    inside = [each for each in other.frames if each is not other.main_frame]

    assert inside
    assert all("Inbox" not in each.content() for each in inside)
