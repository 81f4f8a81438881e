"""One line for each task that ended, once, whatever is cut off in between."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from remit.model.delivery import Delivery
from remit.model.ids import SeriesId
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Actor, Reason, Status
from remit.model.task import Task
from remit.reflect import harvest as lines
from remit.reflect.harvest import ReflectionCollector, reflection
from remit.testing import START, World
from tests.reflect.learning import BARE, look_back, task_of, world, written
from tests.reflect.learning import lines as kept

DAY: Final = timedelta(days=1)


def harvest(app: World, keep: int = 90, zone: str = "UTC") -> ReflectionCollector:
    home = app.app.settings.home
    return ReflectionCollector(app.app.db, app.clock, home / "reflections", ZoneInfo(zone), keep)


async def test_a_task_has_one_line_with_what_was_asked_done_held_and_changed(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as app:
        task = await written(app, BARE)
        assert await harvest(app).catch_up() == 1
        assert await harvest(app).catch_up() == 0

    (path,) = (tmp_path / "reflections").glob("*.jsonl")
    (line,) = kept(tmp_path)
    told = json.loads(line)
    assert path.name == "2026-03-02.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (told["task"], told["asked"], told["done"]) == (task, "Write to Mum", BARE)
    assert (told["held"], told["status"], told["taint"]) == (["approval"], "completed", "owner")
    assert told["shown"] == [
        {"had": ["greeting", "closing"], "kept": [], "words": 17, "left": 13, "edited": True}
    ]


async def test_a_line_that_was_written_before_the_mark_is_not_written_twice(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        await written(app, None)
        await harvest(app).catch_up()
        (tmp_path / "reflections/.written").write_text("0")  # the crash came before the mark
        await written(app, None)
        assert await harvest(app).catch_up() == 1

    assert len(kept(tmp_path)) == 2


@pytest.mark.parametrize("mark", [None, "", "nonsense"])
async def test_a_torn_line_is_written_again_and_a_lost_mark_does_no_harm(
    tmp_path: Path, mark: str | None
) -> None:
    async with world(tmp_path) as app:
        await written(app, None)
        await written(app, None)
        await harvest(app).catch_up()
        (path,) = (tmp_path / "reflections").glob("*.jsonl")
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        if mark is None:
            (tmp_path / "reflections/.written").unlink()
        else:
            (tmp_path / "reflections/.written").write_text(mark)
        assert await harvest(app).catch_up() == 1

    assert path.read_bytes() == whole


async def test_lines_are_kept_for_a_while_and_old_tasks_are_not_dug_up(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        await written(app, None)
        await harvest(app, keep=10).catch_up()
        app.clock.advance(11 * DAY)
        await written(app, None)
        assert await harvest(app, keep=10).catch_up() == 1
        assert len(kept(tmp_path)) == 1
        (tmp_path / "reflections/.written").unlink()
        assert await harvest(app, keep=10).catch_up() == 0


async def test_a_day_is_a_day_on_the_owners_clock(tmp_path: Path) -> None:
    async with world(tmp_path, start=datetime(2026, 3, 2, 23, 30, tzinfo=UTC)) as app:
        await written(app, None)
        await harvest(app, zone="Europe/Berlin").catch_up()

    assert (tmp_path / "reflections/2026-03-03.jsonl").exists()


async def test_a_look_back_is_not_looked_back_at(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        await look_back(app)
        await look_back(app)

    assert kept(tmp_path) == []


async def test_forged_and_foreign_lines_are_left_out(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        await written(app, None)
        await harvest(app).catch_up()
        (path,) = (tmp_path / "reflections").glob("*.jsonl")
        good = path.read_text()
        forged = good.replace('"taint":"owner"', '"taint":7').strip()
        path.write_text(f"{good}{{}}\n[]\n\x00\n{forged}\n{'x' * 30_000}\n{'[' * 5000}\n")
        (path.with_name("2026-03-01.jsonl")).symlink_to(path)
        assert len(await harvest(app).recent(30)) == 1


async def test_a_line_is_not_written_through_a_link(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        await written(app, None)
        (tmp_path / "reflections").mkdir()
        (tmp_path / "elsewhere").touch()
        (tmp_path / "reflections/2026-03-02.jsonl").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match="symbolic"):
            await harvest(app).catch_up()

    assert (tmp_path / "elsewhere").read_text() == ""


# What a line says ---------------------------------------------------------------------------------


def ended(task: Task, *asked: Review) -> lines.ReflectionLine:
    event = Event(
        7, task.id, 3, EventKind.TASK_MOVED, Actor.EXECUTOR, START, {"to": "completed"}, ""
    )
    return reflection(event, task, asked)


def asked(answer: ReviewAnswer | None, *, key: str = "0:send:x", **more: object) -> Review:
    decision = Decision(answer, "Hi!") if answer else None
    parts: dict[str, object] = {"reason": Reason.APPROVAL, "evidence": "Dear Anna,\nit rains."}
    return Review(
        task_id=task_of("task-1").id,
        key=key,
        question="?",
        resume_to=Status.DELIVERING,
        decision=decision,
        **(parts | more),  # type: ignore[arg-type]
    )


def test_only_messages_that_went_out_are_looked_at_for_their_wording() -> None:
    task = task_of("task-1", delivery=(Delivery("outbox", "anna"),))
    line = ended(
        task,
        asked(ReviewAnswer.APPROVE),
        asked(ReviewAnswer.EDIT),
        asked(ReviewAnswer.DECLINE),
        asked(ReviewAnswer.BACK),
        asked(None),
        asked(ReviewAnswer.EDIT, key="0:call:x", about="call:1"),
        asked(ReviewAnswer.EDIT, reason=Reason.DELIVERABLE),
    )

    assert [each.edited for each in line.shown] == [False, True]
    assert (line.declined, line.sent_back, len(line.held)) == (True, 1, 7)


def test_what_waited_for_its_turn_is_late_and_what_was_caught_up_is_not() -> None:
    hour = timedelta(hours=1)
    series = SeriesId("ser-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")

    assert ended(task_of("task-1")).late is None
    assert ended(task_of("task-1", started_at=START + hour)).late == 3600
    planned = task_of("task-1", scheduled_for=START + hour, started_at=START + hour)
    assert ended(planned).late == 0
    caught_up = task_of("task-1", series_id=series, slot=START - hour, started_at=START + hour)
    assert ended(caught_up).late is None
