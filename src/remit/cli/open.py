"""`remit open`: open the dashboard in the browser, signed in."""

import os
import sys
import webbrowser
from typing import Annotated, Final
from urllib.parse import quote

from remit import settings as house_settings
from remit.cli import out, remote
from remit.cli.out import AsJson, flag
from remit.operations.settings_arguments import InviteBrowser

_SCREENS: Final = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def open_(
    page: Annotated[str, flag("Which page, such as /inbox or /tasks/task-….")] = "/",
    /,
    *,
    print_: Annotated[bool, flag("Only print the link.", "--print")] = False,
    json: AsJson = False,
) -> int:
    """Make a link that signs a browser in, once, within 15 minutes; and open it."""
    found = remote.running(house_settings.load().home)
    try:
        link = f"{found.ask(InviteBrowser())['url']}&next={quote(page, safe='/')}"
    finally:
        found.close()
    shown = not print_ and has_screen() and webbrowser.open(link)
    opened = ["Opened in your browser. If nothing shows, this link does the same, once:"]
    return out.done(json, {"url": link, "opened": shown}, *opened if shown else (), data=link)


def has_screen() -> bool:
    """Whether there is a display: without one, a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _SCREENS)
