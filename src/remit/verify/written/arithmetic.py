"""Recomputes sums, differences and shares that a text derives from its own figures.

A figure counts as computed only where the sentence says so, and only from figures in the text
itself: among everything that was read, any number could be found.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, permutations
from typing import Final, NamedTuple

from msgspec import Struct

from remit.language.tokens import fold_text
from remit.verify.written.figures import AmountFigure, Figure, amounts_in, find_figures
from remit.verify.written.places import NumberValue, spelled_numbers
from remit.verify.written.wording import folded_words, pattern, sentences

_SIGNS: Final = re.compile(r"[=×÷*]|\bx\s?\d|\d\s*\([^)]*%")
# Months, quarters, days, weeks, both ways.
_FACTORS: Final = (12.0, 4.0, 7.0, 52.0, 365.0, 30.0, 2.0)
_SMALLER: Final = {"g": 1000.0, "m": 1000.0, "ml": 1000.0, "mb": 1000.0, "ct": 100.0, "min": 60.0}
_MAX_COMBINED: Final = 40  # figures that are combined
_HEDGED_SHARE: Final = 0.025
_ROUNDING: Final = 1e-9
_CENT: Final = 0.011
_EXACT: Final = 0.001
_ROUGH_DIGITS: Final = 2  # digits
_MAX_PER_SENTENCE: Final = 8
_MAX_RESULTS: Final = 3000
_MAX_ROWS: Final = 200
_YEARS: Final = range(1900, 2101)
_RATIO: Final = re.compile(r"(?<![\d:.,])(\d{1,4})\s?:\s?(\d{1,4})(?![\d:])")
_BEFORE_RATIO: Final = 12  # characters
_RATIO_SLACK: Final = 0.005


class StatedFigure(NamedTuple):
    amount: float
    unit: str
    line: int  # line of the text


class FigureRow(NamedTuple):
    amount: float
    words: frozenset[str]


def is_cued(sentence: str) -> bool:
    """Whether a sentence says that it calculates."""
    folded = fold_text(sentence)
    return bool(_SIGNS.search(folded) or pattern("reckoning.cues").search(folded))


def is_asked(words: str) -> bool:
    """Whether the owner asks for a calculation; then every sentence may contain one."""
    return pattern("reckoning.orders").search(fold_text(words)) is not None


def is_share(wanted: AmountFigure, parts: Sequence[AmountFigure]) -> bool:
    """Whether an amount is the share of two that stand beside it; that needs no saying."""
    amounts = [amount for each in parts[-_MAX_COMBINED:] for amount in each.number.amounts]
    made = [a / b * 100 for a in amounts for b in amounts if b]
    values = wanted.number.values if wanted.number.unit == "%" else ()
    return any(_is_near(value, each, None, hedged=False) for value in values for each in made)


def in_ratio(figure: Figure, text: str, known: Sequence[AmountFigure]) -> bool:
    """Whether a figure is part of a ratio, 1:4, of two stated amounts."""
    line = text[max(0, figure.at - _BEFORE_RATIO) : figure.at + _BEFORE_RATIO]
    at = min(figure.at, _BEFORE_RATIO)
    here = (each for each in _RATIO.finditer(line) if each.start() <= at < each.end())
    amounts = [
        amount for each in known[-_MAX_COMBINED:] for amount in each.number.amounts if amount
    ]
    quotients = [a / b for a in amounts for b in amounts]
    for each in here:
        one, other = int(each[1]), int(each[2])
        if other and any(abs(one / other - made) <= made * _RATIO_SLACK for made in quotients):
            return True
    return False


def stated_figures(amounts: Sequence[AmountFigure], text: str) -> list[StatedFigure]:
    """Return the figures to calculate with; the last ones, if there are too many."""
    return [
        StatedFigure(amount, each.number.unit, text.count("\n", 0, each.at))
        for each in amounts[-_MAX_COMBINED:]
        for amount in each.number.amounts
    ]


class ArithmeticBasis(Struct, frozen=True):
    """The figures that a text may calculate with: its own, its counts, and those of sources."""

    known: Sequence[StatedFigure]
    counts: frozenset[float]
    columns: Sequence[Sequence[FigureRow]] = ()
    read_results: Sequence[float] = ()  # results of figures that were read beside each other


def number_columns(text: str) -> Iterator[list[FigureRow]]:
    """Yield the lists in a source: the last number of each line, with its words."""
    found: list[FigureRow] = []
    for line in text.splitlines():
        stated = [each for each in find_figures(line) if isinstance(each, AmountFigure)]
        if stated:
            found.append(FigureRow(stated[-1].number.amounts[-1], frozenset(folded_words(line))))
    if 1 < len(found) <= _MAX_ROWS:
        yield found


def results_in_sentences(texts: Iterable[str]) -> list[float]:
    """Return sums, differences and products of figures in one sentence of a source.

    A long source has so many that any number would match; then none is returned.
    """
    made = list(islice((each for text in texts for each in _results_in(text)), _MAX_RESULTS + 1))
    return made if len(made) <= _MAX_RESULTS else []


def _results_in(text: str) -> Iterator[float]:
    for sentence in sentences(text):
        found = {each for each in amounts_in(find_figures(sentence)) if each not in _YEARS}
        amounts = found | spelled_numbers(sentence)
        if len(amounts) <= _MAX_PER_SENTENCE:
            pairs = permutations(amounts, 2)
            yield from (made for a, b in pairs for made in (a + b, a - b, a * b, a / b if b else a))


def is_total(wanted: AmountFigure, columns: Sequence[Sequence[FigureRow]]) -> bool:
    """Whether an amount is the total of a list that was read."""
    sums = [sum(row.amount for row in column) for column in columns]
    return any(abs(amount - each) <= _CENT for amount in wanted.number.amounts for each in sums)


def follows_from(
    wanted: AmountFigure, basis: ArithmeticBasis, *, hedged: bool, hundred: bool
) -> bool:
    """Whether an amount follows from stated ones, and from counts."""
    unit = wanted.number.unit
    factor = _SMALLER.get(unit, 1.0)
    values = [*wanted.number.values]
    if factor > 1.0:
        values += [NumberValue(each.amount / factor, each.grain / factor) for each in values]
    made = [*_possible_results(unit, basis.known, basis.counts)]
    made += [total for column in basis.columns for total in _totals(column)]
    made += basis.read_results
    if unit == "%" or hundred:
        made += _shares([each.amount for each in basis.known])
    # Money must match to the cent, unless it is said to be approximate.
    most = _CENT if unit == "money" else None if unit == "%" or is_fine(wanted) else _EXACT
    return any(_is_near(value, each, most, hedged=hedged) for value in values for each in made)


def is_fine(wanted: AmountFigure) -> bool:
    """Whether an amount has so many digits that a chance match is unlikely."""
    return len(re.sub(r"\D", "", wanted.text).strip("0")) > _ROUGH_DIGITS


def _totals(column: Sequence[FigureRow]) -> Iterator[float]:
    """Yield the sum of all rows, of all but one or two, and of those that share a word."""
    whole = sum(row.amount for row in column)
    yield whole
    for row in column:
        yield whole - row.amount
        yield from (whole - row.amount - other.amount for other in column if other is not row)
    for word in frozenset().union(*(row.words for row in column)):
        yield sum(row.amount for row in column if word in row.words)


def _is_near(value: NumberValue, made: float, most: float | None, *, hedged: bool) -> bool:
    within = value.grain / 2 if most is None else most
    within = max(within, value.amount * _HEDGED_SHARE if hedged else 0.0)
    return abs(value.amount - abs(made)) <= within + _ROUNDING


def _possible_results(
    unit: str, known: Sequence[StatedFigure], counts: frozenset[float]
) -> Iterator[float]:
    fits = [each for each in known if unit in (each.unit, "") or not each.unit]
    alike = [each.amount for each in fits]
    yield from _runs(alike)
    # The result of a line is at its end: 4 × 189 = 756.
    yield from _runs(list({each.line: each.amount for each in fits}.values()))
    for a in alike:
        for b in alike:
            yield a - b
            yield a / b if b else a
        for n in (*_FACTORS, *sorted(counts)):
            yield a * n
            yield a / n if n else a
    yield from _products(unit, known)
    for n in counts:  # the room, and breakfast for several
        yield from (a + n * b for a in alike for b in alike)


def _runs(amounts: Sequence[float]) -> Iterator[float]:
    """Yield sums and means of consecutive figures."""
    for start in range(len(amounts) - 1):
        for length, total in enumerate(accumulate(amounts[start:]), start=1):
            if length > 1:
                yield total
                yield total / length
    for step in (2, 3):  # every second or third: a column of a table
        for start in range(step):
            column = amounts[start::step]
            if len(column) > 1:
                yield sum(column)


def _shares(amounts: Sequence[float]) -> Iterator[float]:
    for a in amounts:
        for b in amounts:
            if a != b and b:
                yield (a - b) / b * 100
                yield a / b * 100


def _products(unit: str, known: Sequence[StatedFigure]) -> Iterator[float]:
    """Yield quantities times unit prices."""
    bare = [each.amount for each in known if not each.unit]
    for each in known:
        if each.unit and each.unit == unit:
            for count in bare:
                yield each.amount * count
                if count:
                    yield each.amount / count
