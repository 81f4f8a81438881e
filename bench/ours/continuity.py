"""Series: what a model is told at run 1, 10, 50 and 100 of work that comes back every day.

No tokenizer is asked: four characters count as one token. All of it is counted: rules, memory,
task, and what earlier runs left behind.
"""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from bench.measure import Measurement, Stopwatch, read_peak_bytes, require_count
from remit.model.recurrence import Repeats
from remit.model.reply import Prompt, Reply
from remit.testing import START, World
from remit.triggers import cue_admission

CHARACTERS_PER_TOKEN = 4
RUNS = (1, 10, 50, 100)
# 2 KB, and nothing in it is said twice: that would be sent back.
PLACES = [f"{a}{b}" for a in ("San", "Kut", "Lov", "Med", "Ubu") for b in ("ur", "a", "ina", "ewi")]
ANSWER = " ".join(
    f"At {place} the water is {n} degrees warm and the waves are {100 - n} centimetres high; "
    f"boat {n * 7} leaves from there."
    for n, place in enumerate(PLACES, 20)
)


@dataclass
class Diarist:
    """Leaves behind all that it was told and said, as a model's line does."""

    told: list[int] = field(default_factory=list)

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        characters = len(prompt.whole) + sum(map(len, prompt.earlier))
        self.told.append(characters // CHARACTERS_PER_TOKEN)
        said = f"Day {len(self.told)}. {ANSWER}"
        state = json.dumps({"session": session, "told": prompt.text, "said": said})
        return Reply(f"I looked.\n<deliverable>{said}</deliverable>", state=state)


def run(size: int, home: Path) -> list[Measurement]:
    """Let so many days pass, each with its run, and look at what the runs were told."""
    watch = Stopwatch()
    with watch:
        told = asyncio.run(_told(size, home))
    require_count("runs", len(told), size)
    shown = [n for n in RUNS if n <= size]
    return [
        *(_figure(f"context at run {n}", told[n - 1], size, watch) for n in shown),
        _figure("context at most", max(told), size, watch),
    ]


async def _told(days: int, home: Path) -> list[int]:
    brain = Diarist()
    async with World(home, brain=brain) as world:
        cue = cue_admission.cue("Which beach is calm today?", ref="beach", channel="outbox")
        first = START + timedelta(hours=1)
        await world.app.intake.admit(replace(cue, repeats=Repeats("FREQ=DAILY", "UTC", first)))
        await world.run(timedelta(days=days))
    return brain.told


def _figure(name: str, tokens: int, runs: int, watch: Stopwatch) -> Measurement:
    return Measurement(
        name,
        tokens,
        "tokens",
        runs,
        watch.wall_seconds,
        watch.cpu_seconds,
        read_peak_bytes(),
        better="less",
        facts={"characters_per_token": CHARACTERS_PER_TOKEN, "answer_characters": len(ANSWER)},
    )
