"""The intents a turn may have, which task it is about, and how a new time changes a task."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.converse import records
from remit.converse.meaning import TaskReference, Words, in_list, words_of
from remit.converse.scene import ConversationScene, UnclearTime
from remit.model.codec import Json, JsonMap, stamp
from remit.model.status import Status
from remit.model.task import Task

AMEND: Final = "amend"  # the act of a question about a time
MOVE_RUN: Final = "move_run"  # the act of moving one run of a series


class IntentKind(StrEnum):
    ACT = "act"  # do something to a task
    AMEND = "amend"  # change the time of a task that has not begun
    FIND_RUN = "find_run"  # find the run of a series to skip
    SKIP = "skip"  # skip that run
    UNDO = "undo"  # undo what was done last here
    ANSWER = "answer"  # answer an open question
    APPROVE = "approve"  # approve the one card shown here
    LOOK = "look"  # query the records
    ASK = "ask"  # unclear: ask the owner
    HEAR = "hear"  # pass to intake


class Intent(Struct, frozen=True):
    what: IntentKind
    act: str = ""
    task: str = ""
    tasks: tuple[str, ...] = ()  # the candidates
    review: str = ""
    text: str = ""  # the answer, the question, or the words said first
    ref: str = ""  # the ref for the words said first
    at: datetime | None = None
    words: tuple[str, ...] = ()  # parts of a time that is not clear yet
    new: bool = False  # whether it may also be something new
    was: datetime | None = None  # the task's earlier time


def ref_of(scene: ConversationScene) -> str:
    """Return the source ref of a turn's tasks."""
    return f"{scene.turn.conversation_id}:{scene.turn.n}"


def choice_of(intent: Intent, scene: ConversationScene) -> JsonMap:
    """Return what the next turn may settle; empty if there is nothing to choose."""
    if not intent.tasks and not intent.review:
        return {}
    named: list[Json] = list(intent.tasks)
    return {
        "act": intent.act,
        "tasks": named,
        "review": intent.review,
        "new": intent.new,
        "text": scene.turn.content,
        "ref": intent.ref,
        "words": list[Json](intent.words),
        "at": stamp(intent.at) if intent.at else None,
    }


def intent_of_new_time(
    task: Task, at: datetime | UnclearTime | None, words: tuple[str, ...], now: datetime
) -> Intent:
    """Return the intent of a task's new time; or why it has none, with what is known so far."""
    refusal = _reason_time_stays(task, at, now)
    if isinstance(at, datetime) and not refusal:
        if task.series_id is not None:
            ask = _COMES_BACK.format(records.title(task))
            return Intent(IntentKind.ASK, act=MOVE_RUN, tasks=(task.id,), text=ask, at=at)
        return Intent(IntentKind.AMEND, task=task.id, at=at, was=task.scheduled_for)
    unclear_words = words if isinstance(at, UnclearTime) else ()
    return Intent(IntentKind.ASK, act=AMEND, tasks=(task.id,), text=refusal, words=unclear_words)


def _reason_time_stays(task: Task, at: datetime | UnclearTime | None, now: datetime) -> str:
    """Return why a task's time cannot change; empty if it can."""
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


_STEM: Final = 4  # letters that two forms of a word must share
_PLACES: Final = ("first", "second", "third")


def matching(words: Words, among: Iterable[Task]) -> list[Task]:
    """Return the tasks whose title, or else request, contains every word."""
    tasks = list(among)
    by_title = [task for task in tasks if _holds(words, task.title)]
    return by_title or [task for task in tasks if _holds(words, _task_text(task))]


def find_candidates(
    thing: TaskReference, spoken: Sequence[Task], others: Sequence[Task]
) -> list[Task]:
    """Return every candidate; mentioned tasks come before all others."""
    if thing.pointed:
        return list(spoken[:1])
    return matching(thing.words, spoken) or matching(thing.words, others)


def choose_task(text: str, among: Sequence[Task]) -> Task | None:
    """Return the one task that an answer names, by position or by words."""
    words = words_of(text)
    places = {n for n, name in enumerate(_PLACES) for word in words if word in in_list(name)}
    if len(places) == 1 and (place := places.pop()) < len(among):
        return among[place]
    found = [task for task in among if _names(words, task)]
    return found[0] if len(found) == 1 else None


def _names(words: Words, task: Task) -> bool:
    """Whether an answer contains a word of the title."""
    title = set(words_of(task.title))
    return any(_is_same_word(word, own) for word in words for own in title if len(word) >= _STEM)


def _holds(words: Words, text: str) -> bool:
    own = words_of(text)
    return bool(words) and all(any(_is_same_word(word, each) for each in own) for word in words)


def _is_same_word(one: str, other: str) -> bool:
    """Whether two words are equal except for an ending."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _STEM and long.startswith(short)


def _task_text(task: Task) -> str:
    return f"{task.title} {task.request.text if task.request else task.instructions}"
