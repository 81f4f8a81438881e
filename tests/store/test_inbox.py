"""What waits for the owner: questions in groups, some put off; results and failures not seen."""

from datetime import timedelta

import pytest

from remit.errors import AlreadyDecided, BadInput, Conflict
from remit.model.contract import Contract, ContractType
from remit.model.delivery import Accepted, Unknown
from remit.model.ids import TaskId
from remit.model.review import FRESH, OPTIONS, ReviewAnswer
from remit.model.run import Lease
from remit.model.status import Actor, Reason, Status
from remit.model.task import Task
from remit.store import deliveries, inbox, moves, queue, reviews, tasks
from remit.store.deliveries import DashboardPost
from remit.store.inbox import InboxCounts
from remit.store.queue import ClaimedTask
from tests.store.scene import BODY, DIGEST, RULE, Scene
from tests.tables import for_each

HOUR = timedelta(hours=1)


def _shown(scene: Scene) -> Task:
    """A result that lies on the dashboard."""
    claim = scene.delivering("dashboard")
    (delivery,) = claim.task.delivery
    scene.do(deliveries.post, claim.lease, DashboardPost(delivery, BODY, DIGEST), scene.now)
    scene.finish(claim, "done", Status.COMPLETED, by=Actor.COURIER)
    return scene.get(claim.task.id)


def _ids(found: list[Task]) -> list[TaskId]:
    return [task.id for task in found]


@pytest.mark.parametrize("reason", Reason)
def test_every_question_is_to_be_decided(scene: Scene, reason: Reason) -> None:
    task, review = scene.asking(reason)

    (found,) = inbox.questions(scene.tx, scene.now)
    assert (found.review.id, found.task.id) == (review, task.id)
    assert inbox.question(scene.tx, review) == found
    needs = inbox.needs(scene.tx, scene.now)
    assert (needs.total, needs.decide, needs.decisions) == (1, 1, 1)


def test_what_is_decided_cannot_be_put_off(scene: Scene) -> None:
    _, review = scene.asking()
    scene.decide(review, ReviewAnswer.ANSWER, "Two.")
    before = scene.image()

    with pytest.raises(AlreadyDecided):
        scene.do(inbox.put_off, review, scene.now + HOUR, scene.now)
    assert scene.image() == before


def test_a_result_on_the_dashboard_waits_until_it_is_seen(scene: Scene) -> None:
    task = _shown(scene)
    scene.standing(Status.COMPLETED)  # sent to nobody: nothing to look at

    assert _ids(inbox.look(scene.tx, scene.now)) == [task.id]
    assert inbox.needs(scene.tx, scene.now) == InboxCounts(look=1)
    seen = scene.do(inbox.see, task.id, scene.wait())
    assert seen.seen_at == scene.now
    assert inbox.look(scene.tx, scene.now) == []
    assert scene.do(inbox.see, task.id, scene.wait()) == seen  # once is enough
    assert inbox.needs(scene.tx, scene.now) == InboxCounts()
    assert scene.complaints() == []


def test_advice_waits_to_be_read_wherever_it_went(scene: Scene) -> None:
    claim = scene.running("Advise", contract=Contract(ContractType.ADVISORY))
    scene.finish(claim, "done", Status.COMPLETED)

    assert _ids(inbox.look(scene.tx, scene.now)) == [claim.task.id]


def test_a_delivery_elsewhere_is_no_result_to_look_at(scene: Scene) -> None:
    claim = scene.delivering("outbox")
    scene.send(claim, Accepted("w-1"))
    scene.finish(claim, "done", Status.COMPLETED, by=Actor.COURIER)

    assert inbox.look(scene.tx, scene.now) == []
    assert inbox.needs(scene.tx, scene.now) == InboxCounts()


def test_a_failure_waits_until_it_is_acknowledged_or_old(scene: Scene) -> None:
    task = scene.standing(Status.FAILED)
    scene.standing(Status.CANCELLED)

    assert _ids(inbox.fix(scene.tx, scene.now)) == [task.id]
    assert inbox.needs(scene.tx, scene.now) == InboxCounts(fix=1)
    later = scene.now + FRESH + HOUR
    assert inbox.fix(scene.tx, later) == []
    assert inbox.needs(scene.tx, later) == InboxCounts()
    scene.do(inbox.see, task.id, scene.now)
    assert inbox.fix(scene.tx, scene.now) == []


def test_what_was_deleted_waits_for_nobody(scene: Scene) -> None:
    for task in (scene.standing(Status.FAILED), _shown(scene)):
        scene.do(tasks.delete, task.id, scene.now)

    assert inbox.needs(scene.tx, scene.now) == InboxCounts()


@for_each("status", [Status.NEW, Status.READY, Status.NEEDS_REVIEW, Status.PAUSED])
def test_only_what_has_ended_can_be_seen_to_its_end(scene: Scene, status: Status) -> None:
    task = scene.standing(status)

    with pytest.raises(Conflict, match=status.value):
        scene.do(inbox.see, task.id, scene.now)


def test_many_questions_for_one_thing_are_all_found(scene: Scene) -> None:
    asked = {scene.asking(Reason.AUTH, about="channel:mail")[1] for _ in range(120)}
    scene.asking(Reason.AUTH, about="channel:other")
    scene.asking(Reason.AUTH)

    found = reviews.waiting_for(scene.tx, Reason.AUTH, "channel:mail")
    assert {each.id for each in found} == asked
    assert len(reviews.waiting_for(scene.tx, Reason.AUTH, None)) == 1


# Numbers ------------------------------------------------------------------------------------------


def test_what_was_used_is_told_by_the_owners_days(scene: Scene) -> None:
    def midnight(at: object) -> object:
        return at.replace(hour=0, minute=0, second=0, microsecond=0)  # type: ignore[attr-defined]

    for days, cents in ((0, 5), (1, 7), (6, 11), (7, 13)):
        at = scene.now - timedelta(days=days)
        row = (f"k{days}", "t", int(at.timestamp() * 1000), 100, cents, 1)
        scene.sql(
            "INSERT INTO spending (key, task_id, at, tokens, cents, requests) VALUES (?,?,?,?,?,?)",
            *row,
        )

    found = inbox.stats(scene.tx, scene.now, midnight)  # type: ignore[arg-type]

    assert [day.used.cents for day in found.days] == [11, 0, 0, 0, 0, 7, 5]
    assert (found.today.cents, found.today.tokens) == (5, 100)


# Questions ----------------------------------------------------------------------------------------

PAIRS = [(reason, answer) for reason in Reason for answer in ReviewAnswer]


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
    assert queue.list_unranked(scene.tx, scene.now, 9) == []
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
