"""A series begins with its first occurrence, goes on slot by slot, and heeds its owner."""

from datetime import datetime, timedelta
from typing import Final

import pytest
from msgspec.structs import replace

from remit.errors import BadInput, Conflict, NotFound
from remit.model.contract import Gap, ItemStatus, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId
from remit.model.recurrence import Repeats, Series, SlotFate
from remit.model.status import Actor, Reason, Status
from remit.model.task import Creator, Priority, Task, TaskType
from remit.store import moves, queue, reviews, series, series_orders, slots, tasks
from remit.triggers.repeat import following
from tests.store.scene import AT, RULE, Scene
from tests.tables import for_each

DAY: Final = timedelta(days=1)
DAILY: Final = Repeats("FREQ=DAILY", "Europe/Berlin", AT + DAY)


def begun(scene: Scene, repeats: Repeats = DAILY, **changes: object) -> tuple[Task, Series]:
    changes = {"delivery": (Delivery("outbox", id=scene.ids.delivery()),), **changes}
    task = scene.admit("Send the news", repeats=repeats, **changes)
    assert task.series_id is not None
    return task, found(scene, task.series_id)


def found(scene: Scene, series_id: SeriesId) -> Series:
    got = series.get(scene.tx, series_id)
    assert got is not None
    return got


def advance(scene: Scene, series_id: SeriesId) -> bool:
    now = found(scene, series_id)
    return scene.do(slots.advance, now, following(now, scene.ids, scene.now), scene.now)


def at_slots(scene: Scene, series_id: SeriesId) -> list[tuple[datetime | None, Status]]:
    rows = scene.sql("SELECT id FROM tasks WHERE series_id = ? ORDER BY slot_at", series_id)
    made = [scene.get(row["id"]) for row in rows]  # type: ignore[arg-type]
    return [(task.slot, task.status) for task in made]


# Beginning ----------------------------------------------------------------------------------------


def test_a_task_that_repeats_is_the_first_occurrence_of_its_series(scene: Scene) -> None:
    task, made = begun(scene)

    assert scene.get(task.id) == task
    assert (task.slot, task.scheduled_for, task.type) == (AT + DAY, AT + DAY, TaskType.SCHEDULED)
    assert (made.session_id, made.title) == (task.session_id, "Send the news")
    assert (made.repeats, made.last) == (DAILY, AT + DAY)
    assert series.due(scene.tx, AT, 10) == []
    assert series.soonest(scene.tx, AT) == AT + DAY
    assert [each.id for each in series.due(scene.tx, AT + DAY, 10)] == [made.id]
    assert scene.complaints() == []


def test_the_same_cue_again_begins_no_second_series(scene: Scene) -> None:
    task, made = begun(scene)

    again = scene.do(tasks.admit, replace(task, id=scene.ids.task(), series_id=None, slot=None))

    assert again == task
    assert scene.sql("SELECT id FROM series") == [{"id": made.id}]


@for_each(
    ("repeats", "why"),
    [
        (replace(DAILY, rule="FREQ=NEVER"), "it has FREQ=NEVER; one of"),
        (replace(DAILY, zone="Nowhere"), "no time zone"),
    ],
)
def test_a_rule_that_nobody_can_keep_leaves_nothing_behind(
    scene: Scene, repeats: Repeats, why: str
) -> None:
    before = scene.image()

    with pytest.raises(BadInput, match=why):
        scene.admit(repeats=repeats)

    assert scene.image() == before


def test_a_request_with_something_open_begins_its_series_once_that_is_settled(scene: Scene) -> None:
    asked = scene.admit(repeats=DAILY, gaps=(Gap(1, "recipient"),))
    assert (asked.series_id, asked.scheduled_for) == (None, None)

    settled = replace(asked, gaps=(), scheduled_for=AT + 2 * DAY, type=TaskType.SCHEDULED)
    scene.do(tasks.amend, settled, scene.wait())

    task = scene.get(asked.id)
    assert (task.series_id, task.slot) == (series.id_of(task.id), AT + 2 * DAY)
    assert found(scene, series.id_of(task.id)).repeats.first == AT + 2 * DAY
    assert scene.complaints() == []


def test_an_occurrence_is_as_the_first_one_was_wanted_and_nothing_of_it_is_done(
    scene: Scene,
) -> None:
    sends = (Delivery("outbox", "Ana", "As I wrote.", id=scene.ids.delivery()),)
    work = (WorkItem("Look", ItemStatus.COMPLETED),)
    first, made = begun(
        scene, delivery=sends, work=work, context={"a": 1}, notes=("No.",), assigned_agent="x"
    )
    scene.now = AT + DAY

    (task,) = following(made, scene.ids, scene.now).made

    kept = ("title", "instructions", "session_id", "series_id", "context", "assigned_agent")
    assert [getattr(task, name) for name in kept] == [getattr(first, name) for name in kept]
    assert task.source.kind is first.source.kind
    assert task.source.ref == f"{made.id}@2026-03-04T09:00:00.000Z"
    assert (task.created_by, task.created_at) == (Creator.SCHEDULER, scene.now)
    assert (task.slot, task.scheduled_for) == (AT + 2 * DAY, AT + 2 * DAY)
    assert task.work == (WorkItem("Look"),)
    assert [(d.channel, d.recipient, d.content) for d in task.delivery] == [
        ("outbox", "Ana", "As I wrote.")
    ]
    assert task.delivery[0].id not in (None, first.delivery[0].id)
    assert (task.notes, task.repeats) == ((), None)


# Going on -----------------------------------------------------------------------------------------


def test_an_occurrence_that_has_begun_or_waits_for_its_owner_is_not_passed_over(
    scene: Scene,
) -> None:
    _, made = begun(scene, repeats=replace(DAILY, first=AT))
    (claim,) = _ranked_and_claimed(scene)
    scene.now = AT + DAY
    advance(scene, made.id)
    (asked,) = [task for task in _new(scene) if task.slot == AT + DAY]
    review = scene.question(claim, Reason.INPUT, task_id=asked.id, resume_to=Status.NEW)
    scene.do(reviews.open_review, review, Actor.INTAKE, scene.now)
    scene.now = AT + 4 * DAY

    advance(scene, made.id)

    assert at_slots(scene, made.id) == [
        (AT, Status.RUNNING),
        (AT + DAY, Status.NEW),
        (AT + 2 * DAY, Status.CANCELLED),
        (AT + 4 * DAY, Status.NEW),
        (AT + 5 * DAY, Status.NEW),
    ]


# Ending -------------------------------------------------------------------------------------------


def test_a_series_that_was_ended_puts_in_nothing_more(scene: Scene) -> None:
    task, made = begun(scene)

    assert scene.do(series.end, made.id, "not wanted", scene.now)
    assert not scene.do(series.end, made.id, "again", scene.wait())

    ended = found(scene, made.id)
    assert (ended.ended_at, ended.why) == (AT, "not wanted")
    scene.now = AT + DAY
    assert not advance(scene, made.id)
    assert scene.get(task.id).status is Status.NEW


# The file -----------------------------------------------------------------------------------------


def test_a_slot_has_one_occurrence_whoever_puts_it_in(scene: Scene) -> None:
    task, _ = begun(scene)
    double = replace(scene.task(), series_id=task.series_id, slot=task.slot)
    with pytest.raises(Exception, match=r"(?i)unique constraint"):
        scene.do(tasks.admit, double)


def _new(scene: Scene) -> list[Task]:
    rows = scene.sql("SELECT id FROM tasks WHERE status = 'new'")
    return [scene.get(row["id"]) for row in rows]  # type: ignore[arg-type]


def _ranked_and_claimed(scene: Scene) -> list[queue.ClaimedTask]:
    for task in _new(scene):
        assert scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    return scene.claim()


# What the owner says of it ------------------------------------------------------------------------


def _begun(scene: Scene) -> tuple[SeriesId, Task]:
    """A daily series whose first occurrence waits for tomorrow."""
    repeats = Repeats("FREQ=DAILY", "UTC", scene.now + DAY)
    task = scene.admit("Standup", repeats=repeats)
    assert task.series_id is not None
    scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    return task.series_id, scene.get(task.id)


def _go_on(scene: Scene, series_id: SeriesId) -> Series:
    """What the repeater does when it looks."""
    for each in series.due(scene.tx, scene.now, 100):
        scene.do(slots.advance, each, following(each, scene.ids, scene.now), scene.now)
    return series.find(scene.tx, series_id)


def _coming(scene: Scene, series_id: SeriesId, count: int = 3) -> list[datetime]:
    found = series.find(scene.tx, series_id)
    ahead = series_orders.coming(scene.tx, found, scene.now, count)
    return [slot.planned or slot.at for slot in ahead if slot.fate is None]


def test_a_series_resumed_in_time_runs_what_was_planned(scene: Scene) -> None:
    series_id, task = _begun(scene)
    scene.do(series_orders.pause, series_id, scene.now)

    scene.do(series_orders.resume, series_id, scene.wait(60))

    assert scene.get(task.id).status is Status.READY
    assert slots.list_skipped(scene.tx, series_id) == []
    assert _coming(scene, series_id)[0] == task.slot


def test_what_is_paused_twice_or_goes_on_anyway_is_refused(scene: Scene) -> None:
    series_id, _ = _begun(scene)

    with pytest.raises(Conflict, match="is going on; it cannot go on"):
        scene.do(series_orders.resume, series_id, scene.now)
    scene.do(series_orders.pause, series_id, scene.now)
    with pytest.raises(Conflict, match="is paused; it cannot be paused"):
        scene.do(series_orders.pause, series_id, scene.now)
    with pytest.raises(NotFound, match="no series"):
        scene.do(series_orders.pause, SeriesId("ser-" + "0" * 26), scene.now)


def test_a_slot_far_ahead_can_be_skipped_before_it_has_a_task(scene: Scene) -> None:
    series_id, task = _begun(scene)
    assert task.slot is not None
    unwanted = task.slot + 2 * DAY

    scene.do(series_orders.skip, series_id, unwanted, scene.now)

    found = series.find(scene.tx, series_id)
    assert found.skips == (unwanted,)
    ahead = series_orders.coming(scene.tx, found, scene.now, 4)
    assert [each.fate for each in ahead] == [None, None, SlotFate.SKIPPED, None]
    assert ahead[0].task_id == task.id
    slots_run = []
    for _ in range(4):
        scene.wait(86400)
        slots_run.append(_go_on(scene, series_id).last)
    assert unwanted not in slots_run
    assert unwanted + DAY in slots_run
    assert scene.complaints() == []


def test_who_skips_twice_skips_two(scene: Scene) -> None:
    series_id, task = _begun(scene)
    assert task.slot is not None

    for _ in range(3):
        scene.do(series_orders.skip, series_id, None, scene.now)

    assert series.find(scene.tx, series_id).skips == (task.slot + DAY, task.slot + 2 * DAY)


@for_each("away", [timedelta(hours=1), -5 * DAY, 5000 * DAY])
def test_only_a_slot_to_come_can_be_skipped(scene: Scene, away: timedelta) -> None:
    series_id, task = _begun(scene)
    assert task.slot is not None

    with pytest.raises(BadInput, match="no slot to come"):
        scene.do(series_orders.skip, series_id, task.slot + away, scene.now)


def test_a_skipped_slot_that_begins_a_gap_is_told_with_it(scene: Scene) -> None:
    series_id, task = _begun(scene)
    assert task.slot is not None
    scene.do(series_orders.skip, series_id, task.slot + DAY, scene.now)
    scene.do(series_orders.pause, series_id, scene.now)
    scene.wait(4.5 * 86400)

    scene.do(series_orders.resume, series_id, scene.now)

    gap = slots.list_skipped(scene.tx, series_id)[0]
    assert (gap.first, gap.slots) == (task.slot + DAY, 3)


def test_any_run_to_come_is_moved_and_is_planned_once(scene: Scene) -> None:
    series_id, task = _begun(scene)
    third, to = scene.now + 3 * DAY, scene.now + 3 * DAY + timedelta(hours=2)
    found = series.find(scene.tx, series_id)
    made = slots.occurrence(found, third, scene.ids, scene.now, planned=to)

    moved = scene.do(series_orders.move, series_id, third, to, scene.now, made)

    assert (moved.slot, moved.scheduled_for) == (third, to)
    assert _coming(scene, series_id) == [scene.now + DAY, scene.now + 2 * DAY, to]
    scene.wait(2.5 * 86400)
    after = _go_on(scene, series_id)
    assert after.last == third + DAY  # the run that was moved is not planned again
    assert task.id != moved.id


def test_a_series_runs_at_other_times_and_back_again(scene: Scene) -> None:
    series_id, task = _begun(scene)
    first, other = scene.now + DAY, scene.now + DAY + timedelta(hours=3)

    for at in (other, first):
        repeats = Repeats("FREQ=DAILY", "UTC", at)
        changed = replace(series.find(scene.tx, series_id), repeats=repeats)
        made = slots.occurrence(changed, at, scene.ids, scene.now)
        after = scene.do(series_orders.repeat, series_id, repeats, made, scene.now)
        assert after.repeats == repeats
        assert _coming(scene, series_id) == [at, at + DAY, at + 2 * DAY]

    assert scene.get(task.id).result_summary == "Skipped: you changed when it repeats."
    open_ = [each for each in series_orders.occurrences(scene.tx, series_id, 9) if not each.ended]
    assert [each.slot for each in open_] == [first]  # under a new ref, for the first is used up


def test_a_series_that_ended_is_over_with_what_waited(scene: Scene) -> None:
    series_id, task = _begun(scene)

    ended = scene.do(series_orders.end, series_id, scene.now)

    assert (ended.ended_at, ended.why) == (scene.now, series_orders.ENDED)
    assert scene.get(task.id).status is Status.CANCELLED
    assert _coming(scene, series_id) == []
    for order in (series_orders.pause, series_orders.resume, series_orders.end):
        with pytest.raises(Conflict, match="has ended"):
            scene.do(order, series_id, scene.now)
    with pytest.raises(Conflict, match="has ended"):
        scene.do(series_orders.skip, series_id, None, scene.now)


def test_one_occurrence_runs_at_another_time_and_keeps_its_slot(scene: Scene) -> None:
    series_id, task = _begun(scene)
    to = scene.now + timedelta(hours=5)

    moved = scene.do(series_orders.move, series_id, None, to, scene.now)

    assert (moved.id, moved.scheduled_for, moved.slot) == (task.id, to, task.slot)
    assert _coming(scene, series_id, 1) == [to]
    assert scene.sql("SELECT due_at FROM tasks")[0]["due_at"] == int(to.timestamp() * 1000)
    with pytest.raises(Conflict, match="no run to come"):
        scene.do(series_orders.move, series_id, scene.now + 9 * DAY, to, scene.now)
    with pytest.raises(BadInput, match="time to come"):
        scene.do(series_orders.move, series_id, None, scene.now, scene.now)


def test_a_skipped_run_takes_place_after_all_once(scene: Scene) -> None:
    series_id, task = _begun(scene)
    first = scene.now + DAY
    for slot in (first, first + DAY):
        scene.do(series_orders.skip, series_id, slot, scene.now)
    assert _coming(scene, series_id, 2) == []  # both are shown as skipped
    found = series.find(scene.tx, series_id)

    for slot in (first, first + DAY, first):  # the last one a second time
        made = slots.occurrence(found, slot, scene.ids, scene.now)
        scene.do(series_orders.unskip, series_id, made, scene.now)

    assert _coming(scene, series_id, 2) == [first, first + DAY]
    again = [each for each in series_orders.occurrences(scene.tx, series_id, 9) if not each.ended]
    assert [each.slot for each in again] == [first]
    assert again[0].id != task.id
    made = slots.occurrence(found, first + timedelta(hours=1), scene.ids, scene.now)
    with pytest.raises(BadInput, match="no slot to come"):
        scene.do(series_orders.unskip, series_id, made, scene.now)


def test_series_are_listed_a_page_at_a_time(scene: Scene) -> None:
    made = []
    for _ in range(3):
        made.append(_begun(scene)[0])
        scene.wait()
    scene.do(series_orders.end, made[1], scene.now)

    assert [each.id for each in series.list_series(scene.tx)] == [made[0], made[2]]
    assert [each.id for each in series.list_series(scene.tx, ended=True)] == made
    assert [each.id for each in series.list_series(scene.tx, after=made[0], limit=1)] == [made[2]]


def test_what_the_owner_paused_himself_is_let_go_with_its_series(scene: Scene) -> None:
    series_id, task = _begun(scene)
    scene.do(moves.pause, task.id, scene.now)

    scene.do(series_orders.pause, series_id, scene.now)
    assert scene.get(task.id).status is Status.PAUSED
    scene.do(moves.resume, task.id, scene.now)  # this one only
    scene.do(series_orders.resume, series_id, scene.now)

    assert scene.get(task.id).status is Status.READY
