"""Limits how fast a channel may send; it answers at once, before any byte leaves."""

from collections import deque
from datetime import datetime
from typing import Final

PAIR: Final = 6.0  # seconds between two messages to one person
OVERALL: Final = 80  # messages in a second to everybody


class SendRate:
    """Counts what was let go; it holds no more than the last few seconds of it."""

    def __init__(self, pair: float = PAIR, overall: int = OVERALL) -> None:
        self._pair = pair
        self._overall = overall
        self._last: dict[str, datetime] = {}  # by person, oldest first
        self._recent: deque[datetime] = deque()

    def take(self, person: str, now: datetime) -> float:
        """Zero, and the turn is taken; or how many seconds are missing, and it is not."""
        self._forget(now)
        if person in self._last:
            return self._pair - (now - self._last[person]).total_seconds()
        if len(self._recent) >= self._overall:
            return 1.0 - (now - self._recent[0]).total_seconds()
        self._last[person] = now
        self._recent.append(now)
        return 0.0

    def _forget(self, now: datetime) -> None:
        # A clock that was set back makes the past the future; that must not hold anybody up.
        for person in list(self._last):
            if 0 <= (now - self._last[person]).total_seconds() < self._pair:
                break
            del self._last[person]
        while self._recent and not 0 <= (now - self._recent[0]).total_seconds() < 1:
            self._recent.popleft()
