"""Finds swapped figures: each is in the source, but beside another label."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Final

from msgspec import Struct

from remit.language.tokens import fold
from remit.verify.written.facts import agree, same_kind
from remit.verify.written.figures import AmountFigure, DateFigure, Figure, TimeFigure, figures
from remit.verify.written.vocabulary import pattern
from remit.verify.written.wording import STOP, sentences, stem

_LABEL: Final = re.compile(r"[^\W\d_]+")
_MAX_SOURCE_FIGURES: Final = 1_000  # figures of all sources
_MAX_TEXT_FIGURES: Final = 60  # of a text
_MAX_PLACES: Final = 4  # of one figure in the sources


class LabelledFigure(Struct, frozen=True):
    figure: Figure
    labels: frozenset[str]  # of its clause
    clause: int


def find(sources: Sequence[str], text: str) -> list[str]:
    """Pairs of figures that each stand where the other belongs."""
    told = list(islice(_placed(text), _MAX_TEXT_FIGURES))
    known = list(islice((p for source in sources for p in _placed(source)), _MAX_SOURCE_FIGURES))
    places = [[p for p in known if _same(p.figure, each.figure)][:_MAX_PLACES] for each in told]
    swapped = (
        (one.figure.said, other.figure.said)
        for (one, mine), (other, yours) in combinations(zip(told, places, strict=True), 2)
        if one.clause != other.clause
        and same_kind(one.figure, other.figure)
        and not agree(one.figure, other.figure)
        and _are_swapped(one, other, mine, yours)
    )
    return [f"“{one}” and “{other}” have changed places" for one, other in swapped][:1]


def _same(one: Figure, other: Figure) -> bool:
    return same_kind(one, other) and agree(one, other)


def _are_swapped(
    one: LabelledFigure,
    other: LabelledFigure,
    mine: Sequence[LabelledFigure],
    yours: Sequence[LabelledFigure],
) -> bool:
    """Whether the words beside the two figures in all sources say that they are swapped."""
    pairs = [(a, b) for a in mine for b in yours if a.clause != b.clause]
    whole = len(pairs) == len(mine) * len(yours)
    return bool(pairs) and whole and all(_crossed(one, other, a, b) for a, b in pairs)


def _crossed(
    one: LabelledFigure, other: LabelledFigure, mine: LabelledFigure, yours: LabelledFigure
) -> bool:
    first, second = mine.labels - yours.labels, yours.labels - mine.labels
    right = len(first & one.labels), len(second & other.labels)
    wrong = len(second & one.labels), len(first & other.labels)
    return (
        min(wrong) > 0 and wrong[0] >= right[0] and wrong[1] >= right[1] and sum(wrong) > sum(right)
    )


def _placed(text: str) -> Iterator[LabelledFigure]:
    for number, clause in enumerate(_clauses(text)):
        told = [
            each
            for each in figures(clause)
            if isinstance(each, AmountFigure | DateFigure | TimeFigure)
        ]
        labels = _labels(clause) if told else frozenset()
        yield from (LabelledFigure(each, labels, number) for each in told)


def _clauses(text: str) -> Iterator[str]:
    apart = pattern("requests.joins", before=r"[;,]\s+|:\s+(?=[^\W\d_])|\s+", after=r"\s+")
    for sentence in sentences(text):
        yield from apart.split(sentence)


def _labels(clause: str) -> frozenset[str]:
    """Return the words a figure belongs to; a single letter may name one of two things."""
    found = _LABEL.findall(clause)
    letters = {each for at, each in enumerate(found) if at and len(each) == 1 and each.isupper()}
    long = {stem(each) for each in found if len(each) > 1 and fold(each) not in STOP}
    return frozenset(letters | long)
