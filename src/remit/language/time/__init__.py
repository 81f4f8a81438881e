"""Times as people say them, in three languages: parsed and resolved to moments."""

from datetime import datetime, timedelta
from typing import Final

_UNITS: Final = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))
_SAYING: Final = timedelta(seconds=2)  # "in 5 minutes" still reads as five after this long
_SAYING_SHARE: Final = 30  # and 2 hours less 4 minutes read as "in 2 h", not "in 1 h"


def distance(at: datetime, now: datetime) -> tuple[int, str]:
    """Return how far away a moment is in its largest unit: d, h, min or s.

    What has passed is rounded down; what is ahead reads as it was said a moment ago.
    """
    away = timedelta(seconds=round(abs(at - now).total_seconds()))
    as_said = away + max(_SAYING, away / _SAYING_SHARE) if at > now else away
    found = next(((as_said // unit, name) for unit, name in _UNITS if as_said >= unit), None)
    return found or (away.seconds, "s")
