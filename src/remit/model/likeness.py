"""Similar tasks, and lessons from finished tasks: proposals until the owner accepts them."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from remit.model.codec import JsonMap, sha256
from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Priority, Taint, Task


class IndexedTask(Struct, frozen=True):
    """One task in the index: its vector and its payload."""

    task_id: TaskId
    vector: Sequence[float]
    beside: JsonMap = field(default_factory=dict)


class NearestTask(Struct, frozen=True):
    """A task near the query; 1 is identical, 0 unrelated."""

    task_id: TaskId
    score: float
    session_id: SessionId | None = None
    taint: Taint = Taint.OWNER
    status: str = ""  # how it ended, if the index knows


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


REFLECT: Final = "reflect"  # the agent of a reflection task


class LessonFile(StrEnum):
    """The only files that a lesson may change."""

    GUIDELINES = "guidelines.txt"
    RULES = "rules/priority.yml"


class Lesson(Struct, frozen=True):
    """One change to one file, with its evidence.

    A guideline is a line; a rule has its condition and the priority it sets.
    """

    file: LessonFile
    text: str  # the guideline, or the name of the rule
    why: str
    tasks: tuple[str, ...] = ()  # the evidence, by id
    when: str = ""
    priority: Priority | None = None
    on: str = ""  # the day it was found, written into the rule

    @property
    def key(self) -> str:
        """Identifies a lesson: the same lesson found again has the same key."""
        level = self.priority.value if self.priority else ""
        text = " ".join((self.when or self.text).casefold().split())
        parts = (self.file.value, text, level)
        return sha256("\x1f".join(parts).encode()).hex()[:26]


class ReflectionResult(Struct, frozen=True):
    """The result of a reflection: lessons to ask about, and a report for the owner only."""

    lessons: tuple[Lesson, ...] = ()
    said: str = ""


class DraftedLesson(Struct, frozen=True):
    """A lesson inserted into the current text of its file. `digest` is of the whole new text."""

    digest: str
    diff: str
    tried: str = ""  # the result of a back-test, in a sentence


class UnfitLesson(Struct, frozen=True):
    """Why a lesson can no longer be inserted into its file."""

    why: str


class LessonResult(Struct, frozen=True):
    """What became of a lesson."""

    taken: bool
    why: str = ""


class FileVersion(Struct, frozen=True, kw_only=True):
    """One stored change of a lesson file, which can be reverted."""

    no: int
    file: LessonFile
    was: str  # the digest of the text before
    digest: str
    why: str
    by: str
    made_at: datetime
    task_id: str | None = None
    reverts: int | None = None  # the change that this one reverted


def is_reflection(task: Task) -> bool:
    """Whether a task is Remit's own reflection; an agent cannot create one."""
    return task.assigned_agent == REFLECT and task.created_by is not Creator.AGENT


def changes_in_force(versions: tuple[FileVersion, ...]) -> tuple[FileVersion, ...]:
    """Return the changes in force, oldest first: without reverted ones and reverts."""
    gone = {each.reverts for each in versions if each.reverts is not None}
    return tuple(each for each in versions if each.reverts is None and each.no not in gone)
