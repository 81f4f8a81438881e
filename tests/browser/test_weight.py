"""What a page weighs when a browser has nothing of it yet: bytes on the wire, by page."""

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Request

from tests.browser.conftest import WIDE
from tests.browser.furnish import Furnished
from tests.browser.shots import pages
from tests.soak import SOAK

MOST_BYTES: Final = 110_000
LANGUAGES: Final = ("en", "de") if SOAK else ("de",)
HEAVY: Final = ("letter", "tasks", "task", "conversation")  # the others only in `make soak`


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    with Furnished(tmp_path_factory.mktemp("furnished")) as house:
        house.furnish()
        yield house


class _Requests:
    """What a page has fetched."""

    def __init__(self) -> None:
        self.all: list[Request] = []

    def add(self, request: Request) -> None:
        self.all.append(request)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_weighs_more_than_it_may(browser: Browser, house: Furnished, language: str) -> None:
    signed_in = browser.new_context()
    signed_in.new_page().goto(house.link())
    cookies = signed_in.storage_state()
    weights: dict[str, int] = {}
    for name, address in pages(house).items():
        if not SOAK and name not in HEAVY:
            continue
        # A context of its own has an empty cache.
        cold = browser.new_context(storage_state=cookies, viewport=WIDE, locale=language)
        done = _Requests()
        page = cold.new_page()
        page.on("requestfinished", done.add)
        page.goto(house.url + address, wait_until="load")
        weights[name] = sum(each.sizes()["responseBodySize"] for each in done.all)
        cold.close()
    signed_in.close()
    assert min(weights.values()) > 0
    assert {name: bytes_ for name, bytes_ in weights.items() if bytes_ > MOST_BYTES} == {}
