"""Times as people say them, in three languages: parsed and resolved to moments.

Here: the time words of a language (`[time]` in its file), and the tokens in which times are read.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Final, cast

from msgspec import Struct, field

from remit.language.files import Phrases, plain_phrases, section, with_values
from remit.language.tokens import Token, TokenKind, fold

# The lists of words with which a time may begin, and with which something that comes back may.
_STARTS: Final = (
    *("numbers", "spans", "quarter_hours", "on_weekdays", "weekdays", "months", "days", "parts"),
    *("named", "at", "on", "which", "next_week", "the_day", "inside", "every", "adverbs", "from_"),
    *("half_before", "now", "vague", "month_ends", "until", "lasting", "ordinals"),
)
_OFTEN: Final = (
    "every",
    "on_weekdays",
    "adverbs",
    "from_",
    "the_day",
    "on",
    "weekdays",
    "ordinals",
)
# The lists of words with which each part of a phrase of time may begin.
_PARTS: Final = {
    "now": ("now",),
    "ahead": ("inside", "roughly", "numbers", "spans", "quarter_hours"),
    "until": ("until", "lasting", "numbers", "spans"),
    "vague": ("vague",),
    "every": (*_OFTEN, "numbers"),
    "except": ("except_",),
    "day": (
        *("days", "month_ends", "which", "on", "next_week", "weekdays", "months", "the_day"),
        *("ordinals", "numbers"),
    ),
    "clock": ("at", "named", "numbers", "half_before", "and_"),
    "part": ("parts",),
}
_OPENERS: Final = (
    "frames",
    "wants",
    "me",
    "them",
    "to",
    "by",
    "on",
    "particles",
    "statement",
    "doing",
)


class DayPart(StrEnum):
    """A part of the day; it tells the half of the dial, but is no moment by itself."""

    MORNING = "morning"
    AFTERNOON = "afternoon"
    EVENING = "evening"
    NIGHT = "night"
    SMALL_HOURS = "small hours"


class TimeUnit(StrEnum):
    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class WhichWeek(StrEnum):
    """Which Friday: the coming one, or the ambiguous one."""

    COMING = "coming"
    NEXT = "next"
    NEXT_WEEK = "next week"


class TimeWords(Struct, frozen=True, kw_only=True, eq=False):
    """The time words of a language."""

    numbers: Phrases[int]
    spans: Phrases[float]  # "an", "half a", "anderthalb": how many of a unit
    and_half: Phrases[float]  # "and a half", after the number or the unit
    units: Phrases[TimeUnit]
    quarter_hours: Phrases[int]  # units of their own, in minutes: "Viertelstunde"
    ordinals: Phrases[int]
    ordinal_ends: Phrases[bool]  # "st", "nd", "º"
    weekdays: Phrases[int]
    on_weekdays: Phrases[tuple[int, ...]]  # every week by themselves: "mondays", "werktags"
    months: Phrases[int]
    days: Phrases[tuple[int, DayPart | None]]
    parts: Phrases[DayPart]
    named: Phrases[tuple[int, ...]]  # "noon": an hour and a minute
    at: Phrases[bool]
    on: Phrases[bool]
    which: Phrases[WhichWeek]
    which_after: Phrases[WhichWeek]  # "que viene"
    next_week: Phrases[bool]  # around the name of a day
    of: Phrases[bool]
    the_day: Phrases[bool]  # "the", "el día": before the number of a day
    inside: Phrases[bool]  # "in", "dentro de"
    roughly: Phrases[bool]  # between "in" and how much: "exactly", "about"
    from_now: Phrases[bool]
    every: Phrases[bool]
    except_: Phrases[bool]  # "except": days on which something that comes back does not
    month_ends: Phrases[bool]  # "at the end of the month"
    other: Phrases[int]  # "every other": every second
    each_month: Phrases[bool]  # "of every month"
    the_month: Phrases[bool]  # "of the month": of every one only after "every"
    adverbs: Phrases[TimeUnit]  # "daily"
    weekend: Phrases[tuple[int, ...]]  # after "every": "weekday", "weekend"
    every_part: Phrases[DayPart]  # after "every" alone: "mañana", "Morgen"
    from_: Phrases[bool]
    through: Phrases[bool]  # Monday to Friday
    half_before: Phrases[int]  # minutes said before the hour: "half past", "halb"
    past: Phrases[int]  # ten past three: +1; ten to three: -1
    half_after: Phrases[int]  # minutes said after the hour: "y media"
    plus: Phrases[int]  # las tres y diez: +1; las tres menos diez: -1
    oclock: Phrases[bool]
    am_pm: Phrases[int]  # what to add to an hour on the dial
    hour_marks: Phrases[bool]  # 15h30, 15 Uhr 30
    now: Phrases[bool]
    vague: Phrases[bool]
    about: Phrases[bool]  # words that make a time part of a topic: "for tomorrow"
    zone_ends: Phrases[bool]  # "time", after a city
    zone_starts: Phrases[bool]  # "hora de", before a city
    deadlines: Phrases[bool]  # "by": it is to be done before then
    until: Phrases[bool]
    month_end: Phrases[bool]  # "the end of", before the name of a month
    ends: Phrases[int]  # 0: of this month, 12: of this year
    feasts: Phrases[tuple[int, ...]]  # a day and a month, the same every year
    per: Phrases[bool]  # "a day", behind how many times
    lasting: Phrases[bool]  # "for the next", before how long a habit lasts
    long: Phrases[bool]  # "lang", behind it
    times: Phrases[bool]  # "times", after how many
    and_: Phrases[bool]
    digital_is_24: bool  # whether 4:30 is written for the morning alone
    bare_day: bool  # whether a number without an ending may be a day: "el 15"
    day_first: bool | None  # whether 3/4 is the third of April; None: nobody knows
    part_starts: Mapping[str, frozenset[str]]  # words each part of a phrase may begin with
    starts: frozenset[str]  # words a time may begin with
    often_starts: frozenset[str]  # words that something which comes back may begin with
    opens: frozenset[str]  # words that may follow a time: they begin something else
    orders: frozenset[str]  # verbs that ask for something
    known: frozenset[str]  # every word that is none of a place


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(map(int, value.split()))


def _day(value: str) -> tuple[int, DayPart | None]:
    days, _, part = value.partition(" ")
    return int(days), DayPart(part) if part else None


_VALUES: Final = {
    **dict.fromkeys(
        (
            *("numbers", "quarter_hours", "ordinals", "weekdays", "months", "other", "half_before"),
            *("past", "half_after", "plus", "am_pm", "ends"),
        ),
        int,
    ),
    **dict.fromkeys(("spans", "and_half"), float),
    **dict.fromkeys(("units", "adverbs"), TimeUnit),
    **dict.fromkeys(("parts", "every_part"), DayPart),
    **dict.fromkeys(("which", "which_after"), WhichWeek),
    **dict.fromkeys(("on_weekdays", "weekend", "named", "feasts"), _numbers),
    "days": _day,
}


@cache
def time_words(code: str) -> TimeWords:
    """Return the time words of one language, read once."""
    table, words, verbs = (section(code, name) for name in ("time", "words", "verbs"))
    found: dict[str, object] = {"and_": plain_phrases(*words["and"])}
    for name in (each.rstrip("_") for each in TimeWords.__struct_fields__):
        if isinstance(lines := table.get(name), list):
            value = _VALUES.get(name)
            found[f"{name}_" if name in ("from", "except") else name] = (
                with_values(lines, cast("Callable[[str], object]", value))
                if value
                else plain_phrases(*lines)
            )
    made = {name: cast("Phrases[object]", each) for name, each in found.items()}
    starts = frozenset[str]().union(*(made[name].firsts for name in _STARTS))
    often = frozenset[str]().union(*(made[name].firsts for name in _OFTEN))
    orders = plain_phrases(*(each for kind in verbs.values() for each in kind)).firsts
    common = frozenset(map(fold, words["common"]))
    opens = (
        plain_phrases(*words[each]).firsts for each in (*_OPENERS, "and", "then", "also", "polite")
    )
    every = (each.words for each in made.values())
    return TimeWords(
        **found,  # type: ignore[arg-type]
        digital_is_24=bool(table["digital_is_24"]),
        bare_day=bool(table["bare_day"]),
        day_first=cast("bool | None", table.get("day_first")),
        part_starts={
            part: frozenset[str]().union(*(made[name].firsts for name in names))
            for part, names in _PARTS.items()
        },
        starts=starts,
        often_starts=often,
        opens=common.union(starts, orders, *opens),
        orders=orders,
        known=common.union(orders, *every),
    )


class TimeText(Struct, frozen=True, eq=False):
    """Tokens and the time words of their language; `recurs`: something in it repeats."""

    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    words: TimeWords
    recurs: bool = False
    read: dict[int, object] = field(default_factory=dict)  # times by their places
    often: dict[int, object] = field(default_factory=dict)  # how often something comes back

    def is_word(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind is TokenKind.WORD

    def number(self, at: int, most: int = 6) -> int | None:
        """Read digits at a place; a longer run is another kind of number."""
        if at >= len(self.tokens) or self.tokens[at].kind is not TokenKind.NUMBER:
            return None
        text = self.tokens[at].text
        return int(text) if len(text) <= most else None

    def is_tight(self, at: int, key: str) -> bool:
        """Whether this token follows the one before it without a gap."""
        return at < len(self.keys) and self.keys[at] == key and self.tokens[at].tight
