"""A brain that costs something: it takes a given number of turns, each with a given usage."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from remit.model.reply import Prompt, Reply, ToolCall, Usage
from remit.store import home
from remit.store.opening import Sqlite
from tests.stage import stage

TASK: Final = stage().memory.task
USED: Final = Usage(tokens=100, cents=2, requests=1)
MOST: Final = Usage(tokens=400, cents=5, requests=1)


@asynccontextmanager
async def database(folder: Path) -> AsyncIterator[Sqlite]:
    home.prepare(folder / "agent.db")
    db = Sqlite(folder / "agent.db")
    try:
        yield db
    finally:
        await db.close()


@dataclass
class MeteredBrain:
    """Each turn but the last calls a missing tool, and leaves a state."""

    turns: int = 1
    used: Usage = USED  # by each turn
    most: Usage = MOST  # the estimate before each turn
    metered: bool = True
    failures: list[Exception] = field(default_factory=list)
    heard: list[Prompt] = field(default_factory=list)
    go: asyncio.Event | None = None  # if set, a request waits for it

    async def estimate(self, prompt: Prompt) -> Usage:
        assert prompt.whole or prompt.earlier
        return self.most

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        assert session
        self.heard.append(prompt)
        if self.go is not None:
            await self.go.wait()
        if self.failures:
            raise self.failures.pop(0)
        turn = 1 + len(prompt.earlier)
        if turn < self.turns:
            call = ToolCall(f"call-{turn}", "nothing_like_it")
            return Reply("On it.", calls=(call,), state=f"state-{turn}", usage=self.used)
        return Reply(f"<deliverable>{turn} turns.</deliverable>", usage=self.used)
