"""Changes before a task begins, versions, the calendar, views, and how many tasks stand."""

from datetime import timedelta

import pytest

from remit.errors import Conflict
from remit.model.delivery import Delivery, Refused
from remit.model.ids import TaskId
from remit.model.status import Status
from remit.model.task import Edit, Priority, TaskType
from remit.store import deliveries, edits, moves, task_filter, tasks
from tests.store.scene import BODY, DIGEST, Scene
from tests.tables import for_each

HOUR = timedelta(hours=1)
UNBEGUN = (Status.NEW, Status.READY, Status.PAUSED)


@for_each("status", UNBEGUN)
def test_what_has_not_begun_can_be_changed(scene: Scene, status: Status) -> None:
    task = scene.standing(status)
    sends = (Delivery("outbox", "Ana", "Hello", id=scene.ids.delivery()),)
    at = scene.now + HOUR

    changed = scene.do(
        edits.edit,
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

    scene.do(edits.edit, task.id, Edit(scheduled_for=at), scene.now)

    row = scene.sql("SELECT due_at, queue FROM tasks")[0]
    assert row == {"due_at": int(at.timestamp() * 1000), "queue": 0}
    scene.do(edits.edit, task.id, Edit(priority=Priority.CRITICAL), scene.now)
    assert scene.sql("SELECT queue FROM tasks")[0]["queue"] == 3
    assert scene.claim() == []
    scene.wait(3600)
    assert [claim.task.id for claim in scene.claim()] == [task.id]


@for_each("status", [each for each in Status if each not in UNBEGUN])
def test_what_has_begun_is_not_changed_any_more(scene: Scene, status: Status) -> None:
    task = scene.standing(status)
    before = scene.image()

    with pytest.raises(Conflict, match="not begun"):
        scene.do(edits.edit, task.id, Edit(title="New"), scene.now)
    assert scene.image() == before


def test_deleting_hides_what_has_ended_and_cancels_the_rest(scene: Scene) -> None:
    ended, live = scene.standing(Status.FAILED), scene.ready()

    for task in (ended, live):
        gone = scene.do(moves.delete, task.id, scene.now)
        assert gone.deleted_at == scene.now
    assert scene.get(live.id).status is Status.CANCELLED


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
