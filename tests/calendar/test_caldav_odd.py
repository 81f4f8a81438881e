"""What clients write that RFC 5545 does not foresee, and addresses with an escaped slash."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from remit.calendar.client import CalDavClient
from remit.calendar.watch import CalendarAccount
from remit.store import calendars
from tests.calendar.caldav_stage import DAY, HOUR, NINE, event, staged, todo
from tests.calendar.test_caldav_hostile import HREF, Scripted
from tests.live.loopback import Head

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
        account = CalendarAccount(server.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
            await stage.live(3 * DAY, 12 * HOUR)

            tasks = [task for task in await stage.tasks() if task.started_at]
            assert [f"{task.scheduled_for:%d %H:%M}" for task in tasks] == wanted
            assert await stage.world.app.db.read(calendars.refused) == []


async def test_a_broken_change_refuses_only_what_it_changes(tmp_path: Path) -> None:
    async with Scripted() as server:
        server.body = _with_change("DTEND:20260301T100000Z")
        account = CalendarAccount(server.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
            await stage.live(3 * DAY, 12 * HOUR)

            tasks = [task for task in await stage.tasks() if task.started_at]
            assert [f"{task.scheduled_for:%d %H:%M}" for task in tasks] == ["02 10:00"]
            (told,) = await stage.world.app.db.read(calendars.refused)
            assert str(told.why).startswith("Only its change of 2026-03-03 10:00 is refused: ")


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_not_clear_is_refused_with_one_sentence(name: str, tmp_path: Path) -> None:
    async with Scripted() as server:
        server.body, sentence = REFUSED[name]
        account = CalendarAccount(server.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
            assert await stage.look() == {"evil": None}

            (refused,) = await stage.world.app.db.read(calendars.refused)
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
        account = CalendarAccount(server.place, lambda _: True, trusted=True)
        async with staged(tmp_path, account) as stage:
            await stage.live(2 * HOUR)

            assert list((await stage.fired()).values()) == [1]
        dav = CalDavClient(server.place)
        await dav.delete(HREF + Escaping.ASKED, "")
        await dav.close()

    assert server.asked[-1] == f"DELETE {HREF}{Escaping.ASKED}"
