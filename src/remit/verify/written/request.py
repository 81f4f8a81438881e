"""Checks that a text keeps to its request: subject, figures, dates, names and their relations.

A contradiction fails. What code cannot decide is not verified; a critic may judge it.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from remit.language.files import words_in_all
from remit.language.numbers import NUMBER_WORDS
from remit.model.contract import NOT_DECIDED, Criterion, Evidence, Finding, Result
from remit.model.plan import ClauseOutcome
from remit.model.task import Task
from remit.verify.written import facts, names, swaps
from remit.verify.written.figures import figures
from remit.verify.written.grounded import MAX_CHARACTERS, beside_others, ground_of, owner_words
from remit.verify.written.language import likely_language
from remit.verify.written.wording import (
    ORDER_VERBS,
    STOP,
    entries,
    folded_words,
    plain,
    rows,
    says,
    stem,
)

_ABOUT_SENDING: Final = frozenset({ClauseOutcome.TIME, ClauseOutcome.CONSTRAINT})
_SHOWN: Final = 3
_MIN_SHARED_WORDS: Final = 3  # words of a request that leave no doubt what it is about
_SHORT: Final = 12  # words of a text too short to judge
_LIST: Final = 2


class Comparison(Struct, frozen=True):
    """A request beside a text. `facts` is the request without when and how to send."""

    request: str
    facts: str
    text: str
    evidence: Evidence
    task: Task

    @property
    def composes(self) -> bool:
        """Whether the owner dictates a message: its content must stand in the text."""
        said = f" {' '.join(folded_words(self.request))} "
        dictates = any(f" {each} " in said for each in words_in_all("requests", "dictating"))
        ordered = dictates or any(_dictates(*each) for each in self._openers())
        return ordered and not self.invents

    @property
    def invents(self) -> bool:
        return not words_in_all("requests", "inventions").isdisjoint(folded_words(self.request))

    def _openers(self) -> Iterator[tuple[str, str]]:
        """Yield the first two words of the request and of each clause."""
        clauses = self.task.request.clauses if self.task.request else ()
        for at in (0, *(each.start for each in clauses)):
            first, second = ([*folded_words(self.request[at:])[:2], "", ""])[:2]
            yield first, second


def _dictates(verb: str, after: str) -> bool:
    tells = verb in words_in_all("requests", "tell") and after not in words_in_all(
        "requests", "own"
    )
    return tells or verb in words_in_all("requests", "compose")


class RequestCheck:
    """No pattern. Compares the owner's words with the text."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del criterion
        if len(evidence.text) > MAX_CHARACTERS:
            why = f"{NOT_DECIDED}its {len(evidence.text)} characters are too many to compare"
            return Finding("request", Result.SKIPPED, why)
        wrong, doubts = await beside_others(compare, task, evidence)
        if wrong:
            return Finding("request", Result.FAIL, "; ".join(wrong[:_SHOWN]))
        if doubts:
            return Finding("request", Result.SKIPPED, NOT_DECIDED + "; ".join(doubts[:_SHOWN]))
        return Finding("request", Result.PASS)


def compare(task: Task, evidence: Evidence) -> tuple[list[str], list[str]]:
    """Return what contradicts the request, and what may."""
    request = task.request.text if task.request else task.instructions
    about = _without_sending(task) if task.request else request
    pair = Comparison(request, about, plain(evidence.text), evidence, task)
    wrong: list[str] = []
    doubts: list[str] = []
    read = [each.text for each in evidence.read]
    ground, composes = ground_of(task, evidence), pair.composes
    for found, unsure in (
        facts.compare(pair.facts, evidence, task, composes=composes, ground=ground),
        names.compare(pair.request, pair.text, [*owner_words(task), *read], composes=composes),
        (swaps.find([pair.facts, *read], pair.text), []),
        _compare_subject(pair, read),
    ):
        wrong += found
        doubts += unsure
    return wrong, doubts


def _without_sending(task: Task) -> str:
    """Return the request with blanks for when, where and in which form to send."""
    assert task.request is not None  # noqa: S101 - who calls has looked
    text = task.request.text
    for each in task.request.clauses:
        if each.became in _ABOUT_SENDING:
            text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text


def _compare_subject(pair: Comparison, read: Sequence[str]) -> tuple[list[str], list[str]]:
    """Check the subject: the text shares words with the request or the sources.

    A text that shares nothing fails; a list, an invention or another language is undecided.
    """
    told = frozenset(folded_words(pair.text))
    terms = content(pair.facts)
    if not terms or any(says(each, told) for each in terms) or _shares_figure(pair):
        return [], []
    if any(says(each, told) for part in read for each in content(part)):
        return [], []
    languages = likely_language(pair.facts), likely_language(pair.text)
    sure = None not in languages and languages[0] == languages[1]
    free = pair.invents or len(entries(pair.text)) >= _LIST or rows(pair.text) >= _LIST
    if sure and not free and len(terms) >= _MIN_SHARED_WORDS and len(told) >= _SHORT:
        return ["it shares no word with the request"], []
    return [], ["no word of the request occurs in it"]


def content(text: str) -> list[str]:
    """The stems of the words that carry a text."""
    empty = _empty_words()
    return [stem(each) for each in folded_words(text) if len(each) > _LIST and each not in empty]


@cache
def _empty_words() -> frozenset[str]:
    """The words that say nothing of what a text is about."""
    lists = (words_in_all("requests", key) for key in ("asking", "orders", "measures"))
    return frozenset(STOP.union(ORDER_VERBS, NUMBER_WORDS, *lists))


def _shares_figure(pair: Comparison) -> bool:
    told = figures(pair.text)
    return any(facts.agree(mine, yours) for mine in figures(pair.facts) for yours in told)
