"""Parses one event or to-do: its values, times, rules, and the occurrence it overrides."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.calendar.ics import OURS, CalendarComponent, CalendarProperty
from remit.calendar.slots import CalendarLimits, EntryKind, SlotFlag, UnfitCalendar, read_rule
from remit.calendar.zones import Zones, instant
from remit.model.caller import ORGANIZER, OWNER_ORGANIZES
from remit.model.codec import JsonMap, stamp
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId, SessionId
from remit.model.recurrence import RecurrenceRule
from remit.model.task import Creator, Cue, Source, SourceKind, Taint
from remit.store.occurrences import StoredOccurrence

_STAMP: Final = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z?))?"
)
_SPAN: Final = re.compile(
    r"([+-]?)P(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?"
    r"(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?"
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_LAST_SECOND: Final = 59


class CalendarTime(Struct, frozen=True):
    """A date, or a wall time; without a zone it floats."""

    wall: datetime  # naive; midnight for a date
    zone: tzinfo | None = None
    day: bool = False

    def __str__(self) -> str:
        return f"{self.wall:%Y-%m-%d}" if self.day else f"{self.wall:%Y-%m-%d %H:%M}"


class CalendarDuration(Struct, frozen=True):
    """A length: whole wall days, and the rest in seconds."""

    days: int = 0
    rest: timedelta = timedelta(0)


def parse_times(lines: list[CalendarProperty], zones: Zones) -> list[CalendarTime]:
    """Parse every date or time in a list of properties, such as all EXDATEs of an event."""
    return [
        parse_time(one, line.params, zones)
        for line in lines
        for one in line.value.split(",")
        if one
    ]


def parse_time(text: str, params: dict[str, str], zones: Zones) -> CalendarTime:
    """Parse one date or time; a TZID gives its zone, a Z means UTC."""
    found = _STAMP.fullmatch(text.strip())
    if found is None:
        raise UnfitCalendar(f"{text!r:.40} is no date or time; one looks like 20261104T090000")
    year, month, day, hour, minute, second, utc = found.groups()
    try:
        if hour is None:
            return CalendarTime(datetime(int(year), int(month), int(day)), day=True)  # noqa: DTZ001 - a wall
        # A leap second has no wall time; it counts as the second before.
        last = min(int(second), _LAST_SECOND)
        wall = datetime(int(year), int(month), int(day), int(hour), int(minute), last)  # noqa: DTZ001 - a wall
    except ValueError:
        raise UnfitCalendar(f"there is no {text!r:.40} in any year's calendar") from None
    if utc:
        return CalendarTime(wall, UTC)
    return CalendarTime(wall, zones.find(params["TZID"]) if params.get("TZID") else None)


def parse_duration(text: str) -> CalendarDuration:
    """Parse a DURATION; a negative one is refused."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or text.strip()[-1:] in "PT":
        raise UnfitCalendar(f"{text!r:.40} is no duration; one looks like PT30M or P1D")
    sign, weeks, days, hours, minutes, seconds = found.groups(default="0")
    if sign == "-":
        raise UnfitCalendar(f"its duration {text!r:.40} goes back in time")
    rest = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
    return CalendarDuration(int(weeks) * 7 + int(days), rest)


class ExtraDate(Struct, frozen=True):
    """An RDATE: one more start, with its own end if it is a period."""

    start: CalendarTime
    end: CalendarTime | CalendarDuration | None = None


def parse_extra_dates(lines: list[CalendarProperty], zones: Zones) -> list[ExtraDate]:
    """Parse every RDATE: a date, a time or a period."""
    found: list[ExtraDate] = []
    for line in lines:
        for one in line.value.split(","):
            first, slash, last = one.partition("/")
            if not slash:
                found += [ExtraDate(parse_time(first, line.params, zones))] if first else []
            elif "P" in last:
                found.append(ExtraDate(parse_time(first, line.params, zones), parse_duration(last)))
            else:
                end = parse_time(last, line.params, zones)
                found.append(ExtraDate(parse_time(first, line.params, zones), end))
    return found


def plain_text(raw: str) -> str:
    """Return a text without its escapes."""
    if "\\" not in raw:
        return raw
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], raw)


_ONE_DAY: Final = CalendarDuration(days=1)
_KINDS: Final = {"VEVENT": EntryKind.EVENT, "VTODO": EntryKind.TODO}


class CalendarEntry(Struct, frozen=True):
    uid: str
    kind: EntryKind
    start: CalendarTime
    length: CalendarDuration
    rules: tuple[RecurrenceRule, ...]
    extras: tuple[ExtraDate, ...]
    excluded: tuple[CalendarTime, ...]
    replaces: CalendarTime | None  # RECURRENCE-ID: the occurrence it overrides
    onward: bool  # and all that follow it
    sequence: int
    summary: str
    description: str
    flags: frozenset[SlotFlag]

    @property
    def repeats(self) -> bool:
        return bool(self.rules or self.extras)


def read(
    component: CalendarComponent, zones: Zones, home: tzinfo, limits: CalendarLimits
) -> CalendarEntry:
    """Parse an event or a to-do; raise UnfitCalendar if a part is not supported."""
    if component.fault:
        raise UnfitCalendar(component.fault)
    if _non_empty_properties(component, "EXRULE"):
        raise UnfitCalendar("it has an EXRULE, which RFC 5545 took out; EXDATE would be understood")
    kind = _KINDS[component.name]
    start, length = _times(component, kind, zones, home)
    replaces, onward = _replaces(component, zones)
    # An override does not repeat, whatever rule a client copied into it.
    written = [] if replaces else _non_empty_properties(component, "RRULE")
    if len(written) > limits.rules:
        raise UnfitCalendar(f"it has {len(written)} rules; at most {limits.rules} are taken")
    summary, description, flags = _texts_and_flags(component, kind, limits)
    return CalendarEntry(
        uid=component.says("UID").strip(),
        kind=kind,
        start=start,
        length=length,
        rules=tuple(read_rule(line.value, limits) for line in written),
        extras=() if replaces else tuple(parse_extra_dates(component.properties("RDATE"), zones)),
        excluded=() if replaces else tuple(parse_times(component.properties("EXDATE"), zones)),
        replaces=replaces,
        onward=onward,
        sequence=_sequence(component),
        summary=summary,
        description=description,
        flags=flags,
    )


def measure(start: CalendarTime, end: CalendarTime, home: tzinfo) -> CalendarDuration:
    """Return the length from start to end; raise UnfitCalendar if the end comes first.

    With a timed start and a date as end, it lasts until the end of that day.
    """
    if end.day and not start.day:
        end = replace(start, wall=end.wall + timedelta(days=1))
    if start.day != end.day:
        raise UnfitCalendar(f"it starts {start} and ends {end}: one is a day and the other a time")
    if start.day:
        length = CalendarDuration(days=(end.wall - start.wall).days)
        negative = length.days < 0
    else:
        begun = instant(start.wall, start.zone or home)[0]
        length = CalendarDuration(rest=instant(end.wall, end.zone or home)[0] - begun)
        negative = length.rest < timedelta(0)
    if negative:
        raise UnfitCalendar(f"it ends ({end}) before it starts ({start})")
    return length


def end_of(start: datetime, wall: datetime, zone: tzinfo, length: CalendarDuration) -> datetime:
    """Return when it ends: days are wall days, hours are elapsed."""
    if not length.days:
        return start + length.rest
    return instant(wall + timedelta(days=length.days), zone)[0] + length.rest


def _times(
    component: CalendarComponent, kind: EntryKind, zones: Zones, home: tzinfo
) -> tuple[CalendarTime, CalendarDuration]:
    ends = "DTEND" if kind is EntryKind.EVENT else "DUE"
    start, end = _stamp(component, "DTSTART", zones), _stamp(component, ends, zones)
    if start is None and kind is EntryKind.TODO:
        start = end  # a to-do with only a due time starts then
    if start and end and start.day and not end.day and kind is EntryKind.TODO:
        start = _due(start, end, repeats=bool(_non_empty_properties(component, "RRULE", "RDATE")))
    if start is None:
        wants = "DTSTART" if kind is EntryKind.EVENT else "DTSTART or DUE"
        raise UnfitCalendar(f"it has no {wants}, so nothing says when it starts")
    if end is not None:
        return start, measure(start, end, home)
    lasts = _non_empty_properties(component, "DURATION")
    if lasts:
        length = parse_duration(lasts[0].value)
        if start.day and length.rest:
            raise UnfitCalendar(
                f"it starts {start}, a day, and lasts hours; days would be understood"
            )
        return start, length
    return start, _ONE_DAY if start.day and kind is EntryKind.EVENT else CalendarDuration()


def _due(start: CalendarTime, due: CalendarTime, *, repeats: bool) -> CalendarTime:
    """Return the start of a to-do that starts on a date and is due at a time.

    It starts when it is due. If it repeats, its rule gives the days, each at the due time.
    """
    if due.wall + timedelta(days=1) < start.wall:  # zones may be a day apart
        raise UnfitCalendar(f"it is due ({due}) before it starts ({start})")
    return replace(due, wall=datetime.combine(start.wall, due.wall.time())) if repeats else due


def _non_empty_properties(component: CalendarComponent, *names: str) -> list[CalendarProperty]:
    """Return the properties of these names that are not empty; clients leave empty ones."""
    return [line for name in names for line in component.properties(name) if line.value.strip("; ")]


def _stamp(component: CalendarComponent, name: str, zones: Zones) -> CalendarTime | None:
    line = next(iter(_non_empty_properties(component, name)), None)
    return parse_time(line.value, line.params, zones) if line else None


class BrokenChange(Struct, frozen=True):
    """A change of an occurrence, or of all from there on, that cannot be kept to the letter.

    When that occurrence starts nobody knows, so it starts nothing; the others are as they were.
    """

    replaces: CalendarTime
    onward: bool
    sequence: int
    why: str

    def __str__(self) -> str:
        those = "all from then on" if self.onward else "that one"
        return (
            f"only its change of {self.replaces} is refused: {self.why}. So {those} starts "
            "nothing, and the others do"
        )


def broken_change(component: CalendarComponent, zones: Zones, why: str) -> BrokenChange | None:
    """Return the change that cannot be read; None if the whole event is refused."""
    replaces, onward = _replaces(component, zones)
    return BrokenChange(replaces, onward, _sequence(component), why) if replaces else None


def _replaces(component: CalendarComponent, zones: Zones) -> tuple[CalendarTime | None, bool]:
    line = component.first("RECURRENCE-ID")
    if line is None:
        return None, False
    reach = line.params.get("RANGE", "").upper()
    if reach not in ("", "THISANDFUTURE"):
        raise UnfitCalendar(
            f"its RECURRENCE-ID has RANGE={reach:.20}; THISANDFUTURE would be understood"
        )
    return parse_time(line.value, line.params, zones), bool(reach)


def _sequence(component: CalendarComponent) -> int:
    text = component.says("SEQUENCE").strip()
    return int(text) if text.isdecimal() and len(text) < 12 else 0  # noqa: PLR2004 - any number


def _texts_and_flags(
    component: CalendarComponent, kind: EntryKind, limits: CalendarLimits
) -> tuple[str, str, frozenset[SlotFlag]]:
    flags: set[SlotFlag] = set()
    summary = plain_text(component.says("SUMMARY"))
    description = plain_text(component.says("DESCRIPTION"))
    if max(len(summary), len(description)) > limits.text:
        flags.add(SlotFlag.CUT)
    status = component.says("STATUS").strip().upper()
    if status == "CANCELLED":
        flags.add(SlotFlag.CANCELLED)
    if kind is EntryKind.TODO and (status == "COMPLETED" or component.first("COMPLETED")):
        flags.add(SlotFlag.COMPLETED)
    return summary[: limits.text], description[: limits.text], frozenset(flags)


_FOLD: Final = re.compile(r"\r?\n[ \t]")
_MOST_READ: Final = 4_000_000  # characters


def uid(body: str) -> str:
    """Return the first UID; empty if there is none."""
    return next(_values(body, "UID"), "").strip()[:1000]


def is_ours(body: str) -> bool:
    return next(_values(body, OURS), None) is not None


def value(body: str, name: str) -> str:
    """Return the value of the first property of a name; empty if there is none."""
    return next(_values(body, name), "").strip()


def _values(body: str, name: str) -> Iterator[str]:
    """Yield the values of every property of a name, unfolded; parameters may hold quoted colons."""
    found = re.compile(rf'^{name}(?:;(?:"[^"\n]*"|[^":\n])*)?:(.*)$', re.MULTILINE | re.IGNORECASE)
    for each in found.finditer(_FOLD.sub("", body[:_MOST_READ])):
        yield each[1].rstrip("\r")


MAX_UID_CHARACTERS: Final = 400  # of an event's UID; a longer one is hashed


def cue_of(each: StoredOccurrence, series: SeriesId, session: SessionId) -> Cue:
    """Make the cue of a start: its summary is the title, its description the text."""
    context: JsonMap = {"calendar": each.account, "uid": each.uid}
    context["slot"] = each.key or stamp(each.start)
    if each.taint is Taint.OWNER:
        context[ORGANIZER] = OWNER_ORGANIZES
    return Cue(
        source=Source(SourceKind.CALDAV, _reference(each)),
        title=each.title,
        text=each.text or each.title,
        delivery=(Delivery("dashboard"),),
        context=context,
        scheduled_for=each.start,
        session_id=session,
        series_id=series if each.key else None,
        slot=_slot_of(each),
        created_by=Creator.SCHEDULER,
        taint=each.taint,
    )


def _slot_of(each: StoredOccurrence) -> datetime:
    """Return its slot in the series: the instant its rule gave, however it is moved."""
    for form in ("%Y%m%dT%H%M%SZ", "%Y%m%dT%H%M%S", "%Y%m%d"):
        with suppress(ValueError):
            return datetime.strptime(each.key, form).replace(tzinfo=UTC)
    return each.start


def _reference(each: StoredOccurrence) -> str:
    """Return the permanent ref of a start: its event and its key, on whatever server."""
    uid = each.uid
    if len(uid) > MAX_UID_CHARACTERS or not uid.isprintable():
        uid = "sha256-" + hashlib.sha256(uid.encode("utf-8", "replace")).hexdigest()
    again = f"#{each.tries}" if each.tries else ""
    return f"{uid}:{each.key}{again}"
