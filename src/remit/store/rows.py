"""Converts rows to values and back. The file holds milliseconds; values hold UTC moments."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Final, TypeVar, cast

from remit.model.codec import Json, JsonMap, clamp, from_json, text_of, to_json
from remit.model.contract import Contract, Verdict
from remit.model.delivery import Delivery, DeliveryStatus, ProviderReport
from remit.model.ids import DeliveryId, ReviewId, RunId, TaskId, WorkerId
from remit.model.plan import Gap, OwnerRequest, RankingRule, WorkItem
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.run import Event, EventKind, Run
from remit.model.series import Repeats
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
from remit.model.veto import Condition, VetoCue
from remit.store.database import Cell, Row

W = TypeVar("W", bound=StrEnum)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


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
    return clamp(_EPOCH + cast("int", cell) * _MILLISECOND)


def exact(cell: Cell) -> datetime | None:
    """Parse a stored moment exactly, for comparisons."""
    return None if cell is None else _EPOCH + cast("int", cell) * _MILLISECOND


def text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def word(kind: type[W], cell: Cell) -> W:
    return kind(cast("str", cell))


def number(cell: Cell) -> int:
    return cast("int", cell)


def details(task: Task) -> str:
    """Return the parts of a task that are never filtered by, as JSON without empty ones."""
    return text_of(
        {
            name: to_json(value)
            for name, value in (
                ("request", task.request),
                ("gaps", task.gaps),
                ("veto", task.veto),
                ("conditions", task.conditions),
                ("pending_reading", task.pending_reading),
                ("repeats", task.repeats),
                ("work", task.work),
                ("contract", task.contract),
                ("verdict", task.verdict),
                ("context", task.context),
                ("rule", task.rule),
                ("notes", task.notes),
                ("tool_output", task.tool_output),
                ("budget", task.budget if task.budget != TaskBudget() else None),
                ("spent", task.spent if task.spent != TaskBudget(0, 0) else None),
                ("taint", task.taint if task.taint is not Taint.OWNER else None),  # has a column
            )
            if value
        }
    )


def task(row: Row, deliveries: tuple[Delivery, ...] = ()) -> Task:
    kept: JsonMap = json.loads(str(row["details"]))
    columns = {field: read(row[name]) for field, (name, read) in _COLUMNS.items()}
    columns["seen_at"] = moment(row.get("seen_at"))  # absent before the migration
    parts = {field: read(kept[field]) for field, read in _PARTS.items() if field in kept}
    source = Source(word(SourceKind, row["source_kind"]), str(row["source_ref"]))
    return Task(source=source, delivery=deliveries, **columns, **parts)  # type: ignore[arg-type]


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
        kind=word(EventKind, row["kind"]),
        actor=word(Actor, row["actor"]),
        at=parse_time(row["at"]),
        data=json.loads(str(row["data"])),
        hash=cast("bytes", row["hash"]).hex(),
    )


def review(row: Row) -> Review:
    decision = None
    if row["decided_at"] is not None:
        decision = Decision(
            answer=word(ReviewAnswer, row["answer"]),
            text=text(row["answer_text"]),
            by=str(row["decided_by"]),
            decided_at=moment(row["decided_at"]),
        )
    return Review(
        id=ReviewId(str(row["id"])),
        task_id=TaskId(str(row["task_id"])),
        key=str(row["key"]),
        reason=word(Reason, row["reason"]),
        question=str(row["question"]),
        evidence=str(row["evidence"]),
        about=text(row["about"]),
        digest=text(row["digest"]),
        resume_to=word(Status, row["resume_to"]),
        opened_at=moment(row["opened_at"]),
        later_until=moment(row["later_until"]),
        decision=decision,
        draft=None if decision else text(row["answer_text"]),
    )


def run(row: Row) -> Run:
    return Run(
        id=RunId(str(row["id"])),
        task_id=TaskId(str(row["task_id"])),
        lease=number(row["lease"]),
        worker=WorkerId(str(row["worker"])),
        started_at=parse_time(row["started_at"]),
        ended_at=moment(row["ended_at"]),
        outcome=text(row["outcome"]),
        note=text(row["note"]),
    )


def _word(kind: type[StrEnum]) -> Callable[[Cell], StrEnum | None]:
    """Look up an enum by value: five times faster than constructing it."""
    known: dict[Cell, StrEnum | None] = {member.value: member for member in kind} | {None: None}
    return known.__getitem__


def _all(kind: type) -> Callable[[Json], tuple[object, ...]]:
    return lambda data: tuple(from_json(kind, each) for each in cast("list[Json]", data))


# The column and the parser of each field. Fields not listed are built above.
_COLUMNS: Final[Mapping[str, tuple[str, Callable[[Cell], object]]]] = {
    "id": ("id", str),
    "type": ("type", _word(TaskType)),
    "title": ("title", str),
    "instructions": ("instructions", str),
    "status": ("status", _word(Status)),
    "created_at": ("created_at", parse_time),
    "last_updated": ("updated_at", parse_time),
    "created_by": ("created_by", _word(Creator)),
    "session_id": ("session_id", str),
    "priority": ("priority", _word(Priority)),
    "reason": ("reason", _word(Reason)),
    "resume_to": ("resume_to", _word(Status)),
    "series_id": ("series_id", text),
    "slot": ("slot_at", moment),
    "assigned_agent": ("assigned_agent", text),
    "taint": ("taint", _word(Taint)),
    "result_summary": ("result_summary", text),
    "scheduled_for": ("scheduled_for", moment),
    "started_at": ("started_at", moment),
    "completed_at": ("completed_at", moment),
    "retry_of": ("retry_of", text),
    "cancel_requested": ("wish", lambda wish: wish in ("cancel", "delete")),
    "pause_requested": ("wish", lambda wish: wish == "pause"),
    "deleted_at": ("deleted_at", moment),
    "round": ("round", number),
    "lease": ("lease", number),
    "attempts": ("attempts", number),
    "crashes": ("crashes", number),
}
_PARTS: Final[Mapping[str, Callable[[Json], object]]] = {
    "request": partial(from_json, OwnerRequest),
    "gaps": _all(Gap),
    "veto": _all(VetoCue),
    "conditions": _all(Condition),
    "pending_reading": partial(from_json, PendingReading),
    "repeats": partial(from_json, Repeats),
    "work": _all(WorkItem),
    "contract": partial(from_json, Contract),
    "verdict": partial(from_json, Verdict),
    "context": lambda data: data,
    "rule": partial(from_json, RankingRule),
    "notes": lambda data: tuple(cast("list[str]", data)),
    "tool_output": lambda data: data,
    "budget": partial(from_json, TaskBudget),
    "spent": partial(from_json, TaskBudget),
}
