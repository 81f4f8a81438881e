"""A check known as flaky counts only when it passes several times in a row."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from remit.model.contract import Result
from remit.verify.suite_terms import CheckOutcome

IN_A_ROW: Final = 3


async def settle(once: Callable[[], Awaitable[CheckOutcome]]) -> tuple[CheckOutcome, int]:
    """Return the result of a flaky check and the number of runs; one failure decides."""
    for run in range(1, IN_A_ROW + 1):
        found = await once()
        if found.result is not Result.PASS:
            passed = f"It passed {run - 1} of {IN_A_ROW} times in a row. " if run > 1 else ""
            return replace(found, error=passed + found.error), run
    return found, IN_A_ROW
