"""What thoughts cost: set aside before, settled after, never above a limit; and kept scores."""

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.model.ids import SeriesId
from remit.model.reply import Usage
from remit.model.review import ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Task
from remit.store import queue, rows, spending
from remit.store.queue import UrgencyScore
from remit.store.spending import LimitScope, OverLimit, SpendingLimit, SpendingUnit
from tests.soak import examples
from tests.store.scene import Scene

SERIES = SeriesId("ser-1")
ONE = Usage(tokens=100, cents=10, requests=1)
RUN = SpendingLimit(LimitScope.RUN, SpendingUnit.TOKENS, 250, 100)


def day(scene: Scene, most: int = 250) -> SpendingLimit:
    return SpendingLimit(
        LimitScope.DAY, SpendingUnit.TOKENS, most, 100, scene.now - timedelta(hours=9)
    )


def reserve(
    scene: Scene, key: str, task: Task, *limits: SpendingLimit, wanted: Usage = ONE
) -> OverLimit | None:
    return scene.do(spending.reserve, key, task, wanted, limits, scene.now)


def grant(scene: Scene, about: str) -> Task:
    """A task whose owner was asked about a limit, and agreed."""
    task, review_id = scene.asking(Reason.APPROVAL, about=about)
    scene.decide(review_id, ReviewAnswer.APPROVE)
    return scene.get(task.id)


def test_what_was_settled_counts_instead_of_what_was_set_aside(scene: Scene) -> None:
    task = scene.admit()
    reserve(scene, "a", task)

    assert scene.do(spending.settle, "a", Usage(7, 1, 1))
    assert not scene.do(spending.settle, "a", Usage(9, 9, 9))

    assert spending.of_task(scene.tx, task.id) == Usage(7, 1, 1)


@pytest.mark.parametrize(
    ("unit", "used"),
    [(SpendingUnit.TOKENS, 100), (SpendingUnit.REQUESTS, 1), (SpendingUnit.CENTS, 10)],
)
def test_every_unit_has_its_limit(scene: Scene, unit: SpendingUnit, used: int) -> None:
    task, limit = scene.admit(), SpendingLimit(LimitScope.RUN, unit, used, used)

    assert reserve(scene, "a", task, limit) is None
    assert reserve(scene, "b", task, limit) == OverLimit(limit, used, used)


def test_a_series_counts_its_own_tasks_within_its_span(scene: Scene) -> None:
    span = timedelta(days=30)
    mine, again = scene.admit(series_id=SERIES), scene.admit(series_id=SERIES)
    other = scene.admit(series_id=SeriesId("ser-2"))
    reserve(scene, "a", mine)
    reserve(scene, "b", other)
    reserve(scene, "c", scene.admit())

    def limit() -> SpendingLimit:
        return SpendingLimit(LimitScope.SERIES, SpendingUnit.TOKENS, 150, 100, scene.now - span)

    assert reserve(scene, "d", again, limit()) == OverLimit(limit(), 100, 150)
    scene.wait(span.total_seconds())
    assert reserve(scene, "d", again, limit()) == OverLimit(limit(), 100, 150)
    scene.wait(0.001)
    assert reserve(scene, "d", again, limit()) is None


def test_to_agree_to_one_limit_raises_no_other(scene: Scene) -> None:
    task = grant(scene, "budget:day")
    for key in "ab":
        assert reserve(scene, key, task, RUN) is None

    assert reserve(scene, "c", task, RUN) == OverLimit(RUN, 200, 250)


def test_what_was_granted_for_a_day_is_gone_with_it(scene: Scene) -> None:
    task = grant(scene, "budget:day")
    none = replace(day(scene), most=0)
    assert reserve(scene, "a", task, none) is None

    scene.wait(1)
    tomorrow = replace(none, since=scene.now)
    assert reserve(scene, "b", task, tomorrow) == OverLimit(tomorrow, 0, 0)


@pytest.mark.parametrize("answer", [ReviewAnswer.DECLINE, None])
def test_only_who_agrees_raises_a_limit(scene: Scene, answer: ReviewAnswer | None) -> None:
    task, review_id = scene.asking(Reason.APPROVAL, about="budget:run")
    if answer is not None:
        scene.decide(review_id, answer)

    for key in "ab":
        assert reserve(scene, key, task, RUN) is None
    assert reserve(scene, "c", task, RUN) == OverLimit(RUN, 200, 250)


def test_spending_changes_no_task_and_no_journal(scene: Scene) -> None:
    task = scene.admit()
    before = {**scene.image(), "spending": []}

    reserve(scene, "a", task)
    scene.do(spending.settle, "a", ONE)

    assert {**scene.image(), "spending": []} == before
    assert scene.complaints() == []


@settings(max_examples=examples(60), deadline=None)
@given(
    asked=st.lists(
        st.tuples(
            st.integers(0, 3),  # whose
            st.integers(0, 400),  # reckoned
            st.none() | st.floats(0, 1),  # the part of it that is used; None: interrupted
        ),
        max_size=30,
    ),
    most=st.integers(0, 1000),
)
def test_whatever_is_asked_in_whatever_order_no_limit_is_passed(
    asked: list[tuple[int, int, float | None]], most: int
) -> None:
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder) / "agent.db")
        tasks = [scene.admit(str(n)) for n in range(4)]
        limits = (replace(RUN, most=most // 2), day(scene, most))
        for n, (whose, tokens, part) in enumerate(asked):
            task = tasks[whose]
            before = spending.of_all(scene.tx, 0).tokens, spending.of_task(scene.tx, task.id).tokens
            over = reserve(scene, str(n), task, *limits, wanted=Usage(tokens, requests=1))
            fits = before[0] + tokens <= most and before[1] + tokens <= most // 2
            assert (over is None) is fits
            if over is None and part is not None:
                scene.do(spending.settle, str(n), Usage(int(tokens * part), requests=1))
            assert spending.of_all(scene.tx, 0).tokens <= most
        scene.close()


def test_a_score_is_kept_once(scene: Scene) -> None:
    assert queue.get_score(scene.tx, "a") is None

    scene.do(queue.keep_score, "a", UrgencyScore(0.25, "it can wait"), scene.now)
    scene.do(queue.keep_score, "a", UrgencyScore(1.0, "it cannot"), scene.now)
    scene.do(queue.keep_score, "b", UrgencyScore(1.0, "it cannot"), scene.now)

    assert queue.get_score(scene.tx, "a") == UrgencyScore(0.25, "it can wait")
    assert queue.get_score(scene.tx, "b") == UrgencyScore(1.0, "it cannot")
    (row,) = scene.sql("SELECT at FROM scores WHERE digest = 'a'")
    assert row["at"] == rows.ms(scene.now)
