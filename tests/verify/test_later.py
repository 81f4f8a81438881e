"""What is checked later, what wavers, and what is remembered of failures."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    Overall,
    Result,
    Timing,
    Verdict,
)
from remit.model.ids import TaskId
from remit.verify import debt, deferred, flaky, report, said

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ONE, TWO = TaskId("task-1"), TaskId("task-2")
LATE = Criterion("e2e", "It works", timing=Timing.DEFERRED)
CONTRACT = Contract(ContractType.VERIFIABLE, (Criterion("lint", "Style"), LATE))


def test_what_is_put_off_waits_until_every_task_of_its_group_is_done() -> None:
    waits = deferred.waiting(ONE, "prd-7", CONTRACT, NOW)

    assert [each.criterion for each in waits] == [LATE]
    assert deferred.due(waits, "prd-7", still_open=[TWO]) == ()
    assert deferred.due(waits, "prd-8", still_open=[]) == ()
    assert deferred.due(waits, "prd-7", still_open=[]) == (deferred.Due(LATE, (ONE,)),)


def test_the_same_check_for_two_tasks_is_made_once() -> None:
    waits = [
        *deferred.waiting(TWO, "day", CONTRACT, NOW + timedelta(minutes=1)),
        *deferred.waiting(ONE, "day", CONTRACT, NOW),
    ]

    assert deferred.due(waits, "day", still_open=[]) == (deferred.Due(LATE, (ONE, TWO)),)


def test_a_pending_verdict_is_settled_by_what_is_found_in_the_end() -> None:
    pending = Verdict((Finding("lint", Result.PASS), Finding("e2e", Result.SKIPPED, DEFERRED)))
    found = Finding("e2e", Result.FAIL, "the page is blank")

    settled = deferred.settled(pending, [(LATE, found)], NOW)

    assert (pending.overall, settled.overall) == (Overall.PENDING, Overall.FAIL)
    assert settled == Verdict((Finding("lint", Result.PASS), found), NOW)


@pytest.mark.parametrize(
    ("runs", "result", "attempts"),
    [
        ("ppp", Result.PASS, 3),
        ("fpp", Result.FAIL, 1),
        ("ppf", Result.FAIL, 3),
    ],
)
async def test_what_wavers_must_pass_three_times_in_a_row(
    runs: str, result: Result, attempts: int
) -> None:
    left = list(runs)

    async def once() -> tuple[Result, str]:
        return (Result.PASS, "") if left.pop(0) == "p" else (Result.FAIL, "it fell over")

    found = await flaky.settle(once)

    assert (found[0], found[2]) == (result, attempts)
    if runs == "ppf":
        assert found[1] == "It passed 2 of 3 times in a row. it fell over"


def test_a_file_that_failed_asks_for_more_for_thirty_days() -> None:
    book = debt.failed(debt.Book(), ("src/cart.py",), NOW)

    (asked,) = debt.asked(book, ("src/cart.py", "src/other.py"), NOW + timedelta(days=29))

    assert asked.activity == "unit-test"
    assert debt.asked(book, ("src/other.py",), NOW) == ()
    assert debt.asked(book, ("src/cart.py",), NOW + timedelta(days=30)) == ()


def test_a_file_that_failed_often_is_tried_from_end_to_end() -> None:
    book = debt.Book()
    for day in range(3):
        book = debt.failed(book, ("src/cart.py",), NOW + timedelta(days=day), "no browser here")

    asked = debt.asked(book, ("src/cart.py",), NOW + timedelta(days=3))

    assert [each.activity for each in asked] == ["unit-test", "e2e"]
    assert book.debts[0].reasons == ("no browser here",)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a.py", "b.py", "c.py"]),
            st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
        ),
        max_size=20,
    )
)
def test_debts_are_sorted_single_and_survive_their_file(falls: list[tuple[str, datetime]]) -> None:
    book = debt.Book()
    for path, at in sorted(falls, key=lambda fall: fall[1]):
        book = debt.failed(book, (path,), at.replace(microsecond=0))

    assert all(one.path < two.path for one, two in pairwise(book.debts))
    assert debt.read(debt.write(book)) == book


def test_what_differs_from_run_to_run_is_left_out_of_an_error() -> None:
    first = said.useful("it failed", "x <A object at 0x7f1234567890>\n1 failed in 0.12s\n")
    second = said.useful("it failed", "x <A object at 0x7fabcdef0123>\n1 failed in 3.40s\n")

    assert first == second == "it failed:\nx <A object at 0x…>\n1 failed in …"


@given(output=st.text(), why=st.text(max_size=200))
def test_an_error_is_never_longer_than_may_be_told(output: str, why: str) -> None:
    assert len(said.useful(why, output)) <= said.MOST


def test_a_summary_claims_no_more_than_was_seen() -> None:
    verdict = Verdict(
        (
            Finding("lint", Result.PASS),
            Finding("unit-test", Result.FAIL, "no"),
            Finding("e2e", Result.SKIPPED, DEFERRED),
            Finding("critic", Result.SKIPPED, "no model"),
        )
    )

    assert report.summary(verdict) == (
        "1 of 4 passed, 1 failed, 1 to be checked later, 1 not checked."
    )
