"""Whose word an event is: only what names no organiser, or the owner once and cleanly, is his."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final
from zoneinfo import ZoneInfo

from remit.calendar.expand import CalendarReader
from remit.model.task import Taint
from remit.store.calendars import StoredResource
from tests.tables import for_each, text_table

NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
READER: Final = CalendarReader(
    ZoneInfo("UTC"), mine=("Me@example.org", "kate@example.org"), knows="anna@example.org".__eq__
)
MINE: Final = (
    "ORGANIZER:mailto:me@example.org",
    "organizer;CN=Hanan;ROLE=CHAIR:MAILTO:ME@Example.ORG",
    'ORGANIZER;CN="Hanan: the boss, at home";EMAIL=me@example.org:mailto:me@example.org',
    "ORGANI\r\n ZER;CN=Hanan:mailto:me@exam\r\n\tple.org",
)
STRANGERS: Final = text_table(__file__, "strangers")
ATTENDEES: Final = {
    "": True,
    "ATTENDEE;CN=Anna;PARTSTAT=ACCEPTED:mailto:anna@example.org": True,
    'ATTENDEE;CN="Anna:mailto:anna@example.org': False,
    'ATTENDEE;DELEGATED-FROM="mailto:a@b.example:invalid': False,
    "ATTENDEE": False,
}


def _calendar(first: str, second: str | None, *more: str) -> str:
    """One event; with a second one that changes its next occurrence."""
    often = "RRULE:FREQ=DAILY;COUNT=3"
    events = [_event("20260303T100000Z", often, first, *more)]
    if second is not None:
        events.append(_event("20260304T120000Z", "RECURRENCE-ID:20260304T100000Z", second))
    return "\r\n".join(("BEGIN:VCALENDAR", "VERSION:2.0", *events, "END:VCALENDAR", ""))


def _event(start: str, *lines: str) -> str:
    said = ("UID:a", "DTSTAMP:20260301T000000Z", f"DTSTART:{start}", "SUMMARY:Lunch", *lines)
    return "\r\n".join(("BEGIN:VEVENT", *filter(None, said), "END:VEVENT"))


async def _taints(body: str, *, trusted: bool = True) -> set[Taint]:
    resource = StoredResource("own", "/agenda/", "/a.ics", '"1"', "a", body, NOW)
    found = await READER.read(resource, trusted=trusted, fresh=NOW - timedelta(days=1), now=NOW)
    assert found.starts or found.resource.why, body
    return {each.taint for each in found.starts}


async def test_only_what_nobody_or_the_owner_alone_organises_is_the_owners() -> None:
    """Every way to write it, on the event, on a change of one occurrence, and on both."""
    firsts = ("", *MINE, *STRANGERS)
    few = ("", MINE[0], STRANGERS[0])
    cases = {*product(firsts, (None, *few), ("",)), *product(few, firsts, ("",))}
    cases |= {*product(few, (None,), ATTENDEES)}
    believed = 0
    for first, second, attendee in sorted(cases, key=str):
        theirs = {first, second} & {*STRANGERS}
        whole = second is None or bool(first) == bool(second)  # on each of them, or on none
        his = ATTENDEES[attendee] and not theirs and whole
        found = await _taints(_calendar(first, second, attendee))

        assert found <= ({Taint.OWNER} if his else {Taint.PUBLIC}), (first, second, attendee)
        believed += found == {Taint.OWNER}

    assert believed > len(MINE)


@for_each("line", ["", *MINE])
async def test_nothing_in_a_calendar_that_is_not_trusted_is_the_owners(line: str) -> None:
    assert await _taints(_calendar(line, None), trusted=False) == {Taint.PUBLIC}


@for_each(
    ("line", "taint"),
    [
        ("ORGANIZER;CN=Anna:mailto:Anna@example.org", Taint.CONTACT),
        ('ORGANIZER;CN="Anna:mailto:anna@example.org', Taint.PUBLIC),
        ('ORGANIZER;SENT-BY="mailto:eve@evil.example":mailto:anna@example.org', Taint.PUBLIC),
    ],
)
async def test_what_a_contact_organises_is_a_contacts_word_if_it_is_written_cleanly(
    line: str, taint: Taint
) -> None:
    assert await _taints(_calendar(line, None)) == {taint}


async def test_an_event_too_large_to_be_looked_through_is_a_strangers() -> None:
    filler = "\r\n".join(f"X-FILLER-{n}:{'x' * 100_000}" for n in range(45))
    body = _calendar("", None, filler, STRANGERS[0])

    assert await _taints(body) == {Taint.PUBLIC}
