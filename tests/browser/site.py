"""An app behind its server, a sign-in link, and a list of browser errors."""

import shutil
from pathlib import Path
from typing import Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request

from remit.operations.callers import CallerRegistry
from remit.settings import Settings, load
from tests.server.served import TOKEN, Served

# A channel that is set up and reaches nobody.
MAIL_CHANNEL: Final = """
[channels.post]
kind = "email"
host = "127.0.0.1"
port = 9
security = "none"
sender = "nina@example.org"
owner = "hanan@example.org"
"""
# Names that Debian and others give it.
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_WITHOUT_DESKTOP: Final = "chromium-headless-shell"  # the same engine, in half of the time


def chromium(*, desktop: bool = False) -> str:
    """Return the browser's path; without one these tests fail instead of being skipped."""
    names = _NAMES if desktop else (_WITHOUT_DESKTOP, *_NAMES)
    found = next(filter(None, map(shutil.which, names)), None)
    assert found, "No Chromium here: install Debian's package `chromium`."
    return found


# The rule is off by default in axe; what a page does well is not asked for.
_RULES: Final = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}


def settings_in(home: Path, settings: str, contacts: str) -> Settings:
    """Write both files of a home; return the settings as Remit reads them."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "settings.toml").write_text(settings)
    (home / "contacts.yaml").write_text(contacts)
    return load({"REMIT_HOME": str(home)})


class Site(Served):
    """A served, working app with a sign-in link, watching every window for errors."""

    def __init__(self, home: Path, **more: object) -> None:
        super().__init__(home, works=True, **more)  # type: ignore[arg-type]
        self.wrongs: list[str] = []

    def link(self) -> str:
        """Return a link as `remit up` prints it: it signs one browser in, once."""
        app = self.app
        callers = CallerRegistry(app.db, app.clock, app.ids, TOKEN, pages_url=self.pages)
        return self.do(callers.link())

    def sign_in(self, context: BrowserContext) -> None:
        """Sign a browser in by such a link, without a page."""
        kept = self.client.get(self.link()).headers["set-cookie"]
        self.client.cookies.clear()
        name, _, value = kept.partition(";")[0].partition("=")
        context.add_cookies(
            [
                {
                    "name": name,
                    "value": value,
                    "url": self.url,
                    "httpOnly": True,
                    "sameSite": "Strict",
                }
            ]
        )

    def _listens(self, url: str) -> None:
        super()._listens(url)
        self.url = self.pages  # the address that a browser shows

    def watch(self, page: Page) -> None:
        """Record every error, dialog, and request to another site."""
        page.on("pageerror", lambda error: self.wrongs.append(f"error: {error}"))
        page.on("console", self._console)
        page.on("request", self._request)
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Dialog) -> None:
        self.wrongs.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        # A refused request also shows in the console; tests check that themselves.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.wrongs.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        ours = (self.url, self.url.replace("http", "ws", 1), "data:", "blob:", "about:")
        if not request.url.startswith(ours):
            self.wrongs.append(f"outside: {request.url}")


def barriers(page: Page) -> list[str]:
    """Return the accessibility violations that axe finds."""
    found = Axe().run(page, options=_RULES).response["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]
