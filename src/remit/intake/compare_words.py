"""Whether the words of one text are in another: small words aside, endings and accents aside."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, TypeVar

from remit.intake.lexicon import language_of
from remit.intake.lexicon.shape import Language, Phrases
from remit.intake.lexicon.words import Kind, Token, keys_of, tokenize
from remit.intake.recipients import ELSEWHERE, Book

T = TypeVar("T")
_SMALL: Final = 4  # letters: in a language nobody here knows, shorter words are small ones
_STEM: Final = 4  # letters two words must share at least to be forms of one
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Wording:
    """A text, looked at word by word in the language of the whole message."""

    text: str
    language: Language | None
    tokens: tuple[Token, ...]
    keys: frozenset[str]
    stems: Mapping[str, Sequence[str]]  # its words by their first letters

    @classmethod
    def of(cls, text: str, language: Language | None) -> "Wording":
        tokens = tokenize(text)
        inner = (key for token in tokens if token.kind is Kind.QUOTE for key in _inner(token))
        keys = frozenset((*keys_of(tokens), *inner))
        stems: dict[str, list[str]] = {}
        for key in keys:
            stems.setdefault(key[:_STEM], []).append(key)
        return cls(text, language, tokens, keys, stems)

    def lacks(self, words: "Wording") -> tuple[str, ...]:
        """Those words of another text that are not in this one, as they were written there."""
        return tuple(token.text for token in words.telling() if not self.has(token))

    def has(self, token: Token) -> bool:
        """Whether a word is here, perhaps with another ending; what was quoted, to the letter."""
        if token.kind is Kind.QUOTE:
            return token.text in self.text
        return token.key in self.keys or (token.kind is Kind.WORD and self._has_like(token.key))

    def _has_like(self, key: str) -> bool:
        if _negates(key, self.language):
            return any(_negates(each, self.language) for each in self.keys)
        if not key.isascii() and any(key in each for each in self.keys):
            return True  # scripts that set no blanks between words
        return any(_is_form(key, each) for each in self.stems.get(key[:_STEM], ()))

    def telling(self) -> Iterator[Token]:
        """The words that say something."""
        for token in self.tokens:
            if token.kind in (Kind.MARK, Kind.LINE) or _is_small(token.key, self.language):
                continue
            yield token

    def is_about(self, other: "Wording") -> bool:
        """Whether at least half of what it says is said in another text too."""
        told = tuple(self.telling())
        return bool(told) and sum(map(other.has, told)) >= _HALF * len(told)

    def invents(self, said: "Wording", book: Book) -> bool:
        """Whether it names a person, a channel, an address, a number or a quotation nobody said."""
        exact = (Kind.ADDRESS, Kind.NUMBER, Kind.QUOTE)
        if any(token.kind in exact and not said.has(token) for token in self.tokens):
            return True
        keys = keys_of(self.tokens)
        return any(
            found and not set(keys[at : found[1]]) <= said.keys
            for at in range(len(keys))
            for found in (book.people.at(keys, at), book.ways.at(keys, at), ELSEWHERE.at(keys, at))
        )


def is_plain(text: str) -> bool:
    """Whether a text can be shown: no control characters, no half ones, nothing invisible."""
    return bool(text.strip()) and all(each.isprintable() or each in "\n\t" for each in text)


def tongue(text: str) -> Language | None:
    return language_of(tokenize(text))


def _inner(token: Token) -> Sequence[str]:
    return keys_of(tokenize(token.text))


def _is_small(key: str, language: Language | None) -> bool:
    if language is None:
        return key.isascii() and key.isalpha() and len(key) < _SMALL
    if _negates(key, language):
        return False
    small = language.common | language.articles | language.one | language.my | language.subjects
    return key in small or any(
        (
            _is_one_of(language.links, key),
            _is_one_of(language.refers, key),
            _is_one_of(language.me, key),
            _is_one_of(language.them, key),
            _is_one_of(language.to, key),
        )
    )


def _is_one_of(phrases: Phrases[T], key: str) -> bool:
    return phrases.at((key,), 0) is not None


def _negates(key: str, language: Language | None) -> bool:
    """Whether a word says no by itself: "no seafood" is not about seafood."""
    if language is None:
        return False
    denying = (language.nots, language.without, language.none_of)
    return any(phrases.at((key,), 0) for phrases in denying)


def _is_form(one: str, other: str) -> bool:
    """Whether two words differ in their ending alone: "price", "prices"; "compare", "comparing"."""
    shared = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    )
    return shared >= max(_STEM, min(len(one), len(other)) - 1)
