"""Imports the conversations.db of an older installation.

Its layout was never documented, so likely names are searched. Values without a column here are kept
as text under `origin`. An unknown layout is refused.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from remit.errors import BadInput, StoreForeign
from remit.model import ids
from remit.model.codec import JsonMap, text_of
from remit.model.contract import Clause, ClauseOutcome, OwnerRequest
from remit.model.conversation import Action, Role
from remit.model.ids import SeriesId, SessionId, TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import TERMINAL, Actor, Status
from remit.model.task import Creator, Source, SourceKind, Task, TaskType
from remit.store import events, meta, rows, tasks
from remit.store.connection import SqliteTx, connect
from remit.store.database import Cell, Params, Tx

W = TypeVar("W", bound=StrEnum)

OLD: Final = "conversations.db"


def adopt(connection: sqlite3.Connection, folder: Path) -> None:
    """Import what an older installation left in this folder, if anything."""
    old = folder / OLD
    if not old.exists():
        return
    with closing(_look(old)) as source:
        _recognise(old, source)
        kept = _keep(old, source, folder / "backups")
    with closing(_look(kept)) as source:
        tx, last = SqliteTx(connection), _changed_at(old)
        tx.begin()
        known = {found.text("id"): _carry_task(tx, found, last) for found in _read(source, _TASKS)}
        _carry_talk(tx, source, known, last)
        meta.put(tx, "imported", _digest(old))
        # Imported history is no news: it is not posted in conversations.
        meta.put(tx, "told", str(events.last(tx)))
        tx.commit()


def retire(connection: sqlite3.Connection, folder: Path) -> None:
    """Move the old file away once the new one holds everything."""
    old = folder / OLD
    if not old.exists():
        return
    if meta.get(SqliteTx(connection), "imported") != _digest(old):
        return  # it appeared later and was not imported
    for suffix in ("-shm", "-wal", ""):
        part = old.with_name(OLD + suffix)
        if part.exists():
            part.rename(old.with_name(f"{OLD}.migrated{suffix}"))


# The old file -------------------------------------------------------------------------------------


class _Layout(Struct, frozen=True):
    """The names a table and its columns may have: ours, and theirs."""

    tables: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...]  # without these it is another table


_CONVERSATIONS: Final = _Layout(
    ("conversations",),
    {
        "id": ("id", "conversation_id"),
        "title": ("title", "name", "subject"),
        "created": ("created_at", "created", "createdAt", "started_at", "timestamp"),
    },
    ("id",),
)
_TURNS: Final = _Layout(
    ("turns", "messages"),
    {
        "conversation": ("conversation_id", "conversationId", "conversation"),
        "role": ("role", "sender", "author"),
        "content": ("content", "text", "body", "message"),
        "said": ("timestamp", "said_at", "created_at", "created", "time"),
        "place": ("turn_number", "turnNumber", "n", "seq", "position"),
        "task": ("task_id", "taskId"),
        "action": ("task_action", "taskAction"),
    },
    ("conversation", "role", "content"),
)
_TASKS: Final = _Layout(
    ("tasks",),
    {
        name: (name,)
        for name in (
            *("id", "title", "instructions", "status", "source_type", "source_ref", "session_id"),
            *("recurrence_id", "scheduled_for", "started_at", "completed_at", "created_by"),
            "created_at",
        )
    },
    ("id", "title", "instructions", "status"),
)


class _Found(Struct, frozen=True):
    """A row of the old file: known values by our names, and the rest."""

    told: Mapping[str, Cell]
    rest: JsonMap

    def text(self, name: str) -> str:
        return _text(self.told[name])

    def at(self, name: str) -> datetime | None:
        return _moment(self.text(name))


def _look(path: Path) -> sqlite3.Connection:
    try:
        connection = connect(path, writable=False)
        connection.execute("SELECT * FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        raise StoreForeign(str(path), str(error)) from error
    return connection


def _recognise(old: Path, source: sqlite3.Connection) -> None:
    layouts = [(each, _table(source, each)) for each in (_CONVERSATIONS, _TURNS, _TASKS)]
    if not any(table for _, table in layouts):
        raise StoreForeign(str(old), "it holds no conversations, turns or tasks")
    for layout, table in layouts:
        known = {row["name"] for row in source.execute(f"PRAGMA table_info({table})")}
        missing = [name for name in layout.needed if not known.intersection(layout.columns[name])]
        if table and missing:
            raise StoreForeign(str(old), f"its {table} have no column for {', '.join(missing)}")
    results = [next(iter(row.values())) for row in source.execute("PRAGMA integrity_check(1)")]
    if results != ["ok"]:
        raise StoreForeign(str(old), f"it is damaged: {results[0]}")


def _keep(old: Path, source: sqlite3.Connection, folder: Path) -> Path:
    """Copy the old file, including its log, into a file of its own."""
    folder.mkdir(exist_ok=True, mode=0o700)
    kept = folder / f"conversations-{_changed_at(old):%Y%m%dT%H%M%SZ}.db"
    partial = kept.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    return partial.rename(kept)


def _read(source: sqlite3.Connection, layout: _Layout) -> Iterator[_Found]:
    table = _table(source, layout)
    for row in source.execute(f'SELECT * FROM "{table}"') if table else ():  # noqa: S608
        rest, cells = dict(row), dict[str, Cell]()
        for ours, theirs in layout.columns.items():
            named = next((name for name in theirs if name in rest), None)
            cells[ours] = rest.pop(named) if named else None
        yield _Found(cells, {name: _text(cell) for name, cell in rest.items() if cell is not None})


def _table(source: sqlite3.Connection, layout: _Layout) -> str | None:
    found = source.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    present = {row["name"] for row in found}
    return next((name for name in layout.tables if name in present), None)


# Tasks --------------------------------------------------------------------------------------------

_STARTED: Final = ((Status.READY, Actor.PRIORITISE), (Status.RUNNING, Actor.ENGINE))
# The moves that lead to the old status. Any other task waits for the owner: it may have been half
# done.
_WAYS: Final[Mapping[str, tuple[tuple[Status, Actor], ...]]] = {
    "pending": (),
    "completed": (*_STARTED, (Status.COMPLETED, Actor.EXECUTOR)),
    "failed": (*_STARTED, (Status.FAILED, Actor.EXECUTOR)),
    "deleted": ((Status.CANCELLED, Actor.OWNER),),
}
_PAUSED: Final = ((Status.PAUSED, Actor.OWNER),)


def _carry_task(tx: Tx, found: _Found, last: datetime) -> TaskId:
    task = _task(found, last)
    tasks.admit(tx, task)
    for to, by in _WAYS.get(found.text("status"), _PAUSED):
        task = _carry(tx, task, to, by, found)
    return task.id


def _task(found: _Found, last: datetime) -> Task:
    created, ident, cells = found.at("created_at") or last, found.text("id"), found.told
    text, scheduled = found.text("instructions"), found.at("scheduled_for")
    kind = _word(SourceKind, found.text("source_type"), SourceKind.MANUAL)
    # Many old tasks share one calendar entry or conversation; here a source is one cue.
    ref = f"{found.text('source_ref')}#{ident}" if cells["source_ref"] else ident
    origin: JsonMap = {name: _text(cell) for name, cell in cells.items() if cell is not None}
    return Task(
        id=_ident(ident, created),
        type=TaskType.SCHEDULED if scheduled else TaskType.IMMEDIATE,
        source=Source(kind, ref),
        title=found.text("title"),
        instructions=text,
        request=OwnerRequest(text, (Clause(text, 0, len(text), ClauseOutcome.WORK),)),
        created_at=created,
        last_updated=created,
        created_by=_word(Creator, found.text("created_by"), Creator.USER),
        session_id=SessionId(found.text("session_id") or f"ses-{ident}"),
        series_id=SeriesId(found.text("recurrence_id")) if cells["recurrence_id"] else None,
        scheduled_for=scheduled,
        context={"origin": origin | found.rest},
    )


def _carry(tx: Tx, task: Task, to: Status, by: Actor, found: _Found) -> Task:
    """Move a task to an earlier status, with the event it would have had."""
    moved, at = task.move(to, by), task.created_at
    if to in TERMINAL | {Status.RUNNING}:
        at = found.at("completed_at" if to in TERMINAL else "started_at") or at
    values = {
        "id": task.id,
        "to": to.value,
        "resume_to": moved.resume_to,
        "started_at": rows.ms(at) if to is Status.RUNNING else None,
        "completed_at": rows.ms(at) if to in TERMINAL else None,
        "now": rows.ms(at),
    }
    row = tx.one("set_imported_task_status", values)
    assert row is not None  # noqa: S101 - admitted in this very transaction
    data: JsonMap = {"was": task.status, "to": to, "note": f"carried over from {OLD}"}
    events.append(
        tx, task.id, rows.number(row["events"]), NewEvent(EventKind.TASK_MOVED, by, data), at
    )
    return moved


def _ident(text: str, created: datetime) -> TaskId:
    """Return the old id if it has our form; else one derived from it, always the same."""
    try:
        return ids.task_id(text)
    except BadInput:
        chance = int.from_bytes(hashlib.sha256(text.encode()).digest()[: ids.RANDOM_BITS // 8])
        return TaskId("task-" + ids.encode(rows.ms(created) << ids.RANDOM_BITS | chance))


# Talk ---------------------------------------------------------------------------------------------

_ROLES: Final = {role.value: role for role in Role} | {
    "human": Role.USER,
    "owner": Role.USER,
    "agent": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
}


def _carry_talk(
    tx: Tx, source: sqlite3.Connection, known: Mapping[str, TaskId], last: datetime
) -> None:
    turns: dict[str, list[_Found]] = {}
    for turn in _read(source, _TURNS):
        turns.setdefault(turn.text("conversation"), []).append(turn)
    found = {each.text("id"): each for each in _read(source, _CONVERSATIONS)}
    unknown = _Found(dict.fromkeys(_CONVERSATIONS.columns), {})
    for ident in dict.fromkeys((*found, *turns)):
        talk, turns_found = found.get(ident, unknown), sorted(turns.get(ident, ()), key=_place)
        notes = [_carry_turn(tx, n, turn, known, last) for n, turn in enumerate(turns_found, 1)]
        origin: JsonMap = {"file": OLD, **talk.rest}
        origin |= {f"turn {n}": note for n, note in enumerate(notes, 1) if note}
        values: Params = {
            "id": ident,
            "title": talk.text("title") or "Conversation",
            "now": rows.ms(talk.at("created") or _began(turns_found) or last),
            "origin": text_of(origin),
        }
        tx.run("insert_conversation", values)


def _carry_turn(
    tx: Tx, n: int, turn: _Found, known: Mapping[str, TaskId], last: datetime
) -> JsonMap:
    """Store one turn; return the values that have no column."""
    role, task = turn.text("role"), turn.text("task")
    rest = dict(turn.rest)
    if role not in _ROLES:
        rest["role"] = role
    if task and task not in known:
        rest["task"] = task
    action = _word(Action, turn.text("action"), Action.DISCUSSED)
    tx.run(
        "insert_turn",
        {
            "conversation": turn.text("conversation"),
            "n": n,
            "role": _ROLES.get(role, Role.SYSTEM).value,
            "content": turn.text("content"),
            "now": rows.ms(turn.at("said") or last),
            "task": known.get(task),
            "action": action.value if task in known else None,
        },
    )
    return rest


def _place(turn: _Found) -> tuple[float, float]:
    """Sort key: its number, else its time; without both it keeps its place."""
    place, said_at = turn.told["place"], turn.at("said")
    number = place if isinstance(place, int | float) else 0
    return number, said_at.timestamp() if said_at else 0


def _began(turns_found: Sequence[_Found]) -> datetime | None:
    return next((at for turn in turns_found if (at := turn.at("said"))), None)


# Words and times ----------------------------------------------------------------------------------


def _text(cell: Cell) -> str:
    if isinstance(cell, bytes):
        return cell.decode(errors="backslashreplace")
    return "" if cell is None else str(cell)


def _moment(text: str) -> datetime | None:
    """Parse RFC 3339, SQLite's form, or a number since 1970; UTC by default."""
    try:
        if text.replace(".", "", 1).isdecimal() and float(text) > _EARLIEST:
            seconds = float(text)
            return datetime.fromtimestamp(seconds if seconds < _LATEST else seconds / 1000, UTC)
        read = datetime.fromisoformat(text)
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _word(kind: type[W], text: str, otherwise: W) -> W:
    return kind(text) if text in set(kind) else otherwise


def _changed_at(old: Path) -> datetime:
    """Return when the older installation last wrote."""
    return datetime.fromtimestamp(old.stat().st_mtime, UTC)


def _digest(old: Path) -> str:
    with old.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_EARLIEST: Final = 1e8  # seconds since 1970; below that it is a date like 20260219
_LATEST: Final = 1e11  # above that it is milliseconds
