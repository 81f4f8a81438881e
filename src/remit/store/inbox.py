"""What waits for the owner: open questions, unseen results, failures; the start page's numbers."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.errors import Conflict
from remit.model.codec import Json, stamp
from remit.model.ids import ReviewId, TaskId
from remit.model.reply import Usage
from remit.model.review import FRESH, Review
from remit.model.run import EventKind, NewEvent
from remit.model.status import TERMINAL, Actor, Status
from remit.model.task import Task
from remit.store import calendars, events, reviews, rows, spending, tasks
from remit.store.database import Params, Row, Tx

SEARCHED: Final = 1_000  # newest results that are searched


class InboxCounts(Struct, frozen=True):
    """How many things wait for the owner, and how many are postponed."""

    decide: int = 0
    look: int = 0
    fix: int = 0
    later: int = 0

    @property
    def decisions(self) -> int:
        """The one number that is shown everywhere: open questions, without postponed ones."""
        return self.decide

    @property
    def total(self) -> int:
        return self.decide + self.look + self.fix


class WaitingReview(Struct, frozen=True):
    """A question with its task and that task's cost so far."""

    review: Review
    task: Task
    used: Usage


def needs(tx: Tx, now: datetime) -> InboxCounts:
    """Count what waits; of ended tasks only as many as a person could look at."""
    found = tx.all("count_open_reviews", {"now": rows.ms(now)})
    asked = {bool(row["later"]): rows.number(row["n"]) for row in found}
    look = _number(tx, "count_unseen_results", now)
    fix = _number(tx, "count_unseen_failures", now) + calendars.count_unseen_refusals(tx)
    return InboxCounts(asked.get(False, 0), look, fix, asked.get(True, 0))


def questions(
    tx: Tx,
    now: datetime,
    *,
    later: bool = False,
    after: ReviewId | None = None,
    limit: int = 50,
) -> list[WaitingReview]:
    """Return open questions, oldest first: the postponed ones, or all others."""
    last = reviews.get(tx, after).opened_at if after else None
    asked: Params = {
        "now": rows.ms(now),
        "later": later,
        "opened_at": rows.ms(last) if last else 0,
        "after": after or "",
        "limit": limit,
    }
    found = [rows.review(row) for row in tx.all("list_waiting_reviews", asked)]
    return _waiting(tx, found)


def question(tx: Tx, review_id: ReviewId) -> WaitingReview:
    """One question, open or decided."""
    return _waiting(tx, [reviews.get(tx, review_id)])[0]


def look(tx: Tx, now: datetime, limit: int = 50) -> list[Task]:
    """Return recent unseen results meant for the owner, newest first."""
    return tasks.all_with_deliveries(tx, _list_unseen(tx, "list_unseen_results", now, limit))


def fix(tx: Tx, now: datetime, limit: int = 50) -> list[Task]:
    """Return recent failures that were not acknowledged, newest first."""
    return tasks.all_with_deliveries(tx, _list_unseen(tx, "list_unseen_failures", now, limit))


def see(tx: Tx, task_id: TaskId, now: datetime) -> Task:
    """Record that the owner has looked at an ended task; repeating is harmless."""
    if not tx.run("mark_task_seen", {"id": task_id, "now": rows.ms(now)}):
        task = tasks.get(tx, task_id)
        raise Conflict(f"Task {task.id} is {task.status}; what has ended can be seen to the end.")
    return tasks.get(tx, task_id)


def see_all(tx: Tx, named: Sequence[TaskId] | None, now: datetime) -> int:
    """Record that the owner has looked at results; without ids, at all that wait to be seen."""
    wanted = [each.id for each in look(tx, now, SEARCHED)] if named is None else named
    known = [each for each in tasks.statuses_of(tx, wanted) if each.status in TERMINAL]
    return sum(tx.run("mark_task_seen", {"id": each.id, "now": rows.ms(now)}) for each in known)


def put_off(tx: Tx, review_id: ReviewId, until: datetime, now: datetime) -> Review:
    """Postpone a question until a time. It comes back by itself."""
    review = reviews.get(tx, review_id)
    reviews.refuse_decided(review)
    tx.run("put_off_review", {"id": review_id, "until": rows.ms(until)})
    details: dict[str, Json] = {"what": "put off", "review": review_id, "until": stamp(until)}
    events.tell_task(
        tx, review.task_id, NewEvent(EventKind.TASK_UPDATED, Actor.OWNER, details), now
    )
    return reviews.get(tx, review_id)


def _waiting(tx: Tx, found: Sequence[Review]) -> list[WaitingReview]:
    asked = {each.task_id: tasks.get(tx, each.task_id) for each in found}
    return [
        WaitingReview(each, asked[each.task_id], spending.of_task(tx, each.task_id))
        for each in found
    ]


def _list_unseen(tx: Tx, name: str, now: datetime, limit: int) -> list[Row]:
    since = rows.ms(now - FRESH)
    return tx.all(name, {"since": since, "searched": SEARCHED, "limit": limit})


def _number(tx: Tx, name: str, now: datetime) -> int:
    asked = {"since": rows.ms(now - FRESH), "searched": SEARCHED}
    return rows.number(rows.found(tx.one(name, asked))["n"])


# Numbers of the start page ------------------------------------------------------------------------


MOST: Final = 10_000  # statuses are counted up to this
HOURS: Final = 24
DAYS: Final = 7
NEXT: Final = 5
_HOUR: Final = timedelta(hours=1)


class HourlyOutcomes(Struct, frozen=True):
    """How many tasks ended in the hour that begins at `at`."""

    at: datetime
    completed: int
    failed: int
    cancelled: int


class DailyUsage(Struct, frozen=True):
    """The usage of the day that begins at `at`."""

    at: datetime
    used: Usage


class Stats(Struct, frozen=True):
    needs: InboxCounts
    counts: Mapping[str, int]  # by status, each up to a number
    hours: tuple[HourlyOutcomes, ...]  # the last one is the current hour
    days: tuple[DailyUsage, ...]  # the last one is today
    next: tuple[Task, ...]

    @property
    def today(self) -> Usage:
        return self.days[-1].used


def stats(
    tx: Tx, now: datetime, midnight: Callable[[datetime], datetime], *, count: bool = True
) -> Stats:
    """Return all numbers at one moment; `midnight` returns when a moment's day began.

    Without `count` the counts are skipped.
    """
    return Stats(
        needs=needs(tx, now),
        counts=tasks.counts(tx, MOST) if count else {},
        hours=_hours(tx, now),
        days=_days(tx, now, midnight),
        next=next_tasks(tx, now, NEXT),
    )


def next_tasks(tx: Tx, now: datetime, limit: int) -> tuple[Task, ...]:
    """Return planned tasks that have not begun, soonest first."""
    found = tx.all("list_next_tasks", {"now": rows.ms(now), "limit": limit})
    return tuple(tasks.all_with_deliveries(tx, found))


def _hours(tx: Tx, now: datetime) -> tuple[HourlyOutcomes, ...]:
    first = now.replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * _HOUR
    span = {"since": rows.ms(first), "until": rows.ms(first + HOURS * _HOUR)}
    ended: dict[Status, dict[int, int]] = {}
    for status in TERMINAL:
        found = tx.all("count_ended", {"status": status, **span})
        ended[status] = {rows.number(row["hour"]): rows.number(row["n"]) for row in found}
    return tuple(
        HourlyOutcomes(
            first + hour * _HOUR,
            ended[Status.COMPLETED].get(hour, 0),
            ended[Status.FAILED].get(hour, 0),
            ended[Status.CANCELLED].get(hour, 0),
        )
        for hour in range(HOURS)
    )


def _days(
    tx: Tx, now: datetime, midnight: Callable[[datetime], datetime]
) -> tuple[DailyUsage, ...]:
    begins = [midnight(now)]
    for _ in range(DAYS - 1):
        # The hour before midnight belongs to the day before, however long that day was.
        begins.insert(0, midnight(begins[0] - _HOUR))
    ends = [*begins[1:], now + _HOUR]
    return tuple(
        DailyUsage(since, spending.usage_between(tx, since, until))
        for since, until in zip(begins, ends, strict=True)
    )
