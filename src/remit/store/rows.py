"""Converts rows to values and back. The file holds milliseconds; values hold UTC moments."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final, TypeVar, cast, get_args, get_type_hints

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder, encode
from msgspec.structs import asdict

from remit.model.codec import Json, JsonMap, clamp, from_json, hints_of, stored_text, to_json
from remit.model.contract import Contract, Gap, OwnerRequest, RankingRule, Verdict, WorkItem
from remit.model.delivery import Delivery, DeliveryStatus, ProviderReport
from remit.model.ids import DeliveryId, TaskId
from remit.model.recurrence import Repeats
from remit.model.review import Decision, Review
from remit.model.run import Event, EventKind
from remit.model.status import Actor, Reason, Status
from remit.model.task import (
    Creator,
    PendingReading,
    Priority,
    Source,
    SourceKind,
    Taint,
    Task,
    TaskBudget,
    TaskType,
)
from remit.model.task_file import TaskFile
from remit.model.veto import Condition, VetoCue
from remit.store.database import Cell, Row

S = TypeVar("S", bound=Struct)
W = TypeVar("W", bound=StrEnum)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_LATER: Final = (datetime(2200, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND


def prefix_range(prefix: str) -> dict[str, Cell]:
    """Return the parameters `begin` and `end` for every text with a prefix."""
    return {"begin": prefix, "end": prefix + "\U0010ffff"}


def millis(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // _MILLISECOND


def ms(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def moment(cell: Cell) -> datetime | None:
    return None if cell is None else parse_time(cell)


def parse_time(cell: Cell) -> datetime:
    """Parse a stored moment, clamped so that every zone can show it."""
    found = _EPOCH + cell * _MILLISECOND  # type: ignore[operator]
    return found if 0 <= cell < _LATER else clamp(found)  # type: ignore[operator]


def exact(cell: Cell) -> datetime | None:
    """Parse a stored moment exactly, for comparisons."""
    return None if cell is None else _EPOCH + cast("int", cell) * _MILLISECOND


def text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def word(kind: type[W], cell: Cell) -> W:
    return kind(cast("str", cell))


def number(cell: Cell) -> int:
    return cast("int", cell)


def value(kind: type[S], row: Row, **given: object) -> S:
    """Return a value whose fields stand in a row under their names; `given` are the others.

    The column of a moment may end in `_at`; a field without a column has its default.
    """
    for name, read in _fields(kind):
        column = name if name in row else f"{name}_at"
        if name not in given and column in row:
            given[name] = read(row[column])
    return kind(**given)


@cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, Callable[[Cell], object]], ...]:
    return tuple((name, _parser(hint)) for name, hint in hints_of(kind).items())


def _parser(hint: object) -> Callable[[Cell], object]:
    for part in get_args(hint) or (hint,):
        if part is datetime:
            return moment
        if part is bool or (isinstance(part, type) and issubclass(part, StrEnum)):
            parse: Callable[[Cell], object] = part
            return lambda cell: None if cell is None else parse(cell)
    return lambda cell: cell


def columns(value: Struct, **given: Cell) -> dict[str, Cell]:
    """Return the fields of a value as a statement takes them, and what is `given` besides.

    A statement takes those that it names.
    """
    return {name: _cell(part) for name, part in asdict(value).items()} | given


def _cell(part: object) -> Cell:
    if isinstance(part, datetime):
        return ms(part)
    return part.value if isinstance(part, StrEnum) else cast("Cell", part)


def found(row: Row | None) -> Row:
    """Return the row of a statement that always finds one: a count, or what was just written."""
    assert row is not None  # noqa: S101 - as above
    return row


def details(task: Task) -> str:
    """Return the parts of a task that are never filtered by, as JSON without empty ones."""
    parts = {name: value for name in _DETAILS if (value := getattr(task, name))}
    for name, usual in _USUAL.items():
        if parts.get(name) == usual:
            del parts[name]
    try:
        return encode(parts, order="sorted").decode()
    except (OverflowError, UnicodeEncodeError):  # huge numbers and halves of characters
        return stored_text({name: to_json(value) for name, value in parts.items()})


def task(row: Row, deliveries: tuple[Delivery, ...] = ()) -> Task:
    parts = _read_details(cast("str", row["details"]))
    return task_of_columns(row, delivery=deliveries, **parts)


def task_of_columns(row: Row, **parts: object) -> Task:
    """Return a task of the columns that a row has, and of parts that were read otherwise."""
    columns = {field: read(row[name]) for field, name, read in _COLUMNS if name in row}
    parts |= {name: row[name] for name in _PLAIN_COLUMNS if name in row}
    source = Source(_SOURCES[row["source_kind"]], str(row["source_ref"]))
    return Task(source=source, **columns, **parts)  # type: ignore[arg-type]


def _read_details(text: str) -> dict[str, object]:
    """Parse the details of a task: at once if they fit, else part by part for the error."""
    try:
        found = asdict(_DECODE(text))
    except (ValidationError, UnicodeEncodeError):
        found, kinds = json.loads(text), get_type_hints(_TaskDetails) | _CHECKED
    else:
        kinds = _CHECKED
    parts = {name: value for name, value in found.items() if value is not None}
    for name in kinds.keys() & parts.keys():
        parts[name] = from_json(kinds[name], cast("Json", parts[name]), name)
    return parts


def delivery(row: Row) -> Delivery:
    return Delivery(
        channel=str(row["channel"]),
        recipient=text(row["recipient"]),
        content=text(row["content"]),
        status=word(DeliveryStatus, row["status"]),
        id=DeliveryId(str(row["id"])),
        body=text(row["body"]),
        reason=text(row["reason"]),
        receipt=text(row["receipt"]),
        sent_at=moment(row["sent_at"]),
        part=number(row["part"]),
        parts=number(row["parts"]),
        doubted_at=moment(row["doubted_at"]),
        reported=from_json(ProviderReport, json.loads(str(row["reported"])))
        if row["reported"]
        else None,
        address=text(row["address"]),
    )


def event(row: Row) -> Event:
    return Event(
        seq=number(row["seq"]),
        task_id=None if row["task_id"] is None else TaskId(str(row["task_id"])),
        n=number(row["n"]),
        kind=_EVENT_KINDS[row["kind"]],
        actor=_ACTORS[row["actor"]],
        at=parse_time(row["at"]),
        data=_read_map(str(row["data"])),
        hash=cast("bytes", row["hash"]).hex(),
    )


def _read_map(text: str) -> JsonMap:
    """Parse an object of JSON: fast if it is plain, else as any version may have written it."""
    try:
        return _DECODE_MAP(text)
    except (ValidationError, DecodeError, UnicodeEncodeError):
        return cast("JsonMap", json.loads(text))


def review(row: Row) -> Review:
    decision = None
    if row["decided_at"] is not None:
        given = {"text": row["answer_text"], "by": row["decided_by"]}
        decision = value(Decision, row, **given)
    return value(Review, row, decision=decision, draft=None if decision else row["answer_text"])


def _word(kind: type[StrEnum]) -> Callable[[Cell], StrEnum | None]:
    """Look up an enum by value: five times faster than constructing it."""
    known: dict[Cell, StrEnum | None] = {member.value: member for member in kind} | {None: None}
    return known.__getitem__


class _TaskDetails(Struct):
    """The details of a task as they are stored."""

    request: OwnerRequest | None = None
    gaps: tuple[Gap, ...] | None = None
    veto: tuple[VetoCue, ...] | None = None
    work: tuple[WorkItem, ...] | None = None
    contract: Contract | None = None
    verdict: Verdict | None = None
    context: dict | None = None  # type: ignore[type-arg]
    rule: RankingRule | None = None
    notes: tuple[str, ...] | None = None
    files: tuple[TaskFile, ...] | None = None
    tool_output: str | None = None
    budget: TaskBudget | None = None
    spent: TaskBudget | None = None
    # With times of the owner, which are checked: read by `_CHECKED`.
    conditions: list | None = None  # type: ignore[type-arg]
    pending_reading: dict | None = None  # type: ignore[type-arg]
    repeats: dict | None = None  # type: ignore[type-arg]


_DECODE: Final = Decoder(_TaskDetails).decode
_CHECKED: Final[dict[str, type]] = {
    "conditions": tuple[Condition, ...],
    "pending_reading": PendingReading,
    "repeats": Repeats,
}
# Kept in the details; the taint has a column too.
_DETAILS: Final = (*_TaskDetails.__struct_fields__, "taint")
_USUAL: Final = {"budget": TaskBudget(), "spent": TaskBudget(0, 0), "taint": Taint.OWNER}
_DECODE_MAP: Final = Decoder(dict).decode
_EVENT_KINDS: Final[dict[Cell, EventKind]] = {kind.value: kind for kind in EventKind}
_ACTORS: Final[dict[Cell, Actor]] = {actor.value: actor for actor in Actor}
_SOURCES: Final[dict[Cell, SourceKind]] = {kind.value: kind for kind in SourceKind}
# Texts and numbers are taken as they are; for all else the field, its column and its parser. Before
# a migration a column may be absent.
_PLAIN_COLUMNS: Final = (
    "id",
    "title",
    "instructions",
    "session_id",
    "series_id",
    "assigned_agent",
    "result_summary",
    "retry_of",
    "round",
    "lease",
    "attempts",
    "crashes",
)
_COLUMNS: Final[tuple[tuple[str, str, Callable[[Cell], object]], ...]] = (
    ("type", "type", _word(TaskType)),
    ("status", "status", _word(Status)),
    ("created_at", "created_at", parse_time),
    ("last_updated", "updated_at", parse_time),
    ("created_by", "created_by", _word(Creator)),
    ("priority", "priority", _word(Priority)),
    ("reason", "reason", _word(Reason)),
    ("resume_to", "resume_to", _word(Status)),
    ("slot", "slot_at", moment),
    ("taint", "taint", _word(Taint)),
    ("scheduled_for", "scheduled_for", moment),
    ("started_at", "started_at", moment),
    ("completed_at", "completed_at", moment),
    ("cancel_requested", "wish", lambda wish: wish in ("cancel", "delete")),
    ("pause_requested", "wish", lambda wish: wish == "pause"),
    ("deleted_at", "deleted_at", moment),
    ("seen_at", "seen_at", moment),
)
