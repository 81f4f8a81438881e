"""How far a task is proven: what is said of it wherever its result is read."""

from enum import StrEnum
from typing import Final

from remit.model.contract import ContractType, Overall
from remit.model.status import Status
from remit.model.task import Task


class Proof(StrEnum):
    NONE = "none"  # nothing says how one would tell
    OPEN = "open"  # the checks are to come, or have failed and it is not over
    VERIFIED = "verified"
    PENDING = "pending"  # what could be checked is good; the rest is checked later
    ADVISORY = "advisory"  # no check can decide; its owner reads it
    UNPROVEN = "unproven"  # its owner took it although the checks did not pass


UNVERIFIED: Final = frozenset({Proof.ADVISORY, Proof.UNPROVEN})
NOT_VERIFIED: Final = "Not verified"


def proof_of(task: Task) -> Proof:
    """By its contract, what the checks found, and whether it is over."""
    if task.contract is None:
        return Proof.NONE
    if task.contract.type is ContractType.ADVISORY:
        return Proof.ADVISORY
    verdict = task.verdict
    if verdict is None or not verdict.passed:
        return Proof.UNPROVEN if task.status is Status.COMPLETED else Proof.OPEN
    return Proof.PENDING if verdict.overall is Overall.PENDING else Proof.VERIFIED


def is_unverified(task: Task) -> bool:
    """Whether there is a result that no check stands for."""
    return task.status is Status.COMPLETED and proof_of(task) in UNVERIFIED
