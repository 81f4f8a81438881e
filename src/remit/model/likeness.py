"""Similar tasks: what the index holds and what it finds."""

from enum import StrEnum

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.task import Taint, Task


class IndexedTask(Struct, frozen=True):
    """One task in the index: where its words lie, and what stands beside them."""

    task_id: TaskId
    vector: tuple[float, ...]
    beside: JsonMap = field(default_factory=dict)


class NearestTask(Struct, frozen=True):
    """A task that lies near what was asked for; 1 is the same, 0 has nothing to do with it."""

    task_id: TaskId
    score: float
    session_id: SessionId | None = None
    taint: Taint = Taint.OWNER


class SimilarityKind(StrEnum):
    """What two tasks were found to have in common."""

    MEANING = "meaning"
    WORDS = "words"
    BOTH = "both"


class SimilarTask(Struct, frozen=True):
    """A task that is like another, or like some words."""

    task: Task
    by: SimilarityKind
    score: float  # how near in meaning; 0 if only words are shared
    taint: Taint = Taint.OWNER  # the worse of what its row says and what the index says
