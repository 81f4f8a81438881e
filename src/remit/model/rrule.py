"""RRULE of iCalendar: the instants it falls on, and its words for a person.

Supported is what the owner's sentences can say: FREQ from minutes to years, INTERVAL, BYMONTH,
BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, COUNT and UNTIL. Anything else is refused by name. Minutes and
hours count elapsed time; days, weeks, months and years keep the wall time. A wall time that does
not exist is moved forward by the length of the gap (02:30 runs at 03:30); one that comes twice runs
the first time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import chain, dropwhile, groupby, islice, takewhile
from typing import Final
from zoneinfo import ZoneInfo

from remit.errors import BadInput, UnknownName
from remit.model import recurrence, recurrence_times
from remit.model.codec import moment
from remit.model.recurrence import DAYS, Freq, RecurrenceRule, Repeats, UnfitRule
from remit.model.recurrence_times import COUNTED

_UNDERSTOOD: Final = frozenset(
    {"FREQ", "INTERVAL", "BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE", "COUNT", "UNTIL"}
)
_MAX_BARREN_STEPS: Final = 40 * 366  # about as many days without a slot: none is expected any more
_MAX_NTH: Final = 5  # weekdays of one name in a month
_UNTIL: Final = "%Y%m%dT%H%M%SZ"
_DAY: Final = timedelta(days=1)


class ClockChange(StrEnum):
    """A clock change at a slot."""

    GAP = "gap"  # its wall time does not exist; it runs later by the length of the gap
    FOLD = "fold"  # its wall time comes twice; it runs the first time


def slots(repeats: Repeats, after: datetime) -> Iterator[datetime]:
    """Yield the instants after a moment, in UTC and in order; `first` is always a slot."""
    rule, zone = read(repeats.rule), zone_of(repeats.zone)
    first, until = repeats.first, _until(rule)
    # Who counts must begin at the beginning.
    since = first if rule.count is not None else max(after, first)
    whole = islice(chain([first], _later(rule, zone, first, since)), rule.count)
    found = dropwhile(lambda slot: slot <= after, whole)
    return found if until is None else takewhile(lambda slot: slot <= until, found)


def flags(repeats: Repeats, slot: datetime) -> frozenset[ClockChange]:
    """Return whether the wall time of a slot was moved, or comes twice."""
    rule, zone = read(repeats.rule), zone_of(repeats.zone)
    local = slot.astimezone(zone)
    first, second = (local.replace(fold=fold).utcoffset() for fold in (0, 1))
    found = {ClockChange.FOLD} if first != second else set[ClockChange]()
    if rule.freq not in COUNTED and slot != repeats.first:
        anchor = repeats.first.astimezone(zone)
        hours, minutes = rule.hours or (anchor.hour,), rule.minutes or (anchor.minute,)
        if local.hour not in hours or local.minute not in minutes:
            found.add(ClockChange.GAP)
    return frozenset(found)


def zone_of(name: str) -> ZoneInfo:
    """A zone by its name; an unknown one is refused."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        sentence = f"There is no time zone {name!r:.60}; one looks like Europe/Berlin."
        raise UnknownName(sentence, field="zone") from None


def read(text: str) -> RecurrenceRule:
    """Read a rule; what cannot be kept to the letter is refused."""
    for part in text.removeprefix("RRULE:").split(";"):
        name, _, value = part.partition("=")
        if name not in _UNDERSTOOD or value != value.strip().upper():
            raise _bad(text, f"{part!r:.60} is not understood")
    try:
        rule = recurrence.read(text.removeprefix("RRULE:"))
        _until(rule)
    except UnfitRule as unfit:
        raise _bad(text, f"it {unfit}") from None
    except ValueError:
        raise _bad(text, f"UNTIL={rule.until:.60} is not understood") from None
    return _sound(text, rule)


def _sound(text: str, rule: RecurrenceRule) -> RecurrenceRule:
    """Refuse what would mean something else here than elsewhere."""
    if rule.freq in COUNTED and (rule.hours or rule.minutes):
        raise _bad(text, "BYHOUR and BYMINUTE need FREQ=DAILY or a longer one")
    of_month = rule.freq is Freq.MONTHLY or rule.months
    if any(abs(day.nth) > (_MAX_NTH if of_month else 0) for day in rule.weekdays):
        raise _bad(text, "BYDAY with a number needs a month, and a number up to 5")
    if rule.count is not None and rule.until:
        raise _bad(text, "COUNT and UNTIL exclude each other")
    return rule


def _bad(text: str, why: str) -> BadInput:
    example = "FREQ=WEEKLY;BYDAY=MO;BYHOUR=8;BYMINUTE=30"
    return BadInput(
        f"The rule {text!r:.120} cannot be kept: {why}. One is {example}.", field="rule"
    )


def _until(rule: RecurrenceRule) -> datetime | None:
    return datetime.strptime(rule.until, _UNTIL).replace(tzinfo=UTC) if rule.until else None


def _later(
    rule: RecurrenceRule, zone: ZoneInfo, first: datetime, since: datetime
) -> Iterator[datetime]:
    """Yield the instants after the first one, each once, from about `since` on."""
    last = first
    barren = _BarrenSteps()
    try:
        for slot in _instants(rule, zone, first, since, barren.spend):
            if slot > last:
                barren.steps, last = 0, slot
                yield slot
    except (_NothingFound, OverflowError):  # or time itself ends
        return


def _instants(
    rule: RecurrenceRule,
    zone: ZoneInfo,
    first: datetime,
    since: datetime,
    spend: recurrence_times.Spend,
) -> Iterator[datetime]:
    if rule.freq in COUNTED:
        yield from recurrence_times.matches(rule, first, since, spend, zone)
        return
    anchor, start = (at.astimezone(zone).replace(tzinfo=None, fold=0) for at in (first, since))
    walls = recurrence_times.matches(rule, anchor, max(anchor, start - _DAY), spend)
    for _, day in groupby(walls, key=datetime.date):
        # A time that the clocks leave out may come after one that stands behind it on the wall.
        yield from sorted(wall.replace(tzinfo=zone).astimezone(UTC) for wall in day)


class _NothingFound(Exception):
    pass


class _BarrenSteps:
    """Counts the steps since a slot was found, and ends the search after too many."""

    def __init__(self) -> None:
        self.steps = 0

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > _MAX_BARREN_STEPS:
            raise _NothingFound


DAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_UNITS: Final = {
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_MOST_WALLS: Final = 4  # times of day listed one by one
_NTH: Final = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}


def in_words(repeats: Repeats) -> str:
    """Return a rule in words: "every Monday and Friday at 08:30 (Europe/Berlin)"."""
    parts = dict(part.split("=", 1) for part in repeats.rule.split(";") if "=" in part)
    unit, every = _UNITS.get(parts.get("FREQ", "")), parts.get("INTERVAL", "1")
    if unit is None:
        return repeats.rule
    often = f"every {unit}" if every == "1" else f"every {every} {unit}s"
    days = _days(parts)
    if days and unit in ("week", "day") and every == "1":
        often = f"every {days}"
    elif days:
        often = f"{often}, on {days}"
    return f"{often}{_clock(parts)}{_until_rhythm(parts)} ({repeats.zone})"


def _days(parts: dict[str, str]) -> str:
    named = parts.get("BYDAY", "")
    if named == _WORKDAYS:
        return "weekday"
    if named:
        return _list([_day(each) for each in named.split(",")])
    dates = parts.get("BYMONTHDAY", "")
    if not dates:
        return ""
    month = parts.get("BYMONTH", "")
    text = _list(["the last day" if each == "-1" else f"day {each}" for each in dates.split(",")])
    return f"{text} of {MONTH_NAMES[int(month) - 1]}" if month else text


def _day(code: str) -> str:
    nth, name = code[:-2], DAY_NAMES[DAYS.index(code[-2:])]
    return f"the {_NTH.get(nth, nth)} {name}" if nth else name


def _clock(parts: dict[str, str]) -> str:
    if "BYHOUR" not in parts:
        return ""
    hours, minutes = parts["BYHOUR"].split(","), parts.get("BYMINUTE", "0").split(",")
    walls = sorted(f"{int(hour):02}:{int(minute):02}" for hour in hours for minute in minutes)
    if len(walls) > _MOST_WALLS:
        return f" at {len(walls)} times from {walls[0]} to {walls[-1]}"
    return f" at {_list(walls)}"


def _until_rhythm(parts: dict[str, str]) -> str:
    if "UNTIL" not in parts:
        return ""
    return f" until {moment(parts['UNTIL']):%Y-%m-%d}"


def _list(names: list[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
