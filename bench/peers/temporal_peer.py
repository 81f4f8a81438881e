"""Bare Temporal: a workflow of four activities that do nothing, fifty at once.

The development server keeps its history in a file. Server, worker and client share the machine, as
they do when Remit is measured.
"""

import asyncio
from datetime import timedelta
from pathlib import Path

import psutil
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from bench.measure import WARM_UP, Measurement, Stopwatch, require_count
from tests.machines.temporal import TemporalServer

IN_FLIGHT = 50
QUEUE = "bench"
STEPS = 4


@activity.defn
async def advance(number: int) -> int:
    return number + 1


@workflow.defn
class FourSteps:
    @workflow.run
    async def run(self, number: int) -> int:
        for _ in range(STEPS):
            number = await workflow.execute_activity(
                advance, number, start_to_close_timeout=timedelta(seconds=60)
            )
        return number


def run(size: int, home: Path) -> list[Measurement]:
    """Take `size` workflows through their activities."""
    server = TemporalServer(home)
    server.start()
    try:
        return asyncio.run(_run(size, server))
    finally:
        server.kill()


async def _run(size: int, server: TemporalServer) -> list[Measurement]:
    client = await Client.connect(server.address)
    worker = Worker(
        client,
        task_queue=QUEUE,
        workflows=[FourSteps],
        activities=[advance],
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_concurrent_activities=IN_FLIGHT,
    )
    process = psutil.Process(server.pid)
    async with worker:
        await _push(client, range(WARM_UP))
        watch, before = Stopwatch(), sum(process.cpu_times()[:2])
        with watch:
            await _push(client, range(WARM_UP, WARM_UP + size))
        there = sum(process.cpu_times()[:2]) - before
    own = watch.rate(size, {"in_flight": IN_FLIGHT, "server_cpu_ms": there * 1000 / size})
    both = (watch.cpu_seconds + there) * 1000 / size
    whole = Measurement(
        "CPU, with servers",
        both,
        "ms a task",
        size,
        own.wall_seconds,
        own.cpu_seconds,
        own.rss_bytes,
        "less",
    )
    return [own, whole]


async def _push(client: Client, numbers: range) -> None:
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def one(number: int) -> int:
        async with gate:
            return await client.execute_workflow(
                FourSteps.run, number, id=f"task-{number}", task_queue=QUEUE
            )

    ends = await asyncio.gather(*map(one, numbers))
    require_count("steps taken", sum(ends) - sum(numbers), len(numbers) * STEPS)
