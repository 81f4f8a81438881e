"""How long a habit lasts: "until the end of March", "for the next two weeks", "ten times"."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from remit.intake.grammar.dates import Date, Day, read_day
from remit.intake.grammar.hours import read_clock, read_number
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spans import Ahead, read_amounts, whole_days
from remit.language.phrases import Phrases

_LAST_DAY: Final = Date(31, 12)
_FEASTS: Final = Phrases(
    {
        "christmas|xmas|christmas day|weihnachten|navidad|la navidad": Date(25, 12),
        "christmas eve|heiligabend|nochebuena": Date(24, 12),
        "new year's eve|silvester|nochevieja": Date(31, 12),
        "new year|new year's|neujahr|año nuevo": Date(1, 1),
    }
)  # those that fall on the same day every year; Easter must be asked
_PER: Final = frozenset({"a", "per", "each", "every", "am", "pro", "al", "por", "im", "in"})
_YEARS: Final = (1900, 2999)
_BARE: Final = 1  # a lone "for" may belong to what is asked for


@dataclass(frozen=True, slots=True)
class MonthEnd:
    """The last day of a month; without one of this one."""

    month: int | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """So many times."""

    count: int


@dataclass(frozen=True, slots=True)
class Unclear:
    """An end was said, and nobody can reckon it."""


End: TypeAlias = Day | MonthEnd | Ahead | Times | Unclear
Found = tuple[End, int, bool]  # the end, where its words end, and whether it can mean nothing else


def read_end(said: Said, at: int) -> Found | None:
    """Read how long something that comes back is to go on."""
    if led := said.time.until.at(said.keys, at):
        return _last_day(said, led[1])
    return _lasting(said, at) or _times(said, at)


def names_end(said: Said, at: int) -> bool:
    """Whether some end is named here at all; "until 5pm" and "up to 20 euros" name none."""
    led = said.time.until.at(said.keys, at)
    if led is None or led[1] >= len(said.tokens):
        return False
    return read_number(said, led[1]) is None and read_clock(said, led[1]) is None


def _last_day(said: Said, at: int) -> Found | None:
    words = said.time
    if end := words.ends.at(said.keys, at):
        return (_LAST_DAY if end[0] else MonthEnd()), end[1], True
    led = words.month_end.at(said.keys, at)
    month = words.months.at(said.keys, led[1]) if led else None
    if month:
        year = said.number(month[1], 4)
        dated = year is not None and _YEARS[0] <= year <= _YEARS[1]
        return MonthEnd(month[0], year if dated else None), month[1] + dated, True
    if feast := _FEASTS.at(said.keys, at):
        return feast[0], feast[1], True
    day = read_day(said, at)
    return (*day, True) if day else None


def _lasting(said: Said, at: int) -> Found | None:
    """Read "for the next two weeks", "zwei Wochen lang"; a lone "for two weeks" is unsure."""
    led = said.time.lasting.at(said.keys, at)
    amounts, end = read_amounts(said, led[1] if led else at)
    ahead = Ahead(amounts)
    if not amounts or not whole_days(ahead):
        return None
    if long := said.time.long.at(said.keys, end):
        return ahead, long[1], True
    return (ahead, end, led[1] - at > _BARE) if led else None


def _times(said: Said, at: int) -> Found | None:
    """Read "five times"; "five times a day" is how often."""
    number = read_number(said, at)
    many = said.time.times.at(said.keys, number[1]) if number else None
    if number is None or many is None or number[0] < 1:
        return None
    if many[1] < len(said.keys) and said.keys[many[1]] in _PER:
        return None
    return Times(number[0]), many[1], True
