"""The proof state of a task, shown wherever its result is read."""

from enum import StrEnum
from typing import Final

from remit.model.contract import Contract, ContractType, Overall, Result, Timing, Verdict
from remit.model.specialist import PROJECT
from remit.model.status import Status
from remit.model.task import Task


class ProofState(StrEnum):
    NONE = "none"  # nothing says how one would tell
    OPEN = "open"  # the checks are to come, or have failed and it is not over
    VERIFIED = "verified"
    PARTLY = "partly"  # nothing failed, but not all tests ran, or nobody could decide all of it
    PENDING = "pending"  # what could be checked is good; the rest is checked later
    ADVISORY = "advisory"  # no check can decide; its owner reads it
    UNPROVEN = "unproven"  # its owner took it although the checks did not pass
    REFUTED = "refuted"  # it was taken over, and what was checked when its group ended failed


UNVERIFIED: Final = frozenset({ProofState.ADVISORY, ProofState.UNPROVEN, ProofState.REFUTED})
NOT_VERIFIED: Final = "Not verified"
TAKEN: Final = "Taken unproven: "  # what the result of such work begins with; then its owner's word
_LABELS: Final = {
    ProofState.ADVISORY: "it is advice, which no check can prove",
    ProofState.UNPROVEN: "its owner took it although its checks did not pass",
    ProofState.REFUTED: "it failed what was checked when its group ended",
}


def proof_of(task: Task) -> ProofState:
    """By its contract, what the checks found, and whether it is over."""
    if task.contract is None:
        return ProofState.NONE
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


def partly_verified(verdict: Verdict) -> str:
    """How much was verified where not all tests were run; else nothing."""
    found = verdict.partial
    if found is None:
        return ""
    of = f" of {found.of:,}" if found.of is not None else ""
    return f"partly verified, {found.ran:,}{of} tests"


def _failed_late(contract: Contract, verdict: Verdict) -> bool:
    """Whether nothing failed but what was put off."""
    if len(contract.criteria) != len(verdict.findings):
        return False
    pairs = zip(contract.criteria, verdict.findings, strict=True)
    return all(
        each.timing is Timing.DEFERRED for each, found in pairs if found.result is Result.FAIL
    )


def is_unverified(task: Task) -> bool:
    """Whether there is a result that no check stands for."""
    return task.status is Status.COMPLETED and proof_of(task) in UNVERIFIED


def label(task: Task) -> str:
    """What must be said of a result that no check stands for, whoever reads it; else nothing."""
    return f"{NOT_VERIFIED}: {_LABELS[proof_of(task)]}." if is_unverified(task) else ""


def owners_word(task: Task) -> str:
    """Why its owner took it all the same, in his words; nothing if he gave none.

    Of code that failed, nobody but its owner says what came of it; any other result is a brain's.
    """
    his = (task.assigned_agent or "").startswith(PROJECT) and task.verdict is not None
    said = task.tool_output or "" if his and proof_of(task) is ProofState.UNPROVEN else ""
    return said.removeprefix(TAKEN).strip() if said.startswith(TAKEN) else ""


def because(task: Task) -> str | None:
    """Why a result is not verified, for its owner: what failed, and his own word on it."""
    if not is_unverified(task):
        return None
    failed = ", ".join(dict.fromkeys(task.verdict.failed)) if task.verdict else ""
    why = f"{failed} failed" if failed else _LABELS[proof_of(task)]
    return f"{why}; you said: {owners_word(task)}" if owners_word(task) else why
