"""Questions to the owner: asked once, decided once, and what follows from each answer."""

import pytest

from remit.errors import AlreadyDecided, BadInput, NotFound
from remit.model.delivery import Unknown
from remit.model.ids import ReviewId
from remit.model.review import NEEDS_TEXT, OPTIONS, Decision, ReviewAnswer
from remit.model.run import Lease
from remit.model.status import Actor, Reason, Status
from remit.store import deliveries, moves, queue, reviews, runs
from remit.store.queue import ClaimedTask
from tests.store.scene import BODY, DIGEST, RULE, Scene

PAIRS = [(reason, answer) for reason in Reason for answer in ReviewAnswer]
OFFERED = [(reason, answer) for reason in Reason for answer in OPTIONS[reason]]


def test_open_questions_wait_oldest_first(scene: Scene) -> None:
    asked = []
    for _ in range(3):
        asked.append(scene.asking()[1])
        scene.wait()

    assert [review.id for review in reviews.waiting(scene.tx)] == asked
    assert [review.id for review in reviews.waiting(scene.tx, 2)] == asked[:2]


@pytest.mark.parametrize(("reason", "answer"), PAIRS)
def test_only_what_is_offered_can_be_answered(
    scene: Scene, reason: Reason, answer: ReviewAnswer
) -> None:
    task, review = scene.asking(reason)
    before = scene.image()

    if answer in OPTIONS[reason]:
        assert scene.do(reviews.decide, review, Decision(answer, "So."), scene.wait()) != task
        assert reviews.waiting(scene.tx) == []
        assert scene.complaints() == []
    else:
        with pytest.raises(BadInput, match="may be decided with"):
            scene.do(reviews.decide, review, Decision(answer, "So."), scene.wait())
        assert scene.image() == before


@pytest.mark.parametrize(("reason", "answer"), OFFERED)
@pytest.mark.parametrize("text", [None, "", " \n"])
def test_an_answer_that_needs_words_is_not_taken_without(
    scene: Scene, reason: Reason, answer: ReviewAnswer, text: str | None
) -> None:
    _, review = scene.asking(reason)
    before = scene.image()

    if answer in NEEDS_TEXT:
        with pytest.raises(BadInput, match=r"^Write .* first\."):
            scene.do(reviews.decide, review, Decision(answer, text), scene.now)
        assert scene.image() == before
    else:
        scene.do(reviews.decide, review, Decision(answer, text), scene.now)


def test_a_question_is_decided_once(scene: Scene) -> None:
    task, review = scene.asking()
    scene.do(reviews.decide, review, Decision(ReviewAnswer.ANSWER, "The red ones."), scene.wait())
    before = scene.image()

    for answer in ReviewAnswer:
        with pytest.raises(AlreadyDecided, match=r"decided before: answer, at 2026-03-02T09:00:01"):
            scene.do(reviews.decide, review, Decision(answer, "No, blue."), scene.wait())

    assert scene.image() == before
    assert scene.get(task.id).notes == ("The red ones.",)


def test_a_question_nobody_asked_is_not_found(scene: Scene) -> None:
    with pytest.raises(NotFound, match="no review rev-1"):
        scene.do(reviews.decide, ReviewId("rev-1"), Decision(ReviewAnswer.APPROVE), scene.now)


def test_the_same_place_asks_once(scene: Scene) -> None:
    task, review = scene.asking()
    scene.do(reviews.decide, review, Decision(ReviewAnswer.ANSWER, "The red ones."), scene.wait())

    (claim,) = scene.claim()

    assert claim.decisions["ask:1"].text == "The red ones."
    assert [each.id for each in reviews.of_task(scene.tx, task.id)] == [review]


def test_what_is_sent_back_is_done_anew_with_a_word(scene: Scene) -> None:
    claim = scene.running()
    scene.do(runs.record_steps, claim.lease, {"think": "hm"}, None, scene.now)
    review = scene.question(claim, Reason.VERIFICATION, resume_to=Status.DELIVERING)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, review=review)
    assert review.id is not None

    scene.do(reviews.decide, review.id, Decision(ReviewAnswer.BACK, "Too long."), scene.wait())

    (again,) = scene.claim()
    assert (again.task.status, again.task.round) == (Status.RUNNING, 1)
    assert (again.task.notes, again.steps) == (("Too long.",), {})


def test_a_question_that_is_open_about_a_paused_task_is_answered_and_nothing_moves(
    scene: Scene,
) -> None:
    task = scene.admit()
    lease = Lease(task.id, 0, scene.ids.worker(), scene.ids.run())
    review = scene.question(ClaimedTask(task, lease, {}, {}), Reason.INPUT, resume_to=Status.NEW)
    assert review.id is not None
    scene.do(reviews.open_review, review, Actor.INTAKE, scene.now)
    scene.do(moves.pause, task.id, scene.now)

    after = scene.do(reviews.decide, review.id, Decision(ReviewAnswer.ANSWER, "Red."), scene.wait())

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
    assert about.id is not None

    after = scene.do(reviews.decide, about.id, Decision(ReviewAnswer.DECLINE), scene.wait())

    assert (after.status, after.cancel_requested) == (Status.CANCELLED, False)
    assert after.deleted_at == scene.now
