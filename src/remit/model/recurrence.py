"""Repeating work: its rule, its series and slots, and the session they share.

An RRULE is read as RFC 5545 writes it, to the letter: what cannot be kept is refused by name.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.model.codec import JsonMap
from remit.model.ids import SeriesId, SessionId, TaskId

MAX_COUNT: Final = 100_000
DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BYDAY: Final = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,12}")
_MOST_VALUES: Final = 400
_LAST_WEEK: Final = 53
_MOST_INTERVAL: Final = 1_000_000


class Freq(StrEnum):
    MINUTELY = "MINUTELY"
    HOURLY = "HOURLY"
    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


# Which parts RFC 5545 3.3.10 forbids together with which frequency.
_FORBIDDEN: Final[Mapping[str, frozenset[Freq]]] = {
    "BYWEEKNO": frozenset(Freq) - {Freq.YEARLY},
    "BYYEARDAY": frozenset({Freq.DAILY, Freq.WEEKLY, Freq.MONTHLY}),
}
_NTH_DAYS: Final = (Freq.MONTHLY, Freq.YEARLY)


class UnfitRule(Exception):
    """A rule cannot be kept; the text goes on after the name of the rule: "has INTERVAL=0; …"."""


class RruleWeekday(Struct, frozen=True):
    day: int  # Monday is 0
    nth: int = 0  # which one of its month or year, from the end if below 0; 0: each


class RecurrenceRule(Struct, frozen=True):
    freq: Freq
    interval: int = 1
    count: int | None = None
    until: str = ""  # raw: its meaning depends on the start
    months: tuple[int, ...] = ()
    weeks: tuple[int, ...] = ()
    yeardays: tuple[int, ...] = ()
    monthdays: tuple[int, ...] = ()
    weekdays: tuple[RruleWeekday, ...] = ()
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    seconds: tuple[int, ...] = ()
    places: tuple[int, ...] = ()  # BYSETPOS
    week_starts: int = 0  # Monday

    @property
    def picks(self) -> bool:
        """Whether it says more than how often."""
        return any(
            (self.months, self.weeks, self.yeardays, self.monthdays, self.weekdays, self.places)
        ) or bool(self.hours or self.minutes)


def read(text: str, max_count: int = MAX_COUNT) -> RecurrenceRule:
    """Read a rule; raise UnfitRule for what is wrong with it or more than is taken."""
    parts: dict[str, str] = {}
    for part in text.strip().strip(";").split(";"):
        name, _, value = (piece.strip() for piece in part.upper().partition("="))
        if name not in _READERS or name in parts or not value:
            raise UnfitRule(f"says {part!r:.40}, which is not understood")
        parts[name] = value
    freq = _freq(parts.pop("FREQ", ""))
    fields: dict[str, object] = {}
    for name, value in parts.items():
        field, reader = _READERS[name]
        fields[field] = reader(name, value)
        if freq in _FORBIDDEN.get(name, ()):
            raise UnfitRule(f"has {name} with FREQ={freq}, which RFC 5545 forbids")
    return _sound(RecurrenceRule(freq, **fields), max_count)  # type: ignore[arg-type]


def with_defaults(rule: RecurrenceRule, first: datetime) -> RecurrenceRule:
    """The rule with all it leaves out taken from its start, as RFC 5545 says."""
    new: dict[str, tuple[int, ...]] = {}
    weekdays = rule.weekdays
    if not (rule.weeks or rule.yeardays or rule.monthdays or weekdays):
        if rule.freq is Freq.YEARLY:
            new |= {"months": rule.months or (first.month,), "monthdays": (first.day,)}
        elif rule.freq is Freq.MONTHLY:
            new["monthdays"] = (first.day,)
        elif rule.freq is Freq.WEEKLY:
            weekdays = (RruleWeekday(first.weekday()),)
    elif rule.weeks and not (rule.yeardays or rule.monthdays or weekdays):
        weekdays = (RruleWeekday(first.weekday()),)
    return replace(
        rule,
        weekdays=weekdays,
        months=new.get("months", rule.months),
        monthdays=new.get("monthdays", rule.monthdays),
        hours=rule.hours or (first.hour,),
        minutes=rule.minutes or (first.minute,),
        seconds=rule.seconds or (first.second,),
    )


def _freq(value: str) -> Freq:
    if not value:
        raise UnfitRule("has no FREQ; FREQ=DAILY would be one")
    if value == "SECONDLY":
        raise UnfitRule("repeats by the second; MINUTELY is the most often that is taken")
    try:
        return Freq(value)
    except ValueError:
        sentence = f"has FREQ={value:.20}; one of {', '.join(Freq)} would be understood"
        raise UnfitRule(sentence) from None


def _sound(rule: RecurrenceRule, max_count: int) -> RecurrenceRule:
    if not 1 <= rule.interval <= _MOST_INTERVAL:
        raise UnfitRule(
            f"has INTERVAL={rule.interval}; from 1 to {_MOST_INTERVAL:,} would be taken"
        )
    if rule.count is not None and not 1 <= rule.count <= max_count:
        raise UnfitRule(f"has COUNT={rule.count}; from 1 to {max_count:,} would be taken")
    if len(rule.seconds) > 1:
        raise UnfitRule("repeats within a minute; one BYSECOND would be taken")
    nth = any(day.nth for day in rule.weekdays)
    if nth and (rule.freq not in _NTH_DAYS or rule.weeks):
        raise UnfitRule(f"numbers a BYDAY with FREQ={rule.freq}, which RFC 5545 forbids")
    if rule.places and not replace(rule, places=()).picks:
        raise UnfitRule("has BYSETPOS without another BY part, which RFC 5545 forbids")
    return rule


def _numbers(low: int, high: int, *, signed: bool = False) -> "_Reader":
    """Return a reader for a list of numbers; signed ones count from the end and are never 0."""

    def reader(name: str, value: str) -> tuple[int, ...]:
        pieces = value.split(",")
        if len(pieces) > _MOST_VALUES:
            raise UnfitRule(f"has {len(pieces):,} values of {name}; {_MOST_VALUES} are taken")
        numbers = tuple(sorted({_number(name, piece) for piece in pieces}))
        for number in numbers:
            if not low <= (abs(number) if signed else number) <= high:
                raise UnfitRule(f"has {name}={number}; from {low} to {high} would be right")
        return numbers

    return reader


def _number(name: str, value: str) -> int:
    if not _NUMBER.fullmatch(value.strip()):
        raise UnfitRule(f"has {name}={value:.20}, which is no number")
    return int(value)


def _weekdays(name: str, value: str) -> tuple[RruleWeekday, ...]:
    days: list[RruleWeekday] = []
    for piece in value.split(",")[:_MOST_VALUES]:
        found = _BYDAY.fullmatch(piece.strip())
        nth = int(found[1] or 0) if found else 0
        if found is None or abs(nth) > _LAST_WEEK or (found[1] and not nth):
            raise UnfitRule(f"has {name}={piece:.20}; one looks like MO or -1FR")
        days.append(RruleWeekday(DAYS.index(found[2]), nth))
    return tuple(days)


def _week_starts(name: str, value: str) -> int:
    if value not in DAYS:
        raise UnfitRule(f"has {name}={value:.20}; one looks like MO")
    return DAYS.index(value)


def _unchanged_value(name: str, value: str) -> str:
    del name
    return value


_Reader = Callable[[str, str], object]
_READERS: Final[Mapping[str, tuple[str, _Reader]]] = {
    "FREQ": ("freq", _unchanged_value),
    "UNTIL": ("until", _unchanged_value),
    "COUNT": ("count", _number),
    "INTERVAL": ("interval", _number),
    "BYMONTH": ("months", _numbers(1, 12)),
    "BYWEEKNO": ("weeks", _numbers(1, 53, signed=True)),
    "BYYEARDAY": ("yeardays", _numbers(1, 366, signed=True)),
    "BYMONTHDAY": ("monthdays", _numbers(1, 31, signed=True)),
    "BYDAY": ("weekdays", _weekdays),
    "BYHOUR": ("hours", _numbers(0, 23)),
    "BYMINUTE": ("minutes", _numbers(0, 59)),
    "BYSECOND": ("seconds", _numbers(0, 59)),
    "BYSETPOS": ("places", _numbers(1, 366, signed=True)),
    "WKST": ("week_starts", _week_starts),
}


# Series -------------------------------------------------------------------------------------------


class SlotFate(StrEnum):
    """How a slot of a series ended; every slot has a fate."""

    RAN = "ran"
    LATE = "late"
    CAUGHT_UP = "caught_up"
    SKIPPED = "skipped"
    MISSED = "missed"


class OnMissed(StrEnum):
    """What becomes of slots that passed while nobody was there."""

    SKIP = "skip"  # none of them runs
    RUN_ONCE = "run_once"  # the latest runs
    RUN_ALL = "run_all"  # each runs, one after the other, up to a limit


class Overlap(StrEnum):
    """What becomes of a slot that is due while one before it is open."""

    SKIP = "skip"  # it does not run
    QUEUE_ONE = "queue_one"  # it runs next; of several waiting only the newest
    QUEUE_ALL = "queue_all"  # each runs, one after the other
    CANCEL_OTHER = "cancel_other"  # it runs, and the earlier one is cancelled


# A slot that begins within this time is on time; later, it counts as missed.
ON_TIME: Final = timedelta(minutes=1)


class Repeats(Struct, frozen=True):
    """A repetition: an RRULE, the zone of its wall times, and the first time."""

    rule: str
    zone: str
    first: datetime  # in UTC


class Series(Struct, frozen=True):
    """Repeating work. `template` is a task as JSON, from which every occurrence is made."""

    id: SeriesId
    session_id: SessionId
    title: str
    repeats: Repeats
    last: datetime  # the latest slot that has a task
    template: JsonMap = field(default_factory=dict)
    ended_at: datetime | None = None
    why: str | None = None  # why it ended
    paused_at: datetime | None = None
    skips: tuple[datetime, ...] = ()  # future slots that get no task: skipped, or taken
    taken: tuple[datetime, ...] = ()  # those of them that have a task already
    missed: OnMissed | None = None  # None: the settings decide
    overlap: Overlap | None = None


class Slot(Struct, frozen=True):
    """One planned run: an instant in UTC, not a date."""

    series_id: SeriesId
    at: datetime
    fate: SlotFate | None = None
    why: str | None = None
    task_id: TaskId | None = None
    planned: datetime | None = None  # when it runs, if it was moved
    started: datetime | None = None

    @property
    def late(self) -> timedelta | None:
        """How long after its time it began; None if it has not."""
        if self.started is None:
            return None
        due = self.at if self.fate is SlotFate.CAUGHT_UP or self.planned is None else self.planned
        return max(self.started - due, timedelta(0))


class WatchKind(StrEnum):
    URL = "url"
    COMMAND = "command"  # of the settings
    FOLDER = "folder"
    CALENDAR = "calendar"


class WatchLook(Struct, frozen=True):
    """The digest of what is there now, and that of the last completed run, if there is one."""

    digest: str
    before: str | None = None
    shown: str = ""  # the part that counts, shortened

    @property
    def unchanged(self) -> bool:
        return self.digest == self.before


def watch_kind(target: str) -> tuple[WatchKind | None, str]:
    """Return what a target is, and its name: an address, or `command:backup`."""
    if target.startswith(("https://", "http://")):
        return WatchKind.URL, target
    kind, _, rest = target.partition(":")
    known = kind in (WatchKind.COMMAND, WatchKind.FOLDER, WatchKind.CALENDAR) and bool(rest)
    return (WatchKind(kind), rest) if known else (None, target)
