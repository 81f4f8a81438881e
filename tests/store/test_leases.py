"""Whoever holds the lease writes; whoever lost it changes nothing, however sure it is."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from remit.errors import IllegalMove, LeaseLost
from remit.model.delivery import Accepted, SendRetry
from remit.model.ids import WorkerId
from remit.model.run import Lease
from remit.model.status import Actor, Status
from remit.store import deliveries, moves, queue, runs
from remit.store.deliveries import DashboardPost
from remit.store.moves import Ending
from remit.store.queue import ClaimedTask
from tests.store.scene import BODY, DIGEST, Scene
from tests.tables import for_each

Verb = Callable[[Scene, ClaimedTask, Lease], object]
OTHER = WorkerId("wrk-2")


def _record(scene: Scene, claim: ClaimedTask, lease: Lease) -> object:
    return scene.do(runs.record_steps, lease, {"think": "hm", "look": 1}, "{}", scene.now)


def _move(scene: Scene, claim: ClaimedTask, lease: Lease) -> object:
    by = Actor.COURIER if claim.task.status is Status.DELIVERING else Actor.EXECUTOR
    to = Status.COMPLETED
    return scene.do(moves.move, claim.task, lease, to, by, details=None, now=scene.now)


def _finish(scene: Scene, claim: ClaimedTask, lease: Lease) -> object:
    ending = Ending(outcome="done", to=Status.COMPLETED, by=Actor.COURIER, summary="It is out.")
    return scene.do(moves.finish, claim.task, lease, scene.now, ending, scene.now)


def _claim_send(scene: Scene, claim: ClaimedTask, lease: Lease) -> object:
    (delivery,) = claim.task.delivery
    return scene.do(deliveries.claim_send, lease, delivery, BODY, DIGEST, scene.now)


def _post(scene: Scene, claim: ClaimedTask, lease: Lease) -> object:
    (delivery,) = claim.task.delivery
    return scene.do(deliveries.post, lease, DashboardPost(delivery, BODY, DIGEST), scene.now)


def _doubt(scene: Scene, claim: ClaimedTask, lease: Lease) -> object:
    (delivery,) = claim.task.delivery
    return scene.do(deliveries.doubt, lease, delivery, "cut", scene.now)


UNDER_LEASE: list[Verb] = [_record, _move, _finish, _claim_send, _post, _doubt]


def _freed(scene: Scene, claim: ClaimedTask) -> Lease:
    """Its process was thought dead, and wakes up again."""
    scene.do(queue.release_orphans, OTHER, scene.ids.review, scene.wait())
    return claim.lease


def _taken_over(scene: Scene, claim: ClaimedTask) -> Lease:
    lease = _freed(scene, claim)
    assert len(scene.claim(OTHER)) == 1
    return lease


def _ended(scene: Scene, claim: ClaimedTask) -> Lease:
    scene.finish(claim, "retry", Status.DELIVERING, by=Actor.COURIER, due_at=scene.now)
    return claim.lease


LOST: dict[str, Callable[[Scene, ClaimedTask], Lease]] = {
    "an older one": lambda _, claim: replace(claim.lease, number=claim.lease.number - 1),
    "one that never was": lambda _, claim: replace(claim.lease, number=claim.lease.number + 1),
    "freed": _freed,
    "taken over": _taken_over,
    "ended": _ended,
}


@pytest.mark.parametrize("verb", UNDER_LEASE)
@pytest.mark.parametrize("how", LOST)
def test_who_does_not_hold_the_lease_writes_nothing(scene: Scene, how: str, verb: Verb) -> None:
    claim = scene.delivering()
    lease = LOST[how](scene, claim)
    before = scene.image()
    with pytest.raises(LeaseLost, match=claim.task.id):
        verb(scene, claim, lease)
    assert scene.image() == before


@for_each("verb", [_record, _move, _finish, _claim_send, _post])
def test_the_one_who_took_over_writes(scene: Scene, verb: Verb) -> None:
    claim = scene.delivering()
    scene.do(queue.release_orphans, OTHER, scene.ids.review, scene.wait())
    (again,) = scene.claim(OTHER)

    verb(scene, again, again.lease)

    assert again.lease.number > claim.lease.number
    assert scene.complaints() == []


@for_each("verb", [_move, _finish])
def test_a_task_that_has_moved_on_is_not_moved_by_one_who_did_not_see_it(
    scene: Scene, verb: Verb
) -> None:
    claim = scene.delivering()
    stale = replace(claim, task=replace(claim.task, status=Status.RUNNING))
    before = scene.image()

    with pytest.raises((LeaseLost, IllegalMove)):
        verb(scene, stale, claim.lease)

    assert scene.image() == before


def test_a_late_answer_is_kept_as_evidence_and_changes_no_delivery(scene: Scene) -> None:
    claim = scene.delivering()
    _claim_send(scene, claim, claim.lease)
    scene.do(queue.release_orphans, OTHER, scene.ids.review, scene.wait())
    (again,) = scene.claim(OTHER)

    (sending,) = claim.task.delivery
    settled = scene.do(
        deliveries.settle_send, claim.lease, sending, 1, Accepted("wamid-1"), scene.now
    )

    assert not settled
    assert deliveries.of_task(scene.tx, claim.task.id)[0].status == "sending"
    (attempt,) = scene.sql("SELECT answer, lease FROM attempts")
    assert (attempt["answer"], attempt["lease"]) == ("accepted", claim.lease.number)
    assert scene.kinds(claim.task.id)[-1] == "delivery.settled"
    assert scene.complaints() == []

    _doubt(scene, again, again.lease)
    assert deliveries.of_task(scene.tx, claim.task.id)[0].status == "unknown"
    assert scene.complaints() == []


def test_there_is_no_doubt_about_what_was_never_sent(scene: Scene) -> None:
    claim = scene.delivering()
    before = scene.image()

    with pytest.raises(LeaseLost):
        _doubt(scene, claim, claim.lease)

    assert scene.image() == before


def test_a_delivery_is_claimed_once_and_never_while_it_is_under_way(scene: Scene) -> None:
    claim = scene.delivering()
    assert _claim_send(scene, claim, claim.lease) == 1
    before = scene.image()

    for verb in (_claim_send, _post):
        with pytest.raises(LeaseLost):
            verb(scene, claim, claim.lease)

    assert scene.image() == before


def test_each_try_to_send_has_a_number_and_a_row(scene: Scene) -> None:
    claim = scene.delivering()
    (delivery,) = claim.task.delivery

    for n in (1, 2, 3):
        assert _claim_send(scene, claim, claim.lease) == n
        answer = SendRetry("busy") if n < 3 else Accepted("wamid-3")
        assert scene.do(deliveries.settle_send, claim.lease, delivery, n, answer, scene.now)

    told = [(row["n"], row["answer"]) for row in scene.sql("SELECT n, answer FROM attempts")]
    assert told == [(1, "retry"), (2, "retry"), (3, "accepted")]
    (sent,) = deliveries.of_task(scene.tx, claim.task.id)
    assert (sent.status, sent.receipt, sent.body) == ("sent", "wamid-3", BODY)
    assert scene.complaints() == []


def test_a_row_that_moved_on_since_it_was_read_is_not_taken(scene: Scene) -> None:
    scene.ready()
    (row,) = scene.sql("SELECT * FROM tasks")
    (claim,) = scene.claim()
    assert scene.do(queue._take, row, OTHER, scene.ids.run(), scene.now) is None

    scene.finish(claim, "retry", Status.RUNNING, due_at=scene.now)
    assert scene.do(queue._take, row, OTHER, scene.ids.run(), scene.now) is None

    (row,) = scene.sql("SELECT * FROM tasks")
    assert scene.do(queue._take, row, OTHER, scene.ids.run(), scene.now) is not None
