"""The published JSON views of a task: S2's, S3's camelCase record, and S4's.

Two tables map our statuses to theirs. S2 omits a field where the other views write null. Also what
may be done with a task, and its limits in words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final, cast

from msgspec import Struct

from remit.model.codec import Json, JsonMap, pick_fields, stamp, to_json
from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Timing,
    Verdict,
)
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.proof import why_unverified
from remit.model.reply import PROJECT, SpecialistAttempt
from remit.model.status import ACTIVE, PAUSABLE, TERMINAL, Reason, Status
from remit.model.task import Task
from remit.model.veto import ConditionKind, veto_sentence

SCHEMA_VERSION: Final = 1


class JsonView(StrEnum):
    S3 = "s3"
    S4 = "s4"


_S3: Final[Mapping[Status, str]] = {
    Status.NEW: "pending",
    Status.READY: "pending",
    Status.RUNNING: "running",
    Status.VERIFYING: "running",
    Status.DELIVERING: "running",
    Status.NEEDS_REVIEW: "needs_review",
    Status.PAUSED: "paused",
    Status.COMPLETED: "completed",
    Status.FAILED: "failed",
    Status.CANCELLED: "deleted",
}
_S4: Final[Mapping[Status, str]] = {
    Status.NEW: "NEW",
    Status.READY: "READY",
    Status.RUNNING: "IN_PROGRESS",
    Status.VERIFYING: "IN_PROGRESS",
    Status.DELIVERING: "IN_PROGRESS",
    Status.NEEDS_REVIEW: "WAITING_HITL",
    Status.PAUSED: "WAITING_HITL",
    Status.COMPLETED: "DONE",
    Status.FAILED: "CANCELLED",
    Status.CANCELLED: "CANCELLED",
}
_DELIVERY: Final[Mapping[DeliveryStatus, str]] = {
    DeliveryStatus.PENDING: "pending",
    DeliveryStatus.SENDING: "pending",
    DeliveryStatus.SENT: "completed",
    DeliveryStatus.REFUSED: "failed",
    DeliveryStatus.UNKNOWN: "needs_review",
}
_HOLDS_DELIVERY: Final = frozenset({Reason.DELIVERABLE, Reason.APPROVAL, Reason.VERIFICATION})


def show(task: Task, view: JsonView) -> JsonMap:
    """Return a task in one of its published views."""
    return _RENDER[view](task)


def s3_status(task: Task) -> str:
    return "deleted" if task.deleted_at else _S3[task.status]


def s4_status(task: Task) -> str:
    if task.status is Status.PAUSED and task.resume_to in (Status.NEW, Status.READY):
        return _S4[task.resume_to]
    return _S4[task.status]


def delivery_status(delivery: Delivery, task: Task) -> str:
    """Return a delivery's status; a pending one of a held task shows as held."""
    held = task.status is Status.NEEDS_REVIEW and task.reason in _HOLDS_DELIVERY
    if held and delivery.status is DeliveryStatus.PENDING:
        return "needs_review"
    return _DELIVERY[delivery.status]


def _s3(task: Task) -> JsonMap:
    return {
        **pick_fields(task, "id type"),
        "sourceType": task.source.kind.value,
        "sourceRef": task.source.ref,
        **pick_fields(task, "title instructions"),
        "status": s3_status(task),
        "state": task.status.value,
        **pick_fields(task, "reason sessionId"),
        "recurrenceId": task.series_id,
        "occurrenceDate": moment_or_none(task.slot),
        **pick_fields(task, "work"),
        "delivery": [_s3_delivery(delivery, task) for delivery in task.delivery],
        "verificationContract": s3_contract(task.contract) if task.contract else None,
        "verificationResults": s3_results(task.verdict) if task.verdict else None,
        "notVerified": why_unverified(task),
        **pick_fields(task, "context request priority"),
        "priorityRule": to_json(task.rule),
        **pick_fields(task, "taint veto conditions assignedAgent resultSummary"),
        **pick_fields(task, "toolOutput budget spent"),
        "created": stamp(task.created_at),
        **pick_fields(
            task, "scheduledFor startedAt completedAt lastUpdated createdBy logPath retryOf"
        ),
        **pick_fields(task, "cancelRequested deletedAt"),
    }


def _s3_delivery(delivery: Delivery, task: Task) -> JsonMap:
    return {
        **pick_fields(delivery, "id channel recipient content"),
        "status": delivery_status(delivery, task),
        "state": delivery.status.value,
        **pick_fields(delivery, "reason receipt sentAt"),
    }


def s3_contract(contract: Contract) -> JsonMap:
    return pick_fields(contract, "type criteria generatedFrom generatedAt")


def s3_results(verdict: Verdict) -> JsonMap:
    return {
        "overall": verdict.overall.value,
        "criteria": [
            {
                "activity": finding.activity,
                "status": finding.result.value,
                **pick_fields(finding, "error attempts"),
            }
            for finding in verdict.findings
        ],
        "completedAt": moment_or_none(verdict.completed_at),
    }


def _s4(task: Task) -> JsonMap:
    return {
        "task_id": task.id.removeprefix("task-"),
        "created_at": stamp(task.created_at),
        "source": f"{task.source.kind.value}:{task.source.ref}",
        "objective": task.title,
        **pick_fields(task, "context priority"),
        "status": s4_status(task),
        "subtasks": [
            {"step": item.description, "done": item.status == "completed"} for item in task.work
        ],
        **pick_fields(task, "assigned_agent last_updated tool_output result_summary"),
        "cancel_reason": task.status.value
        if task.status in (Status.FAILED, Status.CANCELLED)
        else None,
    }


def moment_or_none(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None


_RENDER: Final[Mapping[JsonView, Callable[[Task], JsonMap]]] = {JsonView.S3: _s3, JsonView.S4: _s4}


_UNBEGUN: Final = frozenset({Status.NEW, Status.READY})


class TaskState(Struct, frozen=True, kw_only=True):
    id: TaskId
    title: str
    status: Status
    pausing: bool  # requested by the owner, not yet done by the engine
    leaving: bool  # being cancelled
    deleted: bool
    held: bool  # a worker holds it right now
    resume_to: Status | None = None

    @property
    def can(self) -> Mapping[str, bool]:
        """Which actions are possible."""
        status, stays = self.status, not self.leaving
        paused_unbegun = status is Status.PAUSED and self.resume_to in _UNBEGUN
        waits = status is Status.READY or status in ACTIVE
        return {
            "run": waits and not self.held and stays,
            "pause": status in PAUSABLE and stays and not self.pausing,
            "resume": status is Status.PAUSED or self.pausing,
            "cancel": status not in TERMINAL and stays,
            "retry": status in TERMINAL,
            "edit": status in _UNBEGUN or paused_unbegun,
            "delete": not self.deleted,
            "restore": self.deleted,
        }


def task_state(task: Task, *, held: bool) -> TaskState:
    return TaskState(
        id=task.id,
        title=task.title,
        status=task.status,
        pausing=task.pause_requested,
        leaving=task.cancel_requested,
        deleted=task.deleted_at is not None,
        held=held,
        resume_to=task.resume_to,
    )


def why_not(task: TaskState, action: str) -> str | None:
    """Return why an action is not possible now; None if it is."""
    if task.can[action]:
        return None
    stands = task.status.value
    if task.deleted or task.leaving:
        stands = "deleted" if task.deleted else "being cancelled"
    return f"It is {stands.replace('_', ' ')}."


_LEADS: Final = {
    ConditionKind.QUIET: "May say nothing",
    ConditionKind.WATCH: "Runs only if this changed",
}


def limit_sentences(task: Task) -> Iterator[str]:
    """Yield a sentence for each limit and each hold in the owner's words."""
    for each in task.conditions:
        part = f" ({each.pattern})" if each.pattern else ""
        yield f"{_LEADS.get(each.kind, 'Limit')}: {each.words}{part}."
    waits = [half for gap in task.gaps for half in gap.waits]
    reaches_others = any(each.recipient for each in (*task.delivery, *waits))
    if task.veto and reaches_others:
        yield f"{veto_sentence(task.veto)} So nobody else gets it without your word."


# S2: contracts, results and builder state, with no field that S2 forbids --------------------------

_NOW: Final = (Status.RUNNING, Status.VERIFYING, Status.DELIVERING)


def s2_contract(contract: Contract) -> JsonMap:
    criteria: list[Json] = [s2_criterion(each) for each in contract.criteria]
    return _without_none({**s3_contract(contract), "criteria": criteria})


def s2_criterion(criterion: Criterion) -> JsonMap:
    """Return a criterion; its timing is included where there is a choice."""
    timed = criterion.activity == "e2e" or criterion.timing is Timing.DEFERRED
    names = "activity description pattern timing" if timed else "activity description pattern"
    return _without_none(pick_fields(criterion, names))


def s2_results(verdict: Verdict, contract: Contract | None = None) -> JsonMap:
    """Return the findings; with the contract, each has its pattern."""
    # The criteria of an activity and its findings have the same order.
    patterns: dict[str, list[str | None]] = {}
    for each in reversed(contract.criteria if contract else ()):
        patterns.setdefault(each.activity, []).append(each.pattern)
    shown = s3_results(verdict)
    findings: list[Json] = []
    for content in cast("list[JsonMap]", shown["criteria"]):
        left = patterns.get(str(content["activity"]))
        pattern = left.pop() if left else None
        findings.append(_without_none({**content, "pattern": pattern}))
    return _without_none({**shown, "criteria": findings})


def builder_state(
    tasks: Sequence[Task],
    now: datetime,
    *,
    project: str | None = None,
    attempts: Mapping[TaskId, Sequence[SpecialistAttempt]] = MappingProxyType({}),
) -> JsonMap:
    """Return `builder-state.json` of these tasks, each with its contract and results.

    `attempts` holds the specialists' attempts by task.
    """
    current = next((task for task in tasks if task.status in _NOW), None)
    every: list[Json] = [s2_task(task, attempts.get(task.id, ())) for task in tasks]
    advice: list[Json] = [
        _advice(task, attempts.get(task.id, ()))
        for task in tasks
        if task.contract is not None and task.contract.type is ContractType.ADVISORY
    ]
    return _without_none(
        {
            "project": project,
            "updatedAt": stamp(now),
            "currentTask": s2_task(current, attempts.get(current.id, ())) if current else None,
            "tasks": every,
            "advisoryTasks": advice,
        }
    )


def s2_task(task: Task, attempts: Sequence[SpecialistAttempt] = ()) -> JsonMap:
    """Return one task in S2's form."""
    findings = task.verdict.findings if task.verdict else ()
    checked = max((each.attempts for each in findings), default=0)
    history: list[Json] = [
        _without_none(pick_fields(each, "agent outcome error startedAt endedAt"))
        for each in attempts
    ]
    return _without_none(
        {
            **_work(task, attempts),
            "attempts": max(checked, _tries(task, attempts)),
            "attemptHistory": history or None,
            **pick_fields(task, "startedAt completedAt"),
            "verificationContract": s2_contract(task.contract) if task.contract else None,
            "verificationResults": (
                s2_results(task.verdict, task.contract) if task.verdict else None
            ),
        }
    )


def _advice(task: Task, attempts: Sequence[SpecialistAttempt]) -> JsonMap:
    return _without_none(
        {
            **_work(task, attempts),
            "attempts": _tries(task, attempts),
            **pick_fields(task, "completedAt"),
            "output": task.result_summary,
        }
    )


def _work(task: Task, attempts: Sequence[SpecialistAttempt]) -> JsonMap:
    """Return which task it is, and who worked on it last, or the assigned agent if no project."""
    named = task.assigned_agent
    agent = None if named is None or named.startswith(PROJECT) else named
    return {
        "taskId": task.id,
        "description": task.title,
        "status": task.status.value,
        "assignedAgent": attempts[-1].agent if attempts else agent,
    }


def _tries(task: Task, attempts: Sequence[SpecialistAttempt]) -> int:
    """Return the number of attempts: by specialists, else one for each round begun."""
    return len(attempts) or (task.round + 1 if task.started_at else 0)


def _without_none(parts: Mapping[str, Json]) -> JsonMap:
    """Drop the fields that are None."""
    return {name: part for name, part in parts.items() if part is not None}
