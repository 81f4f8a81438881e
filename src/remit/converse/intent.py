"""The intents a turn may have, and how a new time changes a task."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.converse import records
from remit.converse.intake_ports import UnclearTime
from remit.converse.scene import ConversationScene
from remit.model.status import Status
from remit.model.task import Task

AMEND: Final = "amend"  # the act that a question about a time is about
MOVE_RUN: Final = "move_run"  # the act of moving one run of a series


class IntentKind(StrEnum):
    ACT = "act"  # something is done to a task
    AMEND = "amend"  # a task that has not begun gets another time
    FIND_RUN = "find_run"  # the run of a series that is to be skipped
    SKIP = "skip"  # that run
    UNDO = "undo"  # what was done last here
    ANSWER = "answer"  # to an open question
    APPROVE = "approve"  # the one card that is shown here
    LOOK = "look"  # at the records
    ASK = "ask"  # nobody can tell: the owner is asked
    HEAR = "hear"  # for intake


class Intent(Struct, frozen=True):
    what: IntentKind
    act: str = ""
    task: str = ""
    tasks: tuple[str, ...] = ()  # that it may be
    review: str = ""
    text: str = ""  # the answer, the question, or the words that were said first
    ref: str = ""  # under which words that were said first are heard
    at: datetime | None = None
    words: tuple[str, ...] = ()  # a time that is not clear yet, bit by bit
    new: bool = False  # whether it may also be something new
    was: datetime | None = None  # the time that a task had before


def ref_of(scene: ConversationScene) -> str:
    """What the tasks of a turn are known by: where they were born."""
    return f"{scene.turn.conversation_id}:{scene.turn.n}"


def moved(
    task: Task, at: datetime | UnclearTime | None, words: tuple[str, ...], now: datetime
) -> Intent:
    """A task's new time; or why it has none, and what is known of it already."""
    refusal = _unchanged(task, at, now)
    if isinstance(at, datetime) and not refusal:
        if task.series_id is not None:
            ask = _COMES_BACK.format(records.title(task))
            return Intent(IntentKind.ASK, act=MOVE_RUN, tasks=(task.id,), text=ask, at=at)
        return Intent(IntentKind.AMEND, task=task.id, at=at, was=task.scheduled_for)
    said = words if isinstance(at, UnclearTime) else ()
    return Intent(IntentKind.ASK, act=AMEND, tasks=(task.id,), text=refusal, words=said)


def _unchanged(task: Task, at: datetime | UnclearTime | None, now: datetime) -> str:
    """Why a task is not given another time; empty if it is."""
    name = records.title(task)
    if at is None:
        return _WHAT_CHANGES.format(name)
    if isinstance(at, UnclearTime):
        return f"{name}: {at.sentence} Say it with the hour, like 17:00."
    if has_begun(task):
        return _HAS_BEGUN.format(name)
    return _HAS_PASSED.format(name) if at <= now else ""


def has_begun(task: Task) -> bool:
    stands = task.resume_to if task.status is Status.PAUSED else task.status
    waits = stands in (Status.NEW, Status.READY)
    return not waits or task.started_at is not None


_WHAT_CHANGES: Final = (
    "{} has not been changed: I can change when it runs, and that is no time I can read."
    " To change anything else, edit it on its page, or cancel it and say it anew."
)
_COMES_BACK: Final = (
    "{} comes back again and again. Shall I move only its next run? Say yes. To move all of them,"
    " cancel it and say it anew."
)
_HAS_BEGUN: Final = "{} has begun, so its time cannot be changed. Cancel it, or say what is new."
_HAS_PASSED: Final = "{} was not changed: that time has passed. Say one to come."
