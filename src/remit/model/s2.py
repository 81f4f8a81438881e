"""S2's JSON of contracts, results and builder state, with no field that S2 forbids.

S2 omits a field where the other views write null, so it has a view of its own.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, cast

from remit.model.codec import Json, JsonMap, pick_fields, stamp
from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Timing,
    Verdict,
)
from remit.model.ids import TaskId
from remit.model.reply import PROJECT, SpecialistAttempt
from remit.model.status import Status
from remit.model.task import Task
from remit.model.view import s3_contract, s3_results

_NOW: Final = (Status.RUNNING, Status.VERIFYING, Status.DELIVERING)


def contract_to_json(contract: Contract) -> JsonMap:
    criteria: list[Json] = [criterion_to_json(each) for each in contract.criteria]
    return _without_none({**s3_contract(contract), "criteria": criteria})


def criterion_to_json(criterion: Criterion) -> JsonMap:
    """Return a criterion; its timing is included where there is a choice."""
    timed = criterion.activity == "e2e" or criterion.timing is Timing.DEFERRED
    names = "activity description pattern timing" if timed else "activity description pattern"
    return _without_none(pick_fields(criterion, names))


def results_to_json(verdict: Verdict, contract: Contract | None = None) -> JsonMap:
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
    every: list[Json] = [task_to_json(task, attempts.get(task.id, ())) for task in tasks]
    advice: list[Json] = [
        _advice(task, attempts.get(task.id, ()))
        for task in tasks
        if task.contract is not None and task.contract.type is ContractType.ADVISORY
    ]
    return _without_none(
        {
            "project": project,
            "updatedAt": stamp(now),
            "currentTask": task_to_json(current, attempts.get(current.id, ())) if current else None,
            "tasks": every,
            "advisoryTasks": advice,
        }
    )


def task_to_json(task: Task, attempts: Sequence[SpecialistAttempt] = ()) -> JsonMap:
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
            "verificationContract": contract_to_json(task.contract) if task.contract else None,
            "verificationResults": (
                results_to_json(task.verdict, task.contract) if task.verdict else None
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
