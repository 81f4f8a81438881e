"""Questions to the owner: asked once, decided once, and what follows from each answer."""

import pytest

from remit.errors import AlreadyDecided, BadInput
from remit.model.delivery import Unknown
from remit.model.review import OPTIONS, ReviewAnswer
from remit.model.run import Lease
from remit.model.status import Actor, Reason, Status
from remit.store import deliveries, moves, queue, reviews
from remit.store.queue import ClaimedTask
from tests.store.scene import BODY, DIGEST, RULE, Scene

PAIRS = [(reason, answer) for reason in Reason for answer in ReviewAnswer]


@pytest.mark.parametrize(("reason", "answer"), PAIRS)
def test_only_what_is_offered_can_be_answered(
    scene: Scene, reason: Reason, answer: ReviewAnswer
) -> None:
    task, review = scene.asking(reason)
    before = scene.image()

    if answer in OPTIONS[reason]:
        assert scene.decide(review, answer, "So.") != task
        assert reviews.waiting(scene.tx) == []
        assert scene.complaints() == []
    else:
        with pytest.raises(BadInput, match="may be decided with"):
            scene.decide(review, answer, "So.")
        assert scene.image() == before


def test_a_question_is_decided_once(scene: Scene) -> None:
    task, review = scene.asking()
    scene.decide(review, ReviewAnswer.ANSWER, "The red ones.")
    before = scene.image()

    for answer in ReviewAnswer:
        with pytest.raises(AlreadyDecided, match=r"decided before: answer, at 2026-03-02T09:00:01"):
            scene.decide(review, answer, "No, blue.")

    assert scene.image() == before
    assert scene.get(task.id).notes == ("The red ones.",)


def test_a_question_that_is_open_about_a_paused_task_is_answered_and_nothing_moves(
    scene: Scene,
) -> None:
    task = scene.admit()
    lease = Lease(task.id, 0, scene.ids.worker(), scene.ids.run())
    review = scene.question(ClaimedTask(task, lease, {}, {}), Reason.INPUT, resume_to=Status.NEW)
    scene.do(reviews.open_review, review, Actor.INTAKE, scene.now)
    scene.do(moves.pause, task.id, scene.now)

    after = scene.decide(review, ReviewAnswer.ANSWER, "Red.")

    assert (after.status, after.resume_to) == (Status.PAUSED, Status.NEW)
    assert queue.unranked(scene.tx, scene.now, 9) == []
    scene.do(moves.resume, task.id, scene.wait())
    assert scene.do(queue.rank, task.id, task.priority, RULE, scene.now)
    assert scene.get(task.id).notes == ("Red.",)
    assert scene.complaints() == []


def test_a_task_that_was_hidden_while_its_owner_was_asked_stays_hidden(scene: Scene) -> None:
    claim = scene.delivering()
    (delivery,) = claim.task.delivery
    attempt = scene.do(deliveries.claim_send, claim.lease, delivery, BODY, DIGEST, scene.now)
    scene.do(moves.cancel, claim.task.id, scene.now, hide=True)
    unknown = Unknown("timeout")
    scene.do(deliveries.settle_send, claim.lease, delivery, attempt, unknown, scene.now)
    about = scene.question(claim, Reason.AMBIGUOUS, about=delivery.id, resume_to=Status.DELIVERING)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, by=Actor.COURIER, review=about)

    after = scene.decide(about, ReviewAnswer.DECLINE)

    assert (after.status, after.cancel_requested) == (Status.CANCELLED, False)
    assert after.deleted_at == scene.now
