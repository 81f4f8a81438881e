"""Similar tasks: what the index holds and what it finds."""

from enum import StrEnum

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.task import Taint, Task


class IndexedTask(Struct, frozen=True):
    """One task in the index: its vector and its payload."""

    task_id: TaskId
    vector: tuple[float, ...]
    beside: JsonMap = field(default_factory=dict)


class NearestTask(Struct, frozen=True):
    """A task near the query; 1 is identical, 0 unrelated."""

    task_id: TaskId
    score: float
    session_id: SessionId | None = None
    taint: Taint = Taint.OWNER


class SimilarityKind(StrEnum):
    """What two tasks have in common."""

    MEANING = "meaning"
    WORDS = "words"
    BOTH = "both"


class SimilarTask(Struct, frozen=True):
    """A task similar to another task or to a query."""

    task: Task
    by: SimilarityKind
    score: float  # similarity in meaning; 0 if only words are shared
    taint: Taint = Taint.OWNER  # the worse of the task's taint and the index's
