"""Hours in which nobody wants to hear from us, on a clock with summer and winter time."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Final

from remit.errors import BadInput

_SPAN: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]\d|2[0-3]):([0-5]\d)")
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Quiet:
    """From one time of day to another, over midnight if the second is the earlier one."""

    since: str  # as on a clock: 22:00
    till: str

    @classmethod
    def of(cls, text: str) -> "Quiet":
        """Read `22:00-07:00`; anything else is refused."""
        found = _SPAN.fullmatch(text.strip())
        if found is None or found[1] + found[2] == found[3] + found[4]:
            sentence = f"{text!r:.60} is no span of hours; one looks like 22:00-07:00."
            raise BadInput(sentence, field="quiet")
        return cls(f"{found[1]}:{found[2]}", f"{found[3]}:{found[4]}")

    def until(self, now: datetime, zone: tzinfo) -> datetime | None:
        """When the quiet ends that holds now; None if it is not quiet.

        Moments are compared, not hands of a clock: an hour that comes twice does not bring the
        quiet back, and one that is left out does not swallow its end.
        """
        today = now.astimezone(zone).date()
        for day in (today - _DAY, today):
            begins = datetime.combine(day, time.fromisoformat(self.since), zone)
            last = day if self.till > self.since else day + _DAY
            ends = datetime.combine(last, time.fromisoformat(self.till), zone)
            if begins.timestamp() <= now.timestamp() < ends.timestamp():
                return datetime.fromtimestamp(ends.timestamp(), now.tzinfo)
        return None
