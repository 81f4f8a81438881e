"""Runs work in a thread that is never abandoned: a cancelled caller waits until it is done."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def whole(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it in a thread, to its end.

    A thread cannot be cancelled. Left behind it would write while the next keeper of the same files
    is at work, or after the directory was let go of.
    """
    doing = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(doing)
    finally:
        await doing
