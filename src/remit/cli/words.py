"""Words for the terminal (statuses, times, people), and the task that a typed id means."""

import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from remit.cli.out import StyledText
from remit.errors import BadInput, NotFound
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.review import (
    CARD,
    CONDITION,
    CONTACT_RULE,
    FIX,
    INTENDED,
    LESSON,
    MERGE,
    RESTORED,
    WORK,
    Review,
    ReviewAnswer,
)
from remit.model.status import Status
from remit.model.task import Task
from remit.store import tasks
from remit.store.database import Tx

_STYLE: Final = {
    Status.RUNNING: "cyan",
    Status.VERIFYING: "cyan",
    Status.DELIVERING: "cyan",
    Status.NEEDS_REVIEW: "yellow",
    Status.PAUSED: "dim",
    Status.COMPLETED: "green",
    Status.FAILED: "red",
    Status.CANCELLED: "dim",
}
_UNITS: Final = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))
_LONG_AGO: Final = timedelta(days=14)
_SAYING: Final = timedelta(seconds=2)  # "in 5 minutes" still reads as five after this long
_SAYING_SHARE: Final = 30  # and 2 hours less 4 minutes read as "in 2 h", not "in 1 h"
_ANSWERS: Final = {
    ReviewAnswer.APPROVE: "remit approve {id}",
    ReviewAnswer.EDIT: "remit approve {id} --edit",
    ReviewAnswer.BACK: 'remit back {id} -m "…"',
    ReviewAnswer.ANSWER: 'remit answer {id} "…"',
    ReviewAnswer.ARRIVED: "remit arrived {id}",
    ReviewAnswer.RESEND: "remit resend {id}",
    ReviewAnswer.DROP: "remit drop {id}",
    ReviewAnswer.DECLINE: "remit decline {id}",
}

_SAYS: Final = {
    ReviewAnswer.APPROVE: "approve",
    ReviewAnswer.EDIT: "edit and approve",
    ReviewAnswer.BACK: "send back",
    ReviewAnswer.ANSWER: "answer",
    ReviewAnswer.ARRIVED: "yes, it arrived",
    ReviewAnswer.RESEND: "send again",
    ReviewAnswer.DROP: "leave it out",
    ReviewAnswer.DECLINE: "decline",
}
# Questions about project work have their own words for answers.
_MEANT: Final = {
    (WORK, ReviewAnswer.BACK): "try again",
    (WORK, ReviewAnswer.ARRIVED): "I did it myself",
    (WORK, ReviewAnswer.DROP): "take it unproven",
    (LESSON, ReviewAnswer.APPROVE): "put it in",
    (LESSON, ReviewAnswer.DROP): "leave it out, and do not propose it for 30 days",
    (INTENDED, ReviewAnswer.APPROVE): "it is intended",
    (INTENDED, ReviewAnswer.DROP): "it is not, have it fixed",
    (FIX, ReviewAnswer.APPROVE): "fix it",
    (FIX, ReviewAnswer.DECLINE): "leave it",
    (RESTORED, ReviewAnswer.APPROVE): "run it once",
    (RESTORED, ReviewAnswer.DECLINE): "leave it",
    (CARD, ReviewAnswer.APPROVE): "yes, as shown",
    (CARD, ReviewAnswer.ANSWER): "answer, or change a line",
    (CONTACT_RULE, ReviewAnswer.APPROVE): "make it a rule",
    (CONTACT_RULE, ReviewAnswer.DECLINE): "leave it",
    (CONDITION, ReviewAnswer.APPROVE): "it holds, go on",
    (CONDITION, ReviewAnswer.DROP): "it does not hold, send nothing",
    (MERGE, ReviewAnswer.APPROVE): "merge it",
    (MERGE, ReviewAnswer.DROP): "leave it on its branch",
}


def status(task: Task, now: datetime, *, asks: bool = False) -> StyledText:
    """Return a task's status in a word or two; `asks`: whether it has an open question."""
    if asks and task.status in (Status.NEW, Status.PAUSED):
        return StyledText("asks you", _STYLE[Status.NEEDS_REVIEW])
    if task.deleted_at is not None:
        return StyledText(f"{task.status.value}, deleted", "dim")
    if task.status in (Status.NEW, Status.READY) and (waits := _waits(task, now)):
        return StyledText(waits, "")
    if task.cancel_requested and not task.ended:
        return StyledText("cancelling", "dim")
    return StyledText(plain(task.status), _STYLE.get(task.status, ""))


def _waits(task: Task, now: datetime) -> str:
    """Return what an unbegun task waits for, in a word if possible."""
    if task.pending_reading is not None:
        return "being read"
    later = task.status is Status.READY and task.scheduled_for and task.scheduled_for > now
    return "scheduled" if later else ""


def plain(status: Status) -> str:
    return status.value.replace("_", " ")


def latest(task: Task) -> datetime:
    """Return the most relevant moment of a task now."""
    if task.ended:
        return task.completed_at or task.last_updated
    if task.status in (Status.NEW, Status.READY) and task.scheduled_for:
        return task.scheduled_for
    return task.created_at if task.status in (Status.NEW, Status.READY) else task.last_updated


def relative(moment: datetime, now: datetime) -> str:
    """Return how far away a moment is, as people say it."""
    away = abs(moment - now)
    if away > _LONG_AGO:
        return f"{moment.astimezone():%Y-%m-%d}"
    if moment > now:
        span = _span(away + max(_SAYING, away / _SAYING_SHARE))
        return f"in {span or f'{max(1, round(away.total_seconds()))} s'}"
    span = _span(away)
    return f"{span} ago" if span else "just now"


def _span(away: timedelta) -> str | None:
    return next((f"{away // unit} {name}" for unit, name in _UNITS if away >= unit), None)


def local(moment: datetime) -> str:
    """Return a moment on the reader's clock."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def near(moment: datetime, now: datetime) -> str:
    """Return how far away a moment is, if it is near enough."""
    return relative(moment, now) if abs(moment - now) <= _LONG_AGO else ""


def planned(moment: datetime, now: datetime) -> str:
    """Return a future moment, and how far away it is if near enough."""
    away = near(moment, now)
    return f"{local(moment)} ({away})" if away else local(moment)


def clock(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M:%S}"


def to_whom(delivery: Delivery) -> str:
    return f"{delivery.recipient or 'you'}, on {delivery.channel}"


def ways(review: Review, ref: str) -> list[str]:
    """Return the commands that answer a question."""
    return [_way(review, answer).format(id=ref) for answer in review.options]


def _way(review: Review, answer: ReviewAnswer) -> str:
    said = _ANSWERS[answer]
    if answer is ReviewAnswer.DROP and review.needs_text(answer):
        said = f'{said} -m "…"'
    about = (review.about or "").partition(":")[0]
    return f"{said}  ({says(review, answer)})" if about in {each for each, _ in _MEANT} else said


def says(review: Review, answer: ReviewAnswer) -> str:
    """Return what an answer means for this question."""
    about = (review.about or "").partition(":")[0]
    return _MEANT.get((about, answer), _SAYS[answer])


def count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


_LETTERS: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{1,26}")
_SHORT: Final = (10, 14, 18, 22)  # ten letters are the millisecond of creation: usually enough


def words(given: Sequence[str]) -> list[str]:
    """Return the ids as typed; `-` reads them from stdin."""
    found: list[str] = []
    for word in given:
        found += sys.stdin.read().split() if word == "-" else [word]
    if not found:
        raise BadInput("Which one? Give an id, or the first letters of it.", field="id")
    return list(dict.fromkeys(found))


def task(tx: Tx, text: str) -> TaskId:
    """Return the task whose id has this prefix, in any case, with or without `task-`."""
    ulid = letters_of(text, "task")
    fitting = list(tasks.ids_like(tx, f"task-{ulid}"))
    if not fitting:
        raise NotFound("task", shown(text))
    if len(fitting) > 1:
        raise BadInput(several(text, fitting), field="id")
    return fitting[0]


def short(tx: Tx, task_id: TaskId) -> str:
    """Return the shortest unique prefix of an id."""
    ulid = task_id.removeprefix("task-")
    for length in _SHORT:
        if len(list(tasks.ids_like(tx, f"task-{ulid[:length]}"))) == 1:
            return ulid[:length]
    return ulid


def letters_of(text: str, prefix: str) -> str:
    letters = text.strip().upper().removeprefix(f"{prefix.upper()}-")
    if not _LETTERS.fullmatch(letters):
        sentence = (
            f"{shown(text)!r} is not the beginning of an id; "
            f"one looks like {prefix}-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA. `remit ls` shows them."
        )
        raise BadInput(sentence, field="id")
    return letters


def several(text: str, fitting: Sequence[str]) -> str:
    return f"{shown(text)!r} fits several: {', '.join(fitting)}. Type more of it."


def shown(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004
