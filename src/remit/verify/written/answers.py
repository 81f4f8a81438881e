"""Checks that everything that was asked is answered.

An item is answered if the text has what such a question asks for (a price, a time, a name),
mentions what only this item mentions, or has an entry with its number. A text that could be an
unforeseen answer passes with a note; a text fails if every sentence belongs to other items and none
to this one.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from remit.language.files import words_in_all
from remit.language.tokens import fold_text
from remit.model.contract import NOT_DECIDED, Criterion, Evidence, Finding, Result
from remit.model.plan import ClauseOutcome
from remit.model.task import Task
from remit.verify.written.figures import figures
from remit.verify.written.language import language_of
from remit.verify.written.topics import MeasuredText, Topic, begins_with, topics_of
from remit.verify.written.vocabulary import pattern
from remit.verify.written.wording import STOP, entries, folded_words, plain, says, sentences, stem

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


class AnswersCheck:
    """`pattern` holds the items, one per line, numbered; without it they are the task's own."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        asked = _asked_items(task, criterion)
        if not asked:
            return Finding("answers", Result.PASS, "nothing in the request could be told apart")
        text = plain(evidence.text)
        if not _same_language(" ".join(asked), text):
            why = "the answer is in another language than the request"
            return Finding("answers", Result.SKIPPED, NOT_DECIDED + why)
        missing, unsure = judge(asked, text)
        if missing:
            shown = "; ".join(f"“{each}”" for each in missing)
            return Finding("answers", Result.FAIL, f"not answered: {shown}")
        if unsure:
            why = f"{NOT_DECIDED}perhaps not answered: {unsure[0]}"
            return Finding("answers", Result.SKIPPED, why)
        return Finding("answers", Result.PASS)


def judge(asked: Sequence[str], text: str) -> tuple[list[str], list[str]]:
    """Return which items are not answered, and which are uncertain."""
    items = _items(asked)
    told = MeasuredText(text, fold_text(text), figures(text))
    said = frozenset(folded_words(text))
    silent = [each for each in items if not _answered(each, told, said)]
    rest = [each for each in items if each not in silent]
    # Only a text that names the other things can be said to leave one out.
    others = [each for each in rest if not each.open]
    called = sum(_called(each, told, said) for each in others)
    named = called >= _TWO and 2 * called > len(others)
    listed = len(entries(text))
    short = 1 < listed < len(items)  # its list has too few entries
    sure = [
        each.text
        for each in silent
        if each.topics
        or (named and (each.plain or (short and not each.open)) and not _room(rest, text))
    ]
    return sure, [each.text for each in silent if each.text not in sure]


def _asked_items(task: Task, criterion: Criterion) -> list[str]:
    if criterion.pattern:
        lines = criterion.pattern.splitlines()
        return [
            found["item"].strip() for line in lines if (found := _NUMBERED.fullmatch(line.strip()))
        ]
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


def _answered(item: _Item, told: MeasuredText, said: frozenset[str]) -> bool:
    if begins_with(fold_text(item.text), "answers.compose") and not item.topics:
        return True
    spoken = _spoken(item, told, said)
    if not item.topics:
        return spoken
    # If it is clear what is missing, other words do not count: they say what it is about, and may
    # be anywhere.
    return all(
        topic.seen(told) or topic.asked.search(told.folded) or (topic.loose and spoken)
        for topic in item.topics
    )


def _called(item: _Item, told: MeasuredText, said: frozenset[str]) -> bool:
    """Whether the answer names a thing as the request does."""
    by_name = any(topic.asked.search(told.folded) for topic in item.topics)
    return by_name or _spoken(item, told, said)


def _spoken(item: _Item, told: MeasuredText, said: frozenset[str]) -> bool:
    """Whether the answer uses words that only this item uses."""
    return not item.terms or any(
        says(term, said) or (term[0].isdigit() and term in told.text) for term in item.terms
    )


def _room(rest: Sequence[_Item], text: str) -> bool:
    """Whether a sentence is left that could be this item's answer."""
    return any(not _belongs(each, rest) for each in _telling(text))


def _telling(text: str) -> list[str]:
    """Return the sentences with content: no greeting, heading or closing."""
    told = [each.text for each in entries(text)] or []
    whole = [each for each in sentences(text) if not any(each in entry for entry in told)]
    return [
        each
        for each in (*told, *whole)
        if len(each.split()) >= _MIN_ANSWER_WORDS
        and not pattern("answers.openers").match(fold_text(each))
        and not each.endswith(":")
    ]


def _belongs(sentence: str, items: Sequence[_Item]) -> bool:
    said = frozenset(folded_words(sentence))
    told = MeasuredText(sentence, fold_text(sentence), figures(sentence))
    return any(
        any(says(term, said) for term in item.terms)
        or any(topic.seen(told) for topic in item.topics)
        for item in items
    )
