"""What waits for the owner: questions in groups, some put off; results and failures not seen."""

from datetime import timedelta

import pytest

from remit.errors import AlreadyDecided, Conflict
from remit.model.contract import Contract, ContractType
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.review import FRESH, Decision, ReviewAnswer
from remit.model.status import Actor, Reason, Status
from remit.model.task import Task
from remit.store import deliveries, inbox, reviews, stats, tasks
from remit.store.deliveries import DashboardPost
from remit.store.inbox import InboxCounts
from tests.store.scene import BODY, DIGEST, Scene
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


def test_questions_come_a_page_at_a_time_oldest_first(scene: Scene) -> None:
    asked = [scene.asking()[1] for _ in range(5)]  # all in one millisecond
    scene.wait()
    asked += [scene.asking()[1]]
    ordered = [*sorted(asked[:5]), asked[5]]

    seen = []
    after = None
    while page := inbox.questions(scene.tx, scene.now, after=after, limit=2):
        seen += [each.review.id for each in page]
        after = seen[-1]
    assert seen == ordered


def test_what_is_put_off_comes_back_by_itself(scene: Scene) -> None:
    task, review = scene.asking()
    until = scene.now + HOUR

    put_off = scene.do(inbox.put_off, review, until, scene.now)

    assert put_off.later_until == until
    assert put_off.decision is None
    assert inbox.questions(scene.tx, scene.now) == []
    assert [each.review.id for each in inbox.questions(scene.tx, scene.now, later=True)] == [review]
    assert inbox.needs(scene.tx, scene.now) == InboxCounts(later=1)
    assert reviews.waiting(scene.tx) == [put_off]  # it is open, for who asks for all
    assert scene.get(task.id).status is Status.NEEDS_REVIEW
    assert [each.review.id for each in inbox.questions(scene.tx, until)] == [review]
    assert inbox.needs(scene.tx, until) == InboxCounts(decide=1)
    assert scene.complaints() == []


def test_what_is_decided_cannot_be_put_off(scene: Scene) -> None:
    _, review = scene.asking()
    scene.do(reviews.decide, review, Decision(ReviewAnswer.ANSWER, "Two."), scene.now)
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


def test_numbers_tell_what_ended_when_and_what_comes_next(scene: Scene) -> None:
    scene.standing(Status.FAILED)
    scene.wait(3600)
    for _ in range(2):
        scene.standing(Status.COMPLETED)
    scene.standing(Status.CANCELLED)
    soon = [scene.ready(f"n {n}", scheduled_for=scene.now + (7 - n) * HOUR) for n in range(7)]

    found = stats.look(scene.tx, scene.now, lambda at: at.replace(hour=0, minute=0, second=0))

    assert (found.hours[-1].completed, found.hours[-1].cancelled) == (2, 1)
    assert (found.hours[-2].failed, found.hours[-2].completed) == (1, 0)
    assert len(found.hours) == 24
    assert sum(hour.completed for hour in found.hours) == 2
    assert _ids(list(found.next)) == [task.id for task in reversed(soon)][:5]
    assert found.counts == tasks.counts(scene.tx)
    assert found.needs == InboxCounts(fix=1)


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

    found = stats.look(scene.tx, scene.now, midnight)  # type: ignore[arg-type]

    assert [day.used.cents for day in found.days] == [11, 0, 0, 0, 0, 7, 5]
    assert (found.today.cents, found.today.tokens) == (5, 100)


def test_a_delivery_elsewhere_is_no_result_to_look_at(scene: Scene) -> None:
    sends = (Delivery("outbox", id=scene.ids.delivery()),)
    claim = scene.running("Send", delivery=sends)
    scene.finish(claim, "done", Status.COMPLETED)

    assert inbox.look(scene.tx, scene.now) == []
