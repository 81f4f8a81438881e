"""Checks that a text keeps to its request: subject, figures, dates, names and their relations.

A contradiction fails. What code cannot decide is not verified; a critic may judge it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Final

from msgspec import Struct

from remit.language.files import number_words, words_in_all
from remit.language.tokens import fold
from remit.model.contract import ClauseOutcome, Evidence
from remit.model.task import Task
from remit.verify.written import facts
from remit.verify.written.figures import find_figures
from remit.verify.written.phrases import likely_language
from remit.verify.written.wording import (
    MAX_CHARACTERS,
    ORDER_VERBS,
    PASSED,
    STOP,
    Judged,
    entries,
    fail,
    folded_words,
    mentions,
    owner_words,
    rows,
    sentences,
    stem,
    undecided,
    without_marks,
    word_set,
    words,
)

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*\.?|[^\w\s]")
_CAMEL: Final = re.compile(r"[a-z][A-Z]")  # a service's name, used for sending
_FULL: Final = 2  # words of a full name


def _common(*kinds: str) -> frozenset[str]:
    return STOP.union(ORDER_VERBS, *(words_in_all("requests", kind) for kind in kinds))


# Words that are capitalised and name nobody; and those that say nothing of what a text is about.
_NO_NAMES: Final = _common("titles", "weekdays", "salutations", "measures")
_EMPTY: Final = _common("asking", "orders", "measures") | number_words().keys()


class PersonName(Struct, frozen=True):
    words: tuple[str, ...]  # as written
    before: str  # the word before it, folded
    first: bool  # whether it begins a sentence
    last_line: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def titled(self) -> bool:
        return self.before in words_in_all("requests", "titles")


def compare_names(
    request: str, text: str, known: Sequence[str], *, composes: bool
) -> tuple[list[str], list[str]]:
    """Return names that replace those of the request; and those that are missing."""
    if not composes:
        return [], []
    asked = list(_names(request))
    there = frozenset(stem(each) for each in words(text))
    missing = [each for each in asked if not any(stem(word) in there for word in each.words)]
    if not missing:
        return [], []
    stems = frozenset(stem(each) for part in known for each in words(part))
    strange = [
        each
        for each in _names(text, capitals=lambda: True)
        if not any(stem(word) in stems for word in each.words)
    ]
    capitals = _has_plain_nouns(text)
    for each in missing:
        other = next((one for one in strange if _replaces(each, one, capitals=capitals)), None)
        if other:
            return [f"the request names “{each.text}”, the text “{other.text}”"], []
    return [], [f"“{each.text}” of the request does not occur" for each in missing]


def _replaces(asked: PersonName, other: PersonName, *, capitals: bool) -> bool:
    """Whether a new name is where the request's should be."""
    greeted = other.before in words_in_all("requests", "salutations") or other.titled
    if greeted and (asked.titled or asked.before not in word_set("small.place")):
        return True
    if not capitals or other.last_line:  # the signature does not matter here
        return False
    full = len(asked.words) >= _FULL and len(other.words) >= _FULL
    return full or (asked.before in word_set("small.place") and other.before == asked.before)


def _has_plain_nouns(text: str) -> bool:
    """Whether a text is in a language in which a capital within a sentence means a name."""
    return likely_language(text) in ("en", "es")


def _names(text: str, *, capitals: Callable[[], bool] | None = None) -> Iterator[PersonName]:
    """Yield capitalised words that name someone.

    In a language with capitalised nouns, only those after a title or the ordering verb. Which it is
    is asked only if it matters.
    """
    capitals = capitals or cache(partial(_has_plain_nouns, text))
    spoken = sentences(text)
    for number, sentence in enumerate(spoken):
        tokens = [each for each in _TOKEN.findall(sentence) if each.strip(".")]
        at = 0
        while at < len(tokens):
            run = _run(tokens, at)
            if run:
                before = fold(tokens[at - 1]).strip(".") if at else ""
                last = number == len(spoken) - 1 and number > 0
                name = PersonName(tuple(run), before, at == 0, last)
                if _counts(name, capitals=capitals):
                    yield name
            at += max(1, len(run))


def _run(tokens: Sequence[str], at: int) -> list[str]:
    run: list[str] = []
    for token in tokens[at:]:
        if not token[0].isupper() or not _is_name(token):
            break
        run.append(token.rstrip("."))
        if token.endswith("."):
            break
    return run


def _is_name(token: str) -> bool:
    bare = fold(token).strip(".")
    return len(bare) > 1 and not _CAMEL.search(token) and bare not in _NO_NAMES


def _counts(name: PersonName, *, capitals: Callable[[], bool]) -> bool:
    if name.titled or name.before in ORDER_VERBS:
        return True
    if name.first and len(name.words) < _FULL:
        return False  # any word may begin a sentence
    return capitals()


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
        asked_words = f" {' '.join(folded_words(self.request))} "
        dictates = any(f" {each} " in asked_words for each in words_in_all("requests", "dictating"))
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


def judge_request(task: Task, wanted: str, evidence: Evidence) -> Judged:
    """No pattern. Compares the owner's words with the text."""
    del wanted
    if len(evidence.text) > MAX_CHARACTERS:
        return undecided(f"its {len(evidence.text)} characters are too many to compare")
    wrong, doubts = compare_with_request(task, evidence)
    if wrong:
        return fail("; ".join(wrong[:_SHOWN]))
    return undecided("; ".join(doubts[:_SHOWN])) if doubts else PASSED


def compare_with_request(task: Task, evidence: Evidence) -> tuple[list[str], list[str]]:
    """Return what contradicts the request, and what may."""
    request = task.request.text if task.request else task.instructions
    about = _without_sending(task) if task.request else request
    pair = Comparison(request, about, without_marks(evidence.text), evidence, task)
    wrong: list[str] = []
    doubts: list[str] = []
    read = [each.text for each in evidence.read]
    composes = pair.composes
    for found, unsure in (
        facts.compare_figures(pair.facts, evidence, task, composes=composes),
        compare_names(pair.request, pair.text, [*owner_words(task), *read], composes=composes),
        (facts.swapped_figures([pair.facts, *read], pair.text), []),
        (facts.wrong_weekdays(pair.text, [*owner_words(task), *read], task.created_at.date()), []),
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
    text_words = frozenset(folded_words(pair.text))
    terms = content_stems(pair.facts)
    if not terms or any(mentions(each, text_words) for each in terms) or _shares_figure(pair):
        return [], []
    if any(mentions(each, text_words) for part in read for each in content_stems(part)):
        return [], []
    languages = likely_language(pair.facts), likely_language(pair.text)
    sure = None not in languages and languages[0] == languages[1]
    free = pair.invents or len(entries(pair.text)) >= _LIST or rows(pair.text) >= _LIST
    if sure and not free and len(terms) >= _MIN_SHARED_WORDS and len(text_words) >= _SHORT:
        return ["it shares no word with the request"], []
    return [], ["no word of the request occurs in it"]


def content_stems(text: str) -> list[str]:
    """The stems of the words that carry a text."""
    known = (each for each in folded_words(text) if each not in _EMPTY)
    return [stem(each) for each in known if len(each) > _LIST]


def _shares_figure(pair: Comparison) -> bool:
    text_figures = find_figures(pair.text)
    return any(
        facts.means_the_same(mine, yours)
        for mine in find_figures(pair.facts)
        for yours in text_figures
    )
