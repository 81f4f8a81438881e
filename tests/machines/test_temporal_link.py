"""The connection of one worker to Temporal: what it serves, and its signs of life."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

import pytest
from temporalio.bridge.worker import Worker as BridgeWorker
from temporalio.client import Client

from remit.engine.temporal import TemporalLink
from remit.errors import StoreAway
from remit.model.ids import TaskId
from remit.settings import EngineSettings
from tests.machines.temporal import TemporalServer

HEARTBEAT = 5
_FAILED: Final = "activity_task_failed_event_attributes"


class Work:
    """Legs end at once; a duty is done for ever."""

    def __init__(self, error: Exception | None = None) -> None:
        self.legs: list[tuple[str, int]] = []
        self.error = error  # of duties

    async def run_leg(self, task_id: TaskId, lease: int) -> str:
        self.legs.append((task_id, lease))
        return "ended"

    async def release_leg(self, task_id: TaskId, lease: int) -> None:
        raise AssertionError(f"{task_id} {lease} needs no release")

    async def run_duty(self, _name: str) -> None:
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()


@asynccontextmanager
async def linked(temporal: TemporalServer, name: str) -> AsyncIterator[TemporalLink]:
    settings = EngineSettings(
        address=temporal.address, task_queue=name, heartbeat=HEARTBEAT, stop_limit=0
    )
    link = TemporalLink(settings)
    try:
        yield link
    finally:
        await link.stop_serving()
        await link.close()


async def test_a_worker_that_could_not_begin_with_one_queue_takes_on_all_of_them_later(
    temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Temporal goes away while a worker starts: one part of it runs, and the next one cannot."""
    parts = itertools.count(1)

    async def validate(part: BridgeWorker) -> object:
        if next(parts) in (2, 4):
            raise RuntimeError("no answer")
        return await real(part)

    real, work = BridgeWorker.validate, Work()
    monkeypatch.setattr(BridgeWorker, "validate", validate)
    async with linked(temporal, "queues") as link:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no answer"):
                await link.serve(work, [link.queue()], 1)
        serving = asyncio.create_task(link.serve(work, [link.queue()], 1))
        await link.start_leg(TaskId("task-1"), 1, link.queue(), 1)
        while not work.legs and not serving.done():  # noqa: ASYNC110 - a thread tells
            await asyncio.sleep(0.05)
        assert work.legs == [("task-1", 1)]
        await link.stop_serving()
        await serving


async def test_a_sign_of_life_comes_several_times_before_one_must(temporal: TemporalServer) -> None:
    async with linked(temporal, "beats") as link:
        serving = asyncio.create_task(link.serve(Work(), [], 1))
        await link.start_duty("series")
        client = await Client.connect(temporal.address)
        handle = client.get_workflow_handle("duty/beats/series")
        beats: list[datetime] = []
        while len(beats) < 3 and not serving.done():
            for each in (await handle.describe()).raw_description.pending_activities:
                beat = each.last_heartbeat_time.ToDatetime()
                if each.HasField("last_heartbeat_time") and beat not in beats:
                    beats.append(beat)
            await asyncio.sleep(0.05)
        assert beats[2] - beats[0] < timedelta(seconds=HEARTBEAT)
        await link.stop_serving()
        await serving


@pytest.mark.parametrize(
    ("error", "traces"), [(StoreAway("db", "it is off"), False), (ValueError("a bug"), True)]
)
async def test_a_duty_that_a_server_ended_leaves_no_trace_in_the_log(
    temporal: TemporalServer, caplog: pytest.LogCaptureFixture, error: Exception, *, traces: bool
) -> None:
    name = f"ends-{type(error).__name__}"
    async with linked(temporal, name) as link:
        serving = asyncio.create_task(link.serve(Work(error), [], 1))
        await link.start_duty("series")
        client = await Client.connect(temporal.address)
        handle = client.get_workflow_handle(f"duty/{name}/series")
        failed: list[object] = []
        while not failed and not serving.done():
            history = await handle.fetch_history()
            failed = [each for each in history.events if each.HasField(_FAILED)]
            await asyncio.sleep(0.05)
        assert any(each.exc_info for each in caplog.records) is traces
        await link.stop_serving()
        await serving
