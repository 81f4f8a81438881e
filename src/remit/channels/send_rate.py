"""Limits how fast a channel may send; it answers at once, before any byte leaves."""

from collections import deque
from datetime import datetime
from typing import Final

PAIR: Final = 6.0  # seconds between two messages to one person
OVERALL: Final = 80  # messages per second to everybody


class SendRate:
    """Counts sent messages of the last few seconds."""

    def __init__(self, pair: float = PAIR, overall: int = OVERALL) -> None:
        self._pair = pair
        self._overall = overall
        self._last: dict[str, datetime] = {}  # by person, oldest first
        self._recent: deque[datetime] = deque()

    def take(self, person: str, now: datetime) -> float:
        """Return 0 and count the message; or the missing seconds, and do not count it."""
        self._forget(now)
        if person in self._last:
            return self._pair - (now - self._last[person]).total_seconds()
        if len(self._recent) >= self._overall:
            return 1.0 - (now - self._recent[0]).total_seconds()
        self._last[person] = now
        self._recent.append(now)
        return 0.0

    def _forget(self, now: datetime) -> None:
        # After the clock went back, old entries must not block anybody.
        for person in list(self._last):
            if 0 <= (now - self._last[person]).total_seconds() < self._pair:
                break
            del self._last[person]
        while self._recent and not 0 <= (now - self._recent[0]).total_seconds() < 1:
            self._recent.popleft()
