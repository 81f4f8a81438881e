"""Repairs times after the clock was ahead and was corrected.

Rows written meanwhile have times in the future. Tasks, notices and limits that wait for them wait
from now on instead. A slot or start that was skipped as past is planned again. What already ran
stays, so no slot runs twice. It may be that the clock is behind now, not that it was ahead: so what
the owner decided stays as well.
"""

import json
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId
from remit.model.recurrence import Series
from remit.model.task import Task
from remit.store import after_restore, occurrences, rows, series, slots, tasks
from remit.store.database import Tx

BOUND: Final = timedelta(hours=1)  # a clock this far ahead is wrong
_STATEMENTS: Final = (
    "correct_task_times",
    "correct_notice_times",
    "correct_review_times",
    "correct_calendar_times",
    "correct_resource_times",
    "correct_inbound_times",
    "correct_spending_times",
    "correct_delivery_times",
    "end_future_codes",
    "correct_sign_in_times",
    "correct_token_times",
)
_TIME_GONE: Final = (slots.ASLEEP, slots.NOT_BEGUN, occurrences.PASSED)
_SLOT_GONE: Final = (slots.ASLEEP, slots.NOT_BEGUN, slots.AT_WORK, slots.BEFORE_RESTORE)


class SeriesAhead(Struct, frozen=True):
    """A series that advanced by a wrong clock, and the slots to plan again."""

    series: Series
    reached: datetime  # its last slot by the correct clock
    gone: tuple[tuple[TaskId, datetime], ...]


def was_ahead(tx: Tx, now: datetime) -> bool:
    """Whether the journal has entries in the future.

    If all of them are, the clock is wrong now, and nothing is touched.
    """
    row = tx.one("journal_times")
    if row is None or row["first_at"] is None:
        return False
    return rows.parse_time(row["first_at"]) <= now and rows.parse_time(row["last_at"]) > now + BOUND


def put_right(tx: Tx, now: datetime) -> list[SeriesAhead]:
    """Correct everything that waits for a time of the wrong clock; return the series to rewind."""
    known = _clock_params(now)
    for statement in _STATEMENTS:
        tx.run(statement, known)
    after_restore.correct(tx, now)
    why = json.dumps(_TIME_GONE)
    summaries = json.dumps([slots.skipped_summary(each) for each in _SLOT_GONE])
    for row in tx.all("list_future_dropped_starts", {"now": rows.ms(now), "why": why}):
        occurrences.plan_again(tx, row)
    return [
        SeriesAhead(
            series.of_row(tx, row),
            rows.parse_time(row["reached"]),
            tuple(
                (TaskId(str(gone["id"])), rows.parse_time(gone["slot_at"]))
                for gone in tx.all(
                    "list_future_skipped_slots",
                    {
                        **known,
                        "series": row["id"],
                        "reached": row["reached"],
                        "summaries": summaries,
                    },
                )
            ),
        )
        for row in tx.all("list_series_with_future_tasks", known)
    ]


def rewind(tx: Tx, ahead: SeriesAhead, made: list[Task], now: datetime) -> None:
    """Set a series back to the correct clock; `made` are its replanned slots."""
    known = {**_clock_params(now), "series": ahead.series.id, "reached": rows.ms(ahead.reached)}
    if not tx.run("rewind_series", known):
        return
    tx.run("delete_future_skips", {**known, "why": json.dumps(_SLOT_GONE)})
    for task_id, _ in ahead.gone:
        tx.run("clear_task_slot", {"id": task_id})
    for task in made:
        tasks.admit(tx, task)


def _clock_params(now: datetime) -> dict[str, str | int | None]:
    return {"now": rows.ms(now), "ahead": rows.ms(now + BOUND)}
