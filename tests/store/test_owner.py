"""What the owner may do to a task at any time, and what is refused."""

from datetime import timedelta

import pytest

from remit.errors import Conflict, IllegalMove, NotFound
from remit.model.delivery import Accepted, Answer, SendRetry, Unknown
from remit.model.ids import WorkerId
from remit.model.review import Decision, ReviewAnswer
from remit.model.status import PAUSABLE, TERMINAL, Actor, Reason, Status
from remit.store import deliveries, moves, queue, reviews, runs, tasks
from remit.store.queue import ClaimedTask
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


@for_each("status", sorted(set(Status) - PAUSABLE))
def test_what_cannot_be_paused_is_not(scene: Scene, status: Status) -> None:
    task = scene.standing(status)
    before = scene.image()

    with pytest.raises(IllegalMove, match=f"is {status}"):
        scene.do(moves.pause, task.id, scene.now)

    assert scene.image() == before


@for_each("status", sorted(set(Status) - {Status.PAUSED}))
def test_only_what_is_paused_goes_on(scene: Scene, status: Status) -> None:
    task = scene.standing(status)

    with pytest.raises(IllegalMove):
        scene.do(moves.resume, task.id, scene.now)


def test_a_pause_of_a_running_task_is_a_wish_until_its_next_boundary(scene: Scene) -> None:
    claim = scene.running()

    asked = scene.do(moves.pause, claim.task.id, scene.now)
    assert (asked.status, asked.pause_requested) == (Status.RUNNING, True)
    wish = scene.do(runs.record_steps, claim.lease, {"think": 1}, None, scene.now)
    assert wish == "pause"

    back = scene.do(moves.resume, claim.task.id, scene.now)
    assert (back.status, back.pause_requested) == (Status.RUNNING, False)


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


@for_each("status", sorted(TERMINAL))
def test_what_has_ended_is_not_cancelled(scene: Scene, status: Status) -> None:
    task = scene.standing(status)

    with pytest.raises(IllegalMove, match="nothing more"):
        scene.do(moves.cancel, task.id, scene.now)


def test_a_cancel_answers_the_questions_that_are_open(scene: Scene) -> None:
    task, review = scene.asking()

    scene.do(moves.cancel, task.id, scene.now)

    assert reviews.waiting(scene.tx) == []
    decided = reviews.get(scene.tx, review).decision
    assert decided is not None
    assert decided.answer == "decline"


@for_each("reason", sorted(set(Reason) - {Reason.AMBIGUOUS}))
def test_who_has_cancelled_is_not_asked(scene: Scene, reason: Reason) -> None:
    claim = scene.running()
    scene.do(moves.cancel, claim.task.id, scene.now)

    review = scene.question(claim, reason)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, review=review)

    assert scene.get(claim.task.id).status is Status.CANCELLED
    assert reviews.waiting(scene.tx) == []
    assert scene.complaints() == []


def test_who_has_cancelled_is_still_asked_whether_a_message_arrived(scene: Scene) -> None:
    """Nobody but the owner can know; what was not sent yet stays unsent."""
    claim = scene.delivering("outbox", "outbox")
    _send(scene, claim, 0, Unknown("timeout"))
    scene.do(moves.cancel, claim.task.id, scene.now)

    first = claim.task.delivery[0].id
    review = scene.question(claim, Reason.AMBIGUOUS, about=first, resume_to=Status.DELIVERING)
    scene.finish(claim, "wait", Status.NEEDS_REVIEW, by=Actor.COURIER, review=review)

    asked = scene.get(claim.task.id)
    assert (asked.status, asked.reason) == (Status.NEEDS_REVIEW, Reason.AMBIGUOUS)
    assert asked.cancel_requested
    assert scene.claim() == []

    assert review.id is not None
    scene.do(reviews.decide, review.id, Decision(ReviewAnswer.ARRIVED), scene.wait())
    (again,) = scene.claim()
    assert again.task.cancel_requested
    scene.finish(again, "cancelled", Status.CANCELLED, by=Actor.COURIER)
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
    _send(scene, claim, 0, answer)
    scene.do(moves.cancel, claim.task.id, scene.now)

    stopped = {"by": Actor.OWNER, "resume_to": Status.DELIVERING}
    scene.finish(claim, "paused", Status.PAUSED, **stopped)

    assert scene.get(claim.task.id).status is status
    assert scene.complaints() == []


@pytest.mark.parametrize("way", ["cancelled by its leg", "declined", "cancelled while paused"])
def test_a_task_does_not_end_with_a_message_in_the_air(scene: Scene, way: str) -> None:
    """The process died mid-send, and before anyone looked the owner ended the task."""
    claim = scene.delivering()
    _send(scene, claim, 0, None)
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
            assert review.id is not None
            scene.do(reviews.decide, review.id, Decision(ReviewAnswer.DECLINE), scene.now)
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


def _send(scene: Scene, claim: ClaimedTask, n: int, answer: Answer | None) -> None:
    delivery = claim.task.delivery[n]
    attempt = scene.do(deliveries.claim_send, claim.lease, delivery, BODY, DIGEST, scene.now)
    if answer is not None:
        scene.do(deliveries.settle_send, claim.lease, delivery, attempt, answer, scene.now)
