"""What the owner may do to a task at any time, and what is refused."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from remit.errors import Conflict, IllegalMove, NotFound
from remit.model.delivery import Accepted, Answer, Delivery, Refused, SendRetry
from remit.model.ids import TaskId, WorkerId
from remit.model.review import ReviewAnswer
from remit.model.status import PAUSABLE, TERMINAL, Actor, Status
from remit.model.task import Edit, Priority, Task, TaskType
from remit.store import deliveries, messages, moves, queue, reviews, task_filter, tasks
from tests.store.scene import BODY, DIGEST, Scene
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


def test_a_paused_appointment_keeps_its_time(scene: Scene) -> None:
    later = scene.now + timedelta(days=2)
    task = scene.ready(scheduled_for=later)
    scene.do(moves.pause, task.id, scene.now)
    scene.do(moves.resume, task.id, scene.wait(3600))

    assert scene.claim() == []
    assert queue.outlook(scene.tx, scene.now).later == later


def test_a_pause_does_not_take_back_a_cancel(scene: Scene) -> None:
    held, resting = scene.running().task, scene.standing(Status.VERIFYING)

    for task in (held, resting):
        scene.do(moves.cancel, task.id, scene.now)
        before = scene.image()
        with pytest.raises(Conflict, match="is being cancelled"):
            scene.do(moves.pause, task.id, scene.now)
        assert scene.image() == before
        assert scene.get(task.id).cancel_requested


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


@for_each("status", sorted(set(Status) - TERMINAL))
@for_each("hide", [False, True])
def test_a_cancelled_task_ends_at_once_or_at_its_next_boundary(
    scene: Scene, status: Status, hide: bool
) -> None:
    task = scene.standing(status)

    asked = scene.do(moves.cancel, task.id, scene.wait(), hide=hide)
    if asked.status is not Status.CANCELLED:
        assert asked.cancel_requested
        (claim,) = scene.claim()
        by = Actor.COURIER if status is Status.DELIVERING else Actor.EXECUTOR
        scene.finish(claim, "cancelled", Status.CANCELLED, by=by)

    ended = scene.get(task.id)
    assert (ended.status, ended.cancel_requested) == (Status.CANCELLED, False)
    assert (ended.deleted_at is not None) is hide
    assert ended.completed_at == scene.now
    assert scene.complaints() == []


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


def test_a_task_planned_for_later_starts_now_and_keeps_its_date(scene: Scene) -> None:
    later = scene.now + timedelta(days=1)
    task = scene.ready(scheduled_for=later)

    hastened = scene.do(moves.hasten, task.id, scene.wait())

    assert hastened.scheduled_for == later
    assert len(scene.claim()) == 1


# Changes, and lists of tasks ----------------------------------------------------------------------

HOUR = timedelta(hours=1)
UNBEGUN = (Status.NEW, Status.READY, Status.PAUSED)


@for_each("status", UNBEGUN)
def test_what_has_not_begun_can_be_changed(scene: Scene, status: Status) -> None:
    task = scene.standing(status)
    sends = (Delivery("outbox", "Ana", "Hello", id=scene.ids.delivery()),)
    at = scene.now + HOUR

    changed = scene.do(
        messages.edit,
        task.id,
        Edit(
            title="Call Ana",
            instructions="Be kind.",
            scheduled_for=at,
            priority=Priority.HIGH,
            delivery=sends,
        ),
        scene.wait(),
    )

    assert (changed.title, changed.instructions) == ("Call Ana", "Be kind.")
    assert (changed.scheduled_for, changed.type) == (at, TaskType.SCHEDULED)
    assert changed.priority is Priority.HIGH
    assert changed.rule is not None
    assert changed.rule.name == "owner"
    assert [(d.channel, d.recipient, d.content) for d in changed.delivery] == [
        ("outbox", "Ana", "Hello")
    ]
    assert changed.status is status
    assert scene.complaints() == []


def test_a_ready_task_is_due_when_it_is_planned_anew(scene: Scene) -> None:
    task = scene.ready()
    at = scene.now + HOUR

    scene.do(messages.edit, task.id, Edit(scheduled_for=at), scene.now)

    row = scene.sql("SELECT due_at, queue FROM tasks")[0]
    assert row == {"due_at": int(at.timestamp() * 1000), "queue": 0}
    scene.do(messages.edit, task.id, Edit(priority=Priority.CRITICAL), scene.now)
    assert scene.sql("SELECT queue FROM tasks")[0]["queue"] == 3
    assert scene.claim() == []
    scene.wait(3600)
    assert [claim.task.id for claim in scene.claim()] == [task.id]


@for_each("status", [each for each in Status if each not in UNBEGUN])
def test_what_has_begun_is_not_changed_any_more(scene: Scene, status: Status) -> None:
    task = scene.standing(status)
    before = scene.image()

    with pytest.raises(Conflict, match="not begun"):
        scene.do(messages.edit, task.id, Edit(title="New"), scene.now)
    assert scene.image() == before


def test_the_calendar_shows_what_is_planned_and_what_was(scene: Scene) -> None:
    done = scene.standing(Status.COMPLETED)  # it had no time
    claim = scene.running("Ran", scheduled_for=scene.now)
    scene.finish(claim, "done", Status.COMPLETED)
    late = scene.ready("Late", scheduled_for=scene.now + 9 * HOUR)
    soon = scene.ready("Soon", scheduled_for=scene.now + HOUR)
    scene.ready("Far", scheduled_for=scene.now + 90 * HOUR)

    found = tasks.planned_between(scene.tx, scene.now - HOUR, scene.now + 24 * HOUR)

    assert [task.id for task in found] == [claim.task.id, soon.id, late.id]
    assert done.id not in [task.id for task in found]
    assert len(tasks.planned_between(scene.tx, scene.now - HOUR, scene.now + 24 * HOUR, 2)) == 2


# Views --------------------------------------------------------------------------------------------


def test_views_do_not_grow_without_end(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_filter, "MAX_VIEWS", 2)
    for name in ("a", "b", "a"):
        scene.do(task_filter.save_view, name, "x", scene.now)

    with pytest.raises(Conflict, match="There are 2 views"):
        scene.do(task_filter.save_view, "c", "x", scene.now)


# Many ---------------------------------------------------------------------------------------------


def test_how_tasks_stand_is_told_in_the_order_they_are_named(scene: Scene) -> None:
    one, two = scene.ready("One"), scene.standing(Status.FAILED)
    scene.do(tasks.delete, two.id, scene.now)
    claim = scene.running("Three")
    scene.do(moves.pause, claim.task.id, scene.now)

    named = [two.id, TaskId("task-x"), claim.task.id, one.id, two.id]
    found = tasks.statuses_of(scene.tx, named)

    assert [each.id for each in found] == [two.id, claim.task.id, one.id]
    told = [(each.status, each.pausing, each.held, each.deleted) for each in found]
    assert told == [
        (Status.FAILED, False, False, True),
        (Status.RUNNING, True, True, False),
        (Status.READY, False, False, False),
    ]


def test_what_went_wrong_last_on_a_channel_is_told(scene: Scene) -> None:
    claim = scene.delivering("outbox")
    (delivery,) = claim.task.delivery
    attempt = scene.do(deliveries.claim_send, claim.lease, delivery, BODY, DIGEST, scene.now)
    refused = Refused("nobody lives there")
    scene.do(deliveries.settle_send, claim.lease, delivery, attempt, refused, scene.now)

    assert deliveries.last_trouble(scene.tx, "outbox") == "nobody lives there"
    assert deliveries.last_trouble(scene.tx, "email") is None
