"""A row of the task list: status, current step, recipients, cost.

The same row is rendered when the page loads and when an event says that it changed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.errors import NotFound
from remit.model import rrule
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import SeriesId, TaskId
from remit.model.proof import NOT_VERIFIED, is_unverified
from remit.model.recurrence import Repeats, Series
from remit.model.review import Review
from remit.model.run import Event, EventKind, Run
from remit.model.status import ACTIVE, Reason, Status
from remit.model.task import Task
from remit.server.page_language import say
from remit.server.web import words
from remit.store import events, reviews, runs, series, spending, tasks
from remit.store.database import Tx

_FAILED: Final = ("retry", "fail", "crashed")
_SHOWN: Final = 2  # deliveries of a row; the rest is a number
_NEEDS_YOU: Final = words.StatusLook("you", "Needs you", "you")


class RowChip(Struct, frozen=True):
    icon: str
    word: str


class RowBar(Struct, frozen=True):
    x: float
    width: float
    kind: str  # the colour: run, you, ok, bad, idle, plan
    planned: bool = False  # hatched: planned


class RowTimeline(Struct, frozen=True):
    bars: tuple[RowBar, ...]
    says: str  # the same in words


class TaskRow(Struct, frozen=True):
    task: Task
    state: words.StatusLook
    sub: str
    chips: tuple[RowChip, ...]
    lane: RowTimeline
    cents: int | None
    at: datetime  # the last column: when it changed, or when it will run


class _About(Struct, frozen=True):
    """What else a row needs of a task."""

    runs: Sequence[Run] = ()
    reviews: Sequence[Review] = ()
    said: Sequence[Event] = ()
    cents: int | None = None
    series: Series | None = None


def rows(
    tx: Tx,
    found: Sequence[Task],
    asks: Collection[TaskId],
    now: datetime,
    called: Mapping[str, str],
) -> list[TaskRow]:
    """Return the rows of a page; `now` is on the owner's clock, `called` the names of channels."""
    known: dict[SeriesId, Series | None] = {}
    return [
        draw(task, _row_facts(tx, task, known, now), task.id in asks, now, called) for task in found
    ]


def rows_of_tasks(
    tx: Tx, task_ids: Sequence[TaskId], now: datetime, called: Mapping[str, str]
) -> list[TaskRow]:
    """Return the rows of these tasks; deleted ones have none."""
    found = [task for each in task_ids if (task := _undeleted_task(tx, each))]
    return rows(tx, found, reviews.asking(tx, task_ids), now, called)


def _undeleted_task(tx: Tx, task_id: TaskId) -> Task | None:
    try:
        task = tasks.get(tx, task_id)
    except NotFound:
        return None
    return task if task.deleted_at is None else None


def _row_facts(tx: Tx, task: Task, known: dict[SeriesId, Series | None], now: datetime) -> _About:
    reached = reaches_timeline(task, now)
    waits = task.status is Status.NEEDS_REVIEW
    if task.series_id is not None and task.series_id not in known:
        known[task.series_id] = series.get(tx, task.series_id)
    return _About(
        runs=runs.of_task(tx, task.id, 20) if reached or task.status is Status.FAILED else (),
        reviews=reviews.of_task(tx, task.id) if reached or waits else (),
        said=events.last_of_task(tx, task.id, 12) if task.status in ACTIVE else (),
        cents=spending.of_task(tx, task.id).cents if task.started_at else None,
        series=known.get(task.series_id) if task.series_id else None,
    )


def draw(
    task: Task, about: _About, asks: bool, now: datetime, called: Mapping[str, str]
) -> TaskRow:
    state = words.state(task)
    if asks and state.kind != "you":
        state = _NEEDS_YOU
    planned = task.scheduled_for if state.kind == "plan" else None
    return TaskRow(
        task=task,
        state=state,
        sub=_sub(task, about, now.tzinfo),
        chips=chips(task, now.tzinfo, called),
        lane=row_timeline(task, about.runs, about.reviews, now),
        cents=about.cents,
        at=(planned or task.last_updated).astimezone(now.tzinfo),
    )


# The line under the title ------------------------------------------------------------------------


def _sub(task: Task, about: _About, zone: tzinfo | None) -> str:
    match task.status:
        case Status.NEW | Status.READY:
            text = _to_come(task, about, zone)
        case Status.RUNNING | Status.VERIFYING | Status.DELIVERING:
            text = ", ".join(part for part in (_work(task), _now(task, about.said)) if part)
            text = text[:1].upper() + text[1:]
        case Status.NEEDS_REVIEW:
            asked = _open_question(about.reviews)
            text = asked if task.reason in _TOLD else _work(task) or asked
        case Status.PAUSED:
            text = ", ".join(part for part in ("Paused by you", _repeats(about, zone)) if part)
        case Status.FAILED:
            text = _failure_words(task, about.runs)
        case Status.COMPLETED | Status.CANCELLED:  # pragma: no branch - there is no other
            text = _work(task) or words.teaser(task.result_summary or task.instructions)
    return text


def _to_come(task: Task, about: _About, zone: tzinfo | None) -> str:
    if task.gaps:
        return words.first_line(task.gaps[0].question or task.gaps[0].about)
    if about.series is not None:
        return _repeats(about, zone)
    if task.plan.composed:
        return "Text is ready, no model call"
    return _work(task) or words.first_line(task.instructions)


def _repeats(about: _About, zone: tzinfo | None) -> str:
    return in_words(about.series.repeats, zone) if about.series else ""


def in_words(repeats: Repeats, zone: tzinfo | None) -> str:
    """Return "every weekday at 08:30"; the zone is named if it is not the owner's."""
    text = rrule.in_words(repeats)
    own = f" ({repeats.zone})"
    if repeats.zone == str(zone):
        text = text.removesuffix(own)
    return text[:1].upper() + text[1:]


def _work(task: Task) -> str:
    return say("Work {0} of {1}", words.count_done(task.work), len(task.work)) if task.work else ""


def _now(task: Task, own_events: Sequence[Event]) -> str:
    if task.cancel_requested or task.pause_requested:
        return "stopping at the next boundary"
    for event in reversed(own_events):
        text = event.data.get("text")
        if event.kind in (EventKind.RUN_SAID, EventKind.STEP_DONE) and isinstance(text, str):
            return words.first_line(text, 80)
    return {Status.VERIFYING: "checking the work", Status.DELIVERING: "sending"}.get(
        task.status, "thinking"
    )


def _open_question(found: Sequence[Review]) -> str:
    waiting = [review for review in found if review.decision is None]
    return words.first_line(waiting[-1].question) if waiting else ""


def _failure_words(task: Task, legs: Sequence[Run]) -> str:
    note = next((run.note for run in legs if run.note), None) or task.result_summary
    tried = len([run for run in legs if run.outcome in _FAILED])
    counted = say("Attempt {0}", tried) + ": " if tried > 1 else ""
    return counted + words.first_line(note or task.instructions)


# Where it goes -----------------------------------------------------------------------------------


def chips(task: Task, zone: tzinfo | None, called: Mapping[str, str]) -> tuple[RowChip, ...]:
    """Return each delivery with its state; of many, the first ones and a number."""
    whole = [each for each in task.delivery if each.part == 0]
    shown: list[RowChip] = []
    for each in whole[:_SHOWN]:
        name = called.get(each.channel, each.channel)
        shown.append(
            RowChip(words.channel_icon(name.lower()), _delivery_state(task, each, name, zone))
        )
    more = len(whole) - _SHOWN
    if more > 0:
        shown.append(RowChip("send", f"{more} more"))
    return (*shown, _UNVERIFIED) if is_unverified(task) else tuple(shown)


def _delivery_state(task: Task, delivery: Delivery, name: str, zone: tzinfo | None) -> str:
    if delivery.status is DeliveryStatus.SENT:
        at = delivery.sent_at
        quiet = at is None or delivery.channel == "dashboard"
        return name if quiet or at is None else say("Sent {0}", words.clock(at.astimezone(zone)))
    if delivery.status is not DeliveryStatus.PENDING:
        return _DELIVERY[delivery.status]
    if task.ended:
        return "Nothing to report" if task.was_silent else "Not sent"
    if task.status is Status.NEEDS_REVIEW:
        return _WAITING.get(task.reason, "Waiting for you") if task.reason else name
    return say("Then {0}", name) if task.status in ACTIVE else name


# For these reasons the question is shown; for a ready message, the work.
_TOLD: Final = frozenset({Reason.INPUT, Reason.DELIVERABLE, Reason.AUTH, Reason.POISON})
_UNVERIFIED: Final = RowChip("shield", NOT_VERIFIED)
_DELIVERY: Final[Mapping[DeliveryStatus, str]] = {
    DeliveryStatus.SENDING: "Sending",
    DeliveryStatus.REFUSED: "Refused",
    DeliveryStatus.UNKNOWN: "Nobody knows",
}
_WAITING: Final[Mapping[Reason, str]] = {
    Reason.APPROVAL: "Waiting for your approval",
    Reason.DELIVERABLE: "Nothing sent",
    Reason.VERIFICATION: "Nothing sent",
}


BACK: Final = timedelta(hours=6)
AHEAD: Final = timedelta(hours=2)
WIDTH: Final = 150  # points; now is at three quarters
_LEAST: Final = 4.0


def reaches_timeline(task: Task, now: datetime) -> bool:
    """Whether it may reach into the timeline's past, so that its runs are loaded."""
    return task.started_at is not None and now - task.last_updated < BACK


def row_timeline(
    task: Task, runs: Sequence[Run], reviews: Sequence[Review], now: datetime
) -> RowTimeline:
    """Return what happened and what is planned, clipped to the timeline."""
    bars = [bar for bar in _bars(task, runs, reviews, now) if bar is not None]
    return RowTimeline(tuple(bars), _says(bars))


def _bars(
    task: Task, runs: Sequence[Run], reviews: Sequence[Review], now: datetime
) -> Iterator[RowBar | None]:
    ended = words.state(task).kind if task.ended else "ok"
    newest = max((run.lease for run in runs), default=0)
    for run in runs:
        # The last leg has the task's result; those before have their own.
        own = "bad" if run.outcome in _FAILED else "ok"
        kind = ended if run.lease == newest and task.ended else own
        yield _bar(run.started_at, run.ended_at or now, kind, now)
    if task.status in ACTIVE:
        since = max((run.ended_at or now for run in runs), default=task.started_at or now)
        yield _bar(max(since, task.started_at or since), now, "run", now)
    for review in reviews:
        decided = review.decision.decided_at if review.decision else None
        if review.opened_at is not None:
            yield _bar(review.opened_at, decided or now, "you", now)
    yield _planned_bar(task, now)


def _planned_bar(task: Task, now: datetime) -> RowBar | None:
    at = task.scheduled_for
    if at is None or task.ended or task.status not in (Status.NEW, Status.READY) or at < now:
        return None
    return _bar(at, at + timedelta(minutes=12), "plan", now, planned=True)


def _bar(
    start: datetime, end: datetime, kind: str, now: datetime, *, planned: bool = False
) -> RowBar | None:
    first, last = now - BACK, now + AHEAD
    if end < first or start > last:
        return None
    scale = WIDTH / (BACK + AHEAD).total_seconds()
    x = max(0.0, (start - first).total_seconds() * scale)
    to = min(float(WIDTH), (end - first).total_seconds() * scale)
    width = max(_LEAST, to - x)
    # The past does not reach over the line of now.
    x = min(x, WIDTH - width) if planned else max(0.0, to - width)
    return RowBar(round(x, 1), round(width, 1), kind, planned)


_SAYS: Final = {
    "run": "running now",
    "you": "waited for you",
    "ok": "ran",
    "bad": "failed",
    "idle": "stopped",
    "plan": "planned",
}


def _says(bars: Sequence[RowBar]) -> str:
    kinds = list(dict.fromkeys(say(_SAYS[bar.kind]) for bar in bars))
    return ", ".join(kinds).capitalize() if kinds else say("Nothing in these hours")
