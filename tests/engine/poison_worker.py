"""A Remit with thirty tasks, one of which kills the process while all others are working."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from remit import wiring
from remit.model.contract import WorkItem
from remit.model.delivery import Delivery
from remit.model.reply import Prompt, Reply
from remit.model.task import Cue, Source, SourceKind
from remit.settings import Settings
from remit.testing import FileOutbox

TASKS = 30


class DeadlyBrain:
    def __init__(self, together: int) -> None:
        self._together = together  # how many must be working at once before anyone gets an answer
        self._thinking = 0
        self._all = asyncio.Event()

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del session
        told = next(line for line in prompt.text.splitlines() if line.startswith("Task: "))
        title = told.removeprefix('Task: "').removesuffix('"')
        self._thinking += 1
        if self._thinking >= self._together:
            self._all.set()
        await self._all.wait()
        if title == "poison":
            os.kill(os.getpid(), signal.SIGKILL)
        return Reply(f"<deliverable>{title}</deliverable>")


def cue(title: str) -> Cue:
    return Cue(
        source=Source(SourceKind.MANUAL, title),
        title=title,
        text=title,
        work=(WorkItem(title),),
        delivery=(Delivery("outbox"),),
    )


async def live(home: Path) -> None:
    first = not (home / "agent.db").exists()
    brain, outbox = DeadlyBrain(TASKS if first else 1), FileOutbox(home / "provider.jsonl")
    settings = Settings(home=home)
    async with wiring.opened(settings, brain=brain, channels={"outbox": outbox}) as app:
        for title in [*map(str, range(TASKS - 1)), "poison"]:
            await app.intake.admit(cue(title))
        await app.engine.start()
        await app.engine.settled()
        await app.engine.stop()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
