"""The proof state of a task, shown wherever its result is read."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Finding,
    Overall,
    Result,
    Timing,
    Verdict,
)
from remit.model.reply import PROJECT
from remit.model.status import Status
from remit.model.task import Task


class ProofState(StrEnum):
    NONE = "none"  # there is no contract
    OPEN = "open"  # checks are pending, or failed and the task is not over
    VERIFIED = "verified"
    PARTLY = "partly"  # nothing failed, but some tests did not run or some criteria are undecided
    PENDING = "pending"  # everything checked so far passed; the rest is checked later
    ADVISORY = "advisory"  # no check can decide; the owner reads it
    UNPROVEN = "unproven"  # the owner accepted it although checks did not pass
    SILENT = "silent"  # it ended without a message, so there was nothing to check
    REFUTED = "refuted"  # it was merged, and a deferred check failed later


UNVERIFIED: Final = frozenset({ProofState.ADVISORY, ProofState.UNPROVEN, ProofState.REFUTED})
NOT_VERIFIED: Final = "Not verified"
TAKEN: Final = "Taken unproven: "  # start of the result of such work; the owner's reason follows
_LABELS: Final = {
    ProofState.ADVISORY: "it is advice, which no check can prove",
    ProofState.UNPROVEN: "its owner took it although its checks did not pass",
    ProofState.REFUTED: "it failed what was checked when its group ended",
}


def matched(
    contract: Contract, findings: tuple[Finding, ...]
) -> Iterator[tuple[Criterion, Finding | None]]:
    """Yield each criterion with its finding; two of one kind have one each, in order."""
    left = list(findings)
    for each in contract.criteria:
        found = next((one for one in left if one.activity == each.activity), None)
        if found is not None:
            left.remove(found)
        yield each, found


def proof_of(task: Task) -> ProofState:
    """Return the proof state from the contract, the findings and the status."""
    if task.contract is None or task.was_silent:
        return ProofState.SILENT if task.was_silent else ProofState.NONE
    if task.contract.type is ContractType.ADVISORY:
        return ProofState.ADVISORY
    verdict = task.verdict
    if verdict is None or not verdict.passed:
        if task.status is not Status.COMPLETED:
            return ProofState.OPEN
        late = verdict is not None and _failed_late(task.contract, verdict)
        return ProofState.REFUTED if late else ProofState.UNPROVEN
    met = ProofState.PARTLY if verdict.undecided or verdict.partial else ProofState.VERIFIED
    return ProofState.PENDING if verdict.overall is Overall.PENDING else met


def lacks_proof(task: Task) -> bool:
    """Whether it has a contract to meet, and was not checked or failed."""
    bound = task.contract is not None and task.contract.type is not ContractType.ADVISORY
    return bound and (task.verdict is None or not task.verdict.passed)


def partly_verified(verdict: Verdict) -> str:
    """Return how many tests ran if not all did; else an empty text."""
    found = verdict.partial
    if found is None:
        return ""
    of = f" of {found.of:,}" if found.of is not None else ""
    return f"partly verified, {found.ran:,}{of} tests"


def _failed_late(contract: Contract, verdict: Verdict) -> bool:
    """Whether only deferred criteria failed."""
    if len(contract.criteria) != len(verdict.findings):
        return False
    pairs = zip(contract.criteria, verdict.findings, strict=True)
    return all(
        each.timing is Timing.DEFERRED for each, found in pairs if found.result is Result.FAIL
    )


def is_unverified(task: Task) -> bool:
    """Whether the task has a result that no check confirms."""
    return task.status is Status.COMPLETED and proof_of(task) in UNVERIFIED


def unverified_label(task: Task) -> str:
    """Return the label for a result that no check confirms; else an empty text."""
    return f"{NOT_VERIFIED}: {_LABELS[proof_of(task)]}." if is_unverified(task) else ""


def owners_word(task: Task) -> str:
    """Return the owner's reason for accepting the work unproven; empty without one.

    Only the result of failed code work is the owner's text; any other is the brain's.
    """
    is_code = (task.assigned_agent or "").startswith(PROJECT) and task.verdict is not None
    text = task.tool_output or "" if is_code and proof_of(task) is ProofState.UNPROVEN else ""
    return text.removeprefix(TAKEN).strip() if text.startswith(TAKEN) else ""


def why_unverified(task: Task) -> str | None:
    """Return why a result is not verified: what failed, and the owner's reason."""
    if not is_unverified(task):
        return None
    failed = ", ".join(dict.fromkeys(task.verdict.failed)) if task.verdict else ""
    why = f"{failed} failed" if failed else _LABELS[proof_of(task)]
    return f"{why}; you said: {owners_word(task)}" if owners_word(task) else why
