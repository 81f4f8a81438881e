"""Expands a calendar's bytes into slots, within a window and in the owner's zone.

Nothing here asks a clock or a server. What cannot be kept to the letter is refused with a sentence:
a line of the event itself refuses all of its UID, for half of it would start at times nobody wrote;
a line of a change refuses what it changes. Everything else in the calendar goes on.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, time
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.calendar import entry, lines, series
from remit.calendar.entry import BrokenChange, CalendarEntry
from remit.calendar.expansion import (
    CalendarLimits,
    CalendarRefusal,
    CalendarSlot,
    Expansion,
    ExpansionBudget,
    TimeWindow,
    UnfitCalendar,
)
from remit.calendar.lines import CalendarComponent
from remit.calendar.series import EventOccurrence, ExpansionContext
from remit.calendar.zones import Zones

MORNING: Final = time(9)
DEFAULT: Final = CalendarLimits()
_LONGEST_UID: Final = 1_000


def slots(
    raw: bytes,
    window: TimeWindow,
    zone: ZoneInfo,
    limits: CalendarLimits = DEFAULT,
    *,
    all_day_at: time = MORNING,
) -> Expansion:
    """Return every slot that starts in the window, and the refusals; it never raises."""
    budget = ExpansionBudget(limits)
    try:
        components = lines.read(raw, limits)
    except UnfitCalendar as unfit:
        return Expansion((), (CalendarRefusal("", str(unfit)),))
    zones = Zones([each for each in components if each.name == "VTIMEZONE"], window, budget)
    home = ExpansionContext(window, zone, all_day_at, zones, budget)
    found: list[CalendarSlot] = []
    refused: list[CalendarRefusal] = []
    for thing in _by_uid(components):
        slots_of_it, refusals = _expanded(thing, home)
        found += slots_of_it
        refused += refusals
    found.sort(key=lambda slot: (slot.start, slot.uid, slot.key))
    return Expansion(tuple(found), tuple(refused), budget.spent)


class _EventParts(Struct, frozen=True):
    """All components that share a UID."""

    uid: str
    parts: list[CalendarComponent]


def _by_uid(components: Sequence[CalendarComponent]) -> Iterator[_EventParts]:
    by_uid: dict[tuple[str, str], list[CalendarComponent]] = {}
    for each in components:
        if each.name == "VTIMEZONE":
            continue
        uid = each.says("UID").strip()[:_LONGEST_UID]
        if uid:
            by_uid.setdefault((each.name, uid), []).append(each)
        else:
            yield _EventParts("", [each])  # refused alone, not with others without a UID
    yield from (_EventParts(uid, parts) for (_, uid), parts in by_uid.items())


def _expanded(
    thing: _EventParts, home: ExpansionContext
) -> tuple[list[CalendarSlot], list[CalendarRefusal]]:
    home.budget.begin()
    if not thing.uid:
        named = thing.parts[0].says("SUMMARY")
        why = thing.parts[0].fault or f"{named!r:.60} has no UID to know it again by"
        return [], [CalendarRefusal("", _sentence(why))]
    try:
        entries, broken = _read_entries(thing, home)
        found = series.occurrences(entries, broken, home)
        refused = [
            CalendarRefusal(thing.uid, _sentence(str(each)), one_change=True) for each in broken
        ]
        return [_slot(thing.uid, each, home) for each in found], refused
    except UnfitCalendar as unfit:
        return [], [CalendarRefusal(thing.uid, _sentence(str(unfit)))]
    except (OverflowError, ValueError):
        # Arithmetic at either end of the calendar; nobody meant such a year.
        return [], [CalendarRefusal(thing.uid, "It reaches beyond the years 1 to 9999.")]


def _read_entries(
    thing: _EventParts, home: ExpansionContext
) -> tuple[list[CalendarEntry], list[BrokenChange]]:
    """The event and its changes; a change that cannot be read is refused alone."""
    entries: list[CalendarEntry] = []
    broken: list[BrokenChange] = []
    for part in thing.parts:
        try:
            entries.append(entry.read(part, home.zones, home.zone, home.budget.limits))
        except UnfitCalendar as unfit:
            change = entry.broken_change(part, home.zones, str(unfit))
            if change is None:
                raise
            broken.append(change)
    return entries, broken


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."


def _slot(uid: str, each: EventOccurrence, home: ExpansionContext) -> CalendarSlot:
    start = each.start.astimezone(UTC)
    return CalendarSlot(
        uid=uid,
        key=each.key,
        start=start,
        end=each.end.astimezone(UTC),
        all_day=each.entry.start.day,
        local=start.astimezone(home.zone),
        flags=each.flags | each.entry.flags,
        summary=each.entry.summary,
        description=each.entry.description,
        kind=each.entry.kind,
    )
