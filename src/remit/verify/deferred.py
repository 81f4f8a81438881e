"""What is checked later: the criteria that wait for their group, and which of them are due.

A group is whatever ends as one: the tasks of a PRD, a series, a day. Nothing here is kept; who
keeps it hands it in.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from remit.model.contract import DEFERRED, Contract, Criterion, Finding, Result, Timing, Verdict
from remit.model.ids import TaskId


@dataclass(frozen=True, slots=True)
class Waiting:
    """One criterion of one task, and the group it waits for."""

    task_id: TaskId
    group: str
    criterion: Criterion
    since: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """A criterion that is checked once, for all the tasks that wait for it."""

    criterion: Criterion
    task_ids: tuple[TaskId, ...]


def waiting(task_id: TaskId, group: str, contract: Contract, now: datetime) -> tuple[Waiting, ...]:
    """What of a contract has to wait."""
    late = (each for each in contract.criteria if each.timing is Timing.DEFERRED)
    return tuple(Waiting(task_id, group, each, now) for each in late)


def due(every: Iterable[Waiting], group: str, still_open: Collection[TaskId]) -> tuple[Due, ...]:
    """What is to be checked now; nothing as long as a task of the group is still worked on.

    The same check for several tasks is one check, in the order in which it was first put off.
    """
    if still_open:
        return ()
    found: dict[tuple[str, str | None], list[Waiting]] = {}
    for each in sorted(every, key=lambda each: (each.since, each.task_id)):
        if each.group == group:
            found.setdefault((each.criterion.activity, each.criterion.pattern), []).append(each)
    return tuple(
        Due(same[0].criterion, tuple(dict.fromkeys(each.task_id for each in same)))
        for same in found.values()
    )


def settled(verdict: Verdict, late: Iterable[tuple[Criterion, Finding]], now: datetime) -> Verdict:
    """A verdict that was pending, with what was found in the end."""
    found = list(late)
    findings: list[Finding] = []
    for each in verdict.findings:
        put_off = each.result is Result.SKIPPED and each.error == DEFERRED
        match = next((pair for pair in found if pair[0].activity == each.activity), None)
        if put_off and match is not None:
            found.remove(match)
            findings.append(match[1])
        else:
            findings.append(each)
    return Verdict(tuple(findings), now)
