"""A check that is known to waver counts only when it passes several times in a row."""

from collections.abc import Awaitable, Callable
from typing import Final

from remit.model.contract import Result

IN_A_ROW: Final = 3


async def settle(once: Callable[[], Awaitable[tuple[Result, str]]]) -> tuple[Result, str, int]:
    """What a wavering check comes to, why, and after how many runs; one failure decides."""
    for run in range(1, IN_A_ROW + 1):
        result, why = await once()
        if result is not Result.PASS:
            passed = f"It passed {run - 1} of {IN_A_ROW} times in a row. " if run > 1 else ""
            return result, passed + why, run
    return Result.PASS, "", IN_A_ROW
