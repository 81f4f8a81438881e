"""Words as they are typed in haste, read as they were meant where only one word can be meant."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from remit.intake.lexicon.fillers import FILLERS, LEADING
from remit.intake.lexicon.shape import Language
from remit.intake.recipients import Book
from remit.language.tokens import Kind, Token

_SHORTEST: Final = 5  # letters of a word that may be misspelt
_LONG: Final = 8  # letters from which two slips are forgiven
_MOST_LETTERS: Final = 16
_EARLY: Final = 6  # words among which a verb stands that asks


def mended(tokens: Sequence[Token], language: Language, book: Book) -> tuple[Token, ...]:
    """Read short forms and misspelt words by the word they stand for; their text stays."""
    known = tuple(_short(token, language) for token in tokens)
    return tuple(_mended(known, language, book))


def spoken(tokens: Sequence[Token], language: Language) -> tuple[Token, ...]:
    """Leave out what is said while one thinks; it stays in the message, between the words."""
    fillers, leading = FILLERS[language.code], LEADING[language.code]
    if fillers.isdisjoint(t.key for t in tokens) and tokens[0].key not in leading:
        return tuple(tokens)
    kept = tuple(token for token in tokens if token.key not in fillers)
    asks = language.verbs.firsts
    while len(kept) > 1 and kept[0].key in leading and kept[1].key in asks:
        kept = kept[1:]
    return kept or tuple(tokens)


def _short(token: Token, language: Language) -> Token:
    meant = language.slips.get(token.key) if token.kind is Kind.WORD else None
    return replace(token, key=meant) if meant else token


def _mended(tokens: Sequence[Token], language: Language, book: Book) -> Iterator[Token]:
    """A verb is guessed only where none came before it; the name of a day anywhere."""
    asks = False
    for at, token in enumerate(tokens):
        asks = asks or token.key in language.verbs.firsts
        described = at > 0 and tokens[at - 1].key in language.articles
        if not _is_strange(token, language, book):
            yield token
            continue
        meant = _nearest(token.key, language.guessed_times, same_end=True)
        if meant is None and not (asks or described) and at < _EARLY:
            meant = _nearest(token.key, language.guessed_verbs, same_end=False)
            asks = meant is not None
        yield replace(token, key=meant) if meant else token


def _is_strange(token: Token, language: Language, book: Book) -> bool:
    if token.kind is not Kind.WORD or not _SHORTEST <= len(token.key) <= _MOST_LETTERS:
        return False
    return token.key not in language.known and token.key not in book.people.words


def _nearest(word: str, meant: frozenset[str], *, same_end: bool) -> str | None:
    """Find the one word that is a slip or two away; two that are leave it as it is."""
    most = 2 if len(word) >= _LONG else 1
    near = [
        each
        for each in meant
        if each[0] == word[0]
        and (each[-1] == word[-1] or not same_end)
        and abs(len(each) - len(word)) <= most
        and _slips(word, each) <= most
    ]
    return near[0] if len(near) == 1 else None


def _slips(one: str, other: str) -> int:
    """Count letters left out, put in, changed, or swapped with their neighbour."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        line = [row]
        for column, wanted in enumerate(other, start=1):
            cost = min(
                last[column] + 1, line[column - 1] + 1, last[column - 1] + (letter != wanted)
            )
            swapped = (
                row > 1 and column > 1 and one[row - 2] == wanted and other[column - 2] == letter
            )
            line.append(min(cost, before[column - 2] + 1) if swapped else cost)
        before, last = last, line
    return last[-1]
