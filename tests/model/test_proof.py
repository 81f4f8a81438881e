"""How far a task is proven, said in one word."""

from dataclasses import replace

import pytest

from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    Result,
    Verdict,
)
from remit.model.proof import Proof, is_unverified, proof_of
from remit.model.status import Status
from tests.model.examples import COMPLETED

CODE = Contract(ContractType.VERIFIABLE, (Criterion("lint", "No lint errors"),))
ADVICE = Contract(ContractType.ADVISORY)
GOOD = Verdict((Finding("lint", Result.PASS, "a note"),))
BAD = Verdict((Finding("lint", Result.FAIL, "no"), Finding("build", Result.PASS)))
LATE = Verdict((Finding("e2e", Result.SKIPPED, DEFERRED),))


@pytest.mark.parametrize(
    ("contract", "verdict", "status", "proof"),
    [
        (None, None, Status.COMPLETED, Proof.NONE),
        (CODE, GOOD, Status.COMPLETED, Proof.VERIFIED),
        (CODE, GOOD, Status.DELIVERING, Proof.VERIFIED),
        (CODE, LATE, Status.COMPLETED, Proof.PENDING),
        (CODE, BAD, Status.COMPLETED, Proof.UNPROVEN),
        (CODE, None, Status.COMPLETED, Proof.UNPROVEN),
        (CODE, BAD, Status.NEEDS_REVIEW, Proof.OPEN),
        (CODE, None, Status.FAILED, Proof.OPEN),
        (ADVICE, None, Status.RUNNING, Proof.ADVISORY),
        (ADVICE, None, Status.COMPLETED, Proof.ADVISORY),
    ],
)
def test_what_is_proven_is_said_by_contract_verdict_and_end(
    contract: Contract | None, verdict: Verdict | None, status: Status, proof: Proof
) -> None:
    task = replace(COMPLETED, contract=contract, verdict=verdict, status=status)
    ended = status is Status.COMPLETED

    assert proof_of(task) is proof
    assert is_unverified(task) is (ended and proof in (Proof.ADVISORY, Proof.UNPROVEN))
