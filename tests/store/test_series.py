"""A series begins with its first occurrence and goes on slot by slot, never in a burst."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Gap, ItemStatus, WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import SeriesId
from remit.model.series import Repeats, Series
from remit.model.status import Actor, Reason, Status
from remit.model.task import Creator, Priority, Task, TaskType
from remit.store import home, queue, reviews, series, slots, tasks
from remit.store.connection import connect
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


def _new(scene: Scene) -> list[Task]:
    rows = scene.sql("SELECT id FROM tasks WHERE status = 'new'")
    return [scene.get(row["id"]) for row in rows]  # type: ignore[arg-type]


def _ranked_and_claimed(scene: Scene) -> list[queue.ClaimedTask]:
    for task in _new(scene):
        assert scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
    return scene.claim()
