"""What is remembered of failures, for how long, and what it asks for."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from remit.model import deferred

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_a_file_that_failed_asks_for_more_for_thirty_days() -> None:
    book, late = (
        deferred.failed(deferred.DebtBook(), ("src/cart.py",), NOW),
        NOW + timedelta(days=29),
    )

    (asked,) = deferred.asked(book, ("src/cart.py", "src/other.py"), late)

    assert asked.activity == "unit-test"
    assert asked.description == "All tests pass: src/cart.py failed before"
    said = "src/cart.py failed once, last on 2026-03-02, so more is checked"
    assert deferred.why(book, ("src/cart.py", "src/other.py"), late) == (said,)
    assert deferred.asked(book, ("src/other.py",), NOW) == ()
    assert deferred.asked(book, ("src/cart.py",), NOW + timedelta(days=30)) == ()
    assert deferred.why(book, ("src/cart.py",), NOW + timedelta(days=30)) == ()


def test_a_file_that_failed_often_is_tried_from_end_to_end() -> None:
    book = deferred.DebtBook()
    for day in range(3):
        book = deferred.failed(book, ("src/cart.py",), NOW + timedelta(days=day), "no browser here")

    asked = deferred.asked(book, ("src/cart.py",), NOW + timedelta(days=3))
    (said,) = deferred.why(book, ("src/cart.py",), NOW + timedelta(days=3))

    assert [each.activity for each in asked] == ["unit-test", "e2e"]
    assert book.debts[0].reasons == ("no browser here",)
    assert said.startswith("src/cart.py failed 3 times")
    assert said.endswith("taken unproven: no browser here")


def test_of_many_files_only_a_few_are_named() -> None:
    paths = [f"{n}.py" for n in range(9)]

    (asked,) = deferred.asked(deferred.failed(deferred.DebtBook(), paths, NOW), paths, NOW)

    assert asked.description == "All tests pass: 0.py, 1.py, 2.py and 6 more failed before"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a.py", "b.py", "c.py"]),
            st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
        ),
        max_size=20,
    )
)
def test_debts_are_sorted_single_and_only_time_lowers_them(
    falls: list[tuple[str, datetime]],
) -> None:
    book = deferred.DebtBook()
    for path, at in sorted(falls, key=lambda fall: fall[1]):
        before = {each.path: each.failures for each in deferred.alive(book, at).debts}
        book = deferred.failed(book, (path,), at)
        after = {each.path: each.failures for each in book.debts}
        assert all(after[path] >= often for path, often in before.items())

    assert all(one.path < two.path for one, two in pairwise(book.debts))
