"""What goes on beside all else: once, until it is ended, and then perhaps again."""

import asyncio

from remit.beside import Beside
from tests.engine.rig import until


async def test_it_begins_once_ends_whole_and_may_begin_again() -> None:
    told: list[str] = []

    async def work() -> None:
        told.append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append("ended")

    beside = Beside()
    beside.begin(work)
    beside.begin(work)
    assert beside.is_begun
    await until(lambda: told == ["begun"])
    await beside.end()
    assert told == ["begun", "ended"]
    assert not beside.is_begun

    await beside.end()
    beside.begin(work)
    await until(lambda: told == ["begun", "ended", "begun"])
    await beside.end()
