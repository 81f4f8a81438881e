"""Repeating work: a series, its slots, and the session they share."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.ids import SeriesId, SessionId, TaskId


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
