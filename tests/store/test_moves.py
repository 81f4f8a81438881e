"""How a leg ends and a delivery moves; each write has its event, in one transaction or not."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.errors import Conflict, IllegalMove
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryStatus,
    Found,
    Locked,
    Refused,
    SendRetry,
    Unknown,
)
from remit.model.delivery_moves import (
    DELIVERY_MOVES,
    STATUS_AFTER_DECISION,
    DeliveryStep,
    after_answer,
    status_after,
)
from remit.model.ids import TaskId
from remit.model.run import Lease
from remit.model.status import TERMINAL, Actor, Status
from remit.store import deliveries, events, moves, queue, runs, tasks
from remit.store.database import Tx, statements
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


def test_a_new_round_forgets_the_steps_of_the_last(scene: Scene) -> None:
    claim = scene.running()
    scene.do(runs.record_steps, claim.lease, {"look": 1}, None, scene.now)
    scene.finish(claim, "retry", Status.RUNNING, due_at=scene.now, round=1)

    (again,) = scene.claim()

    assert again.steps == {}
    assert again.task.round == 1


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


# Deliveries ---------------------------------------------------------------------------------------

MOVING = {
    "claim_delivery": DeliveryStep.CLAIM,
    "post_delivery": DeliveryStep.POST,
    "settle_delivery": DeliveryStep.SETTLE,
    "doubt_delivery": DeliveryStep.DOUBT,
    "doubt_all_sends": DeliveryStep.DOUBT,
    "resolve_delivery": DeliveryStep.RESOLVE,
    "decide_delivery": DeliveryStep.DECIDE,
}
FOUND: tuple[Found, ...] = (Accepted("w-1"), SendRetry("it never left"), Refused("no such number"))
ANSWERS: tuple[Answer, ...] = (*FOUND, Locked("sign in again"), Unknown("no answer came"))


@pytest.mark.parametrize("was", DeliveryStatus)
@pytest.mark.parametrize("name", MOVING)
def test_a_statement_moves_a_delivery_as_the_table_says(
    scene: Scene, name: str, was: DeliveryStatus
) -> None:
    move = DELIVERY_MOVES[MOVING[name]]
    claim = scene.delivering()
    (delivery,) = claim.task.delivery
    told = {"id": delivery.id, "task": claim.task.id, "lease": claim.lease.number, "now": 1}
    words = {"body": BODY, "digest": DIGEST, "address": None, "why": "so", "receipt": None}
    for to in move.to:
        scene.sql("UPDATE deliveries SET status = ?", was)

        changed = scene.tx.run(name, told | words | {"to": to})

        (row,) = scene.sql("SELECT status FROM deliveries")
        assert (changed, row["status"]) == ((1, to) if was in move.was else (0, was))


def test_no_other_statement_moves_a_delivery() -> None:
    """What is put in is pending, and only what is pending is taken out."""
    every = {name: re.sub(r"--.*", "", sql) for name, sql in statements().items()}

    moving = {name for name, sql in every.items() if re.search(_MOVES, sql)}
    assert moving == set(MOVING)
    for sql in every.values():
        if re.search(r"INSERT INTO deliveries", sql):
            named = re.findall(r"'(\w+)'", sql)
            assert set(named) == {"pending"}
        if re.search(r"DELETE FROM deliveries", sql):
            assert "status = 'pending'" in sql


def test_every_answer_and_every_decision_ends_where_the_table_allows() -> None:
    assert {status_after(each) for each in ANSWERS} == DELIVERY_MOVES[DeliveryStep.SETTLE].to
    assert {status_after(each) for each in FOUND} == DELIVERY_MOVES[DeliveryStep.RESOLVE].to
    assert set(STATUS_AFTER_DECISION.values()) == DELIVERY_MOVES[DeliveryStep.DECIDE].to


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda each: type(each).__name__)
def test_a_leg_knows_of_an_answer_what_the_store_has_written(scene: Scene, answer: Answer) -> None:
    claim = scene.delivering()
    (delivery,) = claim.task.delivery
    scene.send(claim, answer)

    sending = replace(delivery, status=DeliveryStatus.SENDING, body=BODY)
    assert _kept(scene, claim.task.id) == after_answer(sending, answer, scene.now)


@pytest.mark.parametrize("found", FOUND, ids=lambda each: type(each).__name__)
def test_a_leg_knows_of_a_cleared_doubt_what_the_store_has_written(
    scene: Scene, found: Found
) -> None:
    claim = scene.delivering()
    (delivery,) = claim.task.delivery
    scene.do(deliveries.claim_send, claim.lease, delivery, BODY, DIGEST, scene.now)
    scene.do(deliveries.doubt, claim.lease, delivery, "cut", scene.now)
    scene.do(deliveries.clear, claim.lease, delivery, found, scene.now)

    unknown = replace(delivery, status=DeliveryStatus.UNKNOWN, body=BODY)
    assert _kept(scene, claim.task.id) == after_answer(unknown, found, scene.now)


def _kept(scene: Scene, task_id: TaskId) -> Delivery:
    (row,) = deliveries.of_task(scene.tx, task_id)
    return row


_MOVES = re.compile(r"UPDATE deliveries\s+SET (?:(?!WHERE)[\s\S])*?\bstatus = ")
