"""procrastinate: four jobs in a chain on Postgres, each defers the next; fifty at once."""

import asyncio
from pathlib import Path

import procrastinate
import psycopg

from bench.measure import WARM_UP, Measurement, Stopwatch, require_count
from tests.store.postgres import postgres

DURABLE = "-c fsync=on"
IN_FLIGHT = 50
STEPS = 4
POLL_SECONDS = 0.05


def run(size: int, home: Path) -> Measurement:
    """Take `size` tasks through their chains."""
    del home
    with postgres(DURABLE) as server:
        return asyncio.run(_run(size, server.create("procrastinate")))


async def _run(size: int, url: str) -> Measurement:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))

    @app.task(name="advance")
    async def advance(number: int, step: int) -> None:
        if step < STEPS:
            await advance.defer_async(number=number, step=step + 1)

    total = WARM_UP + size
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(
            app.run_worker_async(
                concurrency=IN_FLIGHT,
                fetch_job_polling_interval=POLL_SECONDS,
                install_signal_handlers=False,
            )
        )
        await _push(advance, range(WARM_UP), url, WARM_UP)
        watch = Stopwatch()
        with watch:
            await _push(advance, range(WARM_UP, total), url, total)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    require_count("jobs done", await _done(url), total * STEPS)
    return watch.rate(size, {"in_flight": IN_FLIGHT, "poll_seconds": POLL_SECONDS})


async def _push(advance: "procrastinate.tasks.Task", numbers: range, url: str, total: int) -> None:
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def one(number: int) -> None:
        async with gate:
            await advance.defer_async(number=number, step=1)

    await asyncio.gather(*map(one, numbers))
    while await _done(url) < total * STEPS:  # noqa: ASYNC110 - a database has no event
        await asyncio.sleep(0.05)


async def _done(url: str) -> int:
    query = "SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'"
    async with await psycopg.AsyncConnection.connect(url) as connection:
        row = await (await connection.execute(query)).fetchone()
    return int(row[0]) if row else 0
