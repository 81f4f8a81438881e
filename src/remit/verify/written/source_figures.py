"""The figures a claim may rely on: those of all sources and of the owner's words."""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Final

from remit.language.tokens import fold, fold_text
from remit.verify.written import places, times
from remit.verify.written.figures import (
    AmountFigure,
    CodeFigure,
    DateFigure,
    DurationFigure,
    Figure,
    MailFigure,
    PageFigure,
    PhoneFigure,
    TimeFigure,
    find_figures,
)
from remit.verify.written.places import NumberValue
from remit.verify.written.times import MINUTES_PER_HOUR, PartialDate, day_of
from remit.verify.written.wording import pattern, values

_NOON: Final = 12
_NEAR: Final = 0.05  # how far "about 1,500" may be from what it rounds
_CLOSE: Final = 1e-9
_OF_DATE: Final = "date"  # the measure of a day or year: 15 May does not state 15 euros


class SourceFigures:
    """The figures of everything read and said. `days` belong to the work itself: its today."""

    def __init__(self, texts: Iterable[str], days: Iterable[date] = ()) -> None:
        self.pages: set[str] = set()
        self.sites: set[str] = set()
        self.names: set[str] = set()  # mail addresses and versions
        self.phones: set[str] = set()
        self.days: list[PartialDate] = [day_of(each) for each in days]
        self.years: set[int] = {each.year for each in self.days if each.year}
        self.times: set[int] = set()
        self.lengths: set[int] = set()
        self.amounts: set[float] = {float(year) for year in self.years}
        self._measures: dict[float, set[str]] = {}  # in which units amounts are stated
        for text in texts:
            self._add(text)

    def has(self, figure: Figure, *, hedged: bool = False) -> bool:
        """Whether a figure is there, in any spelling; `hedged`: whether one is near."""
        match figure:
            case PageFigure():
                return self.has_page(figure.address)
            case MailFigure() | CodeFigure():
                return fold(figure.text) in self.names
            case PhoneFigure():
                return any(places.same_phone(figure.digits, each) for each in self.phones)
            case DateFigure():
                # An apparent day, `8.1.` or `16/11`, may be one or two numbers.
                numbers = not _short(figure.text).isdisjoint(self.amounts)
                return numbers or any(self.has_day(each) for each in figure.meant)
            case _:
                return self._has_quantity(figure, hedged=hedged)

    def has_page(self, address: str) -> bool:
        return address in self.pages or ("/" not in address and address in self.sites)

    def has_day(self, day: PartialDate) -> bool:
        """Whether this day is stated; a year that nobody said does not count."""
        known = day.year is None or day.year in self.years
        return known and any(day.agrees(each) for each in self.days)

    def has_value(self, value: NumberValue, measure: str = "", *, hedged: bool = False) -> bool:
        amount, grain = value
        if amount in self.amounts:
            return self._is_stated(amount, measure)
        most = max(grain / 2, amount * _NEAR if hedged else 0.0)
        # To the last digit: 19 for 18.7 is rounded, 19 for 18 is wrong.
        near = (each for each in self.amounts if abs(amount - each) <= most - _CLOSE)
        return any(self._is_stated(each, measure) for each in near)

    def _is_stated(self, amount: float, measure: str) -> bool:
        """Whether an amount is stated in this unit, or somewhere without one."""
        stated = self._measures.get(amount, {""})
        return not measure or measure in stated or "" in stated

    def _has_quantity(
        self, figure: TimeFigure | DurationFigure | AmountFigure, *, hedged: bool
    ) -> bool:
        match figure:
            case TimeFigure():
                whole = {m // MINUTES_PER_HOUR for m in figure.minutes if m % MINUTES_PER_HOUR == 0}
                hours = whole | {hour % _NOON for hour in whole}
                return not self.times.isdisjoint(figure.minutes) or not self.amounts.isdisjoint(
                    hours
                )
            case DurationFigure():
                # They may be stated as a bare number, or as hours.
                bare = {float(figure.minutes), figure.minutes / MINUTES_PER_HOUR}
                return figure.minutes in self.lengths or not bare.isdisjoint(self.amounts)
            case AmountFigure():
                values = figure.number.values
                measure = figure.number.measure
                stated = any(self.has_value(each, measure, hedged=hedged) for each in values)
                return stated or not self.times.isdisjoint(_clock(figure))

    def _add(self, text: str) -> None:
        self._learn_bare(places.spelled_numbers(text))
        self.times |= times.named_times(text)
        stated = find_figures(text)
        for figure in stated:
            self._learn(figure)
        self._learn_bare(_fields(text) | _shares(text))
        clock = [each for each in stated if isinstance(each, TimeFigure)]
        for first, second in pairwise(clock):
            self.lengths |= times.lengths_between(first.minutes, second.minutes)

    def _learn(self, figure: Figure) -> None:
        match figure:
            case PageFigure():
                self.learn_page(figure.text)
            case MailFigure() | CodeFigure():
                self.names.add(fold(figure.text))
            case PhoneFigure():
                self.phones.add(figure.digits)
            case DateFigure():
                self._learn_days(figure.meant)
                self._learn_bare(_short(figure.text))
            case TimeFigure():
                self.times |= set(figure.minutes)
                hours = {m // MINUTES_PER_HOUR for m in figure.minutes if m % MINUTES_PER_HOUR == 0}
                self.amounts |= {float(each) for h in hours for each in (h, h % _NOON or _NOON)}
            case DurationFigure():
                self.lengths.add(figure.minutes)
                self.amounts |= {
                    float(figure.minutes),
                    figure.minutes // MINUTES_PER_HOUR,
                    figure.minutes % MINUTES_PER_HOUR,
                }
            case AmountFigure():
                self._learn_amount(figure)

    def learn_page(self, url: str) -> None:
        self.pages.add(places.address(url))
        self.sites |= {places.host(url), places.site(url)}

    def _learn_bare(self, amounts: set[float]) -> None:
        self.amounts |= amounts
        for amount in amounts:
            self._measures.setdefault(amount, set()).add("")

    def _learn_days(self, dates: tuple[PartialDate, ...]) -> None:
        self.days += dates
        self.years |= {each.year for each in dates if each.year}
        stated = [part for each in dates for part in (each.year, each.day) if part]
        for part in stated:
            self.amounts.add(float(part))
            self._measures.setdefault(float(part), set()).add(_OF_DATE)

    def _learn_amount(self, figure: AmountFigure) -> None:
        self.amounts |= set(figure.number.amounts)
        for amount in figure.number.amounts:
            self._measures.setdefault(amount, set()).add(figure.number.measure)
        self.phones |= {digits for digits in (_digits(figure.text),) if digits}
        year = figure.number.amounts[0]
        if year in _YEARS:
            self.years.add(int(year))


_YEARS: Final = range(1500, 2101)
_PHONE: Final = 7
_PARTED: Final = re.compile(r"[,;\t|]")


def _clock(figure: AmountFigure) -> set[int]:
    """Return the time a number may be if only the last one says so: 8.30 to 16.30 Uhr."""
    found = re.fullmatch(r"([01]?\d|2[0-3])\.([0-5]\d)", figure.text)
    return {int(found[1]) * MINUTES_PER_HOUR + int(found[2])} if found else set()


def _short(text: str) -> set[float]:
    if re.fullmatch(r"\d+/\d+", text):
        return {float(part) for part in text.split("/")}
    return {float(text[:-1])} if re.fullmatch(r"\d+\.\d+\.", text) else set()


def _fields(text: str) -> set[float]:
    """Return the numbers of a table separated by commas without blanks: 640,38.4,62.59."""
    fields = (each for line in text.splitlines() for each in _PARTED.split(line))
    return {float(each) for each in fields if re.fullmatch(r"\d+(?:\.\d+)?", each)}


def _shares(text: str) -> set[float]:
    """Return halves and quarters in words, as shares of one and of a hundred."""
    folded = fold_text(text)
    named = (
        each
        for each in values("figures.shares")
        if pattern(f"figures.shares:{each}").search(folded)
    )
    stated = [float(Fraction(each)) for each in named]
    return {float(each) for share in stated for each in (share, share * 100, round(share * 100))}


def _digits(text: str) -> str:
    bare = "".join(each for each in text if each.isdigit())
    return bare if len(bare) >= _PHONE else ""


def days_after(day: date, count: float) -> PartialDate:
    """Return the day this many days after another."""
    return day_of(day + timedelta(days=int(count)))
