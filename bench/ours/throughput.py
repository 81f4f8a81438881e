"""Tasks per second through the store, and through the whole app."""

import asyncio
from pathlib import Path

from bench.measure import WARM_UP, Measurement, Stopwatch, require_count
from bench.ours import lives
from remit.model.reply import Prompt, Reply
from remit.settings import EngineSettings, Settings
from remit.store import home as homes
from remit.store import queue, tasks
from remit.store.opening import Sqlite
from remit.store.queue import ClaimedTask
from remit.triggers import cue_admission
from remit.wiring import App, opened

IN_FLIGHT = 256


class InstantBrain:
    """Answers at once, so that what is measured is the app."""

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply("I looked. <deliverable>All is well.</deliverable>")


def run(size: int, home: Path) -> Measurement:
    """Insert + 4 durable transitions + an event each, by many coroutines over one writer."""
    return asyncio.run(_run(size, home))


def run_app(size: int, home: Path) -> Measurement:
    """Everything: admitted, ranked, claimed, thought, gated, posted on the dashboard, completed."""
    return asyncio.run(_run_app(size, home))


async def _run(size: int, home: Path) -> Measurement:
    homes.prepare(home / "agent.db")
    db = Sqlite(home / "agent.db")
    await _live(db, range(WARM_UP))
    watch = Stopwatch()
    with watch:
        await _live(db, range(WARM_UP, WARM_UP + size))
    counts = await db.read(tasks.counts)
    require_count("completed", counts["completed"], size + WARM_UP)
    await db.close()
    return watch.rate(size, {"in_flight": IN_FLIGHT})


async def _live(db: Sqlite, numbers: range) -> None:
    """As the engine does it: some begin, others are claimed and brought to their end."""
    unborn, alive, claimed = iter(numbers), asyncio.Semaphore(IN_FLIGHT), 0

    async def begin() -> None:
        for number in unborn:
            await alive.acquire()
            await db.write(lives.rank, await db.write(lives.admit, number))

    async def end(claim: ClaimedTask) -> None:
        await db.write(lives.verify, claim)
        await db.write(lives.finish, claim)
        alive.release()

    beginnings = [asyncio.create_task(begin()) for _ in range(IN_FLIGHT // 2)]
    ends: list[asyncio.Task[None]] = []
    while claimed < len(numbers):
        room = lives.wanted(IN_FLIGHT)
        found = await db.write(queue.claim, lives.WORKER, room, lives.IDS.run, lives.now())
        claimed += len(found)
        ends += [asyncio.create_task(end(claim)) for claim in found]
    await asyncio.gather(*beginnings, *ends)


async def _run_app(size: int, home: Path) -> Measurement:
    settings = Settings(home=home, engine=EngineSettings(parallel=IN_FLIGHT))
    async with opened(settings, brain=InstantBrain()) as app:
        await app.engine.start()
        await _hand_over(app, range(WARM_UP))
        watch = Stopwatch()
        with watch:
            await _hand_over(app, range(WARM_UP, WARM_UP + size))
        counts = await app.db.read(tasks.counts)
        await app.engine.stop()
    require_count("completed", counts["completed"], size + WARM_UP)
    return watch.rate(size, {"in_flight": IN_FLIGHT})


async def _hand_over(app: App, numbers: range) -> None:
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def add(number: int) -> None:
        async with gate:
            await app.intake.admit(cue_admission.cue(f"Prepare report {number}", ref=str(number)))

    await asyncio.gather(*map(add, numbers))
    app.engine.nudge()
    await app.engine.settled()
