"""Runs work in a thread that is never abandoned: a cancelled caller waits until it is done."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def whole(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work in a thread to its end, even if the caller is cancelled.

    A thread cannot be cancelled. Abandoned, it would write while its successor works on the same
    files, or after the directory was unlocked.
    """
    doing = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(doing)
    finally:
        await doing
