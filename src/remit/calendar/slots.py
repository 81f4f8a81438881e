"""The types of recurrence expansion: window, slots, flags, refusals and limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model import recurrence, recurrence_times
from remit.model.recurrence import Freq, RecurrenceRule, UnfitRule, with_defaults

MEGABYTE: Final = 1 << 20


class UnfitCalendar(Exception):
    """A part of a calendar is not supported; the text says what.

    It never leaves this package: the expansion turns it into a refusal.
    """


class EntryKind(StrEnum):
    EVENT = "event"
    TODO = "todo"


class SlotFlag(StrEnum):
    """Extra facts about a slot."""

    GAP = "gap"  # its wall time does not exist that day: it starts later by the gap
    FOLD = "fold"  # its wall time comes twice; a daily rule takes the first
    FLOATING = "floating"  # it has no zone and uses the owner's
    ALL_DAY = "all-day"  # it has no hour; the owner's setting gives one
    MOVED = "moved"  # an override moved it
    CHANGED = "changed"  # an override kept its start
    CANCELLED = "cancelled"  # shown, but must not start
    COMPLETED = "completed"  # a ticked to-do; must not start
    CUT = "cut"  # its text was shortened


# Slots with one of these are shown, not started.
IDLE: Final = frozenset({SlotFlag.CANCELLED, SlotFlag.COMPLETED})


class TimeWindow(Struct, frozen=True):
    """From `since` to before `until`; both with a zone."""

    since: datetime
    until: datetime


class CalendarLimits(Struct, frozen=True):
    """Limits after which a calendar, or one entry, is refused."""

    bytes: int = 16 * MEGABYTE
    components: int = 40_000
    line: int = 256 * 1024  # characters of one property, unfolded
    text: int = 20_000  # characters of a text that are kept; longer ones are shortened and flagged
    rules: int = 8  # RRULEs of one event
    count: int = recurrence.MAX_COUNT  # the highest COUNT
    slots: int = 10_000  # of one UID in the window
    steps: int = 100_000  # tried for one UID
    all_steps: int = 5_000_000  # tried for the whole calendar


class CalendarSlot(Struct, frozen=True):
    """One planned start.

    `key` identifies an occurrence of a `uid` through renames and moves: '' if it does not repeat,
    else the start its rule gave, in UTC with a zone, naive if floating, a date for a whole day.
    `local` is `start` in the owner's zone.
    """

    uid: str
    key: str
    start: datetime
    end: datetime
    local: datetime
    flags: frozenset[SlotFlag]
    summary: str
    description: str
    kind: EntryKind


class CalendarRefusal(Struct, frozen=True):
    """Why nothing of this UID starts; without a UID, why nothing of the whole calendar does.

    A refusal of one change leaves the rest of its UID.
    """

    uid: str
    why: str
    one_change: bool = False


class Expansion(Struct, frozen=True):
    """The slots in order of start, the refusals, and the steps used."""

    slots: tuple[CalendarSlot, ...]
    refused: tuple[CalendarRefusal, ...]
    steps: int = 0


class ExpansionBudget:
    """Steps left, for one UID and for the whole calendar."""

    def __init__(self, limits: CalendarLimits) -> None:
        self.limits = limits
        self.spent = 0
        self._since = 0
        self._most = limits.steps

    def begin(self) -> None:
        """Start the next UID; the total goes on."""
        self._since = self.spent
        self._most = self.limits.steps

    @contextmanager
    def at_most(self, steps: int) -> Iterator[None]:
        """Limit the steps of one look."""
        kept = self._most
        self._most = min(kept, self.spent - self._since + steps)
        try:
            yield
        finally:
            self._most = kept

    def spend(self, steps: int = 1) -> None:
        """Raise UnfitCalendar once the limit is exceeded."""
        self.spent += steps
        if self.spent - self._since > self._most:
            raise UnfitCalendar(
                f"more than {self._most:,} steps are needed to work out when it falls"
            )
        if self.spent > self.limits.all_steps:
            raise self._all_spent()

    def afford(self, steps: int, what: str) -> None:
        """Raise UnfitCalendar if this many more steps would exceed the limit; none is used."""
        left = self._most - (self.spent - self._since)
        if steps > left:
            raise UnfitCalendar(
                f"{what} needs about {steps:,} steps; at most {max(left, 0):,} are tried"
            )
        if self.spent + steps > self.limits.all_steps:
            raise self._all_spent()

    def _all_spent(self) -> UnfitCalendar:
        return UnfitCalendar(
            f"the calendar as a whole needs more than {self.limits.all_steps:,} steps; "
            "fewer repeating events in one file would be read"
        )


def read_rule(text: str, limits: CalendarLimits) -> RecurrenceRule:
    """Read an RRULE of an event or a zone; some programs write what is not set as "BYDAY="."""
    parts = (part for part in text.split(";") if not part.strip().endswith("=") and part.strip())
    try:
        return recurrence.read(";".join(parts), limits.count)
    except UnfitRule as unfit:
        raise UnfitCalendar(f"its rule {unfit}") from None


_LENGTHS: Final = {
    Freq.MINUTELY: timedelta(minutes=1),
    Freq.HOURLY: timedelta(hours=1),
    Freq.DAILY: timedelta(days=1),
    Freq.WEEKLY: timedelta(days=7),
    Freq.MONTHLY: timedelta(days=30),
    Freq.YEARLY: timedelta(days=365),
}
_LONGEST_MONTH: Final = 31
_MONTHS: Final = 12
_LOOK: Final = 20_000  # steps after which a rule without a result counts as empty


def check(
    rule: RecurrenceRule, first: datetime, reach: recurrence_times.Reach, budget: ExpansionBudget
) -> None:
    """Refuse a rule that would take more steps, or give more slots, than are left for it."""
    steps, slots = estimate(rule, first, reach)
    budget.afford(steps, f"to expand its rule FREQ={rule.freq} until {reach[1]:%Y-%m-%d}")
    if slots > budget.limits.slots:
        raise UnfitCalendar(
            f"its rule FREQ={rule.freq} falls about {slots:,} times until {reach[1]:%Y-%m-%d}; "
            f"at most {budget.limits.slots:,} are taken"
        )


def estimate(
    rule: RecurrenceRule, first: datetime, reach: recurrence_times.Reach
) -> tuple[int, int]:
    """Estimate the steps of a rule to the end of the reach, and its least number of slots.

    A rule with COUNT is not estimated: it is walked from its start, and each step counts.
    """
    if rule.count is not None:
        return 0, 0
    length = max(reach[1] - max(first, reach[0]), timedelta(0))
    periods = length // (_LENGTHS[rule.freq] * rule.interval) + 1
    if rule.freq in recurrence_times.COUNTED:
        minutes = len(rule.minutes) if rule.freq is Freq.HOURLY else 0
        return periods * max(minutes, 1), 0 if rule.picks else periods
    whole = with_defaults(rule, first)
    times = len(whole.hours) * len(whole.minutes)
    picks_days = rule.months or rule.monthdays or rule.weekdays or rule.places
    slots = periods * times if rule.freq is Freq.DAILY and not picks_days else 0
    return periods * _width(whole) * times, slots


def must_fall(rule: RecurrenceRule, first: datetime, budget: ExpansionBudget) -> None:
    """Refuse a rule that never falls on any day, such as the 30th of February."""
    if not rule.picks:
        return
    try:
        with budget.at_most(_LOOK):
            every = recurrence_times.matches(rule, first, first, budget.spend)
            found = next((each for each in every if each >= first), None)
    except UnfitCalendar:
        found = None
    if found is None:
        raise UnfitCalendar("its rule names a day that never comes, such as the 30th of February")


def _width(rule: RecurrenceRule) -> int:
    """Return how many days are looked at in one period."""
    if rule.freq is Freq.DAILY:
        return 1
    if rule.freq is Freq.WEEKLY:
        return len(rule.weekdays)
    month = len(rule.monthdays) or _LONGEST_MONTH
    return month if rule.freq is Freq.MONTHLY else month * (len(rule.months) or _MONTHS)
