"""Splits a message into tokens with their positions. A quotation is one token."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct

from remit.language.quotes import Quote, find_quotes


class TokenKind(StrEnum):
    WORD = "word"
    NUMBER = "number"
    ADDRESS = "address"
    QUOTE = "quote"
    MARK = "mark"
    LINE = "line"


class Token(Struct, frozen=True):
    """`key` is how it is looked up; a `tight` one follows the one before without a gap."""

    start: int
    end: int
    text: str
    key: str
    kind: TokenKind
    tight: bool
    clear: bool = True  # a quotation whose end is certain

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


_LETTER: Final = r"[^\W\d_][\u0300-\u036f]*"
# Runs are bounded or end at a character of their own, so that no input makes it look twice.
_TOKEN: Final = re.compile(
    rf"""(?P<address>[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,8}}|https?://\S+)
       | (?P<number>[0-9]+)
       | (?P<word>(?:{_LETTER})+(?:['’_-](?:{_LETTER})+)*)
       | (?P<line>\n)
       | (?P<mark>\S)
    """,
    re.VERBOSE,
)
_KINDS: Final = {kind.value: kind for kind in TokenKind}
_FIRST_SIGN: Final = "\u2190"
_SIGNS: Final = frozenset({"So", "Sk", "Mn", "Cf", "Cn"})  # of these emoji are made
_CLOSING: Final = ".,;:!?)]}»”’'\""


def tokenize(text: str) -> tuple[Token, ...]:
    """Cut a message into tokens, in order; what lies between them is blank."""
    return tuple(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    at = last = 0
    for quote in (*find_quotes(text), None):
        stop = quote.start if quote else len(text)
        for token in _plain(text, at, stop, last):
            yield token
            last = token.end
        if quote:
            yield _quoted(text, quote, last)
            at = last = quote.end


def _plain(text: str, at: int, stop: int, last: int) -> Iterator[Token]:
    while found := _TOKEN.search(text, at, stop):
        kind = _KINDS[found.lastgroup or ""]
        start, end = found.span()
        if kind is TokenKind.ADDRESS:
            end = start + len(found.group().rstrip(_CLOSING))
        piece = text[start:end]
        yield Token(start, end, piece, fold(piece), kind, tight=start == last and start > 0)
        at = last = end


def _quoted(text: str, quote: Quote, last: int) -> Token:
    tight = quote.start == last and quote.start > 0
    inner = text[quote.inner_start : quote.inner_end]
    return Token(quote.start, quote.end, inner, "", TokenKind.QUOTE, tight, quote.clear)


def is_sign(text: str) -> bool:
    """Whether a mark is an emoji, or a part of one: it belongs to what is said."""
    return text >= _FIRST_SIGN and unicodedata.category(text[0]) in _SIGNS


@lru_cache(maxsize=4096)
def fold(word: str) -> str:
    """Write a word as it is looked up: small, without accents, one sort of apostrophe."""
    return fold_text(word)


def fold_text(text: str) -> str:
    """A whole text as words are looked up; it is not kept, for texts are long."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def keys_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.key for token in tokens)
