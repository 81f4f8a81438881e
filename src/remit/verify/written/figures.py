"""Finds everything in a text that could be invented and looked up: pages, dates, numbers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.tokens import fold_text
from remit.verify.written import places, times
from remit.verify.written.places import Number
from remit.verify.written.times import PartialDate
from remit.verify.written.wording import lower, pattern


class _FoundText(Struct, frozen=True):
    text: str
    at: int  # its position in the text


class PageFigure(_FoundText, frozen=True):
    address: str


class MailFigure(_FoundText, frozen=True):
    """A mail address."""


class PhoneFigure(_FoundText, frozen=True):
    digits: str


class DateFigure(_FoundText, frozen=True):
    meant: tuple[PartialDate, ...]

    def near(self, today: date) -> list[date]:
        """Return the full dates it may mean; without a year the ones nearest to `today`."""
        return [day for each in self.meant if (day := each.whole(today))]


class TimeFigure(_FoundText, frozen=True):
    minutes: tuple[int, ...]  # of the day


class DurationFigure(_FoundText, frozen=True):
    minutes: int


class AmountFigure(_FoundText, frozen=True):
    number: Number
    end: int


class CodeFigure(_FoundText, frozen=True):
    """A number in three or more parts that counts nothing: 4.2.0."""


Figure: TypeAlias = (
    PageFigure
    | MailFigure
    | PhoneFigure
    | DateFigure
    | TimeFigure
    | DurationFigure
    | AmountFigure
    | CodeFigure
)
_FigureWithEnd: TypeAlias = tuple[int, Figure]  # with its end

_MARKER: Final = re.compile(r"^[ \t]*(?:#+[ \t]*)?\d{1,3}[.)](?=[ \t]+\S)", re.MULTILINE)
_NOTE: Final = re.compile(r"\[\^?\d{1,2}\]")
_NUMBER_FOLLOWS: Final = r"\W{0,3}(?:\w+\W{1,2}){0,2}\Z"
_CODE: Final = re.compile(
    r"(?:(?<![\w.])|(?<=\bv))(?!\d{1,3}(?:\.\d{3})+(?!\d))\d+(?:\.\d+){2,}(?!\w)"
)
_SCALES: Final = (5, 6, 10, 20, 100)
_MAX_LABEL_CHARACTERS: Final = 20
_SURE_DIGITS: Final = 9


_MAY_HOLD_ONE: Final = re.compile(r"[\d@]|//|\w\.\w")
_MAY_HOLD_PAGE: Final = re.compile(r"//|\w\.\S")
_CODE_PARTS: Final = 2  # full stops at least


@lru_cache(maxsize=32)  # a check looks at the same few texts again and again
def find_figures(text: str) -> Sequence[Figure]:
    """Every figure of a text, in order. What numbers its lists and steps is none."""
    if not _MAY_HOLD_ONE.search(text):
        return ()
    left = _UnclaimedText(text)
    found: list[Figure] = []
    if "@" in text:
        mails = places.MAIL.finditer(text)
        found += left.claim((each.end(), MailFigure(each[0], each.start())) for each in mails)
    if _MAY_HOLD_PAGE.search(left.rest):
        found += left.claim(_pages(left))
    dates = times.find_dates(left.rest)
    found += left.claim(
        (end, DateFigure(text[at:end], at, dates_meant)) for at, end, dates_meant in dates
    )
    for mark in (_MARKER, _NOTE):
        left.blank(each.span() for each in mark.finditer(left.rest))
    if left.rest.count(".") >= _CODE_PARTS:
        codes = _CODE.finditer(left.rest)
        found += left.claim((each.end(), CodeFigure(each[0], each.start())) for each in codes)
    lengths = times.find_lengths(left.rest)
    found += left.claim((end, DurationFigure(text[at:end], at, each)) for at, end, each in lengths)
    clock = times.find_times(left.rest)
    found += left.claim((end, TimeFigure(text[at:end], at, each)) for at, end, each in clock)
    if places.may_hold_phone(left.rest):
        found += left.claim(_phones(left))
    return tuple(sorted((*found, *_amounts(left)), key=lambda each: each.at))


def amounts_in(found: Iterable[Figure]) -> set[float]:
    """Return all values that the numbers among some figures may mean."""
    numbered = (each.number for each in found if isinstance(each, AmountFigure))
    return {amount for each in numbered for amount in each.amounts}


class _UnclaimedText:
    """A text, and which part of it no figure has claimed yet."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rest = text

    def claim(self, found: Iterable[_FigureWithEnd]) -> list[Figure]:
        """Claim figures, all at once."""
        taken = list(found)
        if taken:
            self.blank((figure.at, end) for end, figure in taken)
        return [figure for _, figure in taken]

    def blank(self, spans: Iterable[tuple[int, int]]) -> None:
        taken = sorted(spans)
        if not taken:
            return
        parts, at = [], 0
        for start, end in taken:
            parts += [self.rest[at:start], "\x00" * (end - max(at, start))]
            at = max(at, end)
        self.rest = "".join((*parts, self.rest[at:]))

    def before(self, at: int) -> str:
        """Return a few words before a position, folded."""
        return fold_text(self.text[max(0, at - 40) : at])


def _pages(left: _UnclaimedText) -> Iterator[_FigureWithEnd]:
    done = 0
    for start, end, url in sorted(places.urls(left.rest)):
        if start >= done and "\x00" not in url:
            yield end, PageFigure(url, start, places.address(url))
            done = end


def _phones(left: _UnclaimedText) -> Iterator[_FigureWithEnd]:
    for start, end, digits in places.phones(left.rest):
        written = left.text[start:end]
        long = len(digits) >= _SURE_DIGITS or re.search(r"\D", written)
        sure = written[0] in "+0(" and long and not places.is_amount(written)
        if sure or pattern("figures.telephone", after=_NUMBER_FOLLOWS).search(left.before(start)):
            yield end, PhoneFigure(written, start, digits)


def _amounts(left: _UnclaimedText) -> Iterator[AmountFigure]:
    for match in places.number_shape().finditer(lower(left.rest)):
        number = places.read_number(match)
        if number is not None and not _is_label(number, left, match.start()):
            text = left.text[match.start() : match.end()].strip()
            yield AmountFigure(text, match.start(), number, match.end())


def _is_label(number: Number, left: _UnclaimedText, at: int) -> bool:
    """Whether a number names a step, or the end of a scale: 7.9 out of 10."""
    whole = number.values[0].amount
    small = not number.unit and whole <= _MAX_LABEL_CHARACTERS
    if not (small or whole in _SCALES):
        return False
    before = left.before(at)
    step = pattern("figures.labels", before="(?:#|", after=r"\.?)[ \t]*\n?\Z")
    out_of = pattern("figures.out_of", before=r"\d\s?(?:/|", after=r")\s?\Z")
    labels = small and step.search(before)
    return bool(labels or (whole in _SCALES and out_of.search(before)))
