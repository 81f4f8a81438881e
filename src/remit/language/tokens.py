"""Splits a message into tokens with their positions. A quotation, in any style, is one token.

Apostrophes and inch marks are no quotation marks.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct


class Quote(Struct, frozen=True):
    """A quotation. `clear` is False if another mark could just as well end it."""

    start: int
    end: int
    clear: bool = True

    @property
    def inner_start(self) -> int:
        return self.start + 1

    @property
    def inner_end(self) -> int:
        return self.end - 1


# What may close what opens. A single one ends with its line, for it may be an apostrophe.
# ruff: noqa: RUF001 - these marks are what it is about
_CLOSERS: Final = {
    "“": "”",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "‹": "›",
    "‚": "‘",
    '"': '"',
    "「": "」",
    "`": "`",
    "'": "'",
    "‘": "’",
}
_APOSTROPHES: Final = "'’"
_BEFORE: Final = " \t\n\r([{<:,;-–—=¿¡/"


def find_quotes(text: str) -> Iterator[Quote]:
    """Yield the quotations from left to right; none is inside another."""
    searched: dict[str, int] = {}  # up to where an opener is known to have no closer
    at = 0
    opener_pattern = _patterns()[0]
    while found := opener_pattern.search(text, at):
        at, opener = found.start(), found.group()
        if not _opens(text, at) or at < searched.get(opener, 0):
            at += 1
            continue
        close, looked = _close(text, at)
        if close is None or not text[at + 1 : close].strip():
            searched[opener] = looked
            at += 1
            continue
        yield Quote(at, close + 1, clear=_is_clear(text, close))
        at = close + 1


def _opens(text: str, at: int) -> bool:
    if text[at] not in _CLOSERS:
        return False
    before = text[at - 1] if at else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    return before in _BEFORE and (text[at] == "«" or not after.isspace())


def _close(text: str, at: int) -> tuple[int | None, int]:
    """Return the place of the closing mark, if any, and how far was searched."""
    closers = _CLOSERS[text[at]]
    within_line = any(mark in closers for mark in _APOSTROPHES)
    for place in range(at + 1, len(text)):
        letter = text[place]
        if within_line and letter == "\n":
            return None, place
        if letter in closers and _closes(text, place):
            return place, place
        if letter == text[at] and _opens(text, place):
            return None, place  # the same mark opens again: the first was never closed
    return None, len(text)


def _closes(text: str, place: int) -> bool:
    """Whether a mark closes and is no apostrophe: no letter follows it."""
    after = text[place + 1] if place + 1 < len(text) else " "
    before = text[place - 1]
    if text[place] in _APOSTROPHES:
        return not after.isalnum() and not before.isspace()
    return not (before.isspace() and after.isalnum())


def _is_clear(text: str, close: int) -> bool:
    """Whether the end is certain: its line has no further closing mark without an opening one."""
    mark = text[close]
    if mark not in _APOSTROPHES:
        return True
    for place in range(close + 1, len(text)):
        letter = text[place]
        if letter == "\n" or (letter in _CLOSERS and _opens(text, place)):
            return True
        if letter == mark and _closes(text, place):
            return False
    return True


class TokenKind(StrEnum):
    WORD = "word"
    NUMBER = "number"
    ADDRESS = "address"
    QUOTE = "quote"
    MARK = "mark"
    LINE = "line"


class Token(Struct, frozen=True, gc=False):
    """`key` is its folded form; a `tight` one follows the one before without a gap."""

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
_TOKEN: Final = rf"""(?P<address>[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{1,8}}|https?://\S+)
    | (?P<number>[0-9]+)
    | (?P<word>(?:{_LETTER})+(?:['’_-](?:{_LETTER})+)*)
    | (?P<line>\n)
    | (?P<mark>\S)"""
_KINDS: Final = {kind.value: kind for kind in TokenKind}
_FIRST_SIGN: Final = "\u2190"
_SIGNS: Final = frozenset({"So", "Sk", "Mn", "Cf", "Cn"})  # of these emoji are made
_CLOSING: Final = ".,;:!?)]}»”’'\""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds an opening quotation mark, and a token; compiled at the first text."""
    return re.compile(f"[{''.join(_CLOSERS)}]"), re.compile(_TOKEN, re.VERBOSE)


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a message into tokens, in order; only blanks are between them."""
    tokens: list[Token] = []
    at = 0
    for quote in find_quotes(text):
        _add_plain(tokens, text, at, quote.start)
        tokens.append(_quoted(text, quote, tokens[-1].end if tokens else 0))
        at = quote.end
    _add_plain(tokens, text, at, len(text))
    return tuple(tokens)


def _add_plain(tokens: list[Token], text: str, at: int, stop: int) -> None:
    last = tokens[-1].end if tokens else 0
    for found in _patterns()[1].finditer(text, at, stop):
        kind = _KINDS[found.lastgroup or ""]
        start, end = found.span()
        piece = found.group()
        if kind is TokenKind.ADDRESS and piece[-1] in _CLOSING:
            piece = piece.rstrip(_CLOSING)
            end = start + len(piece)
        tokens.append(Token(start, end, piece, fold(piece), kind, start == last and start > 0))
        if end < found.end():
            _add_plain(tokens, text, end, stop)
            return
        last = end


def _quoted(text: str, quote: Quote, last: int) -> Token:
    tight = quote.start == last and quote.start > 0
    inner = text[quote.inner_start : quote.inner_end]
    return Token(quote.start, quote.end, inner, "", TokenKind.QUOTE, tight, quote.clear)


def is_sign(text: str) -> bool:
    """Whether a character is an emoji, or part of one: it has meaning."""
    return text >= _FIRST_SIGN and unicodedata.category(text[0]) in _SIGNS


@lru_cache(maxsize=4096)
def fold(word: str) -> str:
    """Return a word for lookup: lower case, no accents, one kind of apostrophe."""
    return fold_text(word)


def fold_text(text: str) -> str:
    """Return a whole text folded; not cached, because texts are long."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def keys_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.key for token in tokens)
