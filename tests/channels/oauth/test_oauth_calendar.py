"""A calendar that is opened by an access token: a real Radicale behind a check of the token."""

import asyncio
import base64
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from remit.calendar.client import CalDavClient, CalendarLocked
from remit.channels.oauth.tokens import SignInEnded
from remit.settings.doors import CalendarServer
from remit.wiring.calendar import place_of
from tests.calendar.caldav_servers import Server
from tests.channels.oauth.identity_server import CLIENT, SECRET, USER, IdentityServer
from tests.channels.oauth.sign_in_town import SignInTown
from tests.channels.oauth.signed_in import SignedIn
from tests.channels.telegram.chat_town import seat_of
from tests.cli.terminal import Terminal
from tests.live.loopback import HOST, Listener, head_of, read_head

_BASIC = base64.b64encode(b"owner:s3cret").decode()


@dataclass
class TokenCheck(Listener):
    """Lets requests with a good access token through to a calendar server, and no others."""

    provider: IdentityServer
    behind: int
    shown: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        body = await reader.readexactly(head.length)
        token = head.headers.get("authorization", "").removeprefix("Bearer ")
        self.shown.append(token)
        if token not in self.provider.access:
            wants = {"www-authenticate": 'Bearer realm="dav"', "content-length": "0"}
            writer.write(head_of(401, wants | {"connection": "close"}))
            return
        theirs, ours = await asyncio.open_connection(HOST, self.behind)
        headers = head.headers | {"authorization": f"Basic {_BASIC}", "connection": "close"}
        lines = [f"{head.method} {head.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        try:
            ours.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)
            writer.write(await theirs.read())
        finally:
            ours.close()


class Account(SignedIn):
    def __init__(self, home: Path, provider: IdentityServer, check: TokenCheck) -> None:
        super().__init__(home, provider)
        self.server = CalendarServer(url=f"{check.root}/owner/", user=USER, oauth=self.oauth)

    async def calendars(self) -> list[str]:
        dav = CalDavClient(place_of("google", self.server, self.kept, self.keys, self.clock))
        try:
            return [each.name for each in await dav.calendars()]
        finally:
            await dav.close()


async def test_a_calendar_is_read_with_a_token_that_is_renewed_once(tmp_path: Path) -> None:
    radicale = Server("radicale", tmp_path / "dav")
    radicale.start()
    try:
        async with IdentityServer() as provider, TokenCheck(provider, radicale.port) as check:
            await make_agenda(radicale)
            account = Account(tmp_path, provider, check)
            assert await account.calendars() == ["Agenda"]
            assert provider.asked == []
            provider.access.clear()
            assert await account.calendars() == ["Agenda"]
            assert len(provider.asks("/token")) == 1
            provider.access.clear()
            provider.refresh.clear()
            with pytest.raises(SignInEnded, match="Run `remit calendar connect google`"):
                await account.calendars()
            account.sign_in(provider)
            provider.access.clear()
            check.provider = IdentityServer()  # takes no token at all
            check.shown.clear()
            with pytest.raises(CalendarLocked, match="does not take the sign-in"):
                await account.calendars()
            assert len(set(check.shown)) == 2
    finally:
        radicale.stop()


async def make_agenda(radicale: Server) -> None:
    dav = CalDavClient(radicale.place)
    await dav.make("/owner/agenda/", "Agenda", "VEVENT")
    await dav.close()


def test_a_google_calendar_is_added_marked_lost_and_connected_again_in_the_terminal(
    tmp_path: Path,
) -> None:
    radicale = Server("radicale", tmp_path / "dav")
    radicale.start()
    asyncio.run(make_agenda(radicale))
    try:
        with (
            SignInTown(tmp_path) as town,
            town.opened(TokenCheck(town.provider, radicale.port)) as check,
        ):
            seat = seat_of(tmp_path)
            _add(town, seat, f"{check.root}/owner/")
            with seat.up():
                _is_looked_at(town, seat)
                town.revoke()
                assert "0 accounts answered" in seat.run("calendar", "sync").err
                said = seat.run("calendar").out + seat.run("doctor").out
                assert "remit calendar connect google" in said
                assert "canary" not in said
                again = town.run(seat, "calendar", "connect", "google", "--json")
                assert again.json["account"] == "google", again.err
                _is_looked_at(town, seat)
    finally:
        radicale.stop()


def _add(town: SignInTown, seat: Terminal, url: str) -> None:
    """What is declined changes nothing; what is granted is asked for and kept as it should be."""
    path = seat.home / "settings.toml"
    before = path.read_text()
    given = ("--user", USER, "--client-id", CLIENT, "--oauth-url", town.provider.root)
    words = ("calendar", "add", "google", url, *given)
    town.provider.declines = True
    assert "You declined" in town.run(seat, *words, stdin=f"{SECRET}\n").err
    assert path.read_text() == before
    town.provider.declines = False
    added = town.run(seat, *words, stdin=f"{SECRET}\n")
    assert added.out == "Agenda\n", added.err
    assert "none of them starts work yet" in added.err
    asked = town.provider.asks("/authorize")[-1]
    assert asked["scope"] == "https://www.googleapis.com/auth/calendar"
    assert asked["login_hint"] == USER
    assert "canary" not in path.read_text()
    assert "already" in town.run(seat, *words).err


def _is_looked_at(town: SignInTown, seat: Terminal) -> None:
    assert "1 account answered" in seat.run("calendar", "sync").err
    assert seat.run("calendar", "mark", "google/Agenda").code == 0
    assert set(town.provider.access), "by a token"


def test_what_google_needs_is_said(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    lacks = {
        ("work",): "Give the server's url, or name one that has its own: google.",
        ("google",): "--user you@example.org",
        ("google", "--user", USER): "--client-id",
    }
    for words, said in lacks.items():
        assert said in seat.run("calendar", "add", *words).err
    assert "no account that you sign in for" in seat.run("calendar", "connect", "work").err
