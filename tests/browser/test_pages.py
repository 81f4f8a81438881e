"""Every page: no barrier, no error, nothing wider than the screen, in any look, and few bytes."""

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, Request

from tests.browser.conftest import WIDE, every_look
from tests.browser.furnish import Furnished
from tests.browser.shots import pages, window
from tests.browser.site import barriers
from tests.soak import SOAK

MOST_BYTES: Final = 110_000  # on the wire, when a browser has nothing of the page yet
LANGUAGES: Final = ("en", "de") if SOAK else ("de",)
HEAVY: Final = ("letter", "tasks", "task", "conversation")  # the others only in `make soak`


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    with Furnished(tmp_path_factory.mktemp("furnished")) as app:
        app.furnish()
        yield app


@pytest.fixture
def page(browser: Browser, app: Furnished, *, dark: bool, phone: bool) -> Iterator[Page]:
    app.wrongs.clear()
    page = window(browser, app, dark=dark, phone=phone)
    yield page
    page.context.close()


@every_look
def test_every_page_is_open_to_everybody(page: Page, app: Furnished, *, phone: bool) -> None:
    """Each page in one look or the other; in `make soak` each in every look."""
    found: dict[str, list[str]] = {}
    for name, address in list(pages(app).items())[0 if SOAK else phone :: 1 if SOAK else 2]:
        page.goto(app.url + address)
        if wrong := barriers(page) + _too_large(page):
            found[name] = wrong
    assert found == {}
    assert app.wrongs == []


def _too_large(page: Page) -> list[str]:
    """A page that must be pushed to the side, or has a second scroll bar beside its own."""
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    tall = page.evaluate(
        "document.querySelector('.app') && document.documentElement.scrollHeight > innerHeight"
    )
    return ["wider than the screen"] * bool(wide) + ["a second scroll bar"] * bool(tall)


class _Requests:
    """What a page has fetched."""

    def __init__(self) -> None:
        self.all: list[Request] = []

    def add(self, request: Request) -> None:
        self.all.append(request)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_weighs_more_than_it_may(browser: Browser, app: Furnished, language: str) -> None:
    weights: dict[str, int] = {}
    for name, address in pages(app).items():
        if not SOAK and name not in HEAVY:
            continue
        # A context of its own has an empty cache.
        cold = browser.new_context(viewport=WIDE, locale=language)
        app.sign_in(cold)
        done = _Requests()
        page = cold.new_page()
        page.on("requestfinished", done.add)
        page.goto(app.url + address, wait_until="load")
        weights[name] = sum(each.sizes()["responseBodySize"] for each in done.all)
        cold.close()
    assert min(weights.values()) > 0
    assert {name: bytes_ for name, bytes_ in weights.items() if bytes_ > MOST_BYTES} == {}
