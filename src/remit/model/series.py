"""Repeating work: a series, its slots, and the session they share."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.ids import SeriesId, SessionId, TaskId


class SlotFate(StrEnum):
    """How a slot of a series ended; none vanishes."""

    RAN = "ran"
    LATE = "late"
    CAUGHT_UP = "caught_up"
    SKIPPED = "skipped"
    MISSED = "missed"


class OnMissed(StrEnum):
    """What becomes of slots that passed while nobody was there."""

    SKIP = "skip"  # none of them is run
    RUN_ONCE = "run_once"  # the latest is
    RUN_ALL = "run_all"  # each is, one after the other, up to a number


class Overlap(StrEnum):
    """What becomes of a slot that is due while one before it is open."""

    SKIP = "skip"  # it is not run
    QUEUE_ONE = "queue_one"  # it is run next; of those that wait only the newest is
    QUEUE_ALL = "queue_all"  # each is run, one after the other
    CANCEL_OTHER = "cancel_other"  # it is run, and the one before it ends


# A slot that begins no later than this is on time. Nobody was there if it is seen later.
ON_TIME: Final = timedelta(minutes=1)


class Repeats(Struct, frozen=True):
    """How often something comes back: an RRULE, the zone its hours are read in, the first time."""

    rule: str
    zone: str
    first: datetime  # in UTC


class Series(Struct, frozen=True):
    """Work that comes back. `template` is a task as JSON: what every occurrence is made of."""

    id: SeriesId
    session_id: SessionId
    title: str
    repeats: Repeats
    last: datetime  # the latest slot that has an occurrence
    template: JsonMap = field(default_factory=dict)
    ended_at: datetime | None = None
    why: str | None = None  # it ended
    paused_at: datetime | None = None
    skips: tuple[datetime, ...] = ()  # slots to come that the owner does not want
    missed: OnMissed | None = None  # None: as the settings say
    overlap: Overlap | None = None


class Slot(Struct, frozen=True):
    """One planned run: an instant in UTC, not a date."""

    series_id: SeriesId
    at: datetime
    fate: SlotFate | None = None
    why: str | None = None
    task_id: TaskId | None = None
    planned: datetime | None = None  # when it is run, if it was moved there
    started: datetime | None = None

    @property
    def late(self) -> timedelta | None:
        """How long after its time it began; None if it did not."""
        if self.started is None:
            return None
        meant = self.at if self.fate is SlotFate.CAUGHT_UP or self.planned is None else self.planned
        return max(self.started - meant, timedelta(0))


class Session(Struct, frozen=True):
    """What all runs of a series share; `summary` is what the older ones came to."""

    id: SessionId
    summary: str = ""
