"""When no brain is needed, and when work counts as proven."""

from remit.model.contract import Finding, Plan, Result, Verdict, WorkItem
from remit.model.delivery import Delivery
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
