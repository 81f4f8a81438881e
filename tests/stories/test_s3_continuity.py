"""S3: a task goes on where the last one left off, and its log is the journal, line by line."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

from remit.journal.follow import record
from remit.journal.scribe import TaskLogWriter, keep_logs
from remit.model.codec import Json
from remit.model.ids import TaskId
from remit.testing import World, script
from tests.engine.rig import until

SCRIPT: list[Json] = [
    {"when": "Earlier runs", "reply": "<deliverable>Only what is new: Canggu.</deliverable>"},
    {"reply": "<deliverable>Sanur is calm.\nMore below.</deliverable>"},
]


async def retried(world: World, task_id: TaskId, ref: str) -> TaskId:
    cue = await world.app.owner.retry(task_id, ref)
    return (await world.app.intake.admit(cue)).id


async def test_the_next_run_of_a_session_sees_what_the_last_one_came_to(tmp_path: Path) -> None:
    brain = script(SCRIPT)
    async with World(tmp_path, brain=brain) as world:
        first = await world.add("Beaches")
        await world.run()
        await world.restart()
        second = await retried(world, first.id, "again")
        await world.run()
        third = await retried(world, second, "and again")
        await world.run()
        sessions = {(await world.get(id_)).session_id for id_ in (first.id, second, third)}

    assert len(sessions) == 1
    assert "Earlier runs" not in brain.heard[0]
    assert "- 2026-03-02 Beaches: Sanur is calm.\nMore below." in brain.heard[1]
    runs = brain.heard[2].partition("## Earlier runs")[2].splitlines()[1:4]
    assert runs[0] == "- 2026-03-02 Beaches: Sanur is calm."
    assert runs[2] == "- 2026-03-02 Beaches: Only what is new: Canggu."
    assert [parcel.body for parcel in world.outbox.sent][1:] == ["Only what is new: Canggu."] * 2


async def test_another_session_sees_nothing_of_it(tmp_path: Path) -> None:
    brain = script(SCRIPT)
    async with World(tmp_path, brain=brain) as world:
        await world.add("Beaches")
        await world.run()
        await world.add("Beaches")
        await world.run()

    assert all("Earlier runs" not in heard for heard in brain.heard)


async def test_the_log_of_a_task_is_its_events_and_can_be_written_again(tmp_path: Path) -> None:
    async with World(tmp_path, brain=script(SCRIPT)) as world:
        logs = world.app.settings.logs
        keeper = asyncio.create_task(keep_logs(world.app.journal, logs))
        await world.add("Beaches")
        later = await world.add("Later", content="x", at=world.now + timedelta(days=1))
        await world.run(timedelta(days=2))
        path = world.app.settings.home / later.log_path
        history = await world.history(later.id)
        await until(lambda: path.exists() and path.read_bytes().count(b"\n") == len(history))
        keeper.cancel()

        assert lines(path) == [record(event) for event in history]
        meta, *rest = lines(path)
        assert (meta["type"], meta["taskId"], meta["title"]) == ("meta", later.id, "Later")
        assert {line["type"] for line in rest} == {"event"}
        assert [line["turnNumber"] for line in lines(path)] == list(range(1, len(history) + 1))
        whole = path.read_bytes()
        assert TaskLogWriter(logs).rebuild(later.id, history).read_bytes() == whole


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
