"""Who tried a task, how each attempt ended, and how often each criterion was checked.

It is computed from stored steps, which are kept for ever.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model import view
from remit.model.codec import Json, JsonMap, from_json, moment
from remit.model.contract import ContractType, Verdict
from remit.model.reply import AttemptOutcome, SpecialistAttempt, SpecialistClaim
from remit.model.task import Task
from remit.store import runs
from remit.store.database import Tx

_UNCHANGED: Final = "It says that it is done, and has changed no file."


class TryHistory(Struct, frozen=True):
    """All recorded attempts on a task, oldest first."""

    attempts: tuple[SpecialistAttempt, ...] = ()  # of specialists
    verdicts: tuple[Verdict, ...] = ()  # each with its time


def read(tx: Tx, task: Task) -> TryHistory:
    """Load all attempts of all rounds."""
    if task.started_at is None:
        return TryHistory()
    kept = runs.tries(tx, task.id)
    rounds: dict[int, dict[str, Json]] = {}
    for each in kept:
        rounds.setdefault(each.round, {})[each.name] = each.output
    advice = task.contract is None or task.contract.type is ContractType.ADVISORY
    made = [one for n in sorted(rounds) for one in _attempts(rounds[n], advice=advice)]
    checked = (each for each in kept if each.name.partition(":")[0] == "verify")
    verdicts = [
        replace(from_json(Verdict, each.output), completed_at=each.ended_at) for each in checked
    ]
    return TryHistory(tuple(_count_retries(made)), tuple(verdicts))


def builder_state(
    tx: Tx, tasks: Sequence[Task], now: datetime, *, project: str | None = None
) -> JsonMap:
    """Return S2's `builder-state.json` of these tasks, with the recorded attempts."""
    known = {task.id: read(tx, task) for task in tasks}
    records = [with_records(task, known[task.id]) for task in tasks]
    attempts = {task_id: each.attempts for task_id, each in known.items()}
    return view.builder_state(records, now, project=project, attempts=attempts)


def with_records(task: Task, tries: TryHistory) -> Task:
    """Return the task with how often each criterion was checked, and the verdict's time."""
    verdict = task.verdict
    if verdict is None or not tries.verdicts:
        return task
    often: Counter[str] = Counter()
    for each in tries.verdicts:
        often.update({finding.activity for finding in each.findings})
    findings = tuple(
        replace(each, attempts=max(each.attempts, often[each.activity]))
        for each in verdict.findings
    )
    at = verdict.completed_at or tries.verdicts[-1].completed_at
    return replace(task, verdict=Verdict(findings, at))


def _attempts(steps: Mapping[str, Json], *, advice: bool) -> Iterator[SpecialistAttempt]:
    for n in count():
        tried = steps.get(f"execute_tool:{n}" if n else "execute_tool")
        if not isinstance(tried, dict) or "claim" not in tried:
            return
        left = steps.get(f"look:{n}")
        found = steps.get(f"verify:{n}:intended", steps.get(f"verify:{n}"))
        verdict = from_json(Verdict, found) if found is not None else None
        yield _attempt(tried, left if isinstance(left, dict) else {}, verdict, advice=advice)


def _attempt(
    tried: JsonMap, left: JsonMap, verdict: Verdict | None, *, advice: bool
) -> SpecialistAttempt:
    """Build an attempt; the verdict decides over the claim."""
    claim = from_json(SpecialistClaim, tried["claim"])
    began, ended = moment(str(tried["started_at"])), moment(str(tried["ended_at"]))
    made = SpecialistAttempt(str(tried["agent"]), began, ended, claim.outcome, claim.error)
    if claim.outcome is not AttemptOutcome.SUCCESS:
        return made
    if verdict is not None and not verdict.passed:
        wrong = AttemptOutcome.VERIFICATION_FAILED
        return replace(made, outcome=wrong, error=verdict.complaint, failed=verdict.failed)
    refused = left.get("refused")
    if isinstance(refused, list) and refused:
        why = "; ".join(map(str, refused))
        return replace(made, outcome=AttemptOutcome.VERIFICATION_FAILED, error=why)
    if left and not left.get("paths") and not advice:
        return replace(made, outcome=AttemptOutcome.BAD_OUTPUT, error=_UNCHANGED)
    return made


def _count_retries(found: list[SpecialistAttempt]) -> Iterator[SpecialistAttempt]:
    """Yield each attempt with the number of earlier ones by the same agent."""
    seen: Counter[str] = Counter()
    for each in found:
        yield replace(each, retries=seen[each.agent])
        seen[each.agent] += 1
