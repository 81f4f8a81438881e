"""Servers and clients that mean harm, are broken or odd, and servers that lead elsewhere."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

import pytest

from remit.calendar import xml
from remit.calendar.client import CalDavClient, CalendarLocation, CalendarLocked, CalendarTooLarge
from remit.calendar.watch import CalendarAccount
from remit.errors import Permanent, Transient
from remit.model.task import Taint
from remit.store import calendars
from remit.system.address_rules import is_same_domain
from tests.calendar.caldav_stage import DAY, HOUR, NINE, Stage, event, staged, todo
from tests.channels.mail.mail import Authority
from tests.live.loopback import HOST, Head, Listener, head_of, read_head
from tests.tables import for_each, table

HREF: Final = "/dav/agenda/"
_LIST: Final = (
    '<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response>'
    f"<href>{HREF}</href><propstat><prop><displayname>Agenda</displayname>"
    "<resourcetype><collection/><C:calendar/></resourcetype></prop></propstat></response>"
    "</multistatus>"
)
_BOMB: Final = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    '<multistatus xmlns="DAV:"><response><href>&b;</href></response></multistatus>'
)

_BAD: Final[dict[str, tuple[str, int, dict[str, str]]]] = {
    "marks": ("<a>" + "<b/>" * 2_000_000 + "</a>", 207, {}),
    "bomb": (_BOMB, 207, {}),
    "redirect": ("", 302, {"location": "http://169.254.169.254/latest/"}),
    "circle": ("", 302, {"location": HREF}),
    "page": ("<html><body>Sign in", 200, {"content_type": "text/html"}),
    "other": ("<html/>", 200, {}),
    "nothing": ("", 207, {}),
    "locked": ("", 401, {}),
    "broken": ("", 500, {}),
}


class Scripted(Listener):
    """Answers as a CalDAV server with one calendar and one event, until it is told otherwise."""

    def __init__(self) -> None:
        self.bad: str = ""  # how it answers a REPORT
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.body = event("a", NINE + HOUR)

    @property
    def place(self) -> CalendarLocation:
        return CalendarLocation("evil", self.root + "/dav/", "owner", lambda: "s3cret")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await read_head(reader)
            body = (await reader.readexactly(head.length)).decode()
            self.asked.append(f"{head.method} {head.path}")
            self.headers.append(head.headers)
            await self._answer(writer, head, body)

    async def _answer(self, writer: asyncio.StreamWriter, head: Head, body: str) -> None:
        if head.method == "REPORT" and self.bad:
            if self.bad in _BAD:
                text, status, headers = _BAD[self.bad]
                await self._say(writer, text, status, **headers)
            else:
                await (self._huge if self.bad == "huge" else self._drip)(writer)
        elif "calendar-multiget" in body:
            inner = self.body.replace("&", "&amp;")
            await self._say(writer, self._one(f"<C:calendar-data>{inner}</C:calendar-data>"))
        elif "sync-collection" in body:
            await self._say(writer, self._one("", "<sync-token>one</sync-token>"))
        else:
            await self._say(writer, _LIST)

    def _one(self, data: str, token: str = "") -> str:
        return (
            '<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response>'
            f"<href>{HREF}a.ics</href><propstat><prop><getetag>&quot;1&quot;</getetag>{data}</prop>"
            f"</propstat></response>{token}</multistatus>"
        )

    async def _say(
        self, writer: asyncio.StreamWriter, text: str, status: int = 207, **headers: str
    ) -> None:
        raw = text.encode()
        told = {"content-length": str(len(raw)), "content-type": "application/xml", **headers}
        writer.write(head_of(status, {name.replace("_", "-"): each for name, each in told.items()}))
        writer.write(raw)
        await writer.drain()

    async def _huge(self, writer: asyncio.StreamWriter) -> None:
        writer.write(head_of(207, {"content-length": str(1 << 40)}))
        piece = b"<response>" * 10_000
        while True:
            writer.write(piece)
            await writer.drain()

    async def _drip(self, writer: asyncio.StreamWriter) -> None:
        writer.write(head_of(207, {"content-length": "1000000"}))
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)


def watched(server: Scripted, home: Path) -> AbstractAsyncContextManager[Stage]:
    """An app that believes the calendar of this server."""
    return staged(home, CalendarAccount(server.place, lambda _: True, trusted=True))


@for_each(
    ("bad", "kind", "says"),
    [
        ("huge", CalendarTooLarge, "sent more than"),
        ("marks", Permanent, "more parts than any calendar has"),
        ("bomb", Permanent, "defines entities"),
        ("drip", Transient, "no whole answer in 0.5 s"),
        ("redirect", Permanent, "leads to another host, '169.254.169.254'"),
        ("circle", Permanent, "from one address to the next"),
        ("page", Permanent, "is not XML"),
        ("other", Permanent, "a multistatus was expected"),
        ("nothing", Permanent, "is not XML"),
        ("locked", CalendarLocked, "does not take the user and password"),
        ("broken", Transient, "answered 500 to REPORT"),
    ],
)
async def test_a_hostile_answer_is_a_sentence(bad: str, kind: type[Exception], says: str) -> None:
    async with Scripted() as server:
        server.bad = bad
        dav = CalDavClient(server.place, seconds=0.5 if bad == "drip" else 30.0)
        with pytest.raises(kind) as refused:
            await dav.changes(HREF, "")
        await dav.close()

    assert says in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("bad", ["bomb", "redirect", "page", "locked", "broken"])
async def test_what_was_known_starts_though_the_server_went_bad(bad: str, tmp_path: Path) -> None:
    async with Scripted() as server, watched(server, tmp_path) as stage:
        await stage.look()
        server.bad = bad
        await stage.live(2 * HOUR)

        assert list((await stage.fired()).values()) == [1]
        why = (await stage.calendar("evil", HREF)).why
        assert why
        server.bad = ""
        assert await stage.look() == {"evil": None}
        assert (await stage.calendar("evil", HREF)).why is None


async def test_an_address_on_another_host_is_never_asked() -> None:
    async with Scripted() as server:
        dav = CalDavClient(server.place)
        with pytest.raises(Permanent, match="another host"):
            await dav.fetch("http://elsewhere.example/agenda/", ["/a.ics"])
        await dav.close()

        assert server.asked == []


async def test_a_server_that_wants_a_digest_is_not_sent_the_password_again() -> None:
    class Digest(Scripted):
        async def _answer(self, writer: asyncio.StreamWriter, head: Head, body: str) -> None:
            if head.headers.get("authorization", "").startswith("Digest "):
                await super()._answer(writer, head, body)
                return
            challenge = 'Digest realm="x", nonce="abc", qop="auth", algorithm=SHA-256'
            await self._say(writer, "", 401, www_authenticate=challenge)

    async with Digest() as server:
        dav = CalDavClient(server.place)
        first = await dav.changes(HREF, "")
        await dav.changes(HREF, first.token)
        await dav.close()

    assert list(first.etags) == [HREF + "a.ics"]
    told = [headers.get("authorization", "") for headers in server.headers]
    assert [each.split(" ")[0] for each in told].count("Basic") == 1


async def test_a_server_that_knows_no_tokens_is_asked_for_etags(tmp_path: Path) -> None:
    class Plain(Scripted):
        async def _answer(self, writer: asyncio.StreamWriter, head: Head, body: str) -> None:
            if "sync-collection" in body:
                await self._say(writer, "", 405)
            elif "<getetag/>" in body and head.method == "PROPFIND":
                await self._say(writer, self._one(""))
            else:
                await super()._answer(writer, head, body)

    async with Plain() as server, watched(server, tmp_path) as stage:
        await stage.live(2 * HOUR)

        assert list((await stage.fired()).values()) == [1]


async def test_changes_that_come_in_parts_are_all_read() -> None:
    class Parts(Scripted):
        async def _answer(self, writer: asyncio.StreamWriter, head: Head, body: str) -> None:
            del head
            n = body.partition("<sync-token>")[2].partition("<")[0].count("x") + 1
            more = f"<response><href>{HREF}</href><status>HTTP/1.1 507 More</status></response>"
            token = f"<sync-token>{'x' * n}</sync-token>"
            text = self._one("", (more if n < 3 else "") + token)
            await self._say(writer, text.replace("a.ics", f"{n}.ics"))

    async with Parts() as server:
        dav = CalDavClient(server.place)
        found = await dav.changes(HREF, "")
        await dav.close()

    assert found.token == "xxx"
    assert sorted(found.etags) == [f"{HREF}{n}.ics" for n in (1, 2, 3)]


@for_each(
    "body",
    [b"", b"<", b"<a", b"\xff\xfe", b"<?xml version='1.0' encoding='nope'?><a/>", b"<a>&x;</a>"],
)
def test_what_is_not_xml_is_refused_with_a_sentence(body: bytes) -> None:
    with pytest.raises(Permanent, match="The server"):
        xml.parse(body, "The server")


@pytest.mark.parametrize(
    ("line", "taint"),
    [
        ("ORGANIZER;CN=Me:mailto:me@example.org", Taint.OWNER),
        ('ORGANIZER;CN="Eve:mailto:eve@evil.example', Taint.PUBLIC),
        ('ORGANIZER;CN=Eve"s:mailto:me@example.org', Taint.PUBLIC),
        ('ATTENDEE;CN="Me:mailto:me@example.org', Taint.PUBLIC),
    ],
)
async def test_what_a_server_keeps_though_it_is_broken_is_not_the_owners_word(
    tmp_path: Path, line: str, taint: Taint
) -> None:
    """DAViCal keeps every byte of what a client writes, an open quote too."""
    async with Scripted() as scripted:
        scripted.body = event("a", NINE + HOUR, "Lunch", line)
        async with watched(scripted, tmp_path) as stage:
            await stage.look()

            assert [task.taint for task in await stage.tasks()] == [taint]


# What RFC 5545 does not foresee -------------------------------------------------------------------

TEN: Final = NINE + HOUR
DAYS: Final = "DTSTART;VALUE=DATE:20260302"


def _with_change(*lines: str) -> str:
    """A daily series of two, and a change of its second occurrence, an hour later."""
    change = event("a", TEN + DAY + HOUR, "Moved", "RECURRENCE-ID:20260303T100000Z", *lines)
    whole = event("a", TEN, "Daily", "RRULE:FREQ=DAILY;COUNT=2")
    inner = change.partition("BEGIN:VEVENT")[2].partition("END:VEVENT")[0]
    return whole.replace("END:VCALENDAR", f"BEGIN:VEVENT{inner}END:VEVENT\r\nEND:VCALENDAR")


ODD: Final = {
    "an empty rule": (event("a", TEN, "Once", "RRULE:"), ["02 10:00"]),
    "an empty rule, written with a semicolon": (event("a", TEN, "Once", "RRULE:;"), ["02 10:00"]),
    "a rule with empty parts": (
        event("a", TEN, "Once", "RRULE:FREQ=DAILY;;INTERVAL=;BYDAY=;COUNT=2;"),
        ["02 10:00", "03 10:00"],
    ),
    "all that may be empty": (
        event("a", TEN, "Once", "EXRULE:", "RDATE:", "EXDATE:", "DTEND:", "DURATION:"),
        ["02 10:00"],
    ),
    "a change with the rule of its series": (
        _with_change("RRULE:FREQ=DAILY;COUNT=2"),
        ["02 10:00", "03 11:00"],
    ),
    "a change with a rule that is none": (
        _with_change("RRULE:FREQ=SOMETIMES"),
        ["02 10:00", "03 11:00"],
    ),
    "a day to start, a time to be done by": (todo("a", DAYS, "DUE:20260302T170000Z"), ["02 17:00"]),
    "a time to be done by, days later": (todo("a", DAYS, "DUE:20260304T110000Z"), ["04 11:00"]),
    "each day, with a time to be done by": (
        todo("a", DAYS, "DUE:20260302T170000Z", "RRULE:FREQ=DAILY;COUNT=2"),
        ["02 17:00", "03 17:00"],
    ),
    "a time to start, a day to be done by": (
        todo("a", "DTSTART:20260302T100000Z", "DUE;VALUE=DATE:20260302"),
        ["02 10:00"],
    ),
    "an empty start": (todo("a", "DTSTART:", "DUE:20260302T100000Z"), ["02 10:00"]),
}
REFUSED: Final = {
    "due before it starts": (
        todo("a", DAYS, "DUE:20260227T170000Z"),
        "It is due (2026-02-27 17:00) before it starts (2026-03-02).",
    ),
    "a change of nobody knows what": (
        _with_change().replace("RECURRENCE-ID:20260303T100000Z", "RECURRENCE-ID:"),
        "'' is no date or time; one looks like 20261104T090000.",
    ),
}


@pytest.mark.parametrize("name", ODD)
async def test_what_is_odd_and_still_clear_starts_at_its_time(name: str, tmp_path: Path) -> None:
    async with Scripted() as server:
        server.body, wanted = ODD[name]
        async with watched(server, tmp_path) as stage:
            await stage.live(3 * DAY, 12 * HOUR)

            tasks = [task for task in await stage.tasks() if task.started_at]
            assert [f"{task.scheduled_for:%d %H:%M}" for task in tasks] == wanted
            assert await stage.world.app.db.read(calendars.list_refused) == []


async def test_a_broken_change_refuses_only_what_it_changes(tmp_path: Path) -> None:
    async with Scripted() as server:
        server.body = _with_change("DTEND:20260301T100000Z")
        async with watched(server, tmp_path) as stage:
            await stage.live(3 * DAY, 12 * HOUR)

            tasks = [task for task in await stage.tasks() if task.started_at]
            assert [f"{task.scheduled_for:%d %H:%M}" for task in tasks] == ["02 10:00"]
            (told,) = await stage.world.app.db.read(calendars.list_refused)
            assert str(told.why).startswith("Only its change of 2026-03-03 10:00 is refused: ")


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_not_clear_is_refused_with_one_sentence(name: str, tmp_path: Path) -> None:
    async with Scripted() as server:
        server.body, sentence = REFUSED[name]
        async with watched(server, tmp_path) as stage:
            assert await stage.look() == {"evil": None}

            (refused,) = await stage.world.app.db.read(calendars.list_refused)
            assert refused.why == sentence
            assert await stage.tasks() == []


class Escaping(Scripted):
    """Has one event at an address with an escaped slash and a byte that is no UTF-8 in it."""

    NAME: Final = "a%2Fb%ff%20c.ics"
    ASKED: Final = "a%2Fb%FF%20c.ics"

    async def _answer(self, writer: asyncio.StreamWriter, head: Head, body: str) -> None:
        if "calendar-multiget" in body and self.ASKED not in body:
            await self._say(writer, '<multistatus xmlns="DAV:"/>')
        elif head.method == "GET":
            await self._say(writer, "", 404)
        else:
            await super()._answer(writer, head, body)

    def _one(self, data: str, token: str = "") -> str:
        return super()._one(data, token).replace("a.ics", self.NAME)


async def test_an_escaped_slash_stays_part_of_a_name(tmp_path: Path) -> None:
    async with Escaping() as server:
        async with watched(server, tmp_path) as stage:
            await stage.live(2 * HOUR)

            assert list((await stage.fired()).values()) == [1]
        dav = CalDavClient(server.place)
        await dav.delete(HREF + Escaping.ASKED, "")
        await dav.close()

    assert server.asked[-1] == f"DELETE {HREF}{Escaping.ASKED}"


# Calendars on another host ------------------------------------------------------------------------

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
