"""The occurrences of one UID: its rules and dates, minus exclusions, with overrides.

The key of an occurrence is the start its rule gave it. So the key stays the same when one
occurrence is moved, or when it and all later ones are moved.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.calendar import slots
from remit.calendar.entry import (
    BrokenChange,
    CalendarDuration,
    CalendarEntry,
    CalendarTime,
    end_of,
    measure,
    parse_time,
)
from remit.calendar.slots import ExpansionBudget, SlotFlag, TimeWindow, UnfitCalendar
from remit.calendar.zones import Zones, instant, wall_of
from remit.model import recurrence_times
from remit.model.recurrence import RecurrenceRule

_SLACK: Final = timedelta(days=2)  # zones are at most 26 hours apart
_DAY: Final = timedelta(days=1)
_NONE: Final = timedelta(0)
_MIDNIGHT: Final = time()


class ExpansionContext(Struct, frozen=True):
    """The window, the owner's zone and morning, the calendar's zones, and the budget."""

    window: TimeWindow
    zone: ZoneInfo
    all_day_at: time
    zones: Zones
    budget: ExpansionBudget


class EventOccurrence(Struct, frozen=True):
    entry: CalendarEntry
    key: str
    start: datetime
    end: datetime
    flags: frozenset[SlotFlag]


class _Origin(Struct, frozen=True):
    """The place of an occurrence by its rule or date, before any override."""

    wall: datetime
    at: datetime
    flags: frozenset[SlotFlag] = frozenset()
    length: CalendarDuration | None = None


def occurrences(
    entries: Sequence[CalendarEntry], broken: list[BrokenChange], home: ExpansionContext
) -> list[EventOccurrence]:
    """Return the occurrences that start in the window, changed and cancelled ones too.

    What `broken` changes is left out; a change that turns out to be broken is added to it.
    """
    # Of several the one with the highest SEQUENCE counts, or the last of those.
    series = [each for each in reversed(entries) if each.replaces is None]
    whole = max(series, key=lambda each: each.sequence, default=None)
    if whole is None:
        return [one for each in entries for one in _occurrences_of_lone_override(each, home)]
    if not whole.repeats and len(entries) == 1 and not broken:
        return _in_window([_put(whole, "", _origin(whole.start, home), home)], home)
    changes, onward = _changes(whole, entries, broken, home)
    origins = _origins(whole, [each.by for each in onward], home)
    lost = [(_origin_like_start(each.replaces, whole.start, home).at, each) for each in broken]
    changes = {at: change for at, change in changes.items() if not _is_lost(at, lost, change[1])}
    single = {*changes, *(at for at, each in lost if not each.onward)}
    end = min((at for at, each in lost if each.onward), default=None)
    found = [
        _occurrence_by_rule(whole, each, onward, home)
        for each in origins
        if each.at not in single and (end is None or each.at < end)
    ]
    found += [_changed_occurrence(whole.start, *change, home) for change in changes.values()]
    found = _in_window(found, home)
    if len(found) > home.budget.limits.slots:
        raise UnfitCalendar(
            f"it falls {len(found):,} times in the window; "
            f"at most {home.budget.limits.slots:,} are taken"
        )
    return found


def _is_lost(
    at: datetime, lost: list[tuple[datetime, BrokenChange]], change: CalendarEntry
) -> bool:
    """Whether a broken change counts instead of this one, for it is as new."""
    return any(at == where and each.sequence >= change.sequence for where, each in lost)


def _in_window(found: list[EventOccurrence], home: ExpansionContext) -> list[EventOccurrence]:
    since, until = home.window.since, home.window.until
    return [each for each in found if since <= each.start < until]


# From rules and dates -----------------------------------------------------------------------------


def _origins(
    whole: CalendarEntry, shifts: list[timedelta], home: ExpansionContext
) -> list[_Origin]:
    """Return everything the rules and dates name in reach of the window, each instant once."""
    by_at: dict[datetime, _Origin] = {}
    days, instants = _taken_out(whole, home)
    every = [
        origin for rule in whole.rules for origin in _origins_by_rule(whole, rule, shifts, home)
    ]
    every += _origins_by_date(whole, home)
    for origin in every:
        if origin.at in instants or (days and origin.wall.date() in days):
            continue
        known = by_at.get(origin.at)
        # A time in a gap may fall on an existing one; then that one counts.
        if known is None or SlotFlag.GAP in known.flags or origin.length:
            by_at[origin.at] = origin
    return list(by_at.values())


def _origins_by_rule(
    whole: CalendarEntry, rule: RecurrenceRule, shifts: list[timedelta], home: ExpansionContext
) -> Iterator[_Origin]:
    zone, first = _zone(whole.start, home), whole.start.wall
    since = wall_of(home.window.since, zone) - _SLACK - max([_NONE, *shifts])
    until = wall_of(home.window.until, zone) + _SLACK - min([_NONE, *shifts])
    last = _until(whole.start, rule, home)
    if last is not None:
        until = min(until, last.wall + _DAY)
    counted = rule.freq in recurrence_times.COUNTED
    if counted and whole.start.day:
        raise UnfitCalendar(
            f"it is a whole day and repeats {rule.freq}; DAILY is the most often it can"
        )
    slots.check(rule, first, (since, until), home.budget)
    made = _by_ticks if counted else _by_walls
    some = False
    for origin in made(whole.start, rule, (since, until), home):
        some = some or origin.wall != first
        if last is None or origin.at <= last.at:
            yield origin
    if not some:
        slots.must_fall(rule, first.replace(tzinfo=UTC) if counted else first, home.budget)


def _by_walls(
    start: CalendarTime, rule: RecurrenceRule, reach: recurrence_times.Reach, home: ExpansionContext
) -> Iterator[_Origin]:
    for wall in recurrence_times.walls(rule, start.wall, reach, home.budget.spend):
        yield _origin(replace(start, wall=wall), home)


def _by_ticks(
    start: CalendarTime, rule: RecurrenceRule, reach: recurrence_times.Reach, home: ExpansionContext
) -> Iterator[_Origin]:
    zone = _zone(start, home)
    span = (instant(reach[0], zone)[0], instant(reach[1], zone)[0])
    begun = instant(start.wall, zone)[0]
    for at in recurrence_times.ticks(rule, begun, zone, span, home.budget.spend):
        wall = wall_of(at, zone)
        twice = instant(wall, zone)[1] == "fold"
        yield _Origin(wall, at, frozenset({SlotFlag.FOLD}) if twice else frozenset())


def _until(start: CalendarTime, rule: RecurrenceRule, home: ExpansionContext) -> _Origin | None:
    """The last moment a rule may fall on, whichever way UNTIL is spelt.

    RFC 5545 wants UTC for a start with a zone, and else the kind of the start. Clients also write
    dates and naive times: a date covers that whole day, a naive time is on the wall of the start. A
    Z at the end of a floating one is ignored.
    """
    if not rule.until:
        return None
    read = parse_time(rule.until, {}, home.zones)
    if start.day:
        return _origin(CalendarTime(_day_of(read, home), day=True), home)
    if read.day:
        read = CalendarTime(read.wall + _DAY - timedelta(seconds=1))
    zone = _zone(start, home)
    if read.zone is None or start.zone is None:
        return _Origin(read.wall, instant(read.wall, zone)[0])
    at = instant(read.wall, read.zone)[0]
    return _Origin(wall_of(at, zone), at)


def _origins_by_date(whole: CalendarEntry, home: ExpansionContext) -> Iterator[_Origin]:
    """Yield the start itself if no rule gives it, and every RDATE."""
    if not whole.rules:
        yield _origin(whole.start, home)
    for extra in whole.extras:
        origin = _origin_like_start(extra.start, whole.start, home)
        if extra.end is None:
            yield origin
        elif isinstance(extra.end, CalendarDuration):
            yield replace(origin, length=extra.end)
        else:
            yield replace(origin, length=measure(extra.start, extra.end, home.zone))


def _taken_out(whole: CalendarEntry, home: ExpansionContext) -> tuple[set[object], set[datetime]]:
    """Return the EXDATEs: whole days, and instants."""
    days: set[object] = set()
    instants: set[datetime] = set()
    for each in whole.excluded:
        if each.day and not whole.start.day:
            days.add(each.wall.date())
        else:
            instants.add(_origin_like_start(each, whole.start, home).at)
    return days, instants


# Kinds of start -----------------------------------------------------------------------------------


def _zone(start: CalendarTime, home: ExpansionContext) -> tzinfo:
    return start.zone or home.zone


def _origin(start: CalendarTime, home: ExpansionContext) -> _Origin:
    """Return the instant of a start: without a zone in the owner's, a day begins in the morning."""
    wall = datetime.combine(start.wall, home.all_day_at) if start.day else start.wall
    at, turn = instant(wall, _zone(start, home))
    flags = {SlotFlag(turn)} if turn else set()
    return _Origin(start.wall, at, frozenset(flags))


def _origin_like_start(other: CalendarTime, start: CalendarTime, home: ExpansionContext) -> _Origin:
    """Return where another date or time lies, read as the kind of the start."""
    if start.day:
        return _origin(CalendarTime(_day_of(other, home), day=True), home)
    if other.day:
        return _origin(replace(start, wall=datetime.combine(other.wall, start.wall.time())), home)
    if other.zone is None:
        return _origin(replace(start, wall=other.wall), home)
    # The instant counts: on the wall of the start two of them may look the same.
    placed = _origin(other, home)
    return replace(placed, wall=wall_of(placed.at, _zone(start, home)))


def _day_of(other: CalendarTime, home: ExpansionContext) -> datetime:
    """Return the day meant by a time where a date belongs."""
    wall = other.wall
    if other.zone is not None and not other.day:
        here = wall_of(instant(wall, other.zone)[0], home.zone)
        # The owner's midnight in UTC is the day before or the same; otherwise the date counts.
        if here.time() == _MIDNIGHT and wall.time() != _MIDNIGHT:
            wall = here
    return datetime.combine(wall, _MIDNIGHT)


def _key(start: CalendarTime, origin: _Origin) -> str:
    """Return the key of an occurrence; without a zone it survives a move of the owner."""
    if start.day:
        return f"{origin.wall:%Y%m%d}"
    if start.zone is None:
        return f"{origin.wall:%Y%m%dT%H%M%S}"
    return f"{origin.at:%Y%m%dT%H%M%SZ}"


# Changes ------------------------------------------------------------------------------------------


class _Onward(Struct, frozen=True):
    """An override of an occurrence and all that follow it."""

    since: datetime
    by: timedelta  # wall time
    entry: CalendarEntry


def _changes(
    whole: CalendarEntry,
    entries: Sequence[CalendarEntry],
    broken: list[BrokenChange],
    home: ExpansionContext,
) -> tuple[dict[datetime, tuple[_Origin, CalendarEntry]], list[_Onward]]:
    """Return overrides of one occurrence by its original instant, and those that go onward."""
    single: dict[datetime, tuple[_Origin, CalendarEntry]] = {}
    onward: dict[datetime, _Onward] = {}
    # Of two overrides of one occurrence the higher SEQUENCE counts, or the later in the file.
    for each in sorted(entries, key=lambda entry: entry.sequence):
        if each.replaces is None:
            continue
        origin = _origin_like_start(each.replaces, whole.start, home)
        if not each.onward:
            single[origin.at] = (origin, each)
            continue
        try:
            onward[origin.at] = _Onward(origin.at, _shift(whole, origin, each, home), each)
        except UnfitCalendar as unfit:
            broken.append(
                BrokenChange(each.replaces, onward=True, sequence=each.sequence, why=str(unfit))
            )
    return single, [onward[at] for at in sorted(onward)]


def _shift(
    whole: CalendarEntry, origin: _Origin, change: CalendarEntry, home: ExpansionContext
) -> timedelta:
    """Return by how much an override moves what follows, in the series' wall time."""
    if whole.start.day != change.start.day:
        raise UnfitCalendar(
            "a change of all that follows turns a day into a time, or a time into a day"
        )
    if whole.start.day:
        return change.start.wall - origin.wall
    return _origin_like_start(change.start, whole.start, home).wall - origin.wall


def _occurrence_by_rule(
    whole: CalendarEntry, origin: _Origin, onward: list[_Onward], home: ExpansionContext
) -> EventOccurrence:
    """Return an occurrence by its rule, or by the last override that goes onward."""
    key = _key(whole.start, origin)
    change = next((each for each in reversed(onward) if each.since <= origin.at), None)
    if change is None:
        return _put(whole, key, origin, home)
    like = replace(change.entry, start=whole.start)
    if not change.by:
        same = replace(origin, length=None, flags=origin.flags | {SlotFlag.CHANGED})
        return _put(like, key, same, home)
    moved = _origin(replace(whole.start, wall=origin.wall + change.by), home)
    return _put(like, key, replace(moved, flags=moved.flags | {SlotFlag.MOVED}), home)


def _changed_occurrence(
    start: CalendarTime, origin: _Origin, change: CalendarEntry, home: ExpansionContext
) -> EventOccurrence:
    put = _put(change, _key(start, origin), _origin(change.start, home), home)
    flag = SlotFlag.CHANGED if put.start == origin.at else SlotFlag.MOVED
    return replace(put, flags=put.flags | {flag})


def _occurrences_of_lone_override(
    change: CalendarEntry, home: ExpansionContext
) -> list[EventOccurrence]:
    """Return an override whose series is missing: only this one was an invitation."""
    slot = change.replaces or change.start
    return _in_window([_changed_occurrence(slot, _origin(slot, home), change, home)], home)


def _put(
    entry: CalendarEntry, key: str, origin: _Origin, home: ExpansionContext
) -> EventOccurrence:
    start = entry.start
    length = origin.length or entry.length
    # A day ends at midnight, however late in the morning it starts.
    begun = instant(origin.wall, home.zone)[0] if start.day else origin.at
    end = end_of(begun, origin.wall, _zone(start, home), length)
    flags = set(origin.flags)
    if start.day:
        flags.add(SlotFlag.ALL_DAY)
    elif start.zone is None:
        flags.add(SlotFlag.FLOATING)
    return EventOccurrence(entry, key, origin.at, max(end, origin.at), frozenset(flags))
