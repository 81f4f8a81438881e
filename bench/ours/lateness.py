"""Slots on time: a thousand series due within one minute, and five hundred that were missed.

Everything is the real thing but the brain, which answers at once: series, watch, engine, spine. How
late a run begins is read from the ledger.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count
from bench.ours import lives
from bench.ours.throughput import InstantBrain
from remit.model.ids import SeriesId
from remit.model.recurrence import Repeats, Slot
from remit.settings import ScheduleSettings, Settings
from remit.store import series, series_orders
from remit.store.database import Tx
from remit.triggers import cue_admission
from remit.wiring import App, WallClock, opened

LEAD = timedelta(seconds=8)  # so long it takes until all of them are put in
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
STAGGER = 20


class LateClock(WallClock):
    """As it was some days ago."""

    def __init__(self, behind: timedelta) -> None:
        self.behind = behind

    def now(self) -> datetime:
        return super().now() - self.behind


def run_due(size: int, home: Path) -> list[Measurement]:
    """How late runs begin, when so many fall due within one minute."""
    return asyncio.run(_run_due(size, home))


def run_missed(size: int, home: Path) -> list[Measurement]:
    """How long it takes until so many series that were missed for three days have caught up."""
    return asyncio.run(_run_missed(size, home))


async def _run_due(size: int, home: Path) -> list[Measurement]:
    watch = Stopwatch()
    async with opened(Settings(home=home), brain=InstantBrain()) as app:
        await app.repeater.start()
        await app.engine.start()
        start = lives.now() + LEAD
        await _fill(app, [start + MINUTE * n / size for n in range(size)])
        with watch:
            slots = await _until_begun(app, size, start + 3 * MINUTE)
        await app.engine.stop()
    return _figures(slots, watch, "due in a minute")


async def _run_missed(size: int, home: Path) -> list[Measurement]:
    rules, watch = Settings(home=home, schedule=ScheduleSettings(stagger=STAGGER)), Stopwatch()
    async with opened(rules, clock=LateClock(3 * DAY), brain=InstantBrain()) as app:
        await _fill(app, [app.clock.now() + MINUTE] * size)
    async with opened(rules, brain=InstantBrain()) as app:
        came = app.clock.now()
        with watch:
            await app.repeater.start()
            settled = app.clock.now() - came
            await app.engine.start()
            slots = await _until_begun(app, size, came + 5 * MINUTE)
        await app.engine.stop()
    begun = sorted((slot.started - came).total_seconds() for slot in slots if slot.started)
    return [
        _figure("ledger settled", settled.total_seconds() * 1000, "ms", size, watch),
        _figure("caught up, p50", begun[len(begun) // 2], "s", size, watch),
        _figure("caught up, all", begun[-1], "s", size, watch),
        _figure("most begun in one second", _most(begun), "runs", size, watch),
    ]


async def _fill(app: App, times: Sequence[datetime]) -> None:
    async def add(n: int, at: datetime) -> None:
        plain = replace(cue_admission.cue(f"Report {n}", ref=str(n)), delivery=())
        often = Repeats("FREQ=DAILY", "UTC", at)
        await app.intake.admit(replace(plain, repeats=often, scheduled_for=at))

    await asyncio.gather(*(add(n, at) for n, at in enumerate(times)))


async def _until_begun(app: App, size: int, latest: datetime) -> list[Slot]:
    found: list[Slot] = []
    while len(found) < size and app.clock.now() < latest:
        await asyncio.sleep(0.5)
        found = await app.db.read(_begun, app.clock.now())
    require_count("slots begun", len(found), size)
    return found


def _begun(tx: Tx, now: datetime) -> list[Slot]:
    since = now - 10 * DAY
    every = (each.id for each in series.list_series(tx, limit=100_000))
    return [slot for each in every for slot in _of(tx, each, since, now) if slot.started]


def _of(tx: Tx, series_id: SeriesId, since: datetime, now: datetime) -> list[Slot]:
    return series_orders.slots_of_series(tx, series_id, since, now)


def _most(begun: Sequence[float]) -> int:
    seconds = [int(at) for at in begun]
    return max(seconds.count(second) for second in set(seconds))


def _figures(slots: Sequence[Slot], watch: Stopwatch, name: str) -> list[Measurement]:
    late = sorted(slot.late.total_seconds() * 1000 for slot in slots if slot.late is not None)
    count = len(late)
    return [
        _figure(f"{name}, late p50", late[count // 2], "ms", count, watch),
        _figure(f"{name}, late p99", late[count * 99 // 100], "ms", count, watch),
    ]


def _figure(name: str, value: float, unit: str, count: int, watch: Stopwatch) -> Measurement:
    return Measurement(
        name, value, unit, count, watch.wall_seconds, watch.cpu_seconds, read_peak_bytes(), "less"
    )
