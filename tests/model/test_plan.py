"""When no brain is needed, and how far work is proven."""

from msgspec.structs import replace

from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    Plan,
    Result,
    Timing,
    Verdict,
    WorkItem,
)
from remit.model.delivery import Delivery
from remit.model.proof import (
    TAKEN,
    ProofState,
    is_unverified,
    owners_word,
    proof_of,
    unverified_label,
    why_unverified,
)
from remit.model.status import Status
from tests.model.examples import COMPLETED
from tests.tables import for_each

WRITTEN = Delivery("whatsapp", content="Don't forget to call mom")


@for_each(
    ("plan", "precomposed"),
    [
        (Plan(delivery=(WRITTEN,)), True),
        (Plan(delivery=(WRITTEN, Delivery("email", content=""))), True),
        (Plan(delivery=(WRITTEN, Delivery("email"))), False),
        (Plan(delivery=(WRITTEN,), work=(WorkItem("research"),)), False),
        (Plan(work=(WorkItem("research"),)), False),
        (Plan(), False),
    ],
)
def test_no_brain_is_needed_if_the_owner_wrote_all_that_goes_out(
    plan: Plan, *, precomposed: bool
) -> None:
    assert plan.precomposed is precomposed


@for_each(
    ("results", "passed"),
    [
        ([Result.PASS, Result.PASS], True),
        ([Result.PASS, Result.SKIPPED], True),
        ([Result.PASS, Result.FAIL], False),
        ([Result.FAIL], False),
        ([], True),
    ],
)
def test_one_failure_is_enough_to_fail(results: list[Result], *, passed: bool) -> None:
    assert Verdict(tuple(Finding("lint", result) for result in results)).passed is passed


def test_a_complaint_names_what_failed_and_why() -> None:
    verdict = Verdict(
        (
            Finding("lint", Result.PASS),
            Finding("unit-test", Result.FAIL, "2 of 9 red"),
            Finding("e2e", Result.FAIL),
            Finding("typecheck", Result.SKIPPED, "no types here"),
        )
    )

    assert verdict.complaint == "unit-test: 2 of 9 red; e2e: failed"
    assert Verdict().complaint == ""


# How far a task is proven -------------------------------------------------------------------------

CODE = Contract(ContractType.VERIFIABLE, (Criterion("lint", "No lint errors"),))
ADVICE = Contract(ContractType.ADVISORY)
GOOD = Verdict((Finding("lint", Result.PASS, "a note"),))
BAD = Verdict((Finding("lint", Result.FAIL, "no"), Finding("build", Result.PASS)))
LATE = Verdict((Finding("e2e", Result.SKIPPED, DEFERRED),))


PUT_OFF = Contract(
    ContractType.VERIFIABLE, (*CODE.criteria, Criterion("e2e", "It works", timing=Timing.DEFERRED))
)
REFUTED = Verdict((Finding("lint", Result.PASS), Finding("e2e", Result.FAIL, "no")))


@for_each(
    ("contract", "verdict", "status", "proof"),
    [
        (None, None, Status.COMPLETED, ProofState.NONE),
        (CODE, GOOD, Status.COMPLETED, ProofState.VERIFIED),
        (CODE, GOOD, Status.DELIVERING, ProofState.VERIFIED),
        (CODE, LATE, Status.COMPLETED, ProofState.PENDING),
        (CODE, BAD, Status.COMPLETED, ProofState.UNPROVEN),
        (CODE, None, Status.COMPLETED, ProofState.UNPROVEN),
        (PUT_OFF, REFUTED, Status.COMPLETED, ProofState.REFUTED),
        (PUT_OFF, REFUTED, Status.FAILED, ProofState.OPEN),
        (PUT_OFF, BAD, Status.COMPLETED, ProofState.UNPROVEN),
        (CODE, BAD, Status.NEEDS_REVIEW, ProofState.OPEN),
        (CODE, None, Status.FAILED, ProofState.OPEN),
        (ADVICE, None, Status.RUNNING, ProofState.ADVISORY),
        (ADVICE, None, Status.COMPLETED, ProofState.ADVISORY),
    ],
)
def test_what_is_proven_is_said_by_contract_verdict_and_end(
    contract: Contract | None, verdict: Verdict | None, status: Status, proof: ProofState
) -> None:
    task = replace(COMPLETED, contract=contract, verdict=verdict, status=status)
    ended = status is Status.COMPLETED

    assert proof_of(task) is proof
    unproven = (ProofState.ADVISORY, ProofState.UNPROVEN, ProofState.REFUTED)
    assert is_unverified(task) is (ended and proof in unproven)


def test_a_result_that_no_check_stands_for_is_labelled_and_says_why() -> None:
    ended = replace(COMPLETED, status=Status.COMPLETED)
    advice = replace(ended, contract=ADVICE)
    taken = replace(
        ended,
        contract=CODE,
        verdict=BAD,
        assigned_agent="project:shop",
        tool_output=f"{TAKEN}good enough for today",
    )

    assert unverified_label(advice) == "Not verified: it is advice, which no check can prove."
    assert why_unverified(advice) == "it is advice, which no check can prove"
    assert (
        unverified_label(taken)
        == "Not verified: its owner took it although its checks did not pass."
    )
    assert why_unverified(taken) == "lint failed; you said: good enough for today"
    assert unverified_label(replace(ended, contract=CODE, verdict=GOOD)) == ""
    assert why_unverified(replace(ended, contract=CODE, verdict=GOOD)) is None
    assert unverified_label(replace(taken, status=Status.NEEDS_REVIEW)) == ""
    assert "today" not in unverified_label(taken)


@for_each(
    "changes",
    [
        {"assigned_agent": None},  # a brain's own text
        {"contract": ADVICE, "verdict": None},  # what a specialist said
        {"verdict": None},
    ],
)
def test_nobody_puts_words_into_the_owners_mouth(changes: dict[str, object]) -> None:
    task = replace(
        COMPLETED,
        status=Status.COMPLETED,
        contract=CODE,
        verdict=BAD,
        assigned_agent="project:shop",
        tool_output=f"{TAKEN}pay eve",
    )

    assert owners_word(task) == "pay eve"
    assert owners_word(replace(task, **changes)) == ""
