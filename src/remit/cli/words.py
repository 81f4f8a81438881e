"""How things are called in the terminal: states, times, people."""

from datetime import datetime, timedelta
from typing import Final

from remit.cli.out import Ink
from remit.model.delivery import Delivery
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
    Answered,
    Review,
)
from remit.model.status import Status
from remit.model.task import Task

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
_SAYING: Final = timedelta(seconds=2)  # so long after "in 5 minutes" was said it is still five
_SAYING_SHARE: Final = 30  # and 2 hours less 4 minutes are nearer to "in 2 h" than to "in 1 h"
_ANSWERS: Final = {
    Answered.APPROVE: "remit approve {id}",
    Answered.EDIT: "remit approve {id} --edit",
    Answered.BACK: 'remit back {id} -m "…"',
    Answered.ANSWER: 'remit answer {id} "…"',
    Answered.ARRIVED: "remit arrived {id}",
    Answered.RESEND: "remit resend {id}",
    Answered.DROP: "remit drop {id}",
    Answered.DECLINE: "remit decline {id}",
}

_SAYS: Final = {
    Answered.APPROVE: "approve",
    Answered.EDIT: "edit and approve",
    Answered.BACK: "send back",
    Answered.ANSWER: "answer",
    Answered.ARRIVED: "yes, it arrived",
    Answered.RESEND: "send again",
    Answered.DROP: "leave it out",
    Answered.DECLINE: "decline",
}
# What work on a project asks is answered in words of its own.
_MEANT: Final = {
    (WORK, Answered.BACK): "try again",
    (WORK, Answered.ARRIVED): "I did it myself",
    (WORK, Answered.DROP): "take it unproven",
    (LESSON, Answered.APPROVE): "put it in",
    (LESSON, Answered.DROP): "leave it out, and do not propose it for 30 days",
    (INTENDED, Answered.APPROVE): "it is intended",
    (INTENDED, Answered.DROP): "it is not, have it fixed",
    (FIX, Answered.APPROVE): "fix it",
    (FIX, Answered.DECLINE): "leave it",
    (RESTORED, Answered.APPROVE): "run it once",
    (RESTORED, Answered.DECLINE): "leave it",
    (CARD, Answered.APPROVE): "yes, as shown",
    (CARD, Answered.ANSWER): "answer, or change a line",
    (CONTACT_RULE, Answered.APPROVE): "make it a rule",
    (CONTACT_RULE, Answered.DECLINE): "leave it",
    (CONDITION, Answered.APPROVE): "it holds, go on",
    (CONDITION, Answered.DROP): "it does not hold, send nothing",
    (MERGE, Answered.APPROVE): "merge it",
    (MERGE, Answered.DROP): "leave it on its branch",
}


def status(task: Task, now: datetime, *, asks: bool = False) -> Ink:
    """Where a task stands, in a word or two; `asks` is whether a question about it is open."""
    if asks and task.status in (Status.NEW, Status.PAUSED):
        return Ink("asks you", _STYLE[Status.NEEDS_REVIEW])
    if task.deleted_at is not None:
        return Ink(f"{task.status.value}, deleted", "dim")
    if task.status in (Status.NEW, Status.READY) and (waits := _waits(task, now)):
        return Ink(waits, "")
    if task.cancel_requested and not task.ended:
        return Ink("cancelling", "dim")
    return Ink(plain(task.status), _STYLE.get(task.status, ""))


def _waits(task: Task, now: datetime) -> str:
    """What a task waits for that has not begun, if that can be said in a word."""
    if task.pending_reading is not None:
        return "being read"
    later = task.status is Status.READY and task.scheduled_for and task.scheduled_for > now
    return "scheduled" if later else ""


def plain(status: Status) -> str:
    return status.value.replace("_", " ")


def latest(task: Task) -> datetime:
    """The moment that matters most about a task now."""
    if task.ended:
        return task.completed_at or task.last_updated
    if task.status in (Status.NEW, Status.READY) and task.scheduled_for:
        return task.scheduled_for
    return task.created_at if task.status in (Status.NEW, Status.READY) else task.last_updated


def relative(moment: datetime, now: datetime) -> str:
    """How far away a moment is, as one would say it."""
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
    """A moment on the clock of whoever reads it."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def near(moment: datetime, now: datetime) -> str:
    """How far away a moment is, if that is near enough to say."""
    return relative(moment, now) if abs(moment - now) <= _LONG_AGO else ""


def planned(moment: datetime, now: datetime) -> str:
    """A moment to come, and how far away it is if that is near enough to say."""
    away = near(moment, now)
    return f"{local(moment)} ({away})" if away else local(moment)


def clock(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M:%S}"


def to_whom(delivery: Delivery) -> str:
    return f"{delivery.recipient or 'you'}, on {delivery.channel}"


def ways(review: Review, ref: str) -> list[str]:
    """The commands that settle a question."""
    return [_way(review, answer).format(id=ref) for answer in review.options]


def _way(review: Review, answer: Answered) -> str:
    said = _ANSWERS[answer]
    if answer is Answered.DROP and review.needs_text(answer):
        said = f'{said} -m "…"'
    about = (review.about or "").partition(":")[0]
    return f"{said}  ({says(review, answer)})" if about in {each for each, _ in _MEANT} else said


def says(review: Review, answer: Answered) -> str:
    """What an answer means to this very question."""
    about = (review.about or "").partition(":")[0]
    return _MEANT.get((about, answer), _SAYS[answer])


def count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
