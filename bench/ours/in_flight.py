"""A thousand tasks think at once, two seconds each: how close to two seconds is it over?"""

import asyncio
from pathlib import Path

from bench.measure import Measurement, Stopwatch, read_peak_bytes, read_resident_bytes
from remit.model.reply import Prompt, Reply
from remit.settings import EngineSettings, Settings
from remit.triggers import cue_admission
from remit.wiring import opened

SECONDS = 2


class SlowBrain:
    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        await asyncio.sleep(SECONDS)
        return Reply("<deliverable>Done.</deliverable>")


def run(size: int, home: Path) -> list[Measurement]:
    return asyncio.run(_run(size, home))


async def _run(size: int, home: Path) -> list[Measurement]:
    settings = Settings(home=home, engine=EngineSettings(parallel=size))
    async with opened(settings, brain=SlowBrain()) as app:
        await app.engine.start()
        before = read_resident_bytes()
        watch = Stopwatch()
        with watch:
            cues = (cue_admission.cue(f"Think {n}", ref=str(n)) for n in range(size))
            await asyncio.gather(*(app.intake.admit(cue) for cue in cues))
            app.engine.nudge()
            await app.engine.settled()
        await app.engine.stop()
    peak = read_peak_bytes()
    wall, cpu = watch.wall_seconds, watch.cpu_seconds
    each = (peak - before) / size / 1024
    return [
        Measurement("wall", wall, "s", size, wall, cpu, peak, "less"),
        Measurement("memory a task", each, "KB", size, wall, cpu, peak, "less"),
    ]
