"""Closed patterns that read messages without a model.

Here: lines and sentences of a message, and what has been read of an order so far.
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.contacts import Contact
from remit.intake.message_words import MessageWords
from remit.language.files import words_in_all
from remit.language.order_words import OrderVerb, SmallTalk, VerbKind, order_words
from remit.language.outside_text import pasted_lines
from remit.language.time.phrase import TimePhrase
from remit.language.tokens import TokenKind, is_sign

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
        while after < end and _is_end_mark(words.tokens[after].text):
            after += 1
        return after
    return end


def _is_end_mark(mark: str) -> bool:
    return mark in SENTENCE_ENDS or mark == ")" or is_sign(mark)


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


Span = tuple[int, int]  # tokens


class SpokenOrder(Struct):
    """What was named up to token `end`; spans count tokens."""

    start: int
    end: int
    verb: OrderVerb | None = None
    verb_at: int = -1
    people: list[tuple[Span, tuple[Contact, ...]]] = field(default_factory=list)
    unnamed: list[Span] = field(default_factory=list)  # "him", "the team"
    me: bool = False
    channels: list[tuple[Span, str]] = field(default_factory=list)
    times: list[TimePhrase] = field(default_factory=list)
    it: Span | None = None  # "it", "the list": what was made before
    corrected: Span | None = None  # what was said instead of a time before
    own_channel: bool = False  # "my mail", "the dashboard": one that the owner reads
    message: bool = False  # "a message"
    framed: bool = False  # "can you"

    @property
    def sends(self) -> bool:
        """Whether it says to send something, to anybody."""
        if self.verb is None:
            return False
        if self.verb.needs_channel:
            return bool(self.channels)
        if self.verb.kind is VerbKind.REMIND:
            return bool(self.people or self.unnamed) and not (self.verb.me or self.me)
        if self.verb.kind not in (VerbKind.SEND, VerbKind.TELL):
            return False
        return self.reaches or not self.verb.needs_person

    @property
    def reaches(self) -> bool:
        """Whether it names somebody, known or not."""
        verb = self.verb is not None and self.verb.me
        return bool(self.people or self.unnamed or self.me or verb or self.at_home)

    @property
    def refers(self) -> bool:
        """Whether it refers to what was made or said before."""
        return self.it is not None or (self.verb is not None and self.verb.it)

    @property
    def only_small(self) -> bool:
        """Whether it says no more than "please" or "thanks"."""
        named = self.people or self.unnamed or self.channels or self.times
        return not (named or self.me or self.verb or self.it)

    @property
    def to_me(self) -> bool:
        verb = self.verb is not None and self.verb.me
        return (self.me or verb or self.at_home) and not (self.people or self.unnamed)

    @property
    def at_home(self) -> bool:
        """Whether it goes to the owner, and nobody is named: "on my dashboard"."""
        sends = self.verb is not None and self.verb.kind is VerbKind.SEND
        return sends and self.own_channel

    @property
    def reminds(self) -> bool:
        return self.verb is not None and self.verb.kind is VerbKind.REMIND

    @property
    def wakes(self) -> bool:
        return self.verb is not None and self.verb.wakes


def merge_orders(one: SpokenOrder, other: SpokenOrder) -> SpokenOrder:
    """Return an order with what was named after its text."""
    return replace(
        one,
        people=[*one.people, *other.people],
        unnamed=[*one.unnamed, *other.unnamed],
        me=one.me or other.me,
        channels=[*one.channels, *other.channels],
        times=[*one.times, *other.times],
        corrected=one.corrected or other.corrected,
        own_channel=one.own_channel or other.own_channel,
    )


class UnitKind(StrEnum):
    SEND = "send"  # a text that the owner wrote goes to somebody
    DELIVER = "deliver"  # what was made before goes to somebody
    COMPOSE = "compose"  # something is to be made, and goes to somebody
    REMIND = "remind"  # the owner gets these words back, at a time
    NOTE = "note"  # the owner gets this list back
    WORK = "work"
    CONTROL = "control"  # about something that is under way
    CORRECT = "correct"  # a time, a channel or a person instead of the one before
    LIMIT = "limit"  # a condition, or an end, of what was said before
    RETRACT = "retract"  # what was said before is taken back
    PASTED = "pasted"  # others wrote it
    TALK = "talk"


class MessageUnit(Struct, frozen=True):
    """One unit, from token `start` to `end`; `body` is its content, `order` the words around it.

    `text` is the owner's own text, if any; `marked`: quotation marks or a colon show it.
    """

    kind: UnitKind
    start: int
    end: int
    body: tuple[int, int]
    line: MessageLine
    order: SpokenOrder = field(default_factory=lambda: SpokenOrder(0, 0))
    text: str | None = None
    marked: bool = False
    talk: SmallTalk | None = None
    also: bool = False  # "also": it begins another task
    begins_with_verb: bool = False
    names_thing: bool = False  # it is sent "the report", not "it"
    makes_thing: bool = False  # "a list": something new
    forbids: bool = False  # "but don't send it"
    stranger: bool = False  # an unknown person is named
    is_mark: bool = False  # nothing but a full stop or its like

    @property
    def corrects(self) -> bool:
        return self.kind is UnitKind.CORRECT

    @property
    def times(self) -> list[TimePhrase]:
        return self.order.times


class UnitSearch(Struct, frozen=True):
    """Where to look for a unit: from a token to the end of its sentence or its line."""

    words: MessageWords
    start: int
    body: int
    stop: int
    line: MessageLine
    also: bool

    def unit(
        self, kind: UnitKind, end: int, body: tuple[int, int], order: SpokenOrder
    ) -> MessageUnit:
        return MessageUnit(kind, self.start, end, body, self.line, order, also=self.also)
