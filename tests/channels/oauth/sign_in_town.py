"""An identity provider and a mail server in a thread, and a browser that consents."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from tests.channels.mail.mail import Authority
from tests.channels.oauth.identity_server import CLIENT, SECRET, USER, IdentityServer
from tests.channels.oauth.token_office import TokenOffice
from tests.cli.terminal import Said, Terminal
from tests.live.loopback import Listener, ServerThread

S = TypeVar("S", bound=Listener)

BROWSER: Final = """\
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as page:  # follows the redirect, as a browser does
    page.read()
"""


class SignInTown(ServerThread):
    """What lies outside Remit; what it holds may be read from any thread."""

    def __init__(self, folder: Path, *, secret: str = SECRET) -> None:
        super().__init__()
        self.authority = Authority(folder)
        self.provider = IdentityServer(secret=secret)
        self.office = TokenOffice(
            starttls=self.authority.server(), knows=self.provider.access.__contains__
        )
        self._browser = folder / "browser.py"
        self._browser.write_text(BROWSER)

    async def open(self) -> None:
        await self.entered(self.provider)
        await self.entered(self.office)

    @contextmanager
    def opened(self, server: S) -> Iterator[S]:
        """Open one more server beside these."""
        self.do(server.__aenter__())
        try:
            yield server
        finally:
            self.do(server.__aexit__(None, None, None))

    def quiet(self) -> None:
        """Wait until no connection to the mail server is open."""
        self.do(self.office.quiet())

    def run(self, seat: Terminal, *words: str, stdin: str = "") -> Said:
        """Run a command; a browser on this machine signs in and consents."""
        browser = f"{sys.executable} {self._browser} %s"
        return seat.run(*words, stdin=stdin, BROWSER=browser)

    def add(self, seat: Terminal, kind: str, *more: str, stdin: str = "") -> Said:
        """Add a mail channel, then have it send by the server here."""
        given = ("--client-id", CLIENT, "--address", USER, "--url", self.provider.root, "--json")
        said = self.run(seat, "channels", "add", kind, *given, *more, stdin=stdin)
        if said.code == 0:
            self.redirect_mail(seat)
        return said

    def redirect_mail(self, seat: Terminal) -> None:
        path = seat.home / "settings.toml"
        lines = path.read_text().splitlines()
        changed = {
            "host": '"127.0.0.1"',
            "port": str(self.office.port),
            "imap_host": '""',
            "user": f'"{USER}"\nca_file = "{self.authority.file}"',
        }
        path.write_text("\n".join(_changed(line, changed) for line in lines) + "\n")

    def revoke(self) -> None:
        """The owner takes the app's rights back at the provider."""
        self.provider.refresh.clear()
        self.provider.access.clear()


def _changed(line: str, values: dict[str, str]) -> str:
    name = line.partition(" = ")[0]
    return f"{name} = {values[name]}" if name in values and " = " in line else line
