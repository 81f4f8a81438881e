"""A real Chromium before a page: when it paints, what it loads, what its renderer costs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE: Final[ViewportSize] = {"width": 1440, "height": 900}
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_PAINTED: Final = """() => new Promise((done) => {
  new PerformanceObserver((seen, me) => {
    const paint = seen.getEntriesByName("first-contentful-paint")[0];
    if (paint) { me.disconnect(); done(paint.startTime); }
  }).observe({ type: "paint", buffered: true });
})"""
_AWAIT: Final = """(() => {
  const look = () => document.querySelector(%s)
    ? (window.shownAt = performance.now()) : setTimeout(look, 4);
  look();
})()"""
_LOADED: Final = """() => {
  const all = [...performance.getEntriesByType("resource"),
               ...performance.getEntriesByType("navigation")];
  const scripts = all.filter((each) => /\\.js(\\?|$)/.test(each.name));
  const bytes = (those) => those.reduce((sum, each) => sum + each.transferSize, 0);
  return { all: bytes(all), scripts: bytes(scripts), requests: all.length };
}"""


class NoBrowser(Exception):
    """There is no Chromium on this machine."""

    def __init__(self) -> None:
        super().__init__("No Chromium here: install Debian's package `chromium`.")


@dataclass(frozen=True, slots=True)
class Look:
    """One cold load of a page."""

    painted_ms: float  # first contentful paint
    shown_ms: float  # the awaited element stands on the page
    bytes: int  # over the wire, with headers
    script_bytes: int
    requests: int


@contextmanager
def browsing() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise NoBrowser
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def signed_in(browser: Browser, link: str) -> BrowserContext:
    """A window's worth of cookies."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(link)
    page.close()
    return context


def look(browser: Browser, url: str, awaited: str, keys: BrowserContext | None = None) -> Look:
    """Load a page with nothing in the cache, and wait until `awaited` is there."""
    state = None if keys is None else keys.storage_state()
    context = browser.new_context(viewport=WIDE, storage_state=state)
    page = context.new_page()
    page.add_init_script(_AWAIT % json.dumps(awaited))
    page.goto(url)
    page.wait_for_selector(awaited, state="attached")
    shown = float(page.evaluate("window.shownAt"))
    painted = float(page.evaluate(_PAINTED))
    loaded = page.evaluate(_LOADED)
    context.close()
    return Look(painted, shown, loaded["all"], loaded["scripts"], loaded["requests"])


def renderer_seconds(browser: Browser, page: Page) -> float:
    """CPU time of the busiest renderer so far: with one page open, that page's."""
    page.evaluate("0")
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return max(float(each["cpuTime"]) for each in processes if each["type"] == "renderer")
