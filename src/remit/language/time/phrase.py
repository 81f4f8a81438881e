"""A parsed time, not yet resolved: frequency, day, time of day, start and end."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.language.time import DayPart, TimeText, TimeUnit
from remit.language.time.clock_time import ClockTime, read_clock, read_number
from remit.language.time.day import (
    CalendarDate,
    Day,
    DayOffset,
    End,
    NamedWeekday,
    RelativeTime,
    UnclearEnd,
    read_amounts,
    read_day,
    read_end,
    whole_days,
)
from remit.language.time.repeats import RepeatFrequency, joined_every, read_every, read_weekdays
from remit.language.time.zones import UNCLEAR, read_zone
from remit.language.tokens import TokenKind

_MOST_CLOCKS: Final = 6


class TimePhrase(Struct, frozen=True):
    """A time as it was said, from token `start` to token `end`."""

    start: int
    end: int
    every: RepeatFrequency | None = None
    day: Day | None = None
    clocks: tuple[ClockTime, ...] = ()
    part: DayPart | None = None
    ahead: RelativeTime | None = None
    zone: str | None = None
    zone_unclear: bool = False
    until: End | None = None
    now: bool = False
    vague: bool = False

    @property
    def part_of_day(self) -> DayPart | None:
        """Return the named part of the day: with the day, the frequency, or alone."""
        named = self.day.part if isinstance(self.day, DayOffset) else None
        often = self.every.part if self.every else None
        return self.part or named or often

    @property
    def is_exact(self) -> bool:
        """Whether a moment can be computed from it."""
        return bool(self.clocks or self.now or self.ahead) or self._is_often

    @property
    def _is_often(self) -> bool:
        return self.every is not None and self.every.unit in (TimeUnit.HOUR, TimeUnit.MINUTE)


def read_time(line: TimeText, at: int) -> TimePhrase | None:
    """Read the longest time that starts at a place, part by part."""
    if not _may_start(line, at):
        return None
    place = ~at if line.recurs else at  # what comes back may end, so that it reads otherwise
    if place not in line.read:
        line.read[place] = _read(line, at)
    found = line.read[place]
    return found if isinstance(found, TimePhrase) else None


def _read(line: TimeText, at: int) -> TimePhrase | None:
    phrase = TimePhrase(at, at)
    for grown in growing(line, at):
        phrase = grown
    return phrase if phrase.end > at and _stands(line, phrase) else None


def growing(line: TimeText, at: int) -> Iterator[TimePhrase]:
    """Yield a time as it grows, part by part."""
    phrase = TimePhrase(at, at)
    while grown := _grow(line, phrase):
        phrase = grown
        yield phrase


def _may_start(line: TimeText, at: int) -> bool:
    """Whether a time may start with this word; most words start none."""
    if at >= len(line.tokens):
        return False
    return line.tokens[at].kind is TokenKind.NUMBER or line.keys[at] in line.words.starts


def combine(one: TimePhrase, other: TimePhrase) -> TimePhrase | None:
    """Join two separate halves, as in "on Friday send it at 9"; None if they are no halves."""
    if one.ahead or other.ahead or one.now or other.now or one.vague or other.vague:
        return None
    slots = ("every", "day", "clocks", "part", "zone", "until")
    if any(getattr(one, slot) and getattr(other, slot) for slot in slots):
        return None
    return TimePhrase(
        one.start,
        one.end,
        every=one.every or other.every,
        day=one.day or other.day,
        clocks=one.clocks or other.clocks,
        part=one.part or other.part,
        zone=one.zone or other.zone,
        zone_unclear=one.zone_unclear or other.zone_unclear,
        until=one.until or other.until,
    )


def corrected(before: TimePhrase, now: TimePhrase) -> TimePhrase:
    """Return a time in which the later words replace what they contradict: day, hour, frequency."""
    if now.ahead or now.now or now.vague or before.ahead or before.now:
        return now
    every = before.every
    if every is not None and isinstance(now.day, NamedWeekday) and every.unit is TimeUnit.WEEK:
        return replace(before, every=replace(every, weekdays=(now.day.day,)))
    return replace(
        now,
        every=now.every or every,
        day=now.day or before.day,
        clocks=now.clocks or before.clocks,
        part=now.part or (None if now.clocks else before.part),
        zone=now.zone or before.zone,
        until=now.until or before.until,
    )


def _grow(line: TimeText, phrase: TimePhrase) -> TimePhrase | None:
    starts = line.words.part_starts
    for at in _next_places(line, phrase):
        if at >= len(line.tokens):
            continue
        number, key = line.tokens[at].kind is TokenKind.NUMBER, line.keys[at]
        for name, with_number, read in _PARTS:
            begins = (number and with_number) or name == "zone" or key in starts[name]
            if begins and (grown := read(line, phrase, at)):
                return grown
    return None


def _next_places(line: TimeText, phrase: TimePhrase) -> Sequence[int]:
    """Yield where the next part may start: directly, or after a comma."""
    end = phrase.end
    if end > phrase.start and end < len(line.keys) and line.keys[end] in {",", "("}:
        return end, end + 1
    return (end,)


def _now(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    found = line.words.now.at(line.keys, at)
    if found is None or phrase.end > phrase.start:
        return None
    return replace(phrase, end=found[1], now=True)


def _vague(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    found = line.words.vague.at(line.keys, at)
    if found is None or phrase.vague or phrase.ahead:
        return None
    if line.words.next_week.at(line.keys, at) and read_day(line, at):
        return None  # "next week on Friday" says more
    return replace(phrase, end=found[1], vague=True)


def _every(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    if phrase.ahead or isinstance(phrase.day, NamedWeekday):
        return None
    found = read_every(line, at)
    if found is None or phrase.every is None:
        return replace(phrase, end=found[1], every=found[0]) if found else None
    joined = joined_every(phrase.every, found[0])
    return replace(phrase, end=found[1], every=joined) if joined else None


def _except(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    """Read "every day except Sunday"."""
    led = line.words.except_.at(line.keys, at)
    often = phrase.every
    if led is None or often is None or often.unit not in (TimeUnit.DAY, TimeUnit.WEEK):
        return None
    found = read_weekdays(line, led[1])
    if found is None or often.interval > 1:
        return None
    days = often.weekdays or tuple(range(7))
    left = tuple(day for day in days if day not in found[0].weekdays)
    every = replace(often, unit=TimeUnit.WEEK, weekdays=left)
    return replace(phrase, end=found[1], every=every) if left else None


def _day(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    if phrase.day or phrase.ahead:
        return None
    found = read_day(line, at)
    if found is None:
        return None
    end = found[1]
    if line.is_tight(end, "t") and line.number(end + 1, 2) is not None:
        end += 1  # 2026-03-01T15:00
    return replace(phrase, end=end, day=found[0])


def _clock(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    if phrase.now or (phrase.ahead and not whole_days(phrase.ahead)):
        return None
    if phrase.clocks:
        return _one_more_clock(line, phrase, at)
    sure = bool(phrase.day or phrase.every)
    measures = line.words.deadlines.at(line.keys, at) and at and line.number(at - 1) is not None
    if measures and not sure:
        return None  # "4 by 5"
    led = line.words.at.at(line.keys, at) is not None
    found = read_clock(line, at, sure=sure and led, dotted=sure) or _zoned_clock(line, at)
    return replace(phrase, end=found[1], clocks=(found[0],)) if found else None


def _zoned_clock(line: TimeText, at: int) -> tuple[ClockTime, int] | None:
    """Read a bare number followed by the name of a clock: "at 9 Bangkok time"."""
    if line.words.at.at(line.keys, at) is None:
        return None
    found = read_clock(line, at, sure=True)
    return found if found and read_zone(line, found[1]) else None


def _one_more_clock(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    """Read "at 9 and at 17:00"."""
    link = line.words.and_.at(line.keys, at)
    if link is None or len(phrase.clocks) == _MOST_CLOCKS:
        return None
    found = read_clock(line, link[1])
    if found is None or (line.is_word(found[1]) and line.keys[found[1]] in line.words.orders):
        return None  # "at 8 check it and at 9 remind me": the second is of another request
    return replace(phrase, end=found[1], clocks=(*phrase.clocks, found[0]))


def _part(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    found = line.words.parts.at(line.keys, at)
    if found is None or phrase.part or phrase.now:
        return None
    if phrase.end > phrase.start or found[1] - at > 1 or read_clock(line, found[1]):
        return replace(phrase, end=found[1], part=found[0])
    return None


def _ahead(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    if phrase.end > phrase.start:
        return None
    led = line.words.inside.at(line.keys, at)
    start = led[1] if led else at
    if roughly := line.words.roughly.at(line.keys, start):
        start = roughly[1]
    amounts, end = read_amounts(line, start)
    if not amounts:
        number = read_number(line, start) if led else None
        bare = number is not None and _is_over(line, number[1])
        return replace(phrase, end=number[1], vague=True) if number and bare else None
    if led is None:
        after = line.words.from_now.at(line.keys, end)
        if after is None:
            return None
        end = after[1]
    return replace(phrase, end=end, ahead=RelativeTime(amounts))


def _is_over(line: TimeText, at: int) -> bool:
    """Whether nothing says what was counted: "in 10", "in 10 to call Bob"."""
    if at >= len(line.tokens) or line.tokens[at].kind is TokenKind.LINE:
        return True
    if line.tokens[at].kind is TokenKind.MARK:
        return not line.tokens[at].tight
    return line.keys[at] in line.words.opens and not line.tokens[at].tight


def _zone(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    if not phrase.clocks or phrase.zone is not None or phrase.zone_unclear:
        return None
    found = read_zone(line, at)
    if found is None:
        return None
    return replace(phrase, end=found[1], zone=found[0], zone_unclear=found[0] is UNCLEAR)


def _until(line: TimeText, phrase: TimePhrase, at: int) -> TimePhrase | None:
    """Read how long a repetition lasts, after it or elsewhere in its sentence."""
    alone = phrase.end == phrase.start
    if phrase.until or not (phrase.every or (alone and line.recurs)):
        return None
    found = read_end(line, at)
    if found is None:
        return None
    end, after, sure = found
    return replace(phrase, end=after, until=end if sure or not alone else UnclearEnd())


def _stands(line: TimeText, phrase: TimePhrase) -> bool:
    """Whether a day is a time; in "Friday deals" and "weekend trip" it describes a noun."""
    if phrase.is_exact or phrase.end - phrase.start > 1 or not line.is_word(phrase.end):
        return True
    if isinstance(phrase.day, NamedWeekday | CalendarDate) or phrase.every:
        return line.keys[phrase.end] in line.words.opens
    return True


# The parts of a phrase of time: each with whether it may begin with a number in digits.
_PARTS: Final[
    tuple[tuple[str, bool, Callable[[TimeText, TimePhrase, int], TimePhrase | None]], ...]
] = (
    ("now", False, _now),
    ("ahead", True, _ahead),
    ("until", True, _until),
    ("vague", False, _vague),
    ("every", True, _every),
    ("except", False, _except),
    ("day", True, _day),
    ("clock", True, _clock),
    ("part", False, _part),
    ("zone", True, _zone),
)
