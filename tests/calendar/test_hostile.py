"""Calendars that mean harm or mean nothing: each gets a sentence, and costs next to nothing."""

import string
from datetime import UTC, datetime, timedelta
from typing import Final

import icalendar
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.calendar.slots import CalendarLimits, SlotFlag, TimeWindow
from tests.calendar.rig import calendar, event, expand, year
from tests.soak import examples
from tests.tables import for_each, table, text_table

START: Final = "DTSTART:20000101T000000Z"
GOOD: Final = event("good", "DTSTART:20261102T090000Z")
# Steps until a rule that never falls is known for one; all else is refused before the first.
LOOK: Final = 21_000


@for_each(("rule", "word"), table(__file__, "rules"))
def test_a_hostile_rule_is_refused_with_a_sentence_before_it_is_expanded(
    rule: str, word: str
) -> None:
    found = expand(calendar(event("bad", START, f"RRULE:{rule}"), GOOD))

    _is_refused(found.refused[0].why, word)
    assert found.refused[0].uid == "bad"
    assert found.steps <= (LOOK if word == "never comes" else 0)
    assert [slot.uid for slot in found.slots] == ["good"]


@for_each(("lines", "word"), table(__file__, "lines"))
def test_a_hostile_line_is_refused_with_a_sentence(lines: list[str], word: str) -> None:
    found = expand(calendar(event("bad", START, *lines), GOOD))

    _is_refused(found.refused[0].why, word)
    assert [slot.uid for slot in found.slots] == ["good"]


def test_a_count_that_must_be_walked_is_walked_only_so_far() -> None:
    rule = "RRULE:FREQ=MINUTELY;COUNT=100000;BYHOUR=3"
    found = expand(calendar(event("bad", START, rule)), limits=CalendarLimits(steps=5_000))

    _is_refused(found.refused[0].why, "ore than 5,000 steps")
    assert found.steps <= 5_001


def test_many_events_that_are_each_allowed_are_refused_once_the_whole_costs_too_much() -> None:
    raw = calendar(*(event(str(n), START, "RRULE:FREQ=DAILY") for n in range(100)))
    found = expand(raw, limits=CalendarLimits(all_steps=10_000))

    assert len({slot.uid for slot in found.slots}) + len(found.refused) == 100
    assert len(found.refused) > 70  # a year and a few days around it fit 26 times
    assert all("as a whole" in each.why for each in found.refused)
    assert found.steps <= 10_000


def test_the_whole_is_counted_where_nothing_can_be_said_ahead() -> None:
    counted = ("DTSTART:20260101T000000Z", "RRULE:FREQ=DAILY;COUNT=300")
    raw = calendar(*(event(str(n), *counted) for n in range(100)))
    found = expand(raw, limits=CalendarLimits(all_steps=10_000))

    assert found.steps <= 10_001
    assert len(found.refused) > 60  # 33 of them fit
    assert all("as a whole" in each.why for each in found.refused)


def test_more_slots_than_a_window_may_hold_are_refused() -> None:
    found = expand(
        calendar(event("bad", "DTSTART:20260101T000000Z", "RRULE:FREQ=HOURLY")),
        limits=CalendarLimits(slots=1_000),
    )

    _is_refused(found.refused[0].why, "at most 1,000 are taken")
    assert found.steps == 0


def test_a_zone_that_turns_its_clocks_without_end_is_refused() -> None:
    zone = (
        "BEGIN:VTIMEZONE\nTZID:My/Clock\nBEGIN:STANDARD\nDTSTART:20000101T000000\n"
        "TZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=MINUTELY\nEND:STANDARD\nEND:VTIMEZONE\n"
    )
    found = expand(calendar(zone, event("bad", "DTSTART;TZID=My/Clock:20261102T090000"), GOOD))

    _is_refused(found.refused[0].why, "YEARLY")
    assert [slot.uid for slot in found.slots] == ["good"]


def test_a_long_text_is_cut_and_says_so() -> None:
    found = expand(calendar(event("a", "DTSTART:20261102T090000Z", "DESCRIPTION:" + "x" * 30_000)))

    (slot,) = found.slots
    assert len(slot.description) == 20_000
    assert SlotFlag.CUT in slot.flags


def test_alarms_are_passed_over_however_deep_and_many() -> None:
    alarm = (
        "BEGIN:VALARM",
        "ACTION:PROCEDURE",
        "ATTACH:file:///bin/sh",
        "REPEAT:1000000000",
        "DURATION:PT1S",
        "TRIGGER:-PT1S",
        "END:VALARM",
    )
    found = expand(calendar(event("a", "DTSTART:20261102T090000Z", *(alarm * 500))))

    assert len(found.slots) == 1
    assert found.refused == ()


@for_each(
    ("raw", "word"),
    [
        (b"", "no calendar"),
        (b"<html>Not found</html>", "no calendar"),
        (b"\x00\xff" * 1000, "no calendar"),
        (calendar(GOOD)[:-15], "cut short"),
        (calendar(GOOD).replace(b"END:VEVENT", b"END:VTODO"), "not what was begun"),
        (b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\n" * 100, "nested"),
        (b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\nEND:VEVENT\n" * 50_000, "40,000 components"),
        (b"BEGIN:VCALENDAR\n" + b"X" * (17 << 20), "at most 16 MB"),
    ],
)
def test_a_file_that_cannot_be_taken_whole_is_refused_whole(raw: bytes, word: str) -> None:
    found = expand(raw)

    assert found.slots == ()
    assert [each.uid for each in found.refused] == [""]
    _is_refused(found.refused[0].why, word)


def test_an_event_without_a_uid_is_refused_alone() -> None:
    nameless = event("x", "DTSTART:20261102T090000Z").replace("UID:x\n", "")
    found = expand(calendar(nameless, nameless, GOOD))

    assert [each.why for each in found.refused] == ["'x' has no UID to know it again by."] * 2
    assert [slot.uid for slot in found.slots] == ["good"]


def test_the_ends_of_time_are_refused_not_crashed_into() -> None:
    early = event("early", "DTSTART;TZID=Asia/Tokyo:00010101T000000", "RRULE:FREQ=YEARLY;COUNT=2")
    late = event("late", "DTSTART:99991231T235959Z", "DURATION:P1000D")
    span = TimeWindow(
        datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999, tzinfo=UTC)
    )
    found = expand(calendar(early, late), span)

    assert {each.uid for each in found.refused} == {"early", "late"}
    assert expand(calendar(late)).refused


# Whatever comes -----------------------------------------------------------------------------------

_NAMES: Final = text_table(__file__, "names")
_VALUES: Final = st.sampled_from(
    (
        "20261102T090000Z",
        "20261102",
        "20261102T0900",
        "PT1H",
        "P1W",
        "VEVENT",
        "",
        "FREQ=DAILY",
        "FREQ=HOURLY;BYDAY=MO",
        "FREQ=WEEKLY;UNTIL=20261101",
        "a",
        "20261102T090000/PT1H",
        "CANCELLED",
        "FREQ=YEARLY;BYWEEKNO=-53;BYDAY=SU",
    )
) | st.text(string.printable, max_size=30)


@given(st.lists(st.builds("{}:{}".format, st.sampled_from(_NAMES), _VALUES), max_size=8))
@settings(max_examples=examples(200), deadline=None)
def test_any_lines_give_slots_or_a_sentence_and_never_a_crash(lines: list[str]) -> None:
    found = expand(calendar(event("a", *lines), GOOD))

    assert all(each.why.endswith(".") for each in found.refused)
    assert all(year().since <= slot.start < year().until for slot in found.slots)
    assert all(slot.end >= slot.start for slot in found.slots)


def test_a_text_folded_within_a_letter_is_whole_again() -> None:
    folded = (
        "Grüße an alle".encode().replace(b"\xc3\xbc", b"\xc3\r\n \xbc").replace(b"a", b"\r\n\ta")
    )
    raw = calendar(event("a", "DTSTART:20261102T090000Z")).replace(
        b"SUMMARY:a", b"SUMMARY:" + folded
    )

    (slot,) = expand(raw).slots

    assert slot.summary == "Grüße an alle"


@given(st.binary(max_size=400))
@settings(max_examples=examples(100), deadline=None)
def test_any_bytes_give_a_sentence(raw: bytes) -> None:
    assert len(expand(b"BEGIN:VCALENDAR\r\n" + raw).refused) == 1


@given(st.text(st.characters(exclude_categories=["C"]), max_size=200), st.integers(0, 10**6))
@settings(max_examples=examples(100), deadline=None)
def test_words_come_through_as_another_program_wrote_them(said: str, minutes: int) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes % 500_000)
    written = icalendar.Event()
    written.add("uid", "a")
    written.add("dtstart", start)
    written.add("summary", said)
    written.add("description", said)
    whole = icalendar.Calendar()
    whole.add_component(written)

    (slot,) = expand(whole.to_ical()).slots

    assert (slot.start, slot.summary, slot.description) == (start, said, said)


def _is_refused(why: str, word: str) -> None:
    assert word in why
    assert why.endswith(".")
    assert why[0].isupper() or why[0] == "'"
    assert len(why) < 200
