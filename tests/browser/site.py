"""A house behind a door, the link that signs a browser in, and a list of what went wrong there."""

import shutil
from pathlib import Path
from typing import Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Dialog, Page, Request

from remit.operations.callers import CallerRegistry
from tests.server.served import TOKEN, Served

# Names that Debian and others give it.
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def chromium() -> str:
    """Where the browser is; without one these tests fail, they are not passed over."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    assert found, "No Chromium here: install Debian's package `chromium`."
    return found


class Site(Served):
    """Served, at work, with a way to sign in and eyes on every window."""

    def __init__(self, home: Path, **more: object) -> None:
        super().__init__(home, works=True, **more)  # type: ignore[arg-type]
        self.wrongs: list[str] = []

    def link(self) -> str:
        """A link as `remit up` prints it: it signs one browser in, once."""
        house = self.house
        callers = CallerRegistry(house.db, house.clock, house.ids, TOKEN, pages_url=self.pages)
        return self.do(callers.link())

    def _listens(self, url: str) -> None:
        super()._listens(url)
        self.url = self.pages  # what a browser shows

    def watch(self, page: Page) -> None:
        """Note every error of a page, every dialog, and every request that leaves this site."""
        page.on("pageerror", lambda error: self.wrongs.append(f"error: {error}"))
        page.on("console", self._console)
        page.on("request", self._request)
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Dialog) -> None:
        self.wrongs.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        # What a server refuses is also told to the console; tests look at that themselves.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.wrongs.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        ours = (self.url, self.url.replace("http", "ws", 1), "data:", "blob:", "about:")
        if not request.url.startswith(ours):
            self.wrongs.append(f"outside: {request.url}")


def barriers(page: Page) -> list[str]:
    """What axe finds that would stop somebody."""
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]
