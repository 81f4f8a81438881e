"""Slots of a series: the next occurrence put in, and what was passed over written down."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from remit.model.codec import Json, stamp
from remit.model.event import Entry, Kind
from remit.model.ids import SeriesId, TaskId
from remit.model.series import Series
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.store import events, rows, tasks
from remit.store.database import Row, Tx

NOT_BEGUN: Final = "it had not begun when the next one was due"
ASLEEP: Final = "Remit was not running, or the machine slept; the latest one is run instead"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Slots in a row that got no occurrence."""

    first: datetime
    last: datetime
    slots: int
    why: str = ASLEEP


@dataclass(frozen=True, slots=True)
class Step:
    """How a series goes on: up to which slot it has come, and what is put in."""

    latest: datetime  # the newest slot that is due
    made: tuple[Task, ...]  # the occurrences to put in, in order
    skipped: Skipped | None = None
    over: bool = False  # its rule names no further time


def advance(tx: Tx, series: Series, step: Step, now: datetime) -> bool:
    """Put in what comes next and pass over what is too old; False if somebody was first."""
    last = step.made[-1].slot if step.made else series.last
    assert last is not None  # noqa: S101 - an occurrence has a slot
    moved = tx.run(
        "advance_series",
        {
            "id": series.id,
            "was": rows.ms(series.last),
            "last_at": rows.ms(last),
            "due_at": None if step.over else rows.ms(last),
            "now": rows.ms(now),
        },
    )
    if not moved:
        return False
    for task in step.made:
        tasks.admit(tx, task)
    for row in tx.all("list_unbegun_slots", {"series": series.id, "slot": rows.ms(step.latest)}):
        _pass_over(tx, row, now)
    if step.skipped is not None:
        _write_down(tx, series.id, step.skipped, step.made, now)
    return True


def skipped(tx: Tx, series_id: SeriesId, limit: int = 100) -> list[Skipped]:
    """What was passed over, newest first."""
    found = tx.all("list_skips", {"series": series_id, "limit": limit})
    return [
        Skipped(
            rows.at(row["from_at"]),
            rows.at(row["upto_at"]),
            rows.number(row["slots"]),
            str(row["why"]),
        )
        for row in found
    ]


def _pass_over(tx: Tx, row: Row, now: datetime) -> None:
    """End an occurrence that never began, so that a night's worth of them is not run at once."""
    task_id = TaskId(str(row["task"]))
    why = f"Skipped: {NOT_BEGUN}."
    ended = tx.one("skip_task", {"id": task_id, "why": why, "now": rows.ms(now)})
    assert ended is not None  # noqa: S101 - read in this very transaction
    data: dict[str, Json] = {
        "was": rows.text(row["status"]),
        "to": Status.CANCELLED,
        "note": why,
    }
    entry = Entry(Kind.TASK_MOVED, Actor.META, data)
    events.append(tx, task_id, rows.number(ended["events"]), entry, now)


def _write_down(
    tx: Tx, series_id: SeriesId, skipped: Skipped, made: Sequence[Task], now: datetime
) -> None:
    """In the series, and in the log of the occurrence that was run instead."""
    tx.run(
        "insert_skip",
        {
            "series": series_id,
            "from_at": rows.ms(skipped.first),
            "upto_at": rows.ms(skipped.last),
            "slots": skipped.slots,
            "why": skipped.why,
            "now": rows.ms(now),
        },
    )
    told: dict[str, Json] = {
        "what": "slots skipped",
        "slots": skipped.slots,
        "from": stamp(skipped.first),
        "upto": stamp(skipped.last),
        "why": skipped.why,
    }
    row = tx.one("note_task", {"id": made[0].id, "now": rows.ms(now)})
    assert row is not None  # noqa: S101 - put in by this very transaction
    entry = Entry(Kind.TASK_UPDATED, Actor.META, told)
    events.append(tx, made[0].id, rows.number(row["events"]), entry, now)
