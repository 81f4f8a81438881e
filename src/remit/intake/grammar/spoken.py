"""A time as it was said, not yet reckoned: how often, which day, what hour, from when on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from remit.intake.grammar.dates import Date, Day, Weekday, read_day
from remit.intake.grammar.ends import End, Unclear, read_end
from remit.intake.grammar.hours import Clock, read_clock, read_number
from remit.intake.grammar.places import UNCLEAR, read_zone
from remit.intake.grammar.repeats import Every, joined_every, read_every
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spans import Ahead, read_amounts, whole_days
from remit.intake.lexicon.shape import Link, Part, Unit
from remit.language.tokens import Kind

_MOST_CLOCKS: Final = 6


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a phrase of time says, from token `start` to token `end`."""

    start: int
    end: int
    every: Every | None = None
    day: Day | None = None
    clocks: tuple[Clock, ...] = ()
    part: Part | None = None
    ahead: Ahead | None = None
    zone: str | None = None
    zone_unclear: bool = False
    until: End | None = None
    now: bool = False
    vague: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether a moment can be reckoned from it."""
        return bool(self.clocks or self.now or self.ahead) or self._is_often

    @property
    def _is_often(self) -> bool:
        return self.every is not None and self.every.unit in (Unit.HOUR, Unit.MINUTE)


def read_time(said: Said, at: int) -> Spoken | None:
    """Read the longest phrase of time that starts at a place, atom by atom."""
    if not _may_start(said, at):
        return None
    place = ~at if said.recurs else at  # what comes back may end, so that it reads otherwise
    if place not in said.times:
        said.times[place] = _read(said, at)
    return cast("Spoken | None", said.times[place])


def _read(said: Said, at: int) -> Spoken | None:
    spoken = Spoken(at, at)
    for grown in growing(said, at):
        spoken = grown
    return spoken if spoken.end > at and _stands(said, spoken) else None


def growing(said: Said, at: int) -> Iterator[Spoken]:
    """A phrase of time as it grows, atom by atom."""
    spoken = Spoken(at, at)
    while grown := _grow(said, spoken):
        spoken = grown
        yield spoken


def _may_start(said: Said, at: int) -> bool:
    """Look at the first word alone, for most words start no time."""
    if at >= len(said.tokens):
        return False
    return said.tokens[at].kind is Kind.NUMBER or said.keys[at] in said.time.starts


def combine(one: Spoken, other: Spoken) -> Spoken | None:
    """Join two halves said apart, as in "on Friday send it at 9"; None if they are not halves."""
    if one.ahead or other.ahead or one.now or other.now or one.vague or other.vague:
        return None
    slots = ("every", "day", "clocks", "part", "zone", "until")
    if any(getattr(one, slot) and getattr(other, slot) for slot in slots):
        return None
    return Spoken(
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


def _grow(said: Said, spoken: Spoken) -> Spoken | None:
    for at in _next_places(said, spoken):
        for atom in _ATOMS:
            if grown := atom(said, spoken, at):
                return grown
    return None


def _next_places(said: Said, spoken: Spoken) -> Sequence[int]:
    """Where the next atom may start: at once, or behind a comma."""
    end = spoken.end
    if end > spoken.start and end < len(said.keys) and said.keys[end] in {",", "("}:
        return end, end + 1
    return (end,)


def _now(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    found = said.time.now.at(said.keys, at)
    if found is None or spoken.end > spoken.start:
        return None
    return replace(spoken, end=found[1], now=True)


def _vague(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    found = said.time.vague.at(said.keys, at)
    if found is None or spoken.vague or spoken.ahead:
        return None
    if said.time.next_week.at(said.keys, at) and read_day(said, at):
        return None  # "next week on Friday" says more
    return replace(spoken, end=found[1], vague=True)


def _every(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    if spoken.ahead or isinstance(spoken.day, Weekday):
        return None
    found = read_every(said, at)
    if found is None or spoken.every is None:
        return replace(spoken, end=found[1], every=found[0]) if found else None
    joined = joined_every(spoken.every, found[0])
    return replace(spoken, end=found[1], every=joined) if joined else None


def _day(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    if spoken.day or spoken.ahead:
        return None
    found = read_day(said, at)
    if found is None:
        return None
    end = found[1]
    if said.is_tight(end, "t") and said.number(end + 1, 2) is not None:
        end += 1  # 2026-03-01T15:00
    return replace(spoken, end=end, day=found[0])


def _clock(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    if spoken.now or (spoken.ahead and not whole_days(spoken.ahead)):
        return None
    if spoken.clocks:
        return _one_more_clock(said, spoken, at)
    sure = bool(spoken.day or spoken.every)
    led = said.time.at.at(said.keys, at) is not None
    found = read_clock(said, at, sure=sure and led) or _zoned_clock(said, at)
    return replace(spoken, end=found[1], clocks=(found[0],)) if found else None


def _zoned_clock(said: Said, at: int) -> tuple[Clock, int] | None:
    """Read a bare number that the name of a clock follows: "at 9 Bangkok time"."""
    if said.time.at.at(said.keys, at) is None:
        return None
    found = read_clock(said, at, sure=True)
    return found if found and read_zone(said, found[1]) else None


def _one_more_clock(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    """Read "at 9 and at 17:00"."""
    link = said.language.links.at(said.keys, at)
    if link is None or link[0] is not Link.AND or len(spoken.clocks) == _MOST_CLOCKS:
        return None
    found = read_clock(said, link[1])
    if found is None or said.language.verbs.at(said.keys, found[1]):
        return None  # "at 8 check it and at 9 remind me": the second is of another request
    return replace(spoken, end=found[1], clocks=(*spoken.clocks, found[0]))


def _impossible(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    """Read "at 25:00": it was meant as a time, and is none."""
    led = said.time.at.at(said.keys, at)
    if led is None or spoken.clocks or said.number(led[1], 2) is None:
        return None
    minute = said.number(led[1] + 2, 2)
    if minute is None or not said.is_tight(led[1] + 1, ":"):
        return None
    return replace(spoken, end=led[1] + 3, vague=True)


def _part(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    found = said.time.parts.at(said.keys, at)
    if found is None or spoken.part or spoken.now:
        return None
    if spoken.end > spoken.start or found[1] - at > 1 or read_clock(said, found[1]):
        return replace(spoken, end=found[1], part=found[0])
    return None


def _ahead(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    if spoken.end > spoken.start:
        return None
    led = said.time.inside.at(said.keys, at)
    start = led[1] if led else at
    if roughly := said.time.roughly.at(said.keys, start):
        start = roughly[1]
    amounts, end = read_amounts(said, start)
    if not amounts:
        number = read_number(said, start) if led else None
        bare = number is not None and _is_over(said, number[1])
        return replace(spoken, end=number[1], vague=True) if number and bare else None
    if led is None:
        after = said.time.from_now.at(said.keys, end)
        if after is None:
            return None
        end = after[1]
    return replace(spoken, end=end, ahead=Ahead(amounts))


def _is_over(said: Said, at: int) -> bool:
    """Whether nothing tells what was counted: "in 10", "in 10 to call Bob"."""
    if at >= len(said.tokens) or said.tokens[at].kind is Kind.MARK:
        return at >= len(said.tokens) or not said.tokens[at].tight
    return said.language.told.at(said.keys, at) is not None and not said.tokens[at].tight


def _zone(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    if not spoken.clocks or spoken.zone is not None or spoken.zone_unclear:
        return None
    found = read_zone(said, at)
    if found is None:
        return None
    return replace(spoken, end=found[1], zone=found[0], zone_unclear=found[0] is UNCLEAR)


def _until(said: Said, spoken: Spoken, at: int) -> Spoken | None:
    """Read how long a habit lasts, behind it or elsewhere in its sentence."""
    alone = spoken.end == spoken.start
    if spoken.until or not (spoken.every or (alone and said.recurs)):
        return None
    found = read_end(said, at)
    if found is None:
        return None
    end, after, sure = found
    return replace(spoken, end=after, until=end if sure or not alone else Unclear())


def _stands(said: Said, spoken: Spoken) -> bool:
    """Refuse the name of a day that describes a noun: "Friday deals", "weekend trip"."""
    if spoken.is_exact or spoken.end - spoken.start > 1 or not said.is_word(spoken.end):
        return True
    if isinstance(spoken.day, Weekday | Date) or spoken.every:
        return said.keys[spoken.end] in said.language.opens
    return True


_ATOMS: Final[tuple[Callable[[Said, Spoken, int], Spoken | None], ...]] = (
    _now,
    _ahead,
    _until,
    _vague,
    _every,
    _day,
    _clock,
    _impossible,
    _part,
    _zone,
)
