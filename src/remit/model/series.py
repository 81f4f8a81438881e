"""Work that comes back: a series, its slots, and the session they share."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from remit.model.ids import SeriesId, SessionId, TaskId


class Fate(StrEnum):
    """How a slot of a series ended; none vanishes."""

    RAN = "ran"
    LATE = "late"
    CAUGHT_UP = "caught_up"
    SKIPPED = "skipped"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Series:
    id: SeriesId
    session_id: SessionId
    title: str


@dataclass(frozen=True, slots=True)
class Slot:
    """One planned run: an instant in UTC, not a date."""

    series_id: SeriesId
    at: datetime
    fate: Fate | None = None
    why: str | None = None
    task_id: TaskId | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """What all runs of a series share."""

    id: SessionId
    summary: str = ""
