"""Which moments can be planned, and which can be calculated with."""

from datetime import UTC, datetime
from typing import Final

from remit.errors import BadInput

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
# A few days from either end of the calendar, so that any zone and one more day still fit.
_FIRST: Final = datetime(1, 1, 10, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 20, tzinfo=UTC)


def check_moment(at: datetime | None, field: str) -> None:
    """Refuse a time outside 1970 to 2199."""
    if at is not None and not EARLIEST <= at < LATEST:
        sentence = f"{field} is in the year {at.year}; give a time from 1970 to 2199."
        raise BadInput(sentence, field=field)


def clamp(at: datetime) -> datetime:
    """Return the moment, or the nearest one that every zone can show; for stored values."""
    return min(max(at, _FIRST), _LAST)
