"""How a leg ends, and that every write has its event, in one transaction or not at all."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from remit.errors import Conflict, IllegalMove
from remit.model.delivery import Accepted
from remit.model.run import Lease
from remit.model.status import TERMINAL, Actor, Status
from remit.store import deliveries, events, moves, queue, runs, tasks
from remit.store.database import Tx
from tests.store.scene import AT, BODY, DIGEST, RULE, Scene

# The end of a leg ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "to", "by"),
    [
        ("done", Status.COMPLETED, Actor.EXECUTOR),
        ("fail", Status.FAILED, Actor.EXECUTOR),
        ("cancelled", Status.CANCELLED, Actor.EXECUTOR),
        ("retry", Status.RUNNING, Actor.EXECUTOR),
        ("parked", Status.RUNNING, Actor.EXECUTOR),
        ("wait", Status.NEEDS_REVIEW, Actor.EXECUTOR),
        ("paused", Status.PAUSED, Actor.OWNER),
    ],
)
def test_the_end_of_a_leg_is_written_whole(
    scene: Scene, outcome: str, to: Status, by: Actor
) -> None:
    claim = scene.running()
    began = scene.now
    more: dict[str, object] = {"note": "as it was", "attempts": 2, "summary": "It is done."}
    if to is Status.NEEDS_REVIEW:
        more["review"] = scene.question(claim)
    if to is Status.PAUSED:
        more["resume_to"] = Status.RUNNING
    if to is Status.RUNNING:
        more["due_at"] = scene.now + timedelta(seconds=90)

    scene.wait(5)
    scene.finish(claim, outcome, to, by=by, **more)

    task = scene.get(claim.task.id)
    assert (task.status, task.attempts, task.result_summary) == (to, 2, "It is done.")
    assert (task.completed_at == scene.now) is (to in TERMINAL)
    (run,) = runs.of_task(scene.tx, task.id)
    assert (run.outcome, run.note, run.started_at) == (outcome, "as it was", began)
    assert run.ended_at == scene.now
    assert (queue.outlook(scene.tx, scene.now).later is not None) is (to is Status.RUNNING)
    assert scene.complaints() == []


def test_a_leg_cannot_end_where_its_task_may_not_go(scene: Scene) -> None:
    claim = scene.running()
    before = scene.image()

    with pytest.raises(IllegalMove, match="may become"):
        scene.finish(claim, "done", Status.READY)
    with pytest.raises(IllegalMove, match="that is for the"):
        scene.finish(claim, "done", Status.COMPLETED, by=Actor.COURIER)

    assert scene.image() == before


def test_a_wish_that_came_during_a_failed_try_is_heeded_at_once(scene: Scene) -> None:
    claim = scene.running()
    scene.do(moves.cancel, claim.task.id, scene.now)
    much_later = scene.now + timedelta(hours=1)

    scene.finish(claim, "retry", Status.RUNNING, due_at=much_later, settles=False)

    (again,) = scene.claim()
    assert again.task.cancel_requested


def test_what_a_run_found_out_is_kept_with_its_next_write(scene: Scene) -> None:
    claim = scene.running()

    details = '{"tool_output":"seen"}'
    scene.do(runs.record_steps, claim.lease, {"look": [1, 2]}, details, scene.now)
    scene.finish(claim, "retry", Status.RUNNING, due_at=scene.now)

    (again,) = scene.claim()
    assert again.task.tool_output == "seen"
    assert again.steps == {"look": [1, 2]}


def test_a_new_round_forgets_the_steps_of_the_last(scene: Scene) -> None:
    claim = scene.running()
    scene.do(runs.record_steps, claim.lease, {"look": 1}, None, scene.now)
    scene.finish(claim, "retry", Status.RUNNING, due_at=scene.now, round=1)

    (again,) = scene.claim()

    assert again.steps == {}
    assert again.task.round == 1


def test_the_first_leg_is_told_nothing_of_a_past_it_does_not_have(scene: Scene) -> None:
    claim = scene.running()

    assert (claim.steps, claim.decisions) == ({}, {})


# Events -------------------------------------------------------------------------------------------


def test_every_write_tells_the_journal_in_its_own_transaction(scene: Scene) -> None:
    """A verb that is rolled back takes its event with it, and the numbers stay without a gap."""
    claim, now = scene.delivering(), scene.now
    (delivery,) = claim.task.delivery
    task, lease, other = claim.task, claim.lease, scene.admit()
    verbs: list[Callable[[Tx], object]] = [
        lambda tx: tasks.admit(tx, scene.task()),
        lambda tx: queue.rank(tx, other.id, task.priority, RULE, now),
        lambda tx: runs.record_steps(tx, lease, {"a": 1, "b": 2}, None, now),
        lambda tx: deliveries.claim_send(tx, lease, delivery, BODY, DIGEST, now),
        lambda tx: moves.pause(tx, task.id, now),
        lambda tx: moves.resume(tx, task.id, now),
        lambda tx: deliveries.settle_send(tx, lease, delivery, 1, Accepted("w"), now),
        lambda tx: moves.move(
            tx, task, lease, Status.COMPLETED, Actor.COURIER, details=None, now=now
        ),
    ]
    for verb in verbs:
        before, last = scene.image(), events.last(scene.tx)

        with pytest.raises(ZeroDivisionError):
            scene.do(_and_breaks, verb)
        assert scene.image() == before

        scene.do(verb)
        assert events.last(scene.tx) > last
        assert scene.complaints() == []


def test_a_failed_verb_of_the_store_leaves_neither_state_nor_event(scene: Scene) -> None:
    claim = scene.running()
    before = scene.image()

    with pytest.raises(Conflict):
        scene.do(_records_twice, claim.lease)

    assert scene.image() == before
    scene.do(runs.record_steps, claim.lease, {"look": 1}, None, scene.now)
    assert scene.complaints() == []


def _and_breaks(tx: Tx, verb: Callable[[Tx], object]) -> None:
    verb(tx)
    raise ZeroDivisionError


def _records_twice(tx: Tx, lease: Lease) -> None:
    for _ in range(2):
        runs.record_steps(tx, lease, {"look": 1}, None, AT)
