"""Detects the language of a text, and lists the languages with their names."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final

from msgspec import Struct, convert

from remit.language.files import LANGUAGES, language_file, phrase_keys, read_toml
from remit.language.time.words import time_words
from remit.language.tokens import Token, TokenKind, fold

_ASKS: Final = 2  # votes of a verb that asks, in front: "text bob im late" is not German


def language_of(tokens: Sequence[Token]) -> str | None:
    """Return the code of the language that fits a text best; None if Remit reads none of it."""
    keys = [token.key for token in tokens if token.kind is TokenKind.WORD]
    votes = dict.fromkeys(LANGUAGES, 0)
    known, others = known_words(), _foreign()
    foreign = 0
    for key in keys:
        for code, vote in known.get(key, ()):
            votes[code] += vote
        if key in others:
            foreign += 2
    for code in LANGUAGES:
        if keys and keys[0] in time_words(code).orders:
            votes[code] += _ASKS
    best = max(LANGUAGES, key=lambda code: votes[code])
    return best if votes[best] > foreign else None


def languages_in(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the languages with words of their own in a text; all, if there are none."""
    keys = {token.key for token in tokens if token.kind is TokenKind.WORD}
    found = {votes[0][0] for key in keys if len(votes := known_words().get(key, ())) == 1}
    return tuple(code for code in LANGUAGES if code in found) or LANGUAGES


@cache
def known_words() -> dict[str, tuple[tuple[str, int], ...]]:
    """Return each folded word of the files with its votes by language.

    One vote, two if the word is small, and one more if no other language has it.
    """
    known = {code: _known(code) for code in LANGUAGES}
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for code, words in known.items():
        common = _common(code)
        for word in words:
            found[word] = (*found.get(word, ()), (code, 1 + (word in common)))
    return {
        word: votes if len(votes) > 1 else ((votes[0][0], votes[0][1] + 1),)
        for word, votes in found.items()
    }


@cache
def _known(code: str) -> frozenset[str]:
    """Return every word of a language's file that belongs to requests."""
    file = language_file(code)
    lists = chain(file["words"].values(), file["verbs"].values())
    names = (each.split(": ")[-1] for each in chain.from_iterable(lists))
    return phrase_keys(names) | time_words(code).known


@cache
def _common(code: str) -> frozenset[str]:
    return frozenset(map(fold, language_file(code)["words"]["common"]))


@cache
def _foreign() -> frozenset[str]:
    """Return small words of languages that Remit does not read but that resemble those it does."""
    ours = frozenset().union(*map(_common, LANGUAGES))
    return frozenset(map(fold, read_toml("foreign")["words"])) - ours


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One language. `called` are its names in every language of Remit, separated by blanks."""

    name: str
    called: str
    small_words: str = ""
    letters: str = ""  # a range, as a regular expression writes it
    least_share: float = 1.0  # of the letters of a text, so that it is in this language


@cache
def languages() -> Mapping[str, Language]:
    """Return every language by its code."""
    return convert(read_toml("languages"), dict[str, Language])


@cache
def language_names() -> Mapping[str, str]:
    """Return the English name of each language by its code."""
    return {code: each.name for code, each in languages().items()}
