"""What the owner may do to a task at any time, and what is refused."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from remit.errors import IllegalMove, NotFound
from remit.model.delivery import Accepted, Answer, SendRetry
from remit.model.ids import WorkerId
from remit.model.review import ReviewAnswer
from remit.model.status import PAUSABLE, TERMINAL, Actor, Status
from remit.model.task import Task
from remit.store import moves, queue, reviews, tasks
from tests.store.scene import Scene
from tests.tables import for_each

# Pause and resume ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(PAUSABLE))
def test_a_pause_is_over_where_it_began(scene: Scene, status: Status) -> None:
    task = scene.standing(status)

    paused = scene.do(moves.pause, task.id, scene.wait())
    assert (paused.status, paused.resume_to) == (Status.PAUSED, status)
    assert scene.claim() == []

    resumed = scene.do(moves.resume, task.id, scene.wait())
    assert (resumed.status, resumed.resume_to) == (status, None)
    assert scene.complaints() == []


# Any order ----------------------------------------------------------------------------------------

# What the owner may say, and about a task that stands how.
ORDERS: dict[str, tuple[Callable[..., Task], frozenset[Status]]] = {
    "pause": (moves.pause, PAUSABLE),
    "resume": (moves.resume, frozenset({Status.PAUSED})),
    "cancel": (moves.cancel, frozenset(Status) - TERMINAL),
    "hasten": (moves.hasten, PAUSABLE - {Status.NEW}),
    "delete": (tasks.delete, TERMINAL),
    "undelete": (tasks.undelete, TERMINAL),
}


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_is_taken_where_it_makes_sense_and_changes_nothing_elsewhere(
    scene: Scene, order: str
) -> None:
    verb, allowed = ORDERS[order]
    for status, task in {each: scene.standing(each) for each in Status}.items():
        if status in allowed:
            scene.do(verb, task.id, scene.wait())
            continue
        before = scene.image()
        with pytest.raises((IllegalMove, NotFound), match=r"is \w+|ended task"):
            scene.do(verb, task.id, scene.now)
        assert scene.image() == before, status
    assert scene.complaints() == []


# Cancel -------------------------------------------------------------------------------------------


def test_a_cancel_overtakes_a_pause_that_is_just_being_written(scene: Scene) -> None:
    claim = scene.running()
    scene.do(moves.pause, claim.task.id, scene.now)
    scene.do(moves.cancel, claim.task.id, scene.now)

    scene.finish(claim, "paused", Status.PAUSED, by=Actor.OWNER, resume_to=Status.RUNNING)

    assert scene.get(claim.task.id).status is Status.CANCELLED


@pytest.mark.parametrize(
    ("answer", "status"),
    [(Accepted("w-1"), Status.COMPLETED), (SendRetry("busy"), Status.CANCELLED)],
    ids=["all is out", "something is not"],
)
def test_a_cancel_that_comes_when_all_is_out_comes_too_late(
    scene: Scene, answer: Answer, status: Status
) -> None:
    claim = scene.delivering()
    scene.do(moves.pause, claim.task.id, scene.now)
    scene.send(claim, answer)
    scene.do(moves.cancel, claim.task.id, scene.now)

    stopped = {"by": Actor.OWNER, "resume_to": Status.DELIVERING}
    scene.finish(claim, "paused", Status.PAUSED, **stopped)

    assert scene.get(claim.task.id).status is status
    assert scene.complaints() == []


@pytest.mark.parametrize("way", ["cancelled by its leg", "declined", "cancelled while paused"])
def test_a_task_does_not_end_with_a_message_in_the_air(scene: Scene, way: str) -> None:
    """The process died mid-send, and before anyone looked the owner ended the task."""
    claim = scene.delivering()
    scene.send(claim)
    for crash in range(3 if way == "declined" else 1):
        other = WorkerId(f"wrk-other-{crash}")
        scene.do(queue.release_orphans, other, scene.ids.review, scene.wait())
        if way == "declined" and crash < 2:
            scene.claim(other)

    match way:
        case "cancelled by its leg":
            scene.do(moves.cancel, claim.task.id, scene.now)
            (again,) = scene.claim()
            scene.finish(again, "cancelled", Status.CANCELLED, by=Actor.COURIER)
        case "declined":
            (review,) = reviews.waiting(scene.tx)
            scene.decide(review, ReviewAnswer.DECLINE)
        case _:
            scene.do(moves.pause, claim.task.id, scene.now)
            scene.do(moves.cancel, claim.task.id, scene.now)

    task = scene.get(claim.task.id)
    ended = way == "cancelled by its leg"  # else the next leg asks about the message first
    expected = (Status.CANCELLED, False) if ended else (Status.DELIVERING, True)
    assert (task.status, task.cancel_requested, task.in_doubt) == (*expected, True)
    assert ("delivery.settled" in scene.kinds(task.id)) or not ended
    assert scene.complaints() == []


# Run now, delete, restore -------------------------------------------------------------------------


@for_each("status", sorted(Status))
def test_only_what_waits_for_its_time_can_be_hastened(scene: Scene, status: Status) -> None:
    task = scene.standing(status)
    scene.wait()

    if status in PAUSABLE - {Status.NEW}:
        scene.do(moves.hasten, task.id, scene.now)
        assert [claim.task.id for claim in scene.claim()] == [task.id]
    else:
        with pytest.raises(IllegalMove):
            scene.do(moves.hasten, task.id, scene.now)


def test_a_task_planned_for_later_starts_now_and_keeps_its_date(scene: Scene) -> None:
    later = scene.now + timedelta(days=1)
    task = scene.ready(scheduled_for=later)

    hastened = scene.do(moves.hasten, task.id, scene.wait())

    assert hastened.scheduled_for == later
    assert len(scene.claim()) == 1


@for_each("status", sorted(Status))
def test_only_what_has_ended_is_hidden_and_shown_again(scene: Scene, status: Status) -> None:
    task = scene.standing(status)

    if status not in TERMINAL:
        for verb in (tasks.delete, tasks.undelete):
            with pytest.raises(NotFound, match="ended task"):
                scene.do(verb, task.id, scene.now)
        return
    assert scene.do(tasks.delete, task.id, scene.now).deleted_at == scene.now
    assert scene.do(tasks.undelete, task.id, scene.now).deleted_at is None
    assert scene.complaints() == []
