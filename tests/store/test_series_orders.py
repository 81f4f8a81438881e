"""What the owner says about a series: paused, resumed, ended; one slot skipped or moved."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from remit.errors import BadInput, Conflict, NotFound
from remit.model.ids import SeriesId
from remit.model.series import Repeats, Series, SlotFate
from remit.model.status import Status
from remit.model.task import Priority, Task
from remit.store import moves, queue, series, series_orders, slots
from remit.triggers.repeat import following
from tests.store.scene import RULE, Scene
from tests.tables import for_each

DAY = timedelta(days=1)


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
    assert slots.skipped(scene.tx, series_id) == []
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

    gap = slots.skipped(scene.tx, series_id)[0]
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


def test_what_the_owner_paused_himself_is_let_go_with_its_series(scene: Scene) -> None:
    series_id, task = _begun(scene)
    scene.do(moves.pause, task.id, scene.now)

    scene.do(series_orders.pause, series_id, scene.now)
    assert scene.get(task.id).status is Status.PAUSED
    scene.do(moves.resume, task.id, scene.now)  # this one only
    scene.do(series_orders.resume, series_id, scene.now)

    assert scene.get(task.id).status is Status.READY
