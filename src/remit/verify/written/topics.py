"""What a question asks for and an answer must have: a price, a time, a name.

The words of both are in `words_*.toml`, under `asks` and `tells`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.numbers import NUMBER_WORDS
from remit.language.tokens import fold, fold_text
from remit.verify.written.figures import (
    AmountFigure,
    DateFigure,
    DurationFigure,
    Figure,
    MailFigure,
    PageFigure,
    PhoneFigure,
    TimeFigure,
)
from remit.verify.written.vocabulary import any_of, pattern
from remit.verify.written.wording import STOP, folded_words

_UPPER: Final = "[A-ZÄÖÜÁÉÍÓÚÑ]"
_CAPITAL: Final = rf"{_UPPER}[\w’'-]+"
_NAME: Final = re.compile(rf"\b({_CAPITAL}) (?:[a-z]{{2,3}} )?({_CAPITAL})")
_CAMEL: Final = re.compile(r"\b[A-Z][a-z]+[A-Z]\w+")  # names of companies


class MeasuredText(Struct, frozen=True):
    """A text with its figures; `folded` is lower case without accents."""

    text: str
    folded: str
    figures: Sequence[Figure]

    def has(self, *kinds: type[Figure]) -> bool:
        return any(isinstance(each, kinds) for each in self.figures)

    def measures(self, *units: str) -> bool:
        amounts = (each for each in self.figures if isinstance(each, AmountFigure))
        return any(each.number.unit.startswith(units) for each in amounts if each.number.unit)

    def counts(self) -> bool:
        """Whether it says how many; a year does not."""
        amounts = (each.said for each in self.figures if isinstance(each, AmountFigure))
        some = any(not re.fullmatch(r"(?:19|20)\d\d", each) for each in amounts)
        return some or not NUMBER_WORDS.keys().isdisjoint(folded_words(self.text))

    def says(self, *lists: str) -> bool:
        return pattern(*(f"tells.{each}" for each in lists)).search(self.folded) is not None

    def says_weekday(self) -> bool:
        weekdays = pattern("tells.weekdays", "requests.weekdays*")
        return weekdays.search(self.folded) is not None


Seen: TypeAlias = Callable[[MeasuredText], bool]


class Topic(Struct, frozen=True):
    name: str
    asked: re.Pattern[str]
    seen: Seen
    loose: bool = False  # whether the answer may be in unforeseen words


def topics_of(item: str) -> list[Topic]:
    """Return what a piece of a request asks for, as far as its words tell."""
    folded = fold_text(item)
    return [topic for topic in _topics() if topic.asked.search(folded)]


def begins_with(folded: str, *lists: str) -> bool:
    """Whether a piece of a request begins with a listed word, perhaps after a "please"."""
    polite = rf"\W*(?:{any_of('answers.polite')} ){{0,2}}"
    return pattern(*lists, before=polite).match(folded) is not None


@cache
def _topics() -> tuple[Topic, ...]:
    return tuple(
        Topic(name, pattern(f"asks.{name}"), seen, loose=name == "who")
        for name, seen in _SEEN.items()
    )


def _tells_when(answer: MeasuredText) -> bool:
    figure = answer.has(TimeFigure, DateFigure) or re.search(r"\b\d{4}\b", answer.text)
    return bool(figure) or answer.says_weekday() or answer.says("soon")


def _tells_length(answer: MeasuredText) -> bool:
    units = pattern("tells.length", before=r"\w[.,-]* ").search(answer.folded)
    figure = answer.has(DurationFigure, TimeFigure) or answer.measures("h", "min")
    return figure or units is not None or answer.says("soon")


def _has_address(answer: MeasuredText) -> bool:
    return answer.says("street") or _numbered_place().search(answer.text) is not None


def _tells_where(answer: MeasuredText) -> bool:
    near = answer.says("nearby") or _at_place().search(answer.text)
    return bool(near) or _has_address(answer)


def _names_someone(answer: MeasuredText) -> bool:
    """Whether someone is named: two capitalised words that do not only begin a sentence."""
    pairs = (found.groups() for found in _NAME.finditer(answer.text))
    single = _titled().search(answer.text) or _CAMEL.search(answer.text)
    return single is not None or any(
        fold(first) not in STOP and fold(last) not in STOP for first, last in pairs
    )


@cache
def _numbered_place() -> re.Pattern[str]:
    """Return the pattern of a numbered place: Rúa Nova 45, 99423 Weimar."""
    at = any_of("small.at", "small.at_number")
    return re.compile(
        rf"(?:{at}|[,:]|^)\s*(?:{_UPPER}[\w]+[ .]+){{1,3}}\d{{1,4}}\b"
        rf"(?!\s?(?:(?i:{any_of('small.after_hour', glued=True)})|h\b|[-–:.,]?\d|[€$£%]))"
        r"|\b\d{4,5} [A-ZÄÖÜ]",
        re.MULTILINE,
    )


@cache
def _at_place() -> re.Pattern[str]:
    """Return the pattern of a name after "in" or "at" that is no day or month."""
    times = any_of("requests.weekdays*", "time.months")
    at, the = any_of("small.at", "small.at_name"), any_of("small.the")
    return re.compile(rf"{at} (?:{the} )?(?!(?i:{times})){_UPPER}\w+")


@cache
def _titled() -> re.Pattern[str]:
    """Return the pattern of a name after a title, "by", or a colon."""
    titles, by = any_of("requests.titles"), any_of("small.by")
    return re.compile(rf"(?i:{titles})\.? ?{_UPPER}|{by} [A-Z]|: [A-Z]\w+ [A-Z]")


_SEEN: Final[Mapping[str, Seen]] = {
    "price": lambda a: a.has(AmountFigure) or a.says("free"),
    "hours": lambda a: a.has(TimeFigure) or a.says_weekday() or a.says("hours"),
    "when": _tells_when,
    "length": _tells_length,
    "address": _has_address,
    "where": _tells_where,
    "size": lambda a: a.has(AmountFigure) or a.says("size"),
    "phone": lambda a: a.has(PhoneFigure) or bool(re.search(r"\d[\d ()/-]{5,}\d", a.text)),
    "mail": lambda a: a.has(MailFigure),
    "contact": lambda a: a.has(MailFigure, PhoneFigure, PageFigure),
    "page": lambda a: a.has(PageFigure),
    "who": _names_someone,
    "many": lambda a: a.counts(),
    "energy": lambda a: a.says("energy"),
    "weather": lambda a: a.measures("°") or a.says("weather"),
    "weight": lambda a: a.measures("kg", "g", "mg") or a.says("weight"),
    "pick": lambda a: a.says("pick"),
    "join": lambda a: a.says("join") or a.has(MailFigure, PageFigure, PhoneFigure),
}
