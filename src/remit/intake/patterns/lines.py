"""Splits a message into lines, and lines into sentences."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from msgspec import Struct

from remit.intake.message_words import MessageWords
from remit.language.files import words_in_all
from remit.language.order_words import order_words
from remit.language.outside_text import pasted_lines
from remit.language.tokens import TokenKind

SENTENCE_ENDS: Final = frozenset(".!?…;")
_BULLETS: Final = frozenset("-*+•–·▪")
_MOST_DIGITS: Final = 2  # of a number in a list


class MessageLine(Struct, frozen=True):
    """A line from token `start`, after its bullet, to `end`; its paragraph ends at `below`."""

    number: int
    start: int
    end: int
    below: int
    boxed: bool = False  # an open box of a checklist
    ticked: bool = False
    heading: bool = False
    pasted: bool = False  # others wrote it
    heads_list: bool = False  # the next line is an item of a list


def message_lines(words: MessageWords) -> Iterator[MessageLine]:
    """Return every line with content."""
    pasted = pasted_lines(words.tokens)
    breaks = [n for n, token in enumerate(words.tokens) if token.kind is TokenKind.LINE]
    edges = [-1, *breaks, len(words.tokens)]
    for number, (before, end) in enumerate(pairwise(edges)):
        if end <= before + 1:
            continue
        start, boxed, ticked = _behind_bullet(words, before + 1, end)
        heading = words.keys[before + 1] == "#"
        while heading and start < end and words.keys[start] == "#":
            start += 1
        below = _paragraph_end(edges, number, words)
        heads = end < len(words.tokens) and _behind_bullet(words, end + 1, below)[0] > end + 1
        pasted_here = number in pasted
        yield MessageLine(number, start, end, below, boxed, ticked, heading, pasted_here, heads)


def _paragraph_end(edges: list[int], number: int, words: MessageWords) -> int:
    """Return where the lines below one end: at an empty one."""
    for before, end in zip(edges[number + 1 :], edges[number + 2 :], strict=False):
        if end <= before + 1:
            return before
    return len(words.tokens)


def _behind_bullet(words: MessageWords, start: int, end: int) -> tuple[int, bool, bool]:
    """Return the place after a bullet, a number, or a tick box, where the content begins."""
    keys, tokens = words.keys, words.tokens
    at = start
    if at >= end:
        return at, False, False
    if keys[at] in _BULLETS and at + 1 < end and not tokens[at + 1].tight:
        at += 1
    elif (
        tokens[at].kind is TokenKind.NUMBER
        and len(tokens[at].text) <= _MOST_DIGITS
        and keys[at + 1 : at + 2] in ((")",), (".",))
        and at + 2 < end
        and not tokens[at + 2].tight
    ):
        at += 2
    if keys[at : at + 2] == ("[", "]") and at + 2 < end:
        return at + 2, True, False
    if keys[at : at + 3] == ("[", "x", "]"):
        return at + 3, False, True
    return at, False, False


def sentence_end(words: MessageWords, at: int, end: int) -> int:
    """Return where the sentence that begins at a token ends, after its marks."""
    for n in range(at, end):
        if n > at and words.tokens[n].kind is TokenKind.NUMBER and _is_numbered(words, n):
            return n
        if (
            words.tokens[n].text not in SENTENCE_ENDS
            or n in words.people
            or _is_short(words, n, end)
        ):
            continue
        if words.tokens[n].text == "…" and _corrects(words, n + 1):
            continue
        after = n + 1
        while after < end and words.tokens[after].text in SENTENCE_ENDS | {")"}:
            after += 1
        return after
    return end


def _corrects(words: MessageWords, at: int) -> bool:
    """Whether a correction follows: "… no wait, Thursday"."""
    no = order_words().talk.at(words.keys, at)
    return any(order_words().corrections.at(words.keys, n) for n in (at, no[1] if no else at))


def _is_numbered(words: MessageWords, at: int) -> bool:
    """Whether another list item begins inside a line: "1) … 2) …"."""
    token = words.tokens[at]
    number = len(token.text) <= _MOST_DIGITS and not token.tight
    return number and words.keys[at + 1 : at + 2] == (")",) and words.keys[at - 1] != "("


def _is_short(words: MessageWords, at: int, end: int) -> bool:
    """Whether a dot does not end a sentence: 3.30, the 3. of April, e.g."""
    if words.keys[at] != "." or at + 1 >= end:
        return False
    if words.tokens[at + 1].tight:
        return True
    before = words.tokens[at - 1] if at else None
    if before is None or not words.tokens[at].tight:
        return False
    if before.kind is TokenKind.NUMBER:
        return words.verb_at(at + 1) is None  # "the 3. of April", but "at 6. Tell Bob …"
    return before.key in _abbreviations()


@cache
def _abbreviations() -> frozenset[str]:
    return words_in_all("words", "abbreviations")
