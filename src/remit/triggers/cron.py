"""Parses times given in exact forms: a cron line as an RRULE, a delay, an interval, a moment.

A cron line has five fields or a name such as @daily. Minutes and hours are wall times. A line that
runs every hour counts elapsed time instead, so a repeated hour runs twice, as in cron. An RRULE
cannot express "day of month or day of week"; such a line is refused.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model import rrule
from remit.model.codec import moment
from remit.model.recurrence import Repeats

_NAMES: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAYS: Final = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_SUNDAY: Final = 7  # the same as 0
_PART: Final = re.compile(r"(\*|[0-9a-z]{1,3})(?:-([0-9a-z]{1,3}))?(?:/([0-9]{1,2}))?")
_FIELDS: Final = 5
_EXAMPLE: Final = "Five fields make one: 30 8 * * 1-5 is half past eight on weekdays."


class _Field(Struct, frozen=True):
    name: str
    least: int
    most: int
    words: tuple[str, ...] = ()  # names of its numbers, from the lowest on


_SHAPE: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


def repeats(line: str, zone: str, now: datetime) -> Repeats:
    """Return a cron line as a repetition in a zone, with its first time after now."""
    text = " ".join(line.split()).casefold()
    words = _NAMES.get(text, text).split()
    if len(words) != _FIELDS:
        raise _bad(line, f"it has {len(words)} field{'s' * (len(words) != 1)}")
    minutes, hours, days, months, weekdays = (
        _read(line, word, field) for word, field in zip(words, _SHAPE, strict=True)
    )
    if days and weekdays:
        raise _bad(line, "it names days of the month and of the week, and cron means either")
    rule = _often(words, minutes, hours)
    rule += f";BYMONTH={_many(months)}" if months else ""
    rule += f";BYMONTHDAY={_many(days)}" if days else ""
    named = dict.fromkeys(_DAYS[day % 7] for day in weekdays)  # Sunday is 0 and 7
    rule += f";BYDAY={','.join(named)}" if named else ""
    return _first(line, Repeats(rule, zone, _anchor(rule, zone, minutes, now)), now)


def _often(words: list[str], minutes: list[int], hours: list[int]) -> str:
    every = words[0].removeprefix("*/") if words[0].startswith("*/") else "1" * (words[0] == "*")
    if not hours and every and 60 % int(every) == 0:
        return f"FREQ=MINUTELY;INTERVAL={every}"
    if not hours and len(minutes) == 1:
        return "FREQ=HOURLY"
    hours, minutes = hours or list(range(24)), minutes or list(range(60))
    return f"FREQ=DAILY;BYHOUR={_many(hours)};BYMINUTE={_many(minutes)}"


def _anchor(rule: str, zone: str, minutes: list[int], now: datetime) -> datetime:
    """Return where counting starts: the current hour, or its minute."""
    local = now.astimezone(rrule.zone_of(zone))
    minute = minutes[0] if rule.startswith("FREQ=HOURLY") else 0
    start = local.replace(minute=minute, second=0, microsecond=0)
    return start.astimezone(UTC) - timedelta(hours=1)


def _first(line: str, found: Repeats, now: datetime) -> Repeats:
    """Set the first time to one that the rule names, because `first` is always a slot."""
    # The anchor itself may be excluded; what follows it is not.
    first = next(rrule.slots(found, max(now, found.first)), None)
    if first is None:
        raise _bad(line, "it never comes")
    return Repeats(found.rule, found.zone, first)


def _read(line: str, word: str, field: _Field) -> list[int]:
    """Return the numbers a field names; an empty list means all."""
    found: set[int] = set()
    for part in word.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise _bad(line, f"{part!r:.20} is no {field.name}")
        found |= _range(line, match, field)
    every = found >= set(range(field.least, field.most + (field.most != _SUNDAY)))
    return [] if every else sorted(found)


def _range(line: str, match: re.Match[str], field: _Field) -> set[int]:
    start, end, step = match.groups()
    if start == "*":
        low, high = field.least, field.most - (field.most == _SUNDAY)
    else:
        low = _number(line, start, field)
        high = _number(line, end, field) if end else field.most if step else low
    if low > high or step == "0" or (start == "*" and end):
        raise _bad(line, f"{match[0]!r:.20} is no {field.name}")
    return set(range(low, high + 1, int(step or 1)))


def _number(line: str, word: str, field: _Field) -> int:
    if word in field.words:
        return field.words.index(word) + field.least
    if not word.isdecimal() or not field.least <= int(word) <= field.most:
        raise _bad(line, f"{word!r:.20} is no {field.name}")
    return int(word)


def _many(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _bad(line: str, why: str) -> BadInput:
    sentence = f"{line!r:.80} is no line of cron that can be kept: {why}. {_EXAMPLE}"
    return BadInput(sentence, field="cron")


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
