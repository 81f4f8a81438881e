"""Parses the owner's sentences about existing tasks: commands, queries, corrections.

Only closed sentence forms are read here. Everything else goes to intake, which reads new work, or
to a model, which answers questions and cannot act.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Final, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from remit.language.files import LANGUAGES, section, words_in_all
from remit.language.tokens import fold
from remit.model.review import Decision, Review, ReviewAnswer

T = TypeVar("T")
Words: TypeAlias = tuple[str, ...]

_WORD: Final = re.compile(r"[^\W_]+(?:['’:.][^\W_]+)*")
_STARS: Final = re.compile(r"[*~]")
_TALK: Final = "talk"


def phrases_of_list(name: str) -> tuple[str, ...]:
    """Return the phrases of one list, in every language."""
    return tuple(phrase for code in LANGUAGES for phrase in section(code, _TALK)[name])


def in_list(name: str) -> frozenset[str]:
    """Return the single words of one list, in every language, folded."""
    return words_in_all(_TALK, name)


def words_of(text: str) -> Words:
    """Return the words folded: lower case, no accents, one kind of apostrophe."""
    return tuple(fold(word) for word in _WORD.findall(text))


def bare(
    words: Sequence[str],
    before: Container[str] | None = None,
    after: Container[str] | None = None,
) -> Words:
    """Return the words without politeness, or other fillers, at either end."""
    polite = in_list("polite")
    before = polite | in_list("leads") if before is None else before
    found = list(words)
    while found and found[0] in before:
        del found[0]
    while found and found[-1] in (polite if after is None else after):
        del found[-1]
    return tuple(found)


class PhraseTable(Generic[T]):
    """Phrases with their meanings; the one with the most words of its own wins."""

    def __init__(self, phrases: Mapping[T, Sequence[str]]) -> None:
        rows = [
            (tuple(_parts(phrase)), _STARS.findall(phrase), meaning)
            for meaning, each in phrases.items()
            for phrase in each
        ]
        self._rows = sorted(rows, key=lambda row: -sum(map(len, row[0])))

    def read(self, words: Sequence[str]) -> tuple[T, Words] | None:
        """Return what a whole sentence means, and the words of its star."""
        for parts, stars, meaning in self._rows:
            held = _held(parts, tuple(words))
            if held is not None:
                kept = (each for star, each in zip(stars, held, strict=True) if star == "*")
                return meaning, next(kept, ())
        return None


@cache
def phrase_table(names: tuple[str, ...]) -> PhraseTable[str]:
    """Return the phrases of some lists; each means the name of its list."""
    return PhraseTable({name: phrases_of_list(name) for name in names})


def is_phrase(name: str, words: Sequence[str]) -> bool:
    """Whether words, as a whole, are a phrase of a list."""
    return phrase_table((name,)).read(words) is not None


def _parts(phrase: str) -> Iterator[Words]:
    for part in _STARS.split(phrase):
        yield tuple(fold(word) for word in part.split())


def _held(parts: tuple[Words, ...], words: Words) -> list[Words] | None:
    """Return the words of each star, if the words match the phrase."""
    begin, *rest = parts
    if words[: len(begin)] != begin:
        return None
    words = words[len(begin) :]
    if not rest:
        return None if words else []
    for end in range(1, len(words) + 1):
        later = _held(tuple(rest), words[end:])
        if later is not None:
            return [words[:end], *later]
    return None


_DECIDE: Final = "decide_"  # before the answer that the words of a list give
_DECISIONS: Final = (
    *(ReviewAnswer.APPROVE, ReviewAnswer.DECLINE, ReviewAnswer.ARRIVED),
    *(ReviewAnswer.RESEND, ReviewAnswer.DROP),
)


def _choice_in(text: str) -> ReviewAnswer | None:
    """Return the answer that words give to a question, whichever it is."""
    found = phrase_table(tuple(_DECIDE + each for each in _DECISIONS)).read(words_of(text))
    return ReviewAnswer(found[0].removeprefix(_DECIDE)) if found else None


def is_decision(text: str) -> bool:
    """Whether words decide a question, whichever it is."""
    return _choice_in(text) is not None


def decision_words(review: Review) -> list[str]:
    """Return the words that decide a question, one for each of its answers."""
    return [
        phrases_of_list(_DECIDE + answer)[0] for answer in _DECISIONS if answer in review.options
    ]


def read_decision(review: Review, text: str, by: str) -> Decision | None:
    """Return the decision that words make on a question; None if they are no decision."""
    found = _choice_in(text)
    choice = found if found in review.options else None
    if choice is not None and (
        choice is ReviewAnswer.APPROVE or ReviewAnswer.ANSWER not in review.options
    ):
        return Decision(choice, by=by)
    if ReviewAnswer.ANSWER in review.options:
        return Decision(ReviewAnswer.ANSWER, text, by=by)
    return None


_MOST_WORDS: Final = 14
_MOST_CORRECTED: Final = 8
_MOST_CLAUSES: Final = 4
_MOST_CHARS: Final = 300
_CLAUSE: Final = re.compile(r"\s*[,;!?…]+\s*|(?<!\d)\s*\.+(?:\s+|$)|\s+[-–—]+\s+")


class TaskAction(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    RUN = "run"
    AGAIN = "again"  # what was done already
    SKIP = "skip"  # one run of a series


class QueryKind(StrEnum):
    RUNNING = "running"
    PLANNED = "planned"
    WAITING = "waiting"
    FAILED = "failed"
    DID = "did"
    STATUS = "status"


class TaskReference(Struct, frozen=True):
    """Which task is meant: by a pronoun, by words of its title, or all of them."""

    words: Words = ()
    pointed: bool = False  # "it"
    named: bool = False  # "the … task": only a task can be meant
    all: bool = False
    reminder: bool = False  # "the reminder"
    rhythm: str = ""  # "the weekly one"


class TaskCommand(Struct, frozen=True):
    """A command. `beside` is what else was said; if it asks for work, this is no mere command."""

    act: TaskAction
    thing: TaskReference
    said: Words = ()  # the words that name the task, or the run to skip
    beside: str = ""
    only_time: bool = False  # a command only if what it names is a time: "not Tuesday"


class Retraction(Struct, frozen=True):
    """Words that take back what was said last, such as "scratch that"."""

    beside: str = ""


class StatusQuery(Struct, frozen=True):
    look: QueryKind
    thing: TaskReference = TaskReference()
    when: Words = ()


class Approval(Struct, frozen=True):
    """Words that approve what is shown, such as "yes, send it"."""


class UndoCommand(Struct, frozen=True):
    """Words that undo what was done last in this conversation."""


class Correction(Struct, frozen=True):
    """A correction. `firm`: it can be nothing else; otherwise only if the words are a time."""

    words: str
    firm: bool


def read(
    text: str,
) -> TaskCommand | Retraction | StatusQuery | Correction | Approval | UndoCommand | None:
    """Return what a whole message means; None if it has no known form."""
    line = text.strip()
    if "\n" in line or len(line) > _MOST_CHARS:
        return None
    words = bare(words_of(line)) or words_of(line)
    clauses = [each for each in _CLAUSE.split(line) if words_of(each)]
    for form in (words_of(line), words):  # "doch nicht", of which "doch" alone means nothing
        if whole := _meaning_of_sentence(form, clauses):
            return whole
    if not 1 <= len(words) <= _MOST_WORDS or len(clauses) > _MOST_CLAUSES:
        return None
    one = _query(words) or _command(words) if len(clauses) == 1 else None
    return one or _of_clause(clauses) or _correction(line)


def _meaning_of_sentence(
    words: Words, clauses: list[str]
) -> Approval | UndoCommand | TaskCommand | Retraction | None:
    """Return what the sentence is as a whole, whatever tasks exist."""
    if is_phrase("approve", words) or _approves(clauses):
        return Approval()
    if is_phrase("undo", words):
        return UndoCommand()
    if is_phrase("wait", words):
        return TaskCommand(TaskAction.PAUSE, TaskReference(pointed=True))
    return Retraction() if is_phrase("retract", words) else None


def thing_of(words: Words) -> TaskReference:
    """Return which task some words point at."""
    inner = bare(words, in_list("articles"), in_list("articles"))
    if not inner or all(word in in_list("pronouns") for word in inner):
        return TaskReference(pointed=True)
    if all(word in in_list("all") for word in inner):
        return TaskReference(all=True)
    reminder = any(word in in_list("reminders") for word in inner)
    rhythm = next((r for r in RHYTHMS for word in inner if word in in_list(r)), "")
    loose = in_list("nouns") | in_list("articles") | (in_list(rhythm) if rhythm else frozenset())
    left = tuple(word for word in inner if word not in loose)
    pointed = not left and not reminder and not rhythm
    return TaskReference(left, pointed, len(left) < len(inner), False, reminder, rhythm)


def _approves(clauses: list[str]) -> bool:
    """Whether every clause agrees and one approves: "looks good, yes, send it"."""
    clause_words = [bare(words_of(clause)) or words_of(clause) for clause in clauses]
    approved = [is_phrase("approve", each) for each in clause_words]
    return any(approved) and all(
        is_approved or is_phrase("affirm", each)
        for is_approved, each in zip(approved, clause_words, strict=True)
    )


def _of_clause(clauses: list[str]) -> TaskCommand | Retraction | None:
    """Return the one clause that is a command; the others only explain it.

    "Actually no, resume it" resumes: what takes back comes before what is wanted instead.
    """
    every = [(n, each) for n, clause in enumerate(clauses) if (each := _order_in(clause))]
    found = [each for each in every if isinstance(each[1], TaskCommand)] or every
    if len(found) != 1 or found[0] != every[-1]:
        return None
    at, order = found[0]
    return replace(order, beside=", ".join(each for n, each in enumerate(clauses) if n != at))


def _order_in(clause: str) -> TaskCommand | Retraction | None:
    words = bare(words_of(clause))
    if is_phrase("retract", words):
        return Retraction()
    command = _command(words)
    if command is not None:
        return command
    found = phrase_table(("not_then",)).read(words)
    return (
        TaskCommand(TaskAction.SKIP, TaskReference(), found[1], only_time=True) if found else None
    )


def _command(words: Words) -> TaskCommand | None:
    found = phrase_table(tuple(TaskAction)).read(words)
    if found is None:
        return None
    act, inner = found
    if in_list("links") & set(inner):
        return None
    return TaskCommand(TaskAction(act), thing_of(inner), inner)


def _query(words: Words) -> StatusQuery | None:
    found = phrase_table(tuple(QueryKind)).read(bare(words, in_list("now"), in_list("now")))
    if found is None:
        return None
    look, inner = QueryKind(found[0]), found[1]
    if look is QueryKind.STATUS:
        return StatusQuery(look, thing_of(inner))
    if look is QueryKind.DID:
        when, thing = _split(inner)
        return StatusQuery(look, thing_of(thing) if thing else TaskReference(), when)
    return StatusQuery(look)


def _split(words: Words) -> tuple[Words, Words]:
    """Split "at 8 with the newsletter" into when and what."""
    at = next((n for n, word in enumerate(words) if word in in_list("with")), len(words))
    return words[:at], words[at + 1 :]


def _correction(line: str) -> Correction | None:
    """Return what follows the words that open a correction."""
    around = phrase_table(("corrects_around",)).read(bare(words_of(line)))
    if around is not None:
        return Correction(" ".join(around[1]), firm=True)
    left, firm, opened = line.strip(" .!"), False, False
    while found := _opening(left):
        left, sure = found
        firm, opened = firm or sure, True
    for tail in phrases_of_list("instead"):
        if fold(left).endswith(f" {fold(tail)}"):
            left, firm, opened = left[: -len(tail)].rstrip(" ,"), True, True
    few = 0 < len(left.split()) <= _MOST_CORRECTED
    return Correction(left, firm) if opened and few else None


def _opening(line: str) -> tuple[str, bool] | None:
    folded = fold(line)
    if len(folded) != len(line):
        return None  # a letter that folds to two would shift positions
    for phrase, firm in _openers():
        rest = folded[len(phrase) :]
        if folded.startswith(phrase) and rest[:1] in (" ", ",", ":"):
            return line[len(phrase) :].lstrip(" ,:.-"), firm
    return None


@cache
def _openers() -> tuple[tuple[str, bool], ...]:
    """Return the openers of corrections, longest first: "no wait" before "no".

    A firm one opens nothing else.
    """
    return tuple(sorted(_each_opener(), key=lambda row: -len(row[0])))


def _each_opener() -> Iterator[tuple[str, bool]]:
    for phrase in phrases_of_list("corrects"):
        yield fold(phrase), True
    for phrase in phrases_of_list("perhaps_corrects"):
        yield fold(phrase), False


RHYTHMS: Final = ("daily", "weekly", "monthly", "yearly")
