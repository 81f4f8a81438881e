"""Servers that mean harm, or are broken: a sentence, and nothing that was known is lost."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from remit.calendar import xml
from remit.calendar.client import (
    CalDavClient,
    CalendarLocation,
    CalendarLocked,
    CalendarTooLarge,
)
from remit.calendar.watch import CalendarAccount
from remit.errors import Permanent, Transient
from remit.model.task import Taint
from tests.calendar.caldav_stage import HOUR, NINE, event, staged
from tests.live.loopback import Head, Listener, head_of, read_head
from tests.tables import for_each

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
    async with Scripted() as server:
        account = CalendarAccount(server.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
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

    async with Plain() as server:
        account = CalendarAccount(server.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
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
        account = CalendarAccount(scripted.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
            await stage.look()

            assert [task.taint for task in await stage.tasks()] == [taint]
