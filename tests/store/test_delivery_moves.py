"""The one table of how a delivery may move, and the store's statements that move it."""

import re

import pytest
from msgspec.structs import replace

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
from remit.store import deliveries
from remit.store.database import statements
from tests.store.scene import BODY, DIGEST, Scene

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
