"""A task's timeline in the list: its last six hours and its next two, as bars.

Bars show when it ran, when it waited for the owner (amber), and when it is planned.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.review import Review
from remit.model.run import Run
from remit.model.status import ACTIVE, Status
from remit.model.task import Task
from remit.server.page_language import say
from remit.server.web import words

BACK: Final = timedelta(hours=6)
AHEAD: Final = timedelta(hours=2)
WIDTH: Final = 150  # points; now is at three quarters
_LEAST: Final = 4.0


class RowBar(Struct, frozen=True):
    x: float
    width: float
    kind: str  # the colour: run, you, ok, bad, idle, plan
    planned: bool = False  # hatched: planned


class RowTimeline(Struct, frozen=True):
    bars: tuple[RowBar, ...]
    says: str  # the same in words


def reaches(task: Task, now: datetime) -> bool:
    """Whether it may reach into the timeline's past, so that its runs are loaded."""
    return task.started_at is not None and now - task.last_updated < BACK


def lane(task: Task, runs: Sequence[Run], reviews: Sequence[Review], now: datetime) -> RowTimeline:
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
        kind = ended if run.lease == newest and task.ended else _leg(run)
        yield _bar(run.started_at, run.ended_at or now, kind, now)
    if task.status in ACTIVE:
        since = max((run.ended_at or now for run in runs), default=task.started_at or now)
        yield _bar(max(since, task.started_at or since), now, "run", now)
    for review in reviews:
        decided = review.decision.decided_at if review.decision else None
        if review.opened_at is not None:
            yield _bar(review.opened_at, decided or now, "you", now)
    yield _planned(task, now)


def _leg(run: Run) -> str:
    return "bad" if run.outcome in ("retry", "fail", "crashed") else "ok"


def _planned(task: Task, now: datetime) -> RowBar | None:
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
