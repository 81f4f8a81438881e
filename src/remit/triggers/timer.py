"""Parses a moment given in one of a few plain forms. Vague or past ones are refused."""

import re
from datetime import datetime, timedelta
from typing import Final

from remit.errors import BadInput
from remit.model.codec import moment
from remit.model.series import Repeats

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SPAN: Final = re.compile(r"([0-9]{1,9})([smhdw])")
_LONGEST: Final = 3653 * 86400
_MINUTE: Final = 60
# The longest unit that divides a span; days and weeks keep the wall time.
_STEPS: Final = (("WEEKLY", 604800), ("DAILY", 86400), ("HOURLY", 3600), ("MINUTELY", 60))


def parse_delay(text: str, now: datetime) -> datetime:
    """Parse `90s`, `2h30m`, `3d` as a delay from now."""
    return now + timedelta(seconds=_seconds(text, "in"))


def is_span(text: str) -> bool:
    return "".join(n + unit for n, unit in _SPAN.findall(text)) == text != ""


def parse_interval(text: str, zone: str, now: datetime) -> Repeats:
    """Parse `15m`, `2h`, `1d` as the time between runs; the first is one interval from now."""
    seconds = _seconds(text, "every")
    if seconds < _MINUTE or seconds % _MINUTE:
        raise BadInput(f"{text} is not whole minutes; a minute is the least.", field="every")
    freq, step = next((freq, step) for freq, step in _STEPS if seconds % step == 0)
    # Wall times have whole minutes; so has the first run.
    start = now.replace(second=0, microsecond=0) + timedelta(seconds=seconds)
    return Repeats(f"FREQ={freq};INTERVAL={seconds // step}", zone, start)


def _seconds(text: str, field: str) -> int:
    if not is_span(text):
        sentence = f"{text!r:.60} is not a span of time; write it like 90s, 2h30m or 3d."
        raise BadInput(sentence, field=field)
    seconds = sum(int(n) * _UNITS[unit] for n, unit in _SPAN.findall(text))
    if seconds > _LONGEST:
        raise BadInput(f"{text} is more than ten years; give a nearer time.", field=field)
    return seconds


def parse_moment(text: str, now: datetime) -> datetime:
    """Parse a moment with its offset; a past one is refused."""
    planned = moment(text)
    if planned <= now:
        raise BadInput(f"{text} has passed; give a time to come.", field="at")
    return planned
