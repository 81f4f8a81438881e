"""The ledger of a series: the fate of every slot.

A slot with a task is judged by the task; one without, or whose task never began, by its stored
record. Consecutive skipped slots share one row and are listed one by one.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Final

from remit.model import rrule
from remit.model.ids import SeriesId, TaskId
from remit.model.series import ON_TIME, Repeats, Slot, SlotFate
from remit.model.status import TERMINAL, Status
from remit.store import rows, series
from remit.store.database import Cell, Row, Tx

MOST: Final = 1_000
CANCELLED: Final = "it was cancelled before it began"
_FAR: Final = 20_000
_INSTANT: Final = timedelta(milliseconds=1)


def slots_of_series(
    tx: Tx, series_id: SeriesId, since: datetime, until: datetime, limit: int = MOST
) -> list[Slot]:
    """Return the slots of a series between two moments, oldest first; None as fate: waiting."""
    span: dict[str, Cell] = {"series": series_id, "since": rows.ms(since), "until": rows.ms(until)}
    found: dict[datetime, Slot] = {}
    skips = tx.all("list_ledger_skips", span)
    known = series.get(tx, series_id) if any(row["slots"] != 1 for row in skips) else None
    for row in sorted(skips, key=lambda each: -rows.number(each["slots"])):
        # A record of a single slot comes last and overrides the others.
        for at in _passed(row, known.repeats if known else None, since, until, limit):
            found[at] = Slot(series_id, at, rows.word(SlotFate, row["fate"]), str(row["why"]))
    for row in tx.all("list_ledger_tasks", {**span, "limit": limit}):
        at = rows.parse_time(row["slot_at"])
        found[at] = _of_task(series_id, at, row, found.get(at))
    return [found[at] for at in sorted(found)][:limit]


def latest(tx: Tx, series_id: SeriesId, now: datetime, count: int) -> list[Slot]:
    """Return the latest due slots, oldest first."""
    until: dict[str, Cell] = {"series": series_id, "until": rows.ms(now) + 1, "limit": count}
    made = tx.all("list_latest_slots", until)
    since = (
        rows.parse_time(made[-1]["slot_at"])
        if len(made) == count
        else datetime.min.replace(tzinfo=UTC)
    )
    return slots_of_series(tx, series_id, since, now + _INSTANT, _FAR)[-count:]


def _passed(
    row: Row, repeats: Repeats | None, since: datetime, until: datetime, limit: int
) -> Iterator[datetime]:
    first, last = rows.parse_time(row["from_at"]), rows.parse_time(row["upto_at"])
    if row["slots"] == 1 or repeats is None:
        return (at for at in dict.fromkeys((first, last)) if since <= at < until)
    after = max(first, since) - _INSTANT
    upto = min(last, until - _INSTANT)
    return islice(takewhile(lambda at: at <= upto, rrule.slots(repeats, after)), limit)


def _of_task(series_id: SeriesId, at: datetime, row: Row, passed: Slot | None) -> Slot:
    started = rows.moment(row["started_at"])
    fate, why = None, None
    if started is not None:
        made = rows.parse_time(row["created_at"])
        fate = SlotFate.CAUGHT_UP if made - at > ON_TIME else SlotFate.RAN
    elif passed is not None:
        fate, why = passed.fate, passed.why
    elif rows.word(Status, row["status"]) in TERMINAL:
        fate, why = SlotFate.SKIPPED, CANCELLED
    slot = Slot(
        series_id,
        at,
        fate,
        why,
        TaskId(str(row["id"])),
        rows.moment(row["scheduled_for"]),
        started,
    )
    if fate is SlotFate.RAN and slot.late is not None and slot.late > ON_TIME:
        return Slot(series_id, at, SlotFate.LATE, why, slot.task_id, slot.planned, started)
    return slot
