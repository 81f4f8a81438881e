"""Turns a run's outcome or error into what is stored, with the time of the next try."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit import review
from remit.errors import Permanent, Transient
from remit.model.contract import UNPROVEN
from remit.model.delivery import DeliveryStatus
from remit.model.ids import ReviewId
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.run import Done, Fail, Later, Outcome, Retry, Wait
from remit.store.moves import Ending
from remit.store.rows import details

NewReviewId: TypeAlias = Callable[[], ReviewId]


class Backoff(Struct, frozen=True):
    first: float  # seconds before the second try
    factor: float
    most: float
    jitter: float = 0.2  # random extra share, so that many do not retry at once

    def after(self, attempt: int, chance: Random) -> float:
        """Return the seconds to wait after the nth failed attempt."""
        plain = min(self.first * self.factor ** (attempt - 1), self.most)
        return plain * (1 + self.jitter * chance.random())


TRANSIENT: Final = Backoff(first=2, factor=3, most=600)
RATE_LIMIT: Final = Backoff(first=30, factor=2, most=600)
SURPRISE: Final = Backoff(first=5, factor=4, most=600)


def choose(error: BaseException, attempt: int, chance: Random) -> float | None:
    """Return the seconds until the next attempt, or None if a retry would fail the same way."""
    match error:
        case Permanent():
            return None
        case Transient(after=float() | int() as asked):
            return asked * (1 + RATE_LIMIT.jitter * chance.random())
        case Transient():
            return TRANSIENT.after(attempt, chance)
        case _:
            return SURPRISE.after(attempt, chance)


_BY = {
    Status.RUNNING: Actor.EXECUTOR,
    Status.VERIFYING: Actor.VERIFIER,
    Status.DELIVERING: Actor.COURIER,
}


def ending_of_outcome(  # noqa: PLR0911 - one for each way that a leg can end
    outcome: Outcome, task: Task, now: datetime, most: int, chance: Random, review_id: NewReviewId
) -> Ending:
    """Return the ending of a leg that finished by itself."""
    by, plain = _BY[task.status], Ending(outcome="", to=task.status, by=Actor.EXECUTOR)
    plain = replace(plain, by=by, round=task.round)
    match outcome:
        case Done(summary, quiet, still_watching):
            done = replace(plain, outcome="done", to=Status.COMPLETED, summary=summary)
            return replace(done, quiet=quiet, still_watching=still_watching)
        case Wait(review):
            asked = replace(review, id=review_id())
            return replace(plain, outcome="wait", to=Status.NEEDS_REVIEW, review=asked)
        case Retry(why, anew=True):
            return _anew(plain, task, why, now)
        case Retry(why, after):
            return of_error(Transient(why, after=after), task, now, most, chance, review_id)
        case Later(why, seconds):
            return _later(task, why, now + timedelta(seconds=seconds))
        case Fail(why):  # pragma: no branch - there is no other
            return _fail(plain, task, why, review_id)


def of_error(
    error: BaseException,
    task: Task,
    now: datetime,
    most: int,
    chance: Random,
    review_id: NewReviewId,
) -> Ending:
    """Return the ending of a leg that raised an error."""
    plain = Ending(outcome="retry", to=task.status, by=_BY[task.status], round=task.round)
    plain = replace(plain, attempts=task.attempts + 1)
    wait = choose(error, task.attempts + 1, chance)
    why = str(error) or type(error).__name__
    if wait is None or task.attempts + 1 >= most:
        return _fail(plain, task, why, review_id)
    due = now + timedelta(seconds=wait)
    return replace(plain, note=why, due_at=due, settles=False)


def ending_of_wish(task: Task, wish: str) -> Ending:
    """Return the ending of a leg that the owner paused or cancelled at a step boundary."""
    plain = Ending(outcome="paused", to=Status.PAUSED, by=Actor.OWNER, round=task.round)
    if wish == "pause":
        return replace(plain, resume_to=task.status)
    by = Actor.COURIER if task.status is Status.DELIVERING else Actor.EXECUTOR
    return replace(plain, outcome="cancelled", to=Status.CANCELLED, by=by)


def ending_of_shutdown(task: Task, now: datetime) -> Ending:
    """Return the ending for an orderly shutdown: the next process continues at once."""
    return Ending(
        outcome="parked",
        to=task.status,
        by=_BY[task.status],
        due_at=now,
        attempts=task.attempts,
        round=task.round,
        settles=False,
    )


def _later(task: Task, why: str, due: datetime) -> Ending:
    """Nothing failed: it is looked at again, and no try is used up."""
    return replace(ending_of_shutdown(task, due), note=why)


def _anew(plain: Ending, task: Task, why: str, now: datetime) -> Ending:
    """Return the ending that repeats the work, with a note on what was wrong."""
    noted = replace(task, notes=(*task.notes, f"{UNPROVEN}{why}"))
    return replace(
        plain,
        outcome="retry",
        to=Status.RUNNING,
        round=task.round + 1,
        note=why,
        due_at=now,
        details=details(noted),
        settles=False,
    )


def _fail(plain: Ending, task: Task, why: str, review_id: NewReviewId) -> Ending:
    """Return the ending of a failed task, or a question instead.

    If a send is unknown, or the error came while verifying, the owner is asked first.
    """
    doubt = next((each for each in task.delivery if each.status is DeliveryStatus.UNKNOWN), None)
    if doubt is not None:
        question = review.doubtful(task, doubt)
    elif task.status is Status.VERIFYING:
        question = review.ask_about_unproven(
            task, f"the check broke ({why})", task.tool_output or ""
        )
    else:
        return replace(plain, outcome="fail", to=Status.FAILED, note=why, attempts=0)
    return replace(
        plain,
        outcome="wait",
        to=Status.NEEDS_REVIEW,
        note=why,
        attempts=0,
        review=replace(question, id=review_id()),
    )
