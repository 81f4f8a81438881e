"""Series: created with their first occurrence, found when the next one is due, ended."""

import json
from datetime import datetime

from msgspec.structs import asdict, replace

from remit.errors import Conflict, NotFound
from remit.model import rrule
from remit.model.codec import JsonMap, stored_text, to_json
from remit.model.contract import WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId, TaskId
from remit.model.recurrence import OnMissed, Overlap, Repeats, Series
from remit.model.task import Creator, Task, TaskType
from remit.store import rows
from remit.store.database import Params, Row, Tx, single


def begin(tx: Tx, task: Task) -> Task:
    """Make a stored task the first of its series; an unsupported rule is refused."""
    repeats = task.repeats
    assert repeats is not None  # noqa: S101 - who calls has looked
    slot = task.scheduled_for or repeats.first
    repeats = replace(repeats, first=slot)
    rrule.slots(repeats, slot)  # raises for an unsupported rule
    placed = replace(task, series_id=id_of(task.id), slot=slot)
    tx.run("insert_series", _columns(placed, repeats))
    tx.run("set_task_slot", {"id": task.id, "series": placed.series_id, "slot": rows.ms(slot)})
    return placed


def id_of(first: TaskId) -> SeriesId:
    """Derive the series id from its first task, so that it begins once."""
    return SeriesId("ser-" + first.removeprefix("task-"))


def get(tx: Tx, series_id: SeriesId) -> Series | None:
    row = tx.one("get_series", {"id": series_id})
    return of_row(tx, row) if row else None


def find(tx: Tx, series_id: SeriesId) -> Series:
    found = get(tx, series_id)
    if found is None:
        raise NotFound("series", series_id)
    return found


def list_series(
    tx: Tx, *, ended: bool = False, after: SeriesId | None = None, limit: int = 100
) -> list[Series]:
    """Return the series, oldest first; ended ones only on request."""
    wanted = {"ended": ended, "after": after or "", "limit": limit}
    return [of_row(tx, row) for row in tx.all("list_series", wanted)]


def ids_like(tx: Tx, prefix: str) -> list[SeriesId]:
    """Return up to three ids with this prefix; a person types the shortest unique part."""
    found = tx.all("list_series_ids_like", rows.prefix_range(prefix))
    return [SeriesId(str(row["id"])) for row in found]


def due(tx: Tx, now: datetime, limit: int) -> list[Series]:
    """Return the series whose last occurrence is due, so that the next must be planned."""
    found = tx.all("list_due_series", {"now": rows.ms(now), "limit": limit})
    return [of_row(tx, row) for row in found]


@single
def soonest(tx: Tx, since: datetime) -> datetime | None:
    """Return when a series becomes due first after a moment: that before the last look."""
    row = tx.one("next_due_series", {"now": rows.ms(since)})
    return rows.parse_time(row["due_at"]) if row else None


def last_told(tx: Tx, task: Task) -> datetime:
    """Return when the owner last heard of a series; a quiet run is seen the moment it ends."""
    asked = {"series": task.series_id, "id": task.id}
    row = rows.found(tx.one("last_told_of_series", asked))
    return rows.parse_time(row["told"])


def end(tx: Tx, series_id: SeriesId, why: str, now: datetime) -> bool:
    """Stop planning occurrences; existing ones stay. False if it had ended."""
    return bool(tx.run("end_series", {"id": series_id, "why": why, "now": rows.ms(now)}))


def rule(
    tx: Tx, series_id: SeriesId, *, missed: OnMissed | None, overlap: Overlap | None
) -> Series:
    """Set what happens to missed or overlapping slots; None keeps the old value."""
    found = find(tx, series_id)
    if found.ended_at is not None:
        raise Conflict(f"Series {series_id} has ended; nothing of it comes back.")
    tx.run("set_series_rules", {"id": series_id, "missed": missed, "overlap": overlap})
    return find(tx, series_id)


def _columns(first: Task, repeats: Repeats) -> dict[str, str | int | None]:
    return {
        "id": first.series_id,
        "session": first.session_id,
        "title": first.title,
        "rule": repeats.rule,
        "zone": repeats.zone,
        "first_at": rows.ms(repeats.first),
        "template": _template(first),
        "now": rows.ms(first.created_at),
    }


def _template(first: Task) -> str:
    """Return the task as it was requested, without progress, as JSON without empty parts."""
    wanted = replace(
        first,
        type=TaskType.SCHEDULED,
        # An agent's words stay an agent's in every repetition.
        created_by=Creator.AGENT if first.created_by is Creator.AGENT else Creator.SCHEDULER,
        repeats=None,
        work=tuple(WorkItem(item.description) for item in first.work),
        delivery=tuple(Delivery(d.channel, d.recipient, d.content) for d in first.delivery),
        notes=(),
        retry_of=None,
    )
    parts = {name: to_json(value) for name, value in asdict(wanted).items()}
    return stored_text({name: part for name, part in parts.items() if part})


def of_row(tx: Tx, row: Row) -> Series:
    template: JsonMap = json.loads(str(row["template"]))
    later: Params = {"series": row["id"], "after": row["last_at"]}
    skips = [rows.parse_time(skip["from_at"]) for skip in tx.all("list_coming_skips", later)]
    taken = [rows.parse_time(slot["slot_at"]) for slot in tx.all("list_taken_slots", later)]
    return rows.value(
        Series,
        row,
        repeats=Repeats(str(row["rule"]), str(row["zone"]), rows.parse_time(row["first_at"])),
        template=template,
        skips=(*skips, *taken),
        taken=tuple(taken),
    )
