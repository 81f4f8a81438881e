"""Stored calendars and their resources, as last read; and the to-do copies of tasks."""

from datetime import datetime

from msgspec import Struct

from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor
from remit.store import events, meta, rows
from remit.store.database import Cell, Params, Row, Tx, patient


class StoredCalendar(Struct, frozen=True):
    """A stored calendar. `store_sync_token` is when it was last read completely."""

    account: str
    path: str
    name: str
    marked: bool = False
    trusted: bool = False
    token: str = ""
    looked: datetime | None = None
    why: str | None = None
    resources: int = 0
    refused: int = 0


class StoredResource(Struct, frozen=True):
    """What lies at one address of a calendar. `why` says what of it starts nothing."""

    account: str
    calendar: str
    path: str
    etag: str
    uid: str
    body: str
    until: datetime
    why: str | None = None
    title: str = ""  # only parsed from the body, not stored
    seen: bool = False  # the owner has dismissed that it cannot start, in its current form


def list_calendars(tx: Tx) -> list[StoredCalendar]:
    """Return all calendars ever seen, with the number of their resources."""
    return [rows.value(StoredCalendar, row) for row in tx.all("list_calendars")]


def note(tx: Tx, calendar: StoredCalendar) -> None:
    """Store a calendar's name and whether it starts work."""
    tx.run("put_calendar", rows.columns(calendar))


def store_sync_token(tx: Tx, account: str, path: str, token: str, at: datetime) -> None:
    """Store that all changes up to a token were read; `at` is when they were requested."""
    _record(tx, account, path, token=token, looked=rows.ms(at))


def store_failure(tx: Tx, account: str, path: str, why: str) -> None:
    """Record that it could not be read; what is known stays."""
    _record(tx, account, path, why=why)


def forget_calendar(tx: Tx, account: str, path: str, why: str) -> None:
    """Discard the sync token, so that the next look reads everything."""
    _record(tx, account, path, token="", why=why)


def _record(tx: Tx, account: str, path: str, **found: Cell) -> None:
    none: dict[str, Cell] = {"token": None, "looked": None, "why": None}
    tx.run("record_calendar_read", {"account": account, "path": path, **none, **found})


def etags(tx: Tx, account: str, calendar: str, column: str = "etag") -> dict[str, str]:
    """Return the etags of a calendar, by path."""
    found = tx.all("list_etags", {"account": account, "calendar": calendar})
    return {str(row["path"]): str(row[column]) for row in found}


def uids(tx: Tx, account: str, calendar: str) -> dict[str, str]:
    """Return the UIDs of a calendar, by path."""
    return etags(tx, account, calendar, "uid")


def get(tx: Tx, account: str, calendar: str, path: str) -> StoredResource | None:
    row = tx.one("get_resource", {"account": account, "calendar": calendar, "path": path})
    return _read(row) if row else None


def counting(tx: Tx, uid: str) -> StoredResource | None:
    """Return the resource that counts for a uid: a trusted one first, else the first."""
    row = tx.one("find_resource_by_uid", {"uid": uid})
    return _read(row) if row else None


def ending_before(tx: Tx, until: datetime, limit: int) -> list[StoredResource]:
    """Return resources whose starts are not expanded up to a moment."""
    found = tx.all("list_resources_to_extend", {"until": rows.ms(until), "limit": limit})
    return [_read(row) for row in found]


def list_refused(tx: Tx, limit: int = 100) -> list[StoredResource]:
    """Return the resources that cannot start work, with the reason."""
    return [_read(row) for row in tx.all("list_refused_resources", {"limit": limit})]


def count_unseen_refusals(tx: Tx) -> int:
    """Return how many refused resources the owner has not seen."""
    return rows.number(rows.found(tx.one("count_unseen_resources"))["n"])


def see(tx: Tx, account: str, calendar: str, path: str) -> bool:
    """Mark a refused resource as seen; a changed one is reported again."""
    place: Params = {"account": account, "calendar": calendar, "path": path}
    return tx.run("mark_resource_seen", place) == 1


def put(tx: Tx, resource: StoredResource, now: datetime) -> None:
    """Store a resource; a new reason for refusal is journalled once."""
    was = get(tx, resource.account, resource.calendar, resource.path)
    tx.run("put_resource", rows.columns(resource))
    if resource.why and (was is None or (was.why, was.etag) != (resource.why, resource.etag)):
        names = ("uid", "calendar", "path", "etag", "title")
        about: dict[str, Json] = {name: getattr(resource, name) for name in names}
        tell(tx, resource.account, {"what": "refused", **about}, resource.why, now)


def delete(tx: Tx, resource: StoredResource) -> None:
    tx.run("delete_resource", rows.columns(resource))


def tell(tx: Tx, account: str, about: dict[str, Json], why: str, now: datetime) -> None:
    """Journal something about a calendar entry that has no task."""
    entry = NewEvent(
        EventKind.CALENDAR_NOTED, Actor.META, {"account": account, **about, "why": why}
    )
    events.append(tx, None, 0, entry, now)


def _read(row: Row) -> StoredResource:
    return rows.value(StoredResource, row, seen=row.get("seen_etag") == row["etag"])


def fingerprint(tx: Tx, name: str) -> str | None:
    """Return a text that changes with any entry of a calendar; None if none of that name is read.

    The name of an account stands for all its calendars.
    """
    found = _find_by_name(tx, name)
    if not any(each.looked for each in found):
        return None
    places = ((each.account, each.path) for each in found)
    versions = (each for place in places for each in sorted(etags(tx, *place).items()))
    return "\n".join(f"{path} {etag}" for path, etag in versions)


def is_known(tx: Tx, name: str) -> bool:
    """Whether there is a calendar or an account of this name."""
    return bool(_find_by_name(tx, name))


def _find_by_name(tx: Tx, name: str) -> list[StoredCalendar]:
    return [each for each in list_calendars(tx) if name in (each.name, each.account)]


class TodoCopy(Struct, frozen=True):
    """What was last written of a task; without an etag somebody deleted it for good."""

    task_id: TaskId
    etag: str
    digest: str


def todo_of(tx: Tx, task_id: TaskId) -> TodoCopy | None:
    row = tx.one("get_mirrored", {"task": task_id})
    return rows.value(TodoCopy, row, task_id=task_id) if row else None


def ended_before(tx: Tx, before: datetime, limit: int) -> list[TodoCopy]:
    """Return copies whose tasks ended before a moment."""
    found = tx.all("list_old_mirrored", {"before": rows.ms(before), "limit": limit})
    return [rows.value(TodoCopy, row) for row in found]


@patient
def put_todo(tx: Tx, copy: TodoCopy) -> None:
    tx.run("put_mirrored", {"task": copy.task_id, "etag": copy.etag, "digest": copy.digest})


def mark(tx: Tx) -> int:
    """Return up to which journal event the list is current."""
    return int(meta.get(tx, "mirrored") or 0)


def mark_at(tx: Tx, seq: int) -> None:
    meta.put(tx, "mirrored", str(seq))


def note_todo(tx: Tx, task_id: TaskId, details: JsonMap, now: datetime) -> None:
    """Journal in a task's log what somebody did in the list; it has no other effect."""
    events.tell_task(tx, task_id, NewEvent(EventKind.TASK_UPDATED, Actor.META, details), now)
