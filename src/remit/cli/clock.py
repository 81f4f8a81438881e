"""The machine's time, for commands that run without an event loop."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - where time comes in, for the command line


def seconds() -> float:
    """Return seconds since some fixed moment; never goes back."""
    return time.monotonic()


def pause(for_seconds: float) -> None:
    time.sleep(for_seconds)
