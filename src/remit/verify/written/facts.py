"""Compares the figures of a text with its request and sources: changed ones and swapped ones.

12 May must not become 13 May, and a figure must not stand beside the label of another.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache, cached_property
from itertools import combinations, islice, pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from remit.language.files import words_in_all
from remit.language.tokens import fold
from remit.model.contract import Evidence
from remit.model.task import Task
from remit.verify.written import places, times
from remit.verify.written.figures import (
    AmountFigure,
    DateFigure,
    DurationFigure,
    Figure,
    PageFigure,
    PhoneFigure,
    TimeFigure,
    amounts_in,
    find_figures,
)
from remit.verify.written.grounded import figures_of_sources, invented_figures
from remit.verify.written.source_figures import SourceFigures
from remit.verify.written.times import MINUTES_PER_HOUR
from remit.verify.written.wording import (
    SENTENCE_END,
    STOP,
    any_of,
    any_word,
    folded_words,
    lower,
    pattern,
    stem,
    word_list,
)

_NOON: Final = 12
_WINDOW: Final = 24
_MIN_WEEKDAY_LETTERS: Final = 4  # "mar" and "sat" may mean something else
_BEFORE: Final = 3  # words before a figure that may limit it


def compare_figures(
    asked: str, evidence: Evidence, task: Task, *, composes: bool
) -> tuple[list[str], list[str]]:
    """Return figures that replace those of the request; and those that are missing."""
    if not composes and not times.may_hold_date(asked):
        return [], []
    text = evidence.text
    stated = find_figures(text)
    missing = [
        each
        for each in find_figures(asked)
        if (composes or isinstance(each, DateFigure))  # else it may be left out, or changed
        and _is_fact(each, asked)
        and not _is_in_text(each, stated, text)
    ]
    sources, wrong, doubts = _Sources(task, evidence), [], []
    for fact in missing:
        other = next((t for t in stated if _replaces(fact, t, asked, text, sources)), None)
        if other:
            wrong.append(
                f"the request says “{_figure_text(fact)}”, the text “{_figure_text(other)}”"
            )
        # A number without a unit often belongs to the form.
        elif composes and not (isinstance(fact, AmountFigure) and not fact.number.unit):
            doubts.append(f"“{_figure_text(fact)}” of the request does not occur")
    if composes and not wrong and not evidence.read:
        lost = (_figure_text(each) for each in sources.lost)
        doubts += [f"“{each}” stands nowhere in the request" for each in lost]
    return wrong, doubts


class _NamedDay(NamedTuple):
    weekday: int
    day: date  # without a year the nearest one


def wrong_weekdays(text: str, sources: Sequence[str], today: date) -> list[str]:
    """Return the days whose weekday is wrong by the calendar, unless a source says so, too."""
    wrong = [
        (named, shown)
        for named, shown in _named_days(text, today)
        if named.day.weekday() != named.weekday
    ]
    if not wrong:
        return []  # as in most texts: the sources need not be read
    known = {named for source in sources for named, _ in _named_days(source, today)}
    return [f"“{shown}” is not on that weekday" for named, shown in wrong if named not in known]


def _named_days(text: str, today: date) -> Iterator[tuple[_NamedDay, str]]:
    """Yield each date with a weekday before it: Friday, 13 March."""
    for figure in find_figures(text):
        if not isinstance(figure, DateFigure) or len(figure.meant) != 1:
            continue
        before = text[max(0, figure.at - _WINDOW) : figure.at]
        found = _weekday_before().search(lower(before))
        days = figure.near(today) if figure.meant[0].day else []
        if found and days:
            shown = f"{before[found.start() :]}{figure.text}"
            yield _NamedDay(_weekdays()[fold(found["day"])], days[0]), shown


@cache
def _weekdays() -> dict[str, int]:
    return {
        fold(name): number
        for number in range(7)
        for name in word_list(f"time.weekdays:{number}")
        if len(name) > _MIN_WEEKDAY_LETTERS
    }


@cache
def _weekday_before() -> re.Pattern[str]:
    names, of = any_word(_weekdays()), any_of("small.the", "small.of", "small.at")
    return re.compile(rf"(?P<day>{names}),?\s+(?:(?:{of})\s+)?(?:\w{{2,3}}\s+)?\Z")


class _Sources:
    """The figures of all sources, and those of the text that lack there; found when needed."""

    def __init__(self, task: Task, evidence: Evidence) -> None:
        self._task, self._evidence = task, evidence

    @cached_property
    def ground(self) -> SourceFigures:
        return figures_of_sources(self._task, self._evidence)

    @cached_property
    def lost(self) -> list[Figure]:
        return invented_figures(self._task, self._evidence, self.ground)


def _figure_text(figure: Figure) -> str:
    return figure.text.rstrip(".")  # a full stop is the sentence's


def means_the_same(one: Figure, other: Figure) -> bool:
    """Whether two figures of one kind mean the same, in any spelling."""
    match one, other:
        case DateFigure(), DateFigure():
            same = any(mine.agrees(yours) for mine in one.meant for yours in other.meant)
        case TimeFigure(), TimeFigure():
            same = not set(one.minutes).isdisjoint(other.minutes)
        case DurationFigure(), DurationFigure():
            same = one.minutes == other.minutes
        case AmountFigure(), AmountFigure():
            units = {one.number.measure, other.number.measure} - {""}
            equal = not set(one.number.amounts).isdisjoint(other.number.amounts)
            same = equal and len(units) <= 1
        case PhoneFigure(), PhoneFigure():
            same = places.same_phone(one.digits, other.digits)
        case PageFigure(), PageFigure():
            same = one.address == other.address
        case _:
            same = type(one) is type(other) and fold(one.text) == fold(other.text)
    return same


def same_kind(one: Figure, other: Figure) -> bool:
    if isinstance(one, AmountFigure) and isinstance(other, AmountFigure):
        return one.number.unit == other.number.unit
    return type(one) is type(other)


def _is_fact(figure: Figure, asked: str) -> bool:
    """Whether a figure of the request is a fact and no limit: "under 30 euros" need not be said."""
    before = folded_words(asked[: figure.at])[-_BEFORE:]
    tails = {" ".join(before[-n:]) for n in range(1, len(before) + 1)}
    return tails.isdisjoint(words_in_all("requests", "limits"))


def _is_in_text(fact: Figure, stated: Sequence[Figure], text: str) -> bool:
    """Whether the text has a figure of the request, in digits or in words."""
    if any(means_the_same(fact, each) for each in stated):
        return True
    spelled = places.spelled_numbers(text)
    bare = amounts_in(stated)
    match fact:
        case TimeFigure():
            hours = {float(m // MINUTES_PER_HOUR % n) for m in fact.minutes for n in (24, _NOON)}
            named = not times.named_times(text).isdisjoint(fact.minutes)
            stands = named or not hours.isdisjoint(spelled | bare)
        case DateFigure():
            stands = any(each.day in bare | spelled for each in fact.meant)
        case AmountFigure():
            stands = not set(fact.number.amounts).isdisjoint(spelled)
        case DurationFigure():
            stands = not {float(fact.minutes), fact.minutes / MINUTES_PER_HOUR}.isdisjoint(
                bare | spelled
            )
        case _:
            stands = False
    return stands


def _replaces(fact: Figure, stated: Figure, asked: str, text: str, sources: _Sources) -> bool:
    """Whether a figure of the text replaces one of the request, without a source."""
    if not same_kind(fact, stated):
        return False
    match fact, stated:
        case TimeFigure(), TimeFigure():
            return sources.ground.times.isdisjoint(stated.minutes)
        case AmountFigure(), AmountFigure() if not fact.number.unit:
            if not _same_thing(fact, stated, asked, text):
                return False
            known = sources.ground.amounts | places.spelled_numbers(asked)
            return known.isdisjoint(stated.number.amounts)
    return stated in sources.lost


def _same_thing(fact: AmountFigure, stated: AmountFigure, asked: str, text: str) -> bool:
    """Whether two bare numbers count the same thing: 6 guests, 8 guests."""
    mine, yours = (_next_word(text, figure.end) for text, figure in ((asked, fact), (text, stated)))
    return bool(mine) and mine == yours


def _next_word(text: str, end: int) -> str:
    found = re.match(r"[ -]([^\W\d_]{3,})", text[end : end + _WINDOW])
    return stem(found[1]) if found else ""


_LABEL: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = re.compile(r"\d+")
_MAX_SOURCE_FIGURES: Final = 1_000  # figures of all sources
_MAX_TEXT_FIGURES: Final = 60  # of a text
_MAX_PLACES: Final = 4  # of one figure in the sources


class LabelledFigure(Struct, frozen=True):
    figure: Figure
    labels: frozenset[str]  # of its clause
    clause: int


def swapped_figures(sources: Sequence[str], text: str) -> list[str]:
    """Pairs of figures that each stand where the other belongs."""
    if len(_DIGITS.findall(text)) <= 1:
        return []
    stated = list(islice(_labelled_figures(text), _MAX_TEXT_FIGURES))
    if len({each.clause for each in stated}) <= 1:
        return []
    known = list(
        islice((p for source in sources for p in _labelled_figures(source)), _MAX_SOURCE_FIGURES)
    )
    places = [
        [p for p in known if same_kind(p.figure, t.figure) and means_the_same(p.figure, t.figure)]
        for t in stated
    ]
    swapped = (
        (one.figure.text, other.figure.text)
        for (one, mine), (other, yours) in combinations(
            zip(stated, (p[:_MAX_PLACES] for p in places), strict=True), 2
        )
        if one.clause != other.clause
        and same_kind(one.figure, other.figure)
        and not means_the_same(one.figure, other.figure)
        and _are_swapped(one, other, mine, yours)
    )
    return [f"“{one}” and “{other}” have changed places" for one, other in swapped][:1]


def _are_swapped(
    one: LabelledFigure,
    other: LabelledFigure,
    mine: Sequence[LabelledFigure],
    yours: Sequence[LabelledFigure],
) -> bool:
    """Whether the words beside the two figures in all sources say that they are swapped."""
    pairs = [(a, b) for a in mine for b in yours if a.clause != b.clause]
    whole = len(pairs) == len(mine) * len(yours)
    return bool(pairs) and whole and all(_are_crossed(one, other, a, b) for a, b in pairs)


def _are_crossed(
    one: LabelledFigure, other: LabelledFigure, mine: LabelledFigure, yours: LabelledFigure
) -> bool:
    first, second = mine.labels - yours.labels, yours.labels - mine.labels
    right = len(first & one.labels), len(second & other.labels)
    wrong = len(second & one.labels), len(first & other.labels)
    return (
        min(wrong) > 0 and wrong[0] >= right[0] and wrong[1] >= right[1] and sum(wrong) > sum(right)
    )


def _labelled_figures(text: str) -> Iterator[LabelledFigure]:
    kinds = AmountFigure | DateFigure | TimeFigure
    stated = [each for each in find_figures(text) if isinstance(each, kinds)]
    apart = pattern("requests.joins", before=r"[;,]\s+|:\s+(?=[^\W\d_])|\s+", after=r"\s+")
    ends = {found.end() for found in SENTENCE_END.finditer(text)}
    ends |= {found.end() for found in apart.finditer(lower(text))}
    for number, (start, end) in enumerate(pairwise(sorted({0, *ends, len(text)}))):
        inside = [each for each in stated if start <= each.at < end]
        labels = _labels(text[start:end]) if inside else frozenset()
        yield from (LabelledFigure(each, labels, number) for each in inside)


def _labels(clause: str) -> frozenset[str]:
    """Return the words a figure belongs to; a single letter may name one of two things."""
    found = _LABEL.findall(clause)
    letters = {each for at, each in enumerate(found) if at and len(each) == 1 and each.isupper()}
    long = {stem(each) for each in found if len(each) > 1 and fold(each) not in STOP}
    return frozenset(letters | long)
