"""The types of recurrence expansion: window, slots, flags, refusals and limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

MEGABYTE: Final = 1 << 20


class UnfitCalendar(Exception):
    """Something in a calendar cannot be kept to the letter; its text says what, and what would be.

    It never leaves this package: whoever expands turns it into a Refusal.
    """


class EntryKind(StrEnum):
    EVENT = "event"
    TODO = "todo"


class SlotFlag(StrEnum):
    """What is worth knowing about a slot beside its instant."""

    GAP = "gap"  # its wall time does not exist that day: it starts as much later as clocks jump
    FOLD = "fold"  # its wall time comes twice that day; a rule by day takes the first
    FLOATING = "floating"  # it names no zone and is read in the owner's
    ALL_DAY = "all-day"  # it names no hour; the owner's setting does
    MOVED = "moved"  # a change of this one occurrence put it elsewhere
    CHANGED = "changed"  # a change of this one occurrence left its start
    CANCELLED = "cancelled"  # it is shown, and must not start
    COMPLETED = "completed"  # a to-do somebody ticked; it must not start
    CUT = "cut"  # its text was longer than is kept


# With one of these a slot is there to be told of, not to be started.
IDLE: Final = frozenset({SlotFlag.CANCELLED, SlotFlag.COMPLETED})


class TimeWindow(Struct, frozen=True):
    """From `since` to before `until`; both with a zone."""

    since: datetime
    until: datetime


class CalendarLimits(Struct, frozen=True):
    """How much is read and tried before a calendar, or one thing in it, is refused."""

    bytes: int = 16 * MEGABYTE
    components: int = 40_000
    line: int = 256 * 1024  # characters of one property, unfolded
    text: int = 20_000  # characters of a text that are kept; longer ones are cut and flagged
    rules: int = 8  # RRULEs of one event
    count: int = 100_000  # the highest COUNT
    slots: int = 10_000  # of one UID in the window
    steps: int = 100_000  # tried for one UID
    all_steps: int = 5_000_000  # tried for the whole calendar


class CalendarSlot(Struct, frozen=True):
    """One planned start.

    `key` tells the occurrences of one `uid` apart and outlives a rename or a move: it is '' for
    what does not repeat, else the start that the rule gave it, in UTC for what has a zone, naive
    for what floats, a date for a whole day. `local` is `start` on the owner's wall.
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
    """Why nothing of this UID starts; without a UID, why nothing of the whole calendar does."""

    uid: str
    why: str


class Expansion(Struct, frozen=True):
    """The slots in order of start, what was refused, and how many steps were tried for it."""

    slots: tuple[CalendarSlot, ...]
    refused: tuple[CalendarRefusal, ...]
    steps: int = 0


class ExpansionBudget:
    """Steps that may still be tried, for one UID and for the whole calendar."""

    def __init__(self, limits: CalendarLimits) -> None:
        self.limits = limits
        self.spent = 0
        self._since = 0
        self._most = limits.steps

    def begin(self) -> None:
        """Another UID begins; what is left of the whole goes on."""
        self._since = self.spent
        self._most = self.limits.steps

    @contextmanager
    def at_most(self, steps: int) -> Iterator[None]:
        """For a look that is worth only so many steps."""
        kept = self._most
        self._most = min(kept, self.spent - self._since + steps)
        try:
            yield
        finally:
            self._most = kept

    def spend(self, steps: int = 1) -> None:
        """Raise Unfit once more is tried than is allowed."""
        self.spent += steps
        if self.spent - self._since > self._most:
            raise UnfitCalendar(
                f"more than {self._most:,} steps are needed to work out when it falls"
            )
        if self.spent > self.limits.all_steps:
            raise self._all_spent()

    def afford(self, steps: int, what: str) -> None:
        """Raise Unfit if so many steps more would be too many; none of them is tried."""
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
