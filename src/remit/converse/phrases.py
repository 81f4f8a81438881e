"""Matches sentences against the set phrases of every language, and reads short decisions.

The phrases are data: the `[talk]` table of the language files. Only a whole sentence can match. A
star stands for one or more words; so does a tilde, whose words are ignored.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, Generic, TypeAlias, TypeVar

from remit.language.files import LANGUAGES, section, words_in_all
from remit.language.tokens import fold
from remit.model.review import Decision, Review, ReviewAnswer

T = TypeVar("T")
Words: TypeAlias = tuple[str, ...]

_WORD: Final = re.compile(r"[^\W_]+(?:['’:.][^\W_]+)*")
_STARS: Final = re.compile(r"[*~]")
_TALK: Final = "talk"


def word_set(text: str) -> frozenset[str]:
    """Return a set of words."""
    return frozenset(text.split())


def listed(name: str) -> tuple[str, ...]:
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
    return PhraseTable({name: listed(name) for name in names})


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


_WORDS: Final = PhraseTable(
    {
        ReviewAnswer.APPROVE: (
            *("yes", "yes please", "ok", "okay", "approve", "approved", "go ahead", "send it"),
            *("do it", "ja", "ja bitte", "genehmigt", "einverstanden", "abschicken"),
            *("sí", "vale", "de acuerdo", "adelante", "aprobado"),
        ),
        ReviewAnswer.DECLINE: (
            *("no", "no thanks", "decline", "declined", "stop", "don't", "do not send it"),
            *("nein", "nein danke", "ablehnen", "abgelehnt", "no gracias", "rechazado"),
        ),
        ReviewAnswer.ARRIVED: ("arrived", "it arrived"),
        ReviewAnswer.RESEND: ("resend", "send it again"),
        ReviewAnswer.DROP: ("drop", "leave it out"),
    }
)


def read_decision(review: Review, text: str, by: str) -> Decision | None:
    """Return the decision that words make on a question; None if they are no decision."""
    found = _WORDS.read(words_of(text))
    choice = found[0] if found is not None and found[0] in review.options else None
    if choice is not None and (
        choice is ReviewAnswer.APPROVE or ReviewAnswer.ANSWER not in review.options
    ):
        return Decision(choice, by=by)
    if ReviewAnswer.ANSWER in review.options:
        return Decision(ReviewAnswer.ANSWER, text, by=by)
    return None
