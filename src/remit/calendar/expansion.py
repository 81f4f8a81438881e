"""The types of recurrence expansion: window, slots, flags, refusals and limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model import recurrence
from remit.model.recurrence import RecurrenceRule, UnfitRule

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
    """How much is read and tried before a calendar, or one entry, is refused."""

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
    all_day: bool
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
    """Read an RRULE of an event or a zone."""
    try:
        return recurrence.read(text, limits.count)
    except UnfitRule as unfit:
        raise UnfitCalendar(f"its rule {unfit}") from None
