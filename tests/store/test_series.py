"""A series begins with its first occurrence and goes on slot by slot, never in a burst."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Gap, ItemStatus, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId
from remit.model.run import EventKind
from remit.model.series import Repeats, Series, SlotFate
from remit.model.status import Actor, Reason, Status
from remit.model.task import Creator, Priority, Task, TaskType
from remit.store import events, home, moves, queue, reviews, series, slots, tasks
from remit.store.connection import connect
from remit.store.slots import SkippedSlots
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


def test_a_task_that_does_not_repeat_has_no_series(scene: Scene) -> None:
    assert scene.admit().series_id is None
    assert scene.sql("SELECT id FROM series") == []
    assert series.get(scene.tx, SeriesId("ser-0")) is None
    assert series.soonest(scene.tx, AT) is None


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


def test_the_next_occurrence_is_there_as_soon_as_the_one_before_it_is_due(scene: Scene) -> None:
    task, made = begun(scene)
    scene.now = AT + DAY

    assert advance(scene, made.id)

    assert [slot for slot, _ in at_slots(scene, made.id)] == [AT + DAY, AT + 2 * DAY]
    assert series.due(scene.tx, scene.now, 10) == []
    assert series.soonest(scene.tx, scene.now) == AT + 2 * DAY
    assert scene.get(task.id).status is Status.NEW
    assert scene.complaints() == []


def test_of_two_that_put_in_the_next_one_only_the_first_does(scene: Scene) -> None:
    _, made = begun(scene)
    scene.now = AT + DAY
    step, other = (following(made, scene.ids, scene.now) for _ in range(2))

    assert scene.do(slots.advance, made, step, scene.now)
    before = scene.image()
    assert not scene.do(slots.advance, made, other, scene.now)

    assert scene.image() == before


def test_slots_that_passed_are_not_run_in_a_burst_and_none_of_them_vanishes(scene: Scene) -> None:
    task, made = begun(scene)
    assert scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    scene.now = AT + 5 * DAY + timedelta(minutes=1)

    advance(scene, made.id)

    assert at_slots(scene, made.id) == [
        (AT + DAY, Status.CANCELLED),
        (AT + 5 * DAY, Status.NEW),
        (AT + 6 * DAY, Status.NEW),
    ]
    skipped = SkippedSlots(AT + 2 * DAY, AT + 4 * DAY, 3, fate=SlotFate.MISSED)
    alone = SkippedSlots(AT + DAY, AT + DAY, 1, fate=SlotFate.MISSED)
    assert slots.skipped(scene.tx, made.id) == [skipped, alone]
    last = events.last_of_task(scene.tx, task.id, 1)[0]
    assert (last.kind, last.actor, last.data["to"]) == (
        EventKind.TASK_MOVED,
        Actor.META,
        "cancelled",
    )
    assert "not running" in str(last.data["note"])
    (instead,) = scene.sql("SELECT id FROM tasks WHERE slot_at = ?", _ms(AT + 5 * DAY))
    told = events.last_of_task(scene.tx, instead["id"], 1)[0]  # type: ignore[arg-type]
    assert (told.kind, told.data["slots"]) == (EventKind.TASK_UPDATED, 3)
    assert told.data["upto"] == "2026-03-06T09:00:00.000Z"
    assert scene.complaints() == []


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


def test_to_cancel_one_occurrence_leaves_the_series(scene: Scene) -> None:
    task, made = begun(scene)
    scene.do(moves.cancel, task.id, scene.now)
    scene.now = AT + DAY

    advance(scene, made.id)

    assert at_slots(scene, made.id) == [
        (AT + DAY, Status.CANCELLED),
        (AT + 2 * DAY, Status.NEW),
    ]


# Ending -------------------------------------------------------------------------------------------


def test_a_series_ends_with_its_rule(scene: Scene) -> None:
    _, made = begun(scene, repeats=replace(DAILY, rule="FREQ=DAILY;COUNT=2"))
    for day in (1, 2):
        scene.now = AT + day * DAY
        advance(scene, made.id)

    ended = found(scene, made.id)
    assert (ended.ended_at, ended.why) == (scene.now, "its rule names no further time")
    assert len(at_slots(scene, made.id)) == 2
    assert series.soonest(scene.tx, AT) is None


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


@pytest.mark.only_sqlite("it shows an index of SQLite")
def test_the_index_of_slots_covers_the_series_and_the_slot_and_nothing_else(scene: Scene) -> None:
    rows = scene.sql("PRAGMA index_info(tasks_by_slot)")

    assert [row["name"] for row in rows] == ["series_id", "slot_at"]


def test_a_slot_has_one_occurrence_whoever_puts_it_in(scene: Scene) -> None:
    task, _ = begun(scene)
    double = replace(scene.task(), series_id=task.series_id, slot=task.slot)
    with pytest.raises(Exception, match=r"(?i)unique constraint"):
        scene.do(tasks.admit, double)


def test_a_file_of_the_first_schema_is_brought_up_to_date_with_all_that_is_in_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "old" / "agent.db"
    known = home.migrations()
    with monkeypatch.context() as past:
        past.setattr(home, "migrations", lambda: known[:1])
        home.prepare(old)
    task = scene.task()
    elder = Scene(old)
    elder.admit_as_before(task)
    elder.close()

    home.prepare(old)

    connection = connect(old)
    assert home.version(connection) == len(known)
    connection.close()
    newer = Scene(old)
    assert newer.get(task.id) == task
    begun(newer)
    assert newer.complaints() == []
    newer.close()


def _ms(moment: datetime) -> int:
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def _new(scene: Scene) -> list[Task]:
    rows = scene.sql("SELECT id FROM tasks WHERE status = 'new'")
    return [scene.get(row["id"]) for row in rows]  # type: ignore[arg-type]


def _ranked_and_claimed(scene: Scene) -> list[queue.ClaimedTask]:
    for task in _new(scene):
        assert scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    return scene.claim()
