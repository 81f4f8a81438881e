"""Who comes next: by rank and age, one a session, none above its limit, none twice."""

from collections import Counter
from datetime import timedelta

import pytest
from msgspec.structs import replace

from remit.model.delivery import Delivery
from remit.model.ids import SessionId, TaskId, WorkerId
from remit.model.review import ReviewAnswer
from remit.model.status import ACTIVE, Actor, Reason, Status
from remit.model.task import Priority, Source, SourceKind
from remit.store import moves, queue, reviews, runs, tasks
from remit.store.queue import POISON, ClaimedTask
from tests.soak import SOAK
from tests.store.scene import AT, ROOMY, RULE, WORKER, Scene

ALONE = replace(ROOMY, room=1)


def _order(scene: Scene) -> list[str]:
    """Take one after the other, and say in which order they came."""
    titles = []
    while found := scene.claim(wanted=ALONE):
        titles += [claim.task.title for claim in found]
    return titles


def _crash(scene: Scene) -> None:
    worker = WorkerId(scene.ids.ulid())
    scene.do(queue.release_orphans, worker, scene.ids.review, scene.wait())


# Rank ---------------------------------------------------------------------------------------------


def test_new_tasks_wait_to_be_ranked_oldest_first(scene: Scene) -> None:
    made = [scene.admit() for _ in range(5)]

    assert queue.list_unranked(scene.tx, scene.now, 3) == made[:3]
    assert scene.claim() == []


def test_a_rank_is_given_once_and_says_which_rule_gave_it(scene: Scene) -> None:
    task = scene.admit()

    assert scene.do(queue.rank, task.id, Priority.HIGH, RULE, scene.wait())
    assert not scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.wait())

    ranked = scene.get(task.id)
    assert (ranked.status, ranked.priority, ranked.rule) == (Status.READY, Priority.HIGH, RULE)
    assert queue.list_unranked(scene.tx, scene.now, 9) == []
    assert scene.complaints() == []


def test_nothing_is_ranked_while_a_question_about_it_is_open(scene: Scene) -> None:
    task = scene.admit()
    claimless = ClaimedTask(task, runs.lease_of(scene.sql("SELECT * FROM tasks")[0]), {}, {})
    review = scene.question(claimless, Reason.INPUT, resume_to=Status.NEW)
    scene.do(reviews.open_review, review, Actor.INTAKE, scene.now)

    assert not scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    assert queue.list_unranked(scene.tx, scene.now, 9) == []  # nobody looks again and again

    scene.decide(review, ReviewAnswer.ANSWER, "The red ones.")
    assert [waits.id for waits in queue.list_unranked(scene.tx, scene.now, 9)] == [task.id]
    assert scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    assert scene.get(task.id).notes == ("The red ones.",)
    assert scene.complaints() == []


# Order --------------------------------------------------------------------------------------------


def test_tasks_that_fell_due_together_keep_the_order_in_which_they_came(scene: Scene) -> None:
    titles = [f"task {n}" for n in range(30)]
    for title in titles:
        scene.ready(title)

    assert _order(scene) == titles


@pytest.mark.parametrize(
    ("older_by", "first"), [(899, "high"), (901, "med")], ids=["not long enough", "long enough"]
)
def test_waiting_outweighs_a_level_of_priority(scene: Scene, older_by: int, first: str) -> None:
    scene.ready("med", Priority.MED)
    scene.wait(older_by)
    scene.ready("high", Priority.HIGH)

    assert _order(scene)[0] == first


def test_nothing_starves_behind_a_stream_of_important_tasks(scene: Scene) -> None:
    scene.ready("patient", Priority.LOW)
    for n in range(60):
        scene.ready(f"urgent {n}", Priority.CRITICAL)
        (claim,) = scene.claim(wanted=ALONE)
        if claim.task.title == "patient":
            break
        scene.finish(claim, "done", Status.COMPLETED)
        scene.wait(60)

    assert claim.task.title == "patient"
    assert n == 3 * 900 / 60  # three levels, fifteen minutes each, and not one task more


# Due ----------------------------------------------------------------------------------------------


def test_what_is_planned_for_later_is_left_until_then(scene: Scene) -> None:
    later = scene.now + timedelta(days=3)
    task = scene.ready(scheduled_for=later)
    assert scene.claim() == []
    assert not queue.outlook(scene.tx, scene.now).is_due

    scene.now = later - timedelta(milliseconds=1)
    assert scene.claim() == []
    scene.now = later
    assert queue.outlook(scene.tx, scene.now).is_due
    assert [claim.task.id for claim in scene.claim()] == [task.id]


def test_the_next_moment_is_the_earliest_of_all_ranks(scene: Scene) -> None:
    assert queue.outlook(scene.tx, scene.now).later is None
    for hours, priority in ((5, Priority.CRITICAL), (2, Priority.LOW), (9, Priority.HIGH)):
        scene.ready(priority=priority, scheduled_for=scene.now + timedelta(hours=hours))

    assert queue.outlook(scene.tx, scene.now).later == AT + timedelta(hours=2)
    assert queue.outlook(scene.tx, AT + timedelta(hours=2)).later == AT + timedelta(hours=5)
    assert queue.outlook(scene.tx, AT + timedelta(hours=9)).later is None


def test_what_was_written_by_the_owner_goes_straight_to_its_delivery(scene: Scene) -> None:
    written = Delivery("outbox", content="As I wrote it.", id=scene.ids.delivery())
    scene.ready(delivery=(written,))

    (claim,) = scene.claim()

    assert claim.task.status is Status.DELIVERING
    assert claim.task.delivery == (written,)


# Limits -------------------------------------------------------------------------------------------


def test_one_session_is_worked_on_once_at_a_time(scene: Scene) -> None:
    shared = SessionId("ses-shared")
    same = [scene.ready(f"same {n}", session_id=shared) for n in range(3)]
    other = scene.ready("other")

    taken = scene.claim()
    assert [claim.task.id for claim in taken] == [same[0].id, other.id]
    assert scene.claim() == []

    scene.finish(taken[0], "done", Status.COMPLETED)
    (following,) = scene.claim()
    assert following.task.id == same[1].id


def test_a_source_is_not_worked_on_above_its_limit(scene: Scene) -> None:
    for n in range(5):
        scene.ready(f"mail {n}", source=Source(SourceKind.EMAIL, str(n)))
        scene.ready(f"manual {n}")

    taken = scene.claim(wanted=replace(ROOMY, sources={"email": 2, "caldav": 1}))
    assert Counter(claim.task.source.kind for claim in taken) == {"email": 2, "manual": 5}
    assert [claim.task.title for claim in taken if claim.task.source.kind == "email"] == [
        "mail 0",
        "mail 1",
    ]

    assert scene.claim(wanted=replace(ROOMY, sources={"email": 0})) == []
    assert len(scene.claim()) == 3


def test_no_more_is_claimed_than_there_is_room_for(scene: Scene) -> None:
    for _ in range(7):
        scene.ready()

    assert [len(scene.claim(wanted=replace(ROOMY, room=room))) for room in (0, 3, 9)] == [0, 3, 4]


# Crashes ------------------------------------------------------------------------------------------


def test_a_process_frees_what_others_held_and_nothing_of_its_own(scene: Scene) -> None:
    held = scene.running()

    assert scene.do(queue.release_orphans, WORKER, scene.ids.review, scene.now) == 0
    assert scene.get(held.task.id).lease == held.lease.number

    _crash(scene)
    freed = scene.get(held.task.id)
    assert (freed.status, freed.crashes, freed.lease) == (Status.RUNNING, 1, held.lease.number + 1)
    (run,) = runs.of_task(scene.tx, freed.id)
    assert (run.outcome, run.worker) == ("crashed", WORKER)


@pytest.mark.parametrize("status", sorted(ACTIVE))
@pytest.mark.parametrize("wish", [None, "pause", "cancel", "delete"])
def test_after_three_crashes_the_owner_is_asked_who_still_wants_it(
    scene: Scene, status: Status, wish: str | None
) -> None:
    claim = scene.delivering() if status is Status.DELIVERING else scene.running()
    if status is Status.VERIFYING:
        scene.move(claim, status)
    if wish is not None:
        scene.do(getattr(moves, wish), claim.task.id, scene.now)

    for _ in range(POISON - 1):
        _crash(scene)
        assert scene.get(claim.task.id).status is status
        assert len(scene.claim()) == 1
    _crash(scene)

    found = scene.get(claim.task.id)
    if wish in ("cancel", "delete"):
        assert (found.cancel_requested, reviews.waiting(scene.tx)) == (True, [])
        return
    assert (found.status, found.reason) == (Status.NEEDS_REVIEW, Reason.POISON)
    assert not found.pause_requested
    (review,) = reviews.waiting(scene.tx)
    assert "died 3 times" in review.question
    assert scene.claim() == []
    assert scene.complaints() == []
    scene.decide(review, ReviewAnswer.APPROVE)
    (again,) = scene.claim()
    resumed = Status.DELIVERING if status is Status.DELIVERING else Status.RUNNING
    assert (again.task.status, again.task.crashes) == (resumed, 0)


# Many ---------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_thousands_due_at_once_are_each_claimed_once(scene: Scene) -> None:
    many = 10_000 if SOAK else 100
    scene.tx.begin()
    for n in range(many):
        task = tasks.admit(scene.tx, scene.task(f"task {n}"))
        queue.rank(scene.tx, task.id, Priority.LOW, RULE, scene.now)
    scene.tx.commit()

    seen: list[TaskId] = []
    while found := scene.claim(wanted=replace(ROOMY, room=512 if SOAK else 40)):
        seen += [claim.task.id for claim in found]

    assert len(seen) == len(set(seen)) == many
    assert seen == sorted(seen)  # ids are made in order, and so they come
    assert not queue.outlook(scene.tx, scene.now).is_due


def test_a_worker_is_known_while_it_lives_and_after(scene: Scene) -> None:
    scene.do(runs.beat, WORKER, scene.now)
    scene.do(runs.beat, WORKER, scene.wait(15))
    scene.do(runs.leave, WORKER, scene.wait(15))

    (row,) = scene.sql("SELECT * FROM workers")
    began, beat, ended = (int(str(row[name])) for name in ("started_at", "beat_at", "ended_at"))
    assert (beat - began, ended - began) == (30_000, 30_000)
