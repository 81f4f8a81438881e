"""S2's own JSON: contracts, results and the builder's state, with nothing in it that S2 forbids.

S2 leaves a field out where the other views write null, so this is a view of its own.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from remit.errors import BadInput
from remit.model.codec import Json, JsonMap, from_json, stamp
from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Finding,
    Timing,
    Verdict,
)
from remit.model.status import Status
from remit.model.task import Task

_NAMES: Final = {"generatedFrom": "generated_from", "generatedAt": "generated_at"}
_NOW: Final = (Status.RUNNING, Status.VERIFYING, Status.DELIVERING)


def contract_json(contract: Contract) -> JsonMap:
    criteria: list[Json] = [criterion_json(each) for each in contract.criteria]
    return _said(
        {
            "type": contract.type.value,
            "criteria": criteria,
            "generatedFrom": contract.generated_from.value,
            "generatedAt": _at(contract.generated_at),
        }
    )


def criterion_json(criterion: Criterion) -> JsonMap:
    """A criterion; its time is said where there is a choice."""
    timed = criterion.activity == "e2e" or criterion.timing is Timing.DEFERRED
    return _said(
        {
            "activity": criterion.activity,
            "description": criterion.description,
            "pattern": criterion.pattern,
            "timing": criterion.timing.value if timed else None,
        }
    )


def read_contract(data: Json) -> Contract:
    """Read a contract as S2 writes it; what is wrong with it is said in a sentence."""
    if not isinstance(data, dict):
        raise BadInput("A contract is an object with type and criteria.")
    given = data.get("verificationContract", data)
    if not isinstance(given, dict):
        raise BadInput("verificationContract is an object with type and criteria.")
    if "criteria" not in given:
        raise BadInput("A contract has criteria; the list may be empty.", field="criteria")
    return from_json(Contract, {_NAMES.get(name, name): part for name, part in given.items()})


def results_json(verdict: Verdict) -> JsonMap:
    criteria: list[Json] = [_finding(each) for each in verdict.findings]
    return _said(
        {
            "overall": verdict.overall.value,
            "criteria": criteria,
            "completedAt": _at(verdict.completed_at),
        }
    )


def _finding(finding: Finding) -> JsonMap:
    return _said(
        {
            "activity": finding.activity,
            "status": finding.result.value,
            "error": finding.error,
            "attempts": finding.attempts,
        }
    )


def builder_state(tasks: Sequence[Task], now: datetime, *, project: str | None = None) -> JsonMap:
    """`builder-state.json` of these tasks: contract and results stand on each, never beside it."""
    current = next((task for task in tasks if task.status in _NOW), None)
    every: list[Json] = [task_json(task) for task in tasks]
    advice: list[Json] = [_advice(task) for task in tasks if _is_advice(task)]
    return _said(
        {
            "project": project,
            "updatedAt": stamp(now),
            "currentTask": task_json(current) if current else None,
            "tasks": every,
            "advisoryTasks": advice,
        }
    )


def task_json(task: Task) -> JsonMap:
    """One task as S2 hands it over."""
    findings = task.verdict.findings if task.verdict else ()
    return _said(
        {
            "taskId": task.id,
            "description": task.title,
            "status": task.status.value,
            "assignedAgent": task.assigned_agent,
            "attempts": max((each.attempts for each in findings), default=0),
            "startedAt": _at(task.started_at),
            "completedAt": _at(task.completed_at),
            "verificationContract": contract_json(task.contract) if task.contract else None,
            "verificationResults": results_json(task.verdict) if task.verdict else None,
        }
    )


def _is_advice(task: Task) -> bool:
    return task.contract is not None and task.contract.type is ContractType.ADVISORY


def _advice(task: Task) -> JsonMap:
    return _said(
        {
            "taskId": task.id,
            "description": task.title,
            "status": task.status.value,
            "completedAt": _at(task.completed_at),
            "output": task.result_summary,
        }
    )


def _said(parts: Mapping[str, Json]) -> JsonMap:
    """Only what there is to say."""
    return {name: part for name, part in parts.items() if part is not None}


def _at(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
