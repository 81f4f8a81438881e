"""A real Remit, and a real browser."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.site import Site, chromium
from tests.soak import only_in_soak

if TYPE_CHECKING:
    from tests.browser.desk import Desk

PATIENCE: Final = 100_000  # milliseconds: a busy machine is slow, not wrong
expect.set_options(timeout=PATIENCE)

# Of two lists of disabled features the browser uses the last, so this one repeats the driver's. The
# first two are browser pages that no test needs: they would cost every window more than the page
# under test.
OFF: Final = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(OFF)}",
]
WIDE: Final[ViewportSize] = {"width": 1440, "height": 900}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}


# How a page is looked at: each light and each size in `make test`, every pair in `make soak`.
def _looks(*in_tests: str) -> pytest.MarkDecorator:
    looks = [(dark, phone) for dark in ("light", "dark") for phone in ("wide", "phone")]
    cases = {f"{light}-{size}": (light == "dark", size == "phone") for light, size in looks}
    return pytest.mark.parametrize(
        ("dark", "phone"),
        [
            pytest.param(*look, id=name, marks=() if name in in_tests else only_in_soak)
            for name, look in cases.items()
        ],
    )


every_look: Final = _looks("light-wide", "dark-phone")
one_look: Final = _looks("dark-phone")  # of a page that is looked at in every light anyway


Driver = tuple[Playwright, asyncio.AbstractEventLoop]


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """The driver of all browsers of this process, and its loop.

    The loop counts as running in this thread, so no other could run. Hence it is set aside between
    the tests that have a browser.
    """
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield playwright, loop
        asyncio._set_running_loop(loop)


@contextmanager
def launched(driver: Driver, path: str) -> Iterator[Browser]:
    playwright, loop = driver
    asyncio._set_running_loop(loop)
    browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
    asyncio._set_running_loop(None)
    yield browser
    asyncio._set_running_loop(loop)
    browser.close()
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def shared_browser(driver: Driver) -> Iterator[Browser]:
    """One Chromium for all tests of this process."""
    with launched(driver, chromium()) as browser:
        yield browser


@pytest.fixture
def browser(driver: Driver, shared_browser: Browser) -> Iterator[Browser]:
    asyncio._set_running_loop(driver[1])
    yield shared_browser
    for context in shared_browser.contexts:  # a page that stays would go on calling its server
        context.close()
    asyncio._set_running_loop(None)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A working app with a scripted brain, served on loopback."""
    with Site(tmp_path) as site:
        yield site


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    """Open a signed-in window: `visit("/inbox", dark=True, phone=True)`.

    A deaf one has a silent socket, so it knows only what it loaded; a plain one runs no script.
    """
    contexts: list[BrowserContext] = []

    def go(
        path: str = "/inbox",
        *,
        dark: bool = False,
        phone: bool = False,
        deaf: bool = False,
        plain: bool = False,
    ) -> Page:
        context = browser.new_context(
            viewport=PHONE if phone else WIDE,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            java_script_enabled=not plain,
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if deaf:
            page.route_web_socket("**/ws*", lambda _line: None)
        site.watch(page)
        site.sign_in(context)
        page.goto(site.url + path)
        return page

    yield go
    for context in contexts:
        context.close()
    assert site.wrongs == []


@pytest.fixture
def desk(tmp_path: Path, browser: Browser) -> "Iterator[Desk]":
    """A new Remit as `remit up` starts it, and a browser that is signed in."""
    from tests.browser.desk import new_desk  # noqa: PLC0415 - it reads this file

    with new_desk(tmp_path, browser) as desk:
        yield desk


@pytest.fixture
def outside() -> Iterator[str]:
    """A model and a webhook outside of Remit; their address."""
    from tests.browser.desk import outside_server  # noqa: PLC0415 - as above

    with outside_server() as url:
        yield url
