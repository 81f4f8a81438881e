"""The text keeps to the request: its subject, figures, dates, names, and what belongs to what.

What contradicts the request fails. What code cannot decide is not verified: a critic may judge it.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from remit.language.files import words_in_all
from remit.model.contract import NOT_DECIDED, Criterion, Evidence, Finding, Result
from remit.model.plan import ClauseOutcome
from remit.model.task import Task
from remit.verify.written import facts, names, subject, swaps
from remit.verify.written.grounded import MOST, ground_of, owner_words
from remit.verify.written.wording import fold, plain, words

_ABOUT_SENDING: Final = frozenset({ClauseOutcome.TIME, ClauseOutcome.CONSTRAINT})
_SHOWN: Final = 3


class Comparison(Struct, frozen=True):
    """A request beside a text. `facts` is the request without when and how to send."""

    request: str
    facts: str
    text: str
    evidence: Evidence
    task: Task

    @property
    def composes(self) -> bool:
        """Whether the owner dictates a message: what he tells must stand in it."""
        said = f" {' '.join(fold(each) for each in words(self.request))} "
        dictates = any(f" {each} " in said for each in words_in_all("requests", "dictating"))
        ordered = dictates or any(_dictates(*each) for each in self._openers())
        return ordered and not self.invents

    @property
    def invents(self) -> bool:
        asked = frozenset(fold(each) for each in words(self.request))
        return not asked.isdisjoint(words_in_all("requests", "inventions"))

    def _openers(self) -> Iterator[tuple[str, str]]:
        """The first two words of the request and of each of its clauses."""
        clauses = self.task.request.clauses if self.task.request else ()
        for at in (0, *(each.start for each in clauses)):
            first, second = ([*words(self.request[at:])[:2], "", ""])[:2]
            yield fold(first), fold(second)


def _dictates(verb: str, after: str) -> bool:
    tells = verb in words_in_all("requests", "tell") and after not in words_in_all(
        "requests", "own"
    )
    return tells or verb in words_in_all("requests", "compose")


class RequestCheck:
    """No pattern. Compares the owner's own words with the text."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del criterion
        if len(evidence.text) > MOST:
            why = f"{NOT_DECIDED}its {len(evidence.text)} characters are too many to compare"
            return Finding("request", Result.SKIPPED, why)
        wrong, doubts = await asyncio.to_thread(compare, task, evidence)
        if wrong:
            return Finding("request", Result.FAIL, "; ".join(wrong[:_SHOWN]))
        if doubts:
            return Finding("request", Result.SKIPPED, NOT_DECIDED + "; ".join(doubts[:_SHOWN]))
        return Finding("request", Result.PASS)


def compare(task: Task, evidence: Evidence) -> tuple[list[str], list[str]]:
    """What contradicts the request, and what may."""
    request = task.request.text if task.request else task.instructions
    about = _without_sending(task) if task.request else request
    pair = Comparison(request, about, plain(evidence.text), evidence, task)
    wrong: list[str] = []
    doubts: list[str] = []
    known = [*owner_words(task), *(each.text for each in evidence.read)]
    ground = ground_of(task, evidence)
    for found, unsure in (
        facts.compare(pair.facts, evidence, task, composes=pair.composes, ground=ground),
        names.compare(pair.request, pair.text, known, composes=pair.composes),
        (swaps.find([pair.facts, *known[len(owner_words(task)) :]], pair.text), []),
    ):
        wrong += found
        doubts += unsure
    lost, unsure = subject.compare(
        pair.facts, pair.text, known[len(owner_words(task)) :], pair.invents
    )
    return [*wrong, *lost], [*doubts, *unsure]


def _without_sending(task: Task) -> str:
    """The request with blanks where it says when, where and in which form to send."""
    assert task.request is not None  # noqa: S101 - who calls has looked
    text = task.request.text
    for each in task.request.clauses:
        if each.became in _ABOUT_SENDING:
            text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    return text
