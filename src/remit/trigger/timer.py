"""When: a moment said in one of a few plain ways. What is vague or past is refused."""

import re
from datetime import datetime, timedelta
from typing import Final

from remit.errors import BadInput
from remit.model.codec import moment

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SPAN: Final = re.compile(r"([0-9]{1,9})([smhdw])")
_LONGEST: Final = 3653 * 86400


def after(text: str, now: datetime) -> datetime:
    """Read `90s`, `2h30m`, `3d` as so much time from now."""
    parts = _SPAN.findall(text)
    if not parts or "".join(n + unit for n, unit in parts) != text:
        sentence = f"{text!r} is not a span of time; write it like 90s, 2h30m or 3d."
        raise BadInput(sentence, field="in")
    seconds = sum(int(n) * _UNITS[unit] for n, unit in parts)
    if seconds > _LONGEST:
        raise BadInput(f"{text} is more than ten years; give a nearer time.", field="in")
    return now + timedelta(seconds=seconds)


def at(text: str, now: datetime) -> datetime:
    """Read a moment with its offset; one that has passed is refused."""
    planned = moment(text)
    if planned <= now:
        raise BadInput(f"{text} has passed; give a time to come.", field="at")
    return planned
