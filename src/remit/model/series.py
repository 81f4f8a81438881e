"""Work that comes back: a series, its slots, and the session they share."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from remit.model.codec import JsonMap
from remit.model.ids import SeriesId, SessionId, TaskId


class Fate(StrEnum):
    """How a slot of a series ended; none vanishes."""

    RAN = "ran"
    LATE = "late"
    CAUGHT_UP = "caught_up"
    SKIPPED = "skipped"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often something comes back: an RRULE, the zone its hours are read in, the first time."""

    rule: str
    zone: str
    first: datetime  # in UTC


@dataclass(frozen=True, slots=True)
class Series:
    """Work that comes back. `template` is a task as JSON: what every occurrence is made of."""

    id: SeriesId
    session_id: SessionId
    title: str
    repeats: Repeats
    last: datetime  # the latest slot that has an occurrence
    template: JsonMap = field(default_factory=dict)
    ended_at: datetime | None = None
    why: str | None = None  # it ended


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
    """What all runs of a series share; `summary` is what the older ones came to."""

    id: SessionId
    summary: str = ""
