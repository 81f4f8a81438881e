"""Every page: no barrier, no error, nothing wider than the screen, light and dark, on any size."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import every_look
from tests.browser.furnish import Furnished
from tests.browser.shots import pages, window
from tests.browser.site import barriers
from tests.soak import SOAK


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    with Furnished(tmp_path_factory.mktemp("furnished")) as house:
        house.furnish()
        yield house


@pytest.fixture
def page(browser: Browser, house: Furnished, *, dark: bool, phone: bool) -> Iterator[Page]:
    house.wrongs.clear()
    page = window(browser, house, dark=dark, phone=phone)
    yield page
    page.context.close()


@every_look
def test_every_page_is_open_to_everybody(page: Page, house: Furnished, *, phone: bool) -> None:
    """Each page in one look or the other; in `make soak` each in every look."""
    found: dict[str, list[str]] = {}
    for name, address in list(pages(house).items())[0 if SOAK else phone :: 1 if SOAK else 2]:
        page.goto(house.url + address)
        if wrong := barriers(page) + _too_large(page):
            found[name] = wrong
    assert found == {}
    assert house.wrongs == []


def _too_large(page: Page) -> list[str]:
    """A page that must be pushed to the side, or has a second scroll bar beside its own."""
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    tall = page.evaluate(
        "document.querySelector('.app') && document.documentElement.scrollHeight > innerHeight"
    )
    return ["wider than the screen"] * bool(wide) + ["a second scroll bar"] * bool(tall)
