"""Lessons from finished tasks: proposals until the owner accepts them."""

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.task import Creator, Priority, Task

REFLECT: Final = "reflect"  # who does a task that looks back


class LessonFile(StrEnum):
    """The files that a lesson may change, as the owner knows them; there are no others."""

    GUIDELINES = "guidelines.txt"
    RULES = "rules/priority.yml"


class Lesson(Struct, frozen=True):
    """One change to one file, and what speaks for it.

    A guideline is a line; a rule has the condition it begins with and the priority it sets.
    """

    file: LessonFile
    text: str  # the guideline, or what the rule is called
    why: str
    tasks: tuple[str, ...] = ()  # the evidence, by id
    when: str = ""
    priority: Priority | None = None
    on: str = ""  # the day it was found, as its rule will say

    @property
    def key(self) -> str:
        """What it is known by: the same lesson of another night has the same."""
        level = self.priority.value if self.priority else ""
        said = " ".join((self.when or self.text).casefold().split())
        parts = (self.file.value, said, level)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:26]


class ReflectionResult(Struct, frozen=True):
    """What a look back came to: the lessons to ask about, and a report for the owner alone."""

    lessons: tuple[Lesson, ...] = ()
    said: str = ""


class DraftedLesson(Struct, frozen=True):
    """A lesson worked into its file as that is now. `digest` is of the whole new text."""

    digest: str
    diff: str
    tried: str = ""  # what a back-test came to, in a sentence


class UnfitLesson(Struct, frozen=True):
    """Why a lesson cannot be worked into its file any more."""

    why: str


class LessonResult(Struct, frozen=True):
    """What became of a lesson."""

    taken: bool
    why: str = ""


class FileVersion(Struct, frozen=True, kw_only=True):
    """One change of a taught file that is kept, and can be taken back."""

    no: int
    file: LessonFile
    was: str  # the digest of the text before
    digest: str
    why: str
    by: str
    made_at: datetime
    task_id: str | None = None
    reverts: int | None = None  # the change that this one took back


def looks_back(task: Task) -> bool:
    """Whether a task is the house's own look back; no agent can ask for one."""
    return task.assigned_agent == REFLECT and task.created_by is not Creator.AGENT


def standing(versions: tuple[FileVersion, ...]) -> tuple[FileVersion, ...]:
    """The changes that hold, oldest first: none that was taken back, none that took one back."""
    gone = {each.reverts for each in versions if each.reverts is not None}
    return tuple(each for each in versions if each.reverts is None and each.no not in gone)
