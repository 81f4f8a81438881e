"""A log filter that counts repeated messages instead of repeating them."""

import logging
import time
from collections import Counter
from typing import Final

MAX_ALIKE: Final = 10  # records per place in the code and window
WINDOW_SECONDS: Final = 60.0
_LEFT_OUT: Final = "%s (%d more like this were left out.)"


class RepeatFilter(logging.Filter):
    """Passes a limited number of records per place in the code and minute.

    The next record that passes says how many were left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = time.monotonic()
        self._seen: Counter[tuple[str, str, int]] = Counter()
        self._before: Counter[tuple[str, str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        if time.monotonic() - self._begun >= WINDOW_SECONDS:
            self._begun, self._before, self._seen = time.monotonic(), self._seen, Counter()
        place = record.name, record.pathname, record.lineno
        self._seen[place] += 1
        left_out = self._before.pop(place, 0) - MAX_ALIKE
        if left_out > 0:
            record.msg, record.args = _LEFT_OUT, (record.getMessage(), left_out)
        return self._seen[place] <= MAX_ALIKE
