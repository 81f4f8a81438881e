"""Removes files that nothing refers to any more: of deleted tasks, and of messages long gone."""

import asyncio
from typing import Final

from remit.store.messages import references
from remit.store.opening import task_files
from remit.wiring.app import App

_EVERY_SECONDS: Final = 3600.0
LOOP: Final = "file cleanup"


def start(house: App) -> None:
    house.background.start(LOOP, lambda: _clean_on(house))


async def clean(house: App) -> int:
    """Remove them once; return how many were removed."""
    kept, now = task_files(house.settings), house.clock.now()
    if not (await asyncio.to_thread(kept.room))[0]:
        return 0
    needed, gone = await house.db.read(references, now)
    return await asyncio.to_thread(kept.sweep, needed, gone, now)


async def _clean_on(house: App) -> None:
    while True:
        await clean(house)
        await house.clock.sleep(_EVERY_SECONDS)
