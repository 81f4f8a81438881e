"""A task moves along the table, by whom the table names, and says no with a sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import IllegalMove
from remit.model.status import BY_PAIR, Actor, Reason, Status
from remit.model.task import Task
from tests.model.lifecycle_checks import task_in
from tests.model.values import values
from tests.soak import examples
from tests.tables import for_each

NO_ROW = sorted((was, to) for was in Status for to in Status if (was, to) not in BY_PAIR)
NOT_YOURS = sorted(
    (was, to, by) for (was, to), move in BY_PAIR.items() for by in Actor if by not in move.by
)
TASKS = values(Task).map(lambda value: value if isinstance(value, Task) else task_in(Status.NEW))


@for_each(("was", "to"), NO_ROW)
def test_a_move_outside_the_table_is_refused_for_everyone(was: Status, to: Status) -> None:
    task = task_in(was)
    for by in Actor:
        with pytest.raises(IllegalMove) as refusal:
            task.move(to, by)
        assert set(refusal.value.allowed) == task.allowed
        assert str(refusal.value) == (
            f"Task {task.id} is {was}; it may become "
            f"{', '.join(sorted(task.allowed)) or 'nothing more'}, not {to}."
        )


@for_each(("was", "to", "by"), NOT_YOURS)
def test_a_move_by_the_wrong_one_is_refused_and_says_whose_it_is(
    was: Status, to: Status, by: Actor
) -> None:
    task = task_in(was, resume_to=to)

    with pytest.raises(IllegalMove) as refusal:
        task.move(to, by)

    whose = " or ".join(sorted(BY_PAIR[was, to].by))
    assert str(refusal.value).endswith(f", not {to} by the {by}: that is for the {whose}.")
    assert to in refusal.value.allowed


def test_a_decided_question_is_no_longer_asked() -> None:
    asked = replace(task_in(Status.RUNNING), reason=Reason.INPUT, resume_to=Status.RUNNING)

    waiting = asked.move(Status.NEEDS_REVIEW, Actor.EXECUTOR)
    going_on = waiting.move(Status.RUNNING, Actor.OWNER)

    assert (waiting.reason, waiting.resume_to) == (Reason.INPUT, Status.RUNNING)
    assert (going_on.reason, going_on.resume_to) == (None, None)


@settings(max_examples=examples(100))
@given(TASKS, st.sampled_from(Status), st.sampled_from(Actor))
def test_a_move_changes_where_a_task_stands_and_nothing_else(
    task: Task, to: Status, by: Actor
) -> None:
    before = replace(task)
    try:
        moved = task.move(to, by)
    except IllegalMove:
        moved = replace(task)

    assert task == before
    assert moved == replace(
        task, status=moved.status, reason=moved.reason, resume_to=moved.resume_to
    )
