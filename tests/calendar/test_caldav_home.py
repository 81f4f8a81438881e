"""Calendars on another host than the owner named: followed in the same domain, else refused."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from remit.calendar.client import CalDavClient, CalendarLocation
from remit.calendar.watch import CalendarAccount
from remit.errors import Permanent
from remit.system.address_rules import is_same_domain
from tests.calendar.caldav_stage import HOUR, staged
from tests.calendar.test_caldav_hostile import HREF, Scripted
from tests.channels.mail.mail import Authority
from tests.live.loopback import HOST, Head, Listener, head_of, read_head
from tests.tables import for_each, table

NAMED: Final = "caldav.example.com"
SAME: Final = [
    ("caldav.icloud.com", "p42-caldav.icloud.com"),
    ("caldav.icloud.com", "a.b.icloud.com"),
    ("example.de", "dav.example.de"),
    ("dav.example.co.uk", "p1.example.co.uk"),
    ("Dav.Example.com", "dav.example.com"),
]
OTHER: Final = table(__file__, "others")


@for_each(("ours", "theirs"), [*SAME, *OTHER])
def test_only_what_is_surely_one_registered_domain_is(ours: str, theirs: str) -> None:
    assert is_same_domain(ours, theirs) is ((ours, theirs) in SAME)
    assert is_same_domain(theirs, ours) is ((ours, theirs) in SAME)


class Elsewhere(Scripted):
    """Names a home wherever it is told; what it is asked is kept with the host it was asked as."""

    def __init__(self, home: str) -> None:
        super().__init__()
        self._home = home
        self.hosts: list[tuple[str, str]] = []

    async def _answer(self, writer: asyncio.StreamWriter, head: Head, body: str) -> None:
        self.hosts.append((head.headers["host"], head.method))
        for asked, found in (
            ("current-user-principal", "/principal/"),
            ("calendar-home-set", self._home),
        ):
            if asked in body:
                space = (
                    "" if asked.startswith("current") else ' xmlns="urn:ietf:params:xml:ns:caldav"'
                )
                inner = f'<{asked}{space}><href xmlns="DAV:">{found}</href></{asked}>'
                await self._say(
                    writer,
                    '<multistatus xmlns="DAV:"><response><href>/</href><propstat><prop>'
                    f"{inner}</prop></propstat></response></multistatus>",
                )
                return
        await super()._answer(writer, head, body)


class Tunnel(Listener):
    """A proxy that leads every name to one port on loopback, as a resolver would."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.names: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.names.append((await read_head(reader)).path)
        behind, onward = await asyncio.open_connection(HOST, self._port)
        writer.write(head_of(200, {}))
        try:
            await asyncio.gather(_pipe(reader, onward), _pipe(behind, writer))
        finally:
            onward.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(65_536):
        writer.write(piece)
        await writer.drain()
    writer.close()


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


async def test_calendars_on_another_host_of_the_domain_are_watched(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Elsewhere("https://p42-caldav.example.com:443/home/")
    server.tls = authority.server("*.example.com")
    async with server, Tunnel(server.port) as tunnel:
        monkeypatch.setenv("HTTPS_PROXY", tunnel.root)
        place = CalendarLocation("cloud", f"https://{NAMED}/", "owner", lambda: "s3cret")
        async with staged(tmp_path / "home", CalendarAccount(place, lambda _: True)) as stage:
            await stage.live(2 * HOUR)

            assert list((await stage.fired()).values()) == [1]

    reports = {host for host, method in server.hosts if method == "REPORT"}
    assert reports == {"p42-caldav.example.com"}
    assert set(tunnel.names) == {f"{NAMED}:443", "p42-caldav.example.com:443"}


@pytest.mark.parametrize(
    "home",
    [
        "https://caldav.example.org/home/",
        "https://p1-caldav.example.com.evil.org/home/",
        "//caldav.example.net/home/",
        "http://p1-caldav.example.com/home/",
        "https://p1-caldav.example.com:8443/home/",
    ],
)
async def test_a_home_anywhere_else_is_refused_and_never_asked(
    home: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Elsewhere(home)
    server.tls = authority.server(NAMED)
    async with server, Tunnel(server.port) as tunnel:
        monkeypatch.setenv("HTTPS_PROXY", tunnel.root)
        monkeypatch.setenv("HTTP_PROXY", tunnel.root)
        dav = CalDavClient(
            CalendarLocation("cloud", f"https://{NAMED}/", "owner", lambda: "s3cret")
        )
        with pytest.raises(Permanent) as refused:
            await dav.calendars()
        await dav.close()

    there = home.partition("//")[2].partition("/")[0].partition(":")[0]
    assert str(refused.value) == (
        f"The calendar server cloud ({NAMED}) leads to another host, {there!r}, which is not sent "
        "your password; if that is right, put its address as `url` under [calendars.cloud] in "
        "settings.toml."
    )
    assert set(tunnel.names) == {f"{NAMED}:443"}


@pytest.mark.parametrize(
    ("named", "there", "goes"),
    [
        ("93.184.216.34", "93.184.216.35", True),
        ("93.184.216.34", "10.0.0.5", False),
        ("93.184.216.34", "169.254.169.254", False),
        ("10.0.0.4", "10.0.0.5", True),  # the owner's own network
        ("10.0.0.4", "169.254.169.254", False),
    ],
)
async def test_a_public_server_cannot_lead_into_a_private_network(
    named: str, there: str, goes: bool, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        del port
        return [named if host == NAMED else there]

    server = Elsewhere("https://p42-caldav.example.com/home/")
    server.tls = authority.server("*.example.com")
    async with server, Tunnel(server.port) as tunnel:
        monkeypatch.setenv("HTTPS_PROXY", tunnel.root)
        place = CalendarLocation("cloud", f"https://{NAMED}/", "owner", lambda: "s3cret")
        dav = CalDavClient(place, resolve=resolve)
        refused = await _why_not(dav)
        await dav.close()

    assert ("p42-caldav.example.com:443" in tunnel.names) is goes
    assert ("lies in a private network, so nothing was sent there" in refused) is not goes


async def _why_not(dav: CalDavClient) -> str:
    try:
        await dav.calendars()
    except Permanent as error:
        return str(error)
    return ""


async def test_two_slashes_at_the_beginning_of_a_path_are_no_host() -> None:
    async with Scripted() as server:
        dav = CalDavClient(server.place)
        await dav.changes(f"/{HREF}", "")
        await dav.close()

    assert server.asked == [f"REPORT /{HREF}"]
