"""How long to wait before the next try, by kind of error."""

from random import Random
from typing import Final

from msgspec import Struct

from remit.errors import Permanent, Transient


class Backoff(Struct, frozen=True):
    first: float  # seconds before the second try
    factor: float
    most: float
    jitter: float = 0.2  # random extra share, so that many do not retry at once

    def after(self, attempt: int, chance: Random) -> float:
        """Return the seconds to wait after the nth failed attempt."""
        plain = min(self.first * self.factor ** (attempt - 1), self.most)
        return plain * (1 + self.jitter * chance.random())


TRANSIENT: Final = Backoff(first=2, factor=3, most=600)
RATE_LIMIT: Final = Backoff(first=30, factor=2, most=600)
SURPRISE: Final = Backoff(first=5, factor=4, most=600)


def choose(error: BaseException, attempt: int, chance: Random) -> float | None:
    """Return the seconds until the next attempt, or None if a retry would fail the same way."""
    match error:
        case Permanent():
            return None
        case Transient(after=float() | int() as asked):
            return asked * (1 + RATE_LIMIT.jitter * chance.random())
        case Transient():
            return TRANSIENT.after(attempt, chance)
        case _:
            return SURPRISE.after(attempt, chance)
