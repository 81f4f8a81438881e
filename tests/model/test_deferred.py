"""What waits for its group, how a pending verdict ends, and what is owed after a failure."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.model import deferred
from remit.model.codec import Json, JsonMap
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
from remit.model.deferred import DeferredBatch, DeferredGroup, DueCriterion, GroupEnd
from remit.model.ids import SeriesId, TaskId
from tests.model.examples import NEW as TASK
from tests.tables import for_each

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BALI = ZoneInfo("Asia/Makassar")
STYLE = Criterion("lint", "Style")
LATE = Criterion("e2e", "It works", timing=Timing.DEFERRED)
TOGGLE = replace(LATE, pattern="Toggle")
PENDING = Verdict((Finding("lint", Result.PASS), Finding("e2e", Result.SKIPPED, DEFERRED)))
WORK = replace(
    TASK, contract=Contract(ContractType.VERIFIABLE, (STYLE, LATE)), verdict=PENDING, context={}
)
DAY = DeferredBatch("shop", "main", DeferredGroup(GroupEnd.DAY, "2026-03-02"))


@for_each(
    ("said", "series", "group"),
    [
        ("docs/prd.md#US-1", None, DeferredGroup(GroupEnd.PRD, "docs/prd.md")),
        (" docs/prd.md ", SeriesId("ser-1"), DeferredGroup(GroupEnd.PRD, "docs/prd.md")),
        ("#US-1", SeriesId("ser-1"), DeferredGroup(GroupEnd.SERIES, "ser-1")),
        (True, None, DeferredGroup(GroupEnd.DAY, "2026-03-03")),
        (None, None, DeferredGroup(GroupEnd.DAY, "2026-03-03")),
    ],
)
def test_a_task_ends_with_its_document_else_its_series_else_the_day(
    said: Json, series: SeriesId | None, group: DeferredGroup
) -> None:
    task = replace(WORK, context={"prd": said}, series_id=series)

    assert deferred.group_of(task, NOW.replace(hour=17), BALI) == group


@for_each("ends", GroupEnd)
def test_only_a_day_is_ended_by_the_clock(ends: GroupEnd) -> None:
    group = DeferredGroup(ends, "2026-03-02")

    over = group.over_at(BALI)

    assert over == (datetime(2026, 3, 2, 16, tzinfo=UTC) if ends is GroupEnd.DAY else None)
    assert group.key == f"{ends.value}:2026-03-02"
    assert group.said


@given(
    day=st.dates(date(2020, 1, 1), date(2030, 1, 1)),
    zone=st.sampled_from(["Asia/Makassar", "Europe/Berlin", "America/Santiago", "Asia/Beirut"]),
)
def test_a_day_is_over_where_the_next_one_begins(day: date, zone: str) -> None:
    over = DeferredGroup(GroupEnd.DAY, day.isoformat()).over_at(ZoneInfo(zone))

    assert over is not None
    assert over.astimezone(ZoneInfo(zone)).date().toordinal() == day.toordinal() + 1
    before = (over - timedelta(seconds=1)).astimezone(ZoneInfo(zone))
    assert before.date().toordinal() == day.toordinal()


def test_only_what_was_put_off_waits() -> None:
    (wait,) = deferred.deferred_criteria(WORK, DAY, ("a.py",), NOW)

    assert (wait.place, wait.criterion, wait.paths) == (1, LATE, ("a.py",))
    skipped = Finding("e2e", Result.SKIPPED, "no tool")
    told = replace(WORK, verdict=Verdict((PENDING.findings[0], skipped)))
    for task in (told, replace(WORK, verdict=None), replace(WORK, contract=None)):
        assert deferred.deferred_criteria(task, DAY, (), NOW) == ()


def test_a_task_that_changed_very_much_is_remembered_in_part() -> None:
    paths = [f"{n}.py" for n in range(deferred.MOST_PATHS + 1)]

    (wait,) = deferred.deferred_criteria(WORK, DAY, paths, NOW)

    assert wait.paths == tuple(paths[:-1])


def test_the_same_check_for_two_tasks_is_made_once() -> None:
    one, two = TaskId("task-1"), TaskId("task-2")
    later = deferred.deferred_criteria(replace(WORK, id=two), DAY, (), NOW + timedelta(minutes=1))
    first = deferred.deferred_criteria(replace(WORK, id=one), DAY, (), NOW)
    other = [replace(each, criterion=TOGGLE, place=2) for each in first]
    away = [replace(each, batch=replace(DAY, branch="next")) for each in first]

    found = deferred.batches([*later, *away, *other, *first])

    assert {each.branch for each in found} == {"main", "next"}
    assert deferred.due_checks(found[DAY]) == (
        DueCriterion(LATE, (*first, *later)),
        DueCriterion(TOGGLE, tuple(other)),
    )


def test_a_pending_verdict_is_settled_by_what_is_found_in_the_end() -> None:
    found = Finding("e2e", Result.FAIL, "the page is blank")

    settled = deferred.settle_verdict(PENDING, {1: found}, NOW)

    assert (PENDING.overall, settled.overall) == (Overall.PENDING, Overall.FAIL)
    assert settled == Verdict((PENDING.findings[0], found), NOW)


def test_what_was_found_before_is_not_found_otherwise_later() -> None:
    found = Finding("lint", Result.FAIL, "untidy")

    assert deferred.settle_verdict(PENDING, {0: found}, NOW).findings == PENDING.findings


@for_each(
    ("data", "said"),
    [
        ({"what": "edited"}, None),
        ({"what": deferred.NEVER}, "What was put off is not checked: the work was not merged."),
        (
            {
                "what": deferred.LATER,
                "branch": "main",
                "group": "prd.md",
                "found": {"e2e": "fail", "build": "skipped", "unit-test": "pass"},
            },
            "Checked on main, with prd.md: build was skipped, e2e failed, unit-test passed.",
        ),
    ],
)
def test_what_became_of_it_is_told_in_a_sentence(data: JsonMap, said: str | None) -> None:
    assert deferred.deferred_sentence(data) == said


def test_what_is_dropped_says_why_and_waits_for_nothing() -> None:
    dropped = deferred.drop_deferred(PENDING, deferred.UNMERGED)

    assert dropped.overall is Overall.PASS
    assert [each.error for each in dropped.findings] == [None, deferred.UNMERGED]


# What is owed -------------------------------------------------------------------------------------


def test_a_file_that_failed_asks_for_more_for_thirty_days() -> None:
    book, late = (
        deferred.add_failures(deferred.DebtBook(), ("src/cart.py",), NOW),
        NOW + timedelta(days=29),
    )

    (asked,) = deferred.extra_criteria(book, ("src/cart.py", "src/other.py"), late)

    assert asked.activity == "unit-test"
    assert asked.description == "All tests pass: src/cart.py failed before"
    said = "src/cart.py failed once, last on 2026-03-02, so more is checked"
    assert deferred.debt_sentences(book, ("src/cart.py", "src/other.py"), late) == (said,)
    assert deferred.extra_criteria(book, ("src/other.py",), NOW) == ()
    assert deferred.extra_criteria(book, ("src/cart.py",), NOW + timedelta(days=30)) == ()
    assert deferred.debt_sentences(book, ("src/cart.py",), NOW + timedelta(days=30)) == ()


def test_a_file_that_failed_often_is_tried_from_end_to_end() -> None:
    book = deferred.DebtBook()
    for day in range(3):
        book = deferred.add_failures(
            book, ("src/cart.py",), NOW + timedelta(days=day), "no browser here"
        )

    asked = deferred.extra_criteria(book, ("src/cart.py",), NOW + timedelta(days=3))
    (said,) = deferred.debt_sentences(book, ("src/cart.py",), NOW + timedelta(days=3))

    assert [each.activity for each in asked] == ["unit-test", "e2e"]
    assert book.debts[0].reasons == ("no browser here",)
    assert said.startswith("src/cart.py failed 3 times")
    assert said.endswith("taken unproven: no browser here")


def test_of_many_files_only_a_few_are_named() -> None:
    paths = [f"{n}.py" for n in range(9)]

    (asked,) = deferred.extra_criteria(
        deferred.add_failures(deferred.DebtBook(), paths, NOW), paths, NOW
    )

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
        before = {each.path: each.failures for each in deferred.current_debts(book, at).debts}
        book = deferred.add_failures(book, (path,), at)
        after = {each.path: each.failures for each in book.debts}
        assert all(after[path] >= often for path, often in before.items())

    assert all(one.path < two.path for one, two in pairwise(book.debts))
