"""The calendar feed: what is planned for the next 60 days. Anybody with its address may read it."""

import hmac
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from remit.calendar import ics
from remit.errors import RemitError
from remit.model.task import SourceKind, Task
from remit.server.call import Call, CallResult
from remit.server.routes import page
from remit.store import series, series_orders, tasks
from remit.store.database import Tx
from remit.store.secrets import secrets_of
from remit.wiring.calendar import FEED

PREFIX: Final = "/feed/"
AHEAD: Final = timedelta(days=60)
MOST: Final = 1_000
_SHORTEST: Final = 32  # characters of the secret
_A_MINUTE: Final = 30  # answers per minute, to all callers together
_WAIT: Final = {"Retry-After": "60"}


class FeedRate:
    """Allows this many requests per minute."""

    def __init__(self, most: int = _A_MINUTE) -> None:
        self._most = most
        self._seen: deque[datetime] = deque()

    def allows(self, now: datetime) -> bool:
        while self._seen and not now - timedelta(minutes=1) < self._seen[0] <= now:
            self._seen.popleft()
        if len(self._seen) >= self._most:
            return False
        self._seen.append(now)
        return True


_PACE: Final = FeedRate()


# For phones, not for programs: so it counts as a page and is no part of the API.
@page(PREFIX + "{name}", public=True)
async def feed(call: Call) -> CallResult:
    """Return everything planned for the next 60 days, to callers with the secret."""
    now = call.app.clock.now()
    if not _has_feed_secret(call):  # first: callers without the secret must not use up the rate
        return CallResult("There is nothing here.", 404)
    if not _PACE.allows(now):
        return CallResult("Too many requests; ask again in a minute.", 429, headers=_WAIT)
    found = await call.app.db.read(coming, now)
    name = f"{call.app.settings.agent}: planned"
    text = ics.calendar_text([ics.event(each, now) for each in found], name=name)
    return CallResult(text, media="text/calendar; charset=utf-8")


def coming(tx: Tx, now: datetime) -> list[ics.Event]:
    """Return planned tasks, then future slots of series.

    What came from a calendar is left out, because it is in that calendar.
    """
    until = now + AHEAD
    planned = tasks.planned_between(tx, now, until, MOST)
    wanted = [task for task in planned if _is_wanted(task, now)]
    known: set[object] = {(task.series_id, task.slot) for task in wanted}
    listed = [*map(_of_task, wanted), *_of_series(tx, now, until, known)]
    return sorted(listed, key=lambda each: each[1])[:MOST]


def _is_wanted(task: Task, now: datetime) -> bool:
    at = task.scheduled_for
    return (
        not task.ended
        and at is not None
        and at >= now
        and (task.source.kind is not SourceKind.CALDAV)
    )


def _of_task(task: Task) -> ics.Event:
    assert task.scheduled_for is not None  # noqa: S101 - only such were chosen
    return f"{task.id}@remit", task.scheduled_for, task.title, task.instructions[:500]


def _of_series(tx: Tx, now: datetime, until: datetime, known: set[object]) -> Iterator[ics.Event]:
    for each in series.list_series(tx, limit=MOST):
        if each.paused_at is not None:
            continue
        for slot in series_orders.coming(tx, each, now, int(AHEAD.days * 24)):
            if slot.at >= until:
                break
            if slot.fate is None and slot.at >= now and (each.id, slot.at) not in known:
                at = slot.planned or slot.at
                yield f"{each.id}-{slot.at:%Y%m%dT%H%M%SZ}@remit", at, each.title, ""


def _has_feed_secret(call: Call) -> bool:
    """Whether the address ends in the secret; an empty one is never valid."""
    name = call.path["name"].removesuffix(".ics")
    try:
        secret = secrets_of(call.app.settings.home).find(FEED)
    except RemitError:
        secret = ""
    same = hmac.compare_digest(name.encode("utf-8", "replace"), secret.encode())
    return same and len(secret) >= _SHORTEST
