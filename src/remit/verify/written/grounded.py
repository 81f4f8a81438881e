"""Checks that every number, date and address of a text is in a source or the owner's words.

Numbers written as words, list numbers, and the counts of the text's own lists are exempt. A sum,
difference or share of the text's own figures is recomputed. Any other figure without a source
counts as invented.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

from remit.language.tokens import fold_text
from remit.model.codec import first_few
from remit.model.contract import Evidence
from remit.model.task import Task
from remit.verify.written import arithmetic, places, times
from remit.verify.written.figures import (
    AmountFigure,
    DateFigure,
    DurationFigure,
    Figure,
    TimeFigure,
    amounts_in,
    find_figures,
)
from remit.verify.written.source_figures import SourceFigures, days_after
from remit.verify.written.times import PartialDate, day_of
from remit.verify.written.wording import (
    MAX_CHARACTERS,
    PASSED,
    Judged,
    entries,
    fail,
    owner_words,
    pattern,
    rows,
)

_PRICES: Final = 60
_MAX_SMALL_NUMBER: Final = 12
_NEAR_DAYS: Final = 14
_SHOWN: Final = 3
_WINDOW: Final = 40  # characters before a figure
_NEXT: Final = 14  # characters after it


def judge_grounded(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """No pattern. Fails with the first few figures without a source."""
    del wanted
    if len(evidence.text) > MAX_CHARACTERS:
        many = f"its {len(evidence.text)} characters are too many to look up"
        return fail(f"{many}; at most {MAX_CHARACTERS}")
    lost = invented_figures(task, evidence)
    if not lost:
        return PASSED
    shown = first_few([f"“{each.text}”" for each in lost], _SHOWN)
    stands = "stand" if len(lost) > 1 else "stands"
    return fail(f"{shown} {stands} neither in what was read nor in the request")


def invented_figures(
    task: Task, evidence: Evidence, ground: SourceFigures | None = None
) -> list[Figure]:
    """The figures of the text that stand nowhere and follow from nothing."""
    text = evidence.text
    stated = find_figures(text)
    if not stated:
        return []
    ground = ground or figures_of_sources(task, evidence)
    stands = [ground.has(each, hedged=_is_hedged(text, each.at)) for each in stated]
    lost = [each for each, there in zip(stated, stands, strict=True) if not there]
    if not lost:
        return []
    known = [each for each, there in zip(stated, stands, strict=True) if there]
    return _Reckoning(task, evidence, ground).left(lost, known)


def figures_of_sources(task: Task, evidence: Evidence) -> SourceFigures:
    """Return the figures of everything that was read, and of the owner's words."""
    read = [part for each in evidence.read for part in (each.place, each.text)]
    ground = SourceFigures([*read, *owner_words(task)], _todays(task, evidence))
    for each in evidence.read:
        ground.learn_page(each.place)
    return ground


def _todays(task: Task, evidence: Evidence) -> list[date]:
    moments = (
        *(task.created_at, task.scheduled_for, task.started_at, task.slot),
        *(each.read_at for each in evidence.read),
    )
    return [each.date() for each in moments if isinstance(each, datetime)]


def _is_hedged(text: str, at: int) -> bool:
    hedge = pattern("figures.hedges", before="(?:[~≈]|", after=r")\W{0,3}(?:\w{1,3}\W)?\Z")
    return hedge.search(fold_text(text[max(0, at - _WINDOW) : at])) is not None


def _counts_unit(text: str, end: int, unit: str, *more: str) -> bool:
    """Whether a unit of time follows a figure."""
    after = fold_text(text[end : end + _NEXT]).strip()
    return pattern(f"time.units:{unit}", *more).match(after) is not None


class _Reckoning:
    """Recalculates what a text may have calculated."""

    def __init__(self, task: Task, evidence: Evidence, ground: SourceFigures) -> None:
        self._text = text = evidence.text
        own = owner_words(task)
        asked = {n for t in own for n in amounts_in(find_figures(t)) | places.spelled_numbers(t)}
        read = [each.text for each in evidence.read]
        self._read_results = arithmetic.results_in_sentences(read)
        self._columns = [column for part in read for column in arithmetic.number_columns(part)]
        self._today = (task.started_at or task.scheduled_for or task.created_at).date()
        self._ground = ground
        self._asked = fold_text(" ".join(owner_words(task)))
        self._reckons = arithmetic.is_asked(self._asked)
        self._counts = frozenset(places.spelled_numbers(text) | asked)
        # The owner's quantities, at prices that were read.
        if len(ground.amounts) <= _PRICES:
            self._read_results += [n * each for n in asked for each in ground.amounts]
        self._own = {float(n) for n in (len(entries(text)), rows(text), *_tops(text)) if n}

    def left(self, lost: list[Figure], known: list[Figure]) -> list[Figure]:
        """Return what cannot be derived; derived figures help with later ones."""
        while True:
            found = [each for each in lost if self._follows(each, known)]
            if not found:
                return lost
            known = sorted((*known, *found), key=lambda each: each.at)
            lost = [each for each in lost if each not in found]

    def _follows(self, figure: Figure, known: Sequence[Figure]) -> bool:
        stated = [each for each in known if isinstance(each, AmountFigure)]
        return arithmetic.in_ratio(figure, self._text, stated) or self._is_worked_out(figure, known)

    def _is_worked_out(self, figure: Figure, known: Sequence[Figure]) -> bool:
        match figure:
            case AmountFigure():
                return self._amount(figure, known)
            case DateFigure():
                return any(self._day(each, known) for each in figure.meant)
            case TimeFigure():
                return self._time(figure, known)
            case DurationFigure():
                return self._length(figure, known)
            case _:
                return False

    def _amount(self, figure: AmountFigure, known: Sequence[Figure]) -> bool:
        own = not figure.number.unit and not self._own.isdisjoint(figure.number.amounts)
        if own or _is_count(figure, self._text) or arithmetic.is_total(figure, self._columns):
            return True
        if self._counts_days(figure, known) or self._counts_years(figure):
            return True
        sentence = _sentence(self._text, figure.at, figure.end)
        amounts = [each for each in known if isinstance(each, AmountFigure) and not _is_year(each)]
        if arithmetic.is_share(figure, [each for each in amounts if each.text in sentence]):
            return True
        if not (self._reckons or arithmetic.is_fine(figure) or arithmetic.is_cued(sentence)):
            return False
        stated = arithmetic.stated_figures(amounts, self._text)
        basis = arithmetic.ArithmeticBasis(stated, self._counts, self._columns, self._read_results)
        hedged = _is_hedged(self._text, figure.at)
        return arithmetic.follows_from(figure, basis, hedged=hedged, hundred="100" in sentence)

    def _counts_years(self, figure: AmountFigure) -> bool:
        """Whether an amount is the number of years since a stated one."""
        if not _counts_unit(self._text, figure.end, "year"):
            return False
        years = self._ground.years
        gone = {float(self._today.year - year - less) for year in years for less in (0, 1)}
        return not gone.isdisjoint(figure.number.amounts)

    def _counts_days(self, figure: AmountFigure, known: Sequence[Figure]) -> bool:
        """Whether an amount is the number of days between two stated ones."""
        if not _counts_unit(self._text, figure.end, "day", "figures.nights"):
            return False
        stated = [
            self._today,
            *(d for each in known if isinstance(each, DateFigure) for d in each.near(self._today)),
        ]
        gaps = {abs((a - b).days) + more for a in stated for b in stated for more in (0, 1)}
        return not gaps.isdisjoint(figure.number.amounts)

    def _day(self, day: PartialDate, known: Sequence[Figure]) -> bool:
        """Whether a day was mentioned as tomorrow or Friday, or as some days later."""
        near = [self._today + timedelta(days=n) for n in range(-_NEAR_DAYS, _NEAR_DAYS + 1)]
        relative = pattern("figures.relative_days", "requests.weekdays(s|)").search(self._asked)
        if relative and any(day.agrees(day_of(each)) for each in near):
            return True
        spans = [n for each in known if isinstance(each, AmountFigure) for n in self._days(each)]
        return any(day.agrees(days_after(self._today, n)) for n in spans)

    def _days(self, figure: AmountFigure) -> list[float]:
        small = [n for n in figure.number.amounts if n <= 366]  # noqa: PLR2004 - a year of days
        if _counts_unit(self._text, figure.end, "week"):
            return [n * 7 for n in small]
        days = _counts_unit(self._text, figure.end, "day", "figures.nights")
        return small if days else []

    def _time(self, figure: TimeFigure, known: Sequence[Figure]) -> bool:
        clock = [m for each in known if isinstance(each, TimeFigure) for m in each.minutes]
        lasts = [each.minutes for each in known if isinstance(each, DurationFigure)]
        ends = {(m + sign * n) % (24 * 60) for m in clock for n in lasts for sign in (1, -1)}
        return not ends.isdisjoint(figure.minutes)

    def _length(self, figure: DurationFigure, known: Sequence[Figure]) -> bool:
        """Whether it is the difference of two stated times or durations."""
        clock = [each for each in known if isinstance(each, TimeFigure)]
        gaps = set[int]()
        for one, other in pairwise(clock):
            gaps |= times.lengths_between(one.minutes, other.minutes)
        lasts = [each.minutes for each in known if isinstance(each, DurationFigure)]
        gaps |= {abs(a - b) for a in lasts for b in lasts} | {a + b for a in lasts for b in lasts}
        return figure.minutes in gaps


def _tops(text: str) -> tuple[int, ...]:
    """Return how many entries the lists have on each level."""
    depths = [each.depth for each in entries(text)]
    return tuple(depths.count(depth) for depth in set(depths))


def _is_count(figure: AmountFigure, text: str) -> bool:
    """Whether an amount is a small count: 4 tickets. Days and hours do not count."""
    whole = figure.number.amounts[0]
    few = not figure.number.unit and whole <= _MAX_SMALL_NUMBER and figure.text.isdecimal()
    after = fold_text(text[figure.end : figure.end + 24])
    measured = pattern("figures.measured", before=" ").match(after)
    return few and re.match(r" [^\W\d_]{3,}", after) is not None and not measured


def _is_year(figure: AmountFigure) -> bool:
    return not figure.number.unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", figure.text) is not None


def _sentence(text: str, at: int, end: int) -> str:
    """Return the sentence or row of a figure, and the row before it."""
    start = max(text.rfind("\n", 0, at), *(text.rfind(mark, 0, at) for mark in (". ", "! ", "? ")))
    stops = [found for mark in ("\n", ". ", "! ", "? ") if (found := text.find(mark, end)) >= 0]
    return text[start + 1 : min(stops, default=len(text))]
