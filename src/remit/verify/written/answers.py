"""Checks that everything that was asked is answered.

An item is answered if the text has what such a question asks for (a price, a time, a name; the
words are in `words_*.toml`, under `asks` and `tells`), mentions what only this item mentions, or
has an entry with its number. A text that could be an unforeseen answer passes with a note; a text
fails if every sentence belongs to other items and none to this one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct

from remit.language.files import number_words, words_in_all
from remit.language.tokens import fold, fold_text
from remit.model.contract import ClauseOutcome, Evidence, Result
from remit.model.task import Task
from remit.verify.written import figures as fig
from remit.verify.written.phrases import language_of
from remit.verify.written.wording import (
    PASSED,
    STOP,
    Judged,
    any_of,
    entries,
    fail,
    folded_words,
    mentions,
    pattern,
    sentences,
    stem,
    undecided,
    without_marks,
)

_UPPER: Final = "[A-ZÄÖÜÁÉÍÓÚÑ]"
_CAPITAL: Final = rf"{_UPPER}[\w’'-]+"
_NAME: Final = re.compile(rf"\b({_CAPITAL}) (?:[a-z]{{2,3}} )?({_CAPITAL})")
_CAMEL: Final = re.compile(r"\b[A-Z][a-z]+[A-Z]\w+")  # names of companies


class MeasuredText(Struct, frozen=True):
    """A text with its figures; `folded` is lower case without accents."""

    text: str
    folded: str
    figures: Sequence[fig.Figure]

    def has(self, *kinds: type[fig.Figure]) -> bool:
        return any(isinstance(each, kinds) for each in self.figures)

    def measures(self, *units: str) -> bool:
        amounts = (each for each in self.figures if isinstance(each, fig.AmountFigure))
        return any(each.number.unit.startswith(units) for each in amounts if each.number.unit)

    def counts(self) -> bool:
        """Whether it says how many; a year does not."""
        amounts = (each.text for each in self.figures if isinstance(each, fig.AmountFigure))
        some = any(not re.fullmatch(r"(?:19|20)\d\d", each) for each in amounts)
        return some or not number_words().keys().isdisjoint(folded_words(self.text))

    def says(self, *lists: str) -> bool:
        return pattern(*(f"tells.{each}" for each in lists)).search(self.folded) is not None

    def says_weekday(self) -> bool:
        weekdays = pattern("tells.weekdays", "requests.weekdays*")
        return weekdays.search(self.folded) is not None


# "The number of" asks how many, unless it is of a phone; a mail address is no street; "how long is
# it" may ask for a time or for a way.
_WIDER: Final = {"phone": "many", "mail": "address", "span": "length"}

Seen: TypeAlias = Callable[[MeasuredText], bool]


class Topic(Struct, frozen=True):
    name: str
    asked: re.Pattern[str]
    seen: Seen
    loose: bool = False  # whether the answer may be in unforeseen words


def topics_of(item: str) -> list[Topic]:
    """Return what a piece of a request asks for, as far as its words tell."""
    folded = fold_text(item)
    found = [topic for topic in _topics() if topic.asked.search(folded)]
    wider = {_WIDER.get(topic.name) for topic in found}
    return [topic for topic in found if topic.name not in wider]


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
    figure = answer.has(fig.TimeFigure, fig.DateFigure) or re.search(r"\b\d{4}\b", answer.text)
    return bool(figure) or answer.says_weekday() or answer.says("soon")


def _tells_length(answer: MeasuredText) -> bool:
    units = pattern("tells.length", before=r"\w[.,-]* ").search(answer.folded)
    figure = answer.has(fig.DurationFigure, fig.TimeFigure) or answer.measures("h", "min")
    return figure or units is not None or answer.says("soon")


def _has_address(answer: MeasuredText) -> bool:
    return answer.says("street") or _numbered_place().search(answer.text) is not None


def _tells_where(answer: MeasuredText) -> bool:
    near = answer.says("nearby") or _at_place().search(answer.text)
    return bool(near) or _has_address(answer)


def _names_someone(answer: MeasuredText) -> bool:
    """Whether someone is named: two capitalised words that do not only begin a sentence."""
    pairs = (found.groups() for found in _NAME.finditer(answer.text))
    single = _titled_name_pattern().search(answer.text) or _CAMEL.search(answer.text)
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
def _titled_name_pattern() -> re.Pattern[str]:
    """Return the pattern of a name after a title, "by", or a colon."""
    titles, by = any_of("requests.titles"), any_of("small.by")
    return re.compile(rf"(?i:{titles})\.? ?{_UPPER}|{by} [A-Z]|: [A-Z]\w+ [A-Z]")


_SEEN: Final[Mapping[str, Seen]] = {
    "price": lambda a: a.has(fig.AmountFigure) or a.says("free"),
    "hours": lambda a: a.has(fig.TimeFigure) or a.says_weekday() or a.says("hours"),
    "when": _tells_when,
    "length": _tells_length,
    "span": lambda a: _tells_length(a) or a.measures("m", "km", "cm", "mi", "ft"),
    "address": _has_address,
    "where": _tells_where,
    "size": lambda a: a.has(fig.AmountFigure) or a.says("size"),
    "phone": lambda a: a.has(fig.PhoneFigure) or bool(re.search(r"\d[\d ()/-]{5,}\d", a.text)),
    "mail": lambda a: a.has(fig.MailFigure),
    "contact": lambda a: a.has(fig.MailFigure, fig.PhoneFigure, fig.PageFigure),
    "page": lambda a: a.has(fig.PageFigure),
    "who": _names_someone,
    "many": lambda a: a.counts(),
    "energy": lambda a: a.says("energy"),
    "weather": lambda a: a.measures("°") or a.says("weather"),
    "weight": lambda a: a.measures("kg", "g", "mg") or a.says("weight"),
    "pick": lambda a: a.says("pick"),
    "join": lambda a: a.says("join") or a.has(fig.MailFigure, fig.PageFigure, fig.PhoneFigure),
}


_NUMBERED: Final = re.compile(r"\d{1,2}[.)]\s+(?P<item>.+)")
_STOP: Final = STOP | words_in_all("requests", "asking")
_MAX_NAME_WORDS: Final = 3  # words of an item that is nothing but a name
_TWO: Final = 2
_MIN_ANSWER_WORDS: Final = 4  # words of a sentence that could be an answer


class _Item(Struct, frozen=True):
    number: int
    text: str
    topics: Sequence[Topic]
    terms: frozenset[str]  # words that only this item uses

    @property
    def open(self) -> bool:
        """Whether its answer may contain none of its words: a text, or names.

        The first question says what everything is about; later ones name what they ask.
        """
        bare = fold_text(self.text)
        asked = self.number == 1 and begins_with(bare, "answers.questions")
        return asked or begins_with(bare, "answers.compose", "answers.seek")

    @property
    def plain(self) -> bool:
        """Whether its answer would repeat its word: it names a thing, or asks whether."""
        whether = pattern("answers.whether", before=r"(?:.{0,20}\b)?")
        asks = whether.match(fold_text(self.text)) is not None
        return asks or (len(self.terms) <= _MAX_NAME_WORDS and not self.open)


def judge_answers(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """`wanted` holds the items, one per line, numbered; without it they are the task's own."""
    asked = _asked_items(task, wanted)
    if not asked:
        return Result.PASS, "nothing in the request could be told apart"
    text = without_marks(evidence.text)
    if not _same_language(" ".join(asked), text):
        return undecided("the answer is in another language than the request")
    missing, unsure = compare_items(asked, text)
    if missing:
        return fail(f"not answered: {'; '.join(f'“{each}”' for each in missing)}")
    return undecided(f"perhaps not answered: {unsure[0]}") if unsure else PASSED


def compare_items(asked: Sequence[str], text: str) -> tuple[list[str], list[str]]:
    """Return which items are not answered, and which are uncertain."""
    items = _items(asked)
    measured = MeasuredText(text, fold_text(text), fig.find_figures(text))
    spoken_words = frozenset(folded_words(text))
    silent = [each for each in items if not _is_answered(each, measured, spoken_words)]
    rest = [each for each in items if each not in silent]
    # Only a text that names the other things can be said to leave one out.
    others = [each for each in rest if not each.open]
    called = sum(_is_named(each, measured, spoken_words) for each in others)
    named = called >= _TWO and 2 * called > len(others)
    listed = len(entries(text))
    short = 1 < listed < len(items)  # its list has too few entries
    # Whether a sentence is left that could be the answer to another item.
    room = any(not _belongs(each, rest) for each in _telling(text)) if named else True
    sure = [
        each.text
        for each in silent
        if each.topics or (named and (each.plain or (short and not each.open)) and not room)
    ]
    return sure, [each.text for each in silent if each.text not in sure]


def _asked_items(task: Task, numbered: str) -> list[str]:
    if numbered:
        found = (_NUMBERED.fullmatch(line.strip()) for line in numbered.splitlines())
        return [each["item"].strip() for each in found if each]
    clauses = task.request.clauses if task.request else ()
    return [each.text for each in clauses if each.became is ClauseOutcome.WORK] or [
        each.description for each in task.work
    ]


def _same_language(asked: str, text: str) -> bool:
    one, other = language_of(asked), language_of(text)
    return one is None or other is None or one == other


def _items(asked: Sequence[str]) -> list[_Item]:
    terms = [frozenset(_terms(each)) for each in asked]
    return [
        _Item(
            number,
            text,
            topics_of(text),
            mine - frozenset().union(*(yours for at, yours in enumerate(terms, 1) if at != number)),
        )
        for number, (text, mine) in enumerate(zip(asked, terms, strict=True), 1)
    ]


def _terms(item: str) -> list[str]:
    bare = folded_words(item)
    numbers = re.findall(r"\d[\d.,]*\d|\d", item)
    return [stem(word) for word in bare if word not in _STOP and len(word) > 2] + numbers  # noqa: PLR2004


def _is_answered(item: _Item, measured: MeasuredText, spoken_words: frozenset[str]) -> bool:
    if begins_with(fold_text(item.text), "answers.compose") and not item.topics:
        return True
    spoken = _uses_own_words(item, measured, spoken_words)
    if not item.topics:
        return spoken
    # If it is clear what is missing, other words do not count: they say what it is about, and may
    # be anywhere.
    return all(
        topic.seen(measured) or topic.asked.search(measured.folded) or (topic.loose and spoken)
        for topic in item.topics
    )


def _is_named(item: _Item, measured: MeasuredText, spoken_words: frozenset[str]) -> bool:
    """Whether the answer names a thing as the request does."""
    by_name = any(topic.asked.search(measured.folded) for topic in item.topics)
    return by_name or _uses_own_words(item, measured, spoken_words)


def _uses_own_words(item: _Item, measured: MeasuredText, spoken_words: frozenset[str]) -> bool:
    """Whether the answer uses words that only this item uses."""
    return not item.terms or any(
        mentions(term, spoken_words) or (term[0].isdigit() and term in measured.text)
        for term in item.terms
    )


def _telling(text: str) -> list[str]:
    """Return the sentences with content: no greeting, heading or closing."""
    listed = [each.text for each in entries(text)] or []
    whole = [each for each in sentences(text) if not any(each in entry for entry in listed)]
    return [
        each
        for each in (*listed, *whole)
        if len(each.split()) >= _MIN_ANSWER_WORDS
        and not pattern("answers.openers").match(fold_text(each))
        and not each.endswith(":")
    ]


def _belongs(sentence: str, items: Sequence[_Item]) -> bool:
    spoken_words = frozenset(folded_words(sentence))
    measured = MeasuredText(sentence, fold_text(sentence), fig.find_figures(sentence))
    return any(
        any(mentions(term, spoken_words) for term in item.terms)
        or any(topic.seen(measured) for topic in item.topics)
        for item in items
    )
