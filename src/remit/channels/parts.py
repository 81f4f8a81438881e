"""Splits a long text into parts that each fit into one message; limits how fast a channel sends.

It cuts between paragraphs, lines, sentences or words, in this order. It never cuts inside a visible
character, an address or a pair of marks, unless that alone is longer than a message; then the marks
are closed before the cut and reopened after it. No word is lost: the parts hold the whole text
except blanks at the cuts.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.errors import StoreTrouble
from remit.store.spending import Rates

MIN_PART_CHARACTERS: Final = 24  # characters; room for marks and any character

_SPAN: Final = re.compile(
    r"""(?P<code>```.+?```)
      | (?<!`)`[^`\n]++`(?!`)
      | https?://[\x21-\x7e]++
      | (?<![\w*])\*(?=\S)[^*\n]++(?<=\S)\*(?![\w*])
      | (?<!\w)_(?=\S)[^_\n]++(?<=\S)_(?!\w)
      | (?<![\w~])~(?=\S)[^~\n]++(?<=\S)~(?![\w~])
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS: Final = re.compile(r"(?:[ \t\r]*+\n)+|[ \t\r]+")
_BORDERS: Final = (
    re.compile(r"\r?\n(?=[ \t\r]*+\n)"),
    re.compile(r"\r?\n"),
    re.compile(r"(?<=[.!?…])[\"'”’)\]*_~]*+(?=[ \t])|(?<=[\u3002\uff01\uff1f])"),
    re.compile(r"(?<![ \t\r\n])[ \t\r\n]"),
)
_LINE, _SENTENCE, _WORD = 1, 2, 3
_MOST_MARKS: Final = 3
_INDENT: Final = 12  # indentation that is kept
_SPACING: Final = frozenset("\u0e33\u0eb3")  # characters tied to the one before
_VIRAMA: Final = 9


class _Span(Struct, frozen=True):
    """A piece that should not be cut; without blanks its text is `within` to `last`."""

    start: int
    end: int
    within: int
    last: int
    opening: str = ""
    closing: str = ""


class _Cut(Struct, frozen=True):
    """Where a part ends, what closes it, and how the next one opens."""

    at: int
    closing: str = ""
    opening: str = ""
    resume: int | None = None


def split(text: str, limit: int) -> tuple[str, ...]:
    """Split the text into parts of at most this many characters; none is blank."""
    if limit < MIN_PART_CHARACTERS:
        raise ValueError(
            f"A part must have room for {MIN_PART_CHARACTERS} characters, not {limit}."
        )
    if len(text) <= limit:
        return (text,) if text.strip() else ()
    splitter = _TextSplitter(text)
    parts, at, opening = [], 0, ""
    while len(text) - at > limit - len(opening):
        cut = splitter.cut(at, limit - len(opening))
        parts.append(opening + text[at : cut.at].rstrip() + cut.closing)
        at, opening = splitter.after(cut), cut.opening
    parts.append(opening + text[at:])
    return tuple(part for part in parts if part.strip())


class _TextSplitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._spans = [_span(text, found) for found in _SPAN.finditer(text)]
        self._starts = [span.start for span in self._spans]
        self._borders = [
            # A blank goes to neither side, the end of a sentence to the first.
            [found.end() if tier == _SENTENCE else found.start() for found in each.finditer(text)]
            for tier, each in enumerate(_BORDERS)
        ]

    def cut(self, at: int, room: int) -> _Cut:
        """Return the best place to cut within the next characters."""
        most = at + room
        half = at + room // 2
        for tier in range(len(_BORDERS)):
            place = self._border(tier, half, most)
            if place is not None:
                return _Cut(place)
        place = self._border(_WORD, at + 1, most)
        if place is not None:
            return _Cut(place)
        span = self._around(most)
        if span is None:
            return _Cut(self._letter(at, most))
        if span.start > at:
            return _Cut(span.start)
        return self._inside(span, at, most)

    def after(self, cut: _Cut) -> int:
        """Return where the next part begins."""
        return self._skip(cut.at) if cut.resume is None else cut.resume

    def _skip(self, place: int) -> int:
        blanks = _BLANKS.match(self._text, place)
        if blanks is None:
            return place
        # A combining mark may follow the last blank; the two belong together.
        return blanks.end() - is_joined(self._text, blanks.end())

    def _border(self, tier: int, least: int, most: int) -> int | None:
        """Return the last border of its kind that splits nothing."""
        places = self._borders[tier]
        n = bisect_right(places, most) - 1
        while n >= 0 and places[n] >= least:
            span = self._around(places[n])
            if span is not None:
                n = bisect_right(places, span.start, hi=n) - 1
            elif self._parts(places[n]):
                return places[n]
            else:
                n -= 1
        return None

    def _inside(self, span: _Span, at: int, most: int) -> _Cut:
        """Return a cut inside something longer than a message."""
        most -= len(span.closing)
        if span.within - at > len(span.opening):  # leading blanks are dropped, its text stays whole
            return _Cut(at, opening=span.opening, resume=span.within)
        if span.last < most:  # only trailing blanks do not fit
            return _Cut(span.last + 1, span.closing, resume=self._skip(span.end))
        least = max(at, span.within) + 1
        half = (least + most) // 2
        for tier in (_LINE, _WORD):
            places = self._borders[tier]
            n = bisect_right(places, most) - 1
            while n >= bisect_left(places, half):
                if self._parts(places[n]):
                    return _Cut(places[n], span.closing, span.opening)
                n -= 1
        return _Cut(self._letter(least - 1, most), span.closing, span.opening)

    def _letter(self, at: int, most: int) -> int:
        """Return the last place up to here between two visible characters."""
        place = most
        while place > at + 1 and is_joined(self._text, place):
            place -= 1
        return most if is_joined(self._text, place) else place

    def _around(self, place: int) -> _Span | None:
        n = bisect_left(self._starts, place) - 1
        return self._spans[n] if n >= 0 and place < self._spans[n].end else None

    def _parts(self, place: int) -> bool:
        return not is_joined(self._text, place) and not is_joined(self._text, self._skip(place))


def _span(text: str, found: re.Match[str]) -> _Span:
    start, end = found.span()
    if found["code"]:
        opening, closing, marks = "```\n", "\n```", 3
    else:
        marks = _marks(text, start, end)
        opening = text[start : start + marks]
        closing = opening[::-1]
    within, last = start + marks, end - marks
    while last > within and text[last - 1].isspace():
        last -= 1
    return _Span(start, end, _first(text, within, last), last - 1, opening, closing)


def _first(text: str, start: int, end: int) -> int:
    """Return where the first non-blank line begins, or its text if deeply indented."""
    first = start
    while first < end and text[first].isspace():
        first += 1
    line = max(text.rfind("\n", start, first) + 1, start)
    return line if first - line <= _INDENT else first


def _marks(text: str, start: int, end: int) -> int:
    """Return how many nested marks enclose the whole."""
    marks = 0
    while marks < _MOST_MARKS and text[start + marks] in "*_~`":
        if text[start + marks] != text[end - 1 - marks]:
            break
        marks += 1
    return marks


def is_joined(text: str, place: int) -> bool:
    """Whether the characters on both sides may form one visible character.

    When in doubt, yes: cutting elsewhere costs nothing.
    """
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    kind = unicodedata.category(after)
    return (
        kind[0] == "M"
        or kind == "Cf"
        or after in _SPACING
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or (before == "\r" and after == "\n")
        or (unicodedata.category(before) == "Cf" and before != "\u200b")
        or (unicodedata.combining(before) == _VIRAMA)
        or (_is_jamo(before) and _is_hangul(after))
        or (_is_hangul(before) and _is_jamo(after))
        or _is_half_a_flag(text, place)
    )


def _is_jamo(char: str) -> bool:
    return (
        "\u1100" <= char <= "\u11ff" or "\ua960" <= char <= "\ua97c" or "\ud7b0" <= char <= "\ud7fb"
    )


def _is_hangul(char: str) -> bool:
    return _is_jamo(char) or "\uac00" <= char <= "\ud7a3"


def _is_half_a_flag(text: str, place: int) -> bool:
    """Whether a place is inside a flag: two regional letters each."""
    if not "\U0001f1e6" <= text[place] <= "\U0001f1ff":
        return False
    first = place
    while first > 0 and "\U0001f1e6" <= text[first - 1] <= "\U0001f1ff":
        first -= 1
    return (place - first) % 2 == 1


PAIR_SECONDS: Final = 6.0  # seconds between two messages to one person
MAX_PER_SECOND: Final = 80  # messages per second to everybody
_SECOND: Final = timedelta(seconds=1)
_MISSED_AFTER: Final = timedelta(
    minutes=1
)  # after its turn a message that did not come is forgotten
_KEPT_FOR: Final = timedelta(hours=6)
_MOST_SLOTS: Final = 2000


class SendSlot(Struct, frozen=True):
    """When a message was sent, or may be."""

    person: str
    at: datetime
    sent: bool


class SendSlots(Struct, frozen=True):
    by_key: dict[str, SendSlot] = {}  # of each message


class SendRate:
    """Spaces the messages of one channel. Each that must wait gets a turn of its own.

    So a thousand that wait come back once each, and not all of them every few seconds.
    """

    def __init__(
        self,
        pair: float = PAIR_SECONDS,
        overall: int = MAX_PER_SECOND,
        *,
        name: str = "",
        rates: Rates | None = None,
    ) -> None:
        self._pair = timedelta(seconds=pair)
        self._overall = overall
        self._name = f"sends by {name}"
        self._rates = rates or Rates()

    async def take(self, person: str, key: str, now: datetime) -> float:
        """Return 0 and count the message; or the missing seconds, and keep its turn."""

        def work(state: SendSlots) -> tuple[SendSlots, float]:
            known = self._current(state.by_key, now)
            own = known.get(key)
            if own is not None and not own.sent:  # else it is sent again
                del known[key]
            slot = self._next(known, person, own, now)
            at = max(now, slot)
            known[key] = SendSlot(person, at, slot <= now)
            return SendSlots(known), (at - now).total_seconds()

        try:
            return await self._rates.change(self._name, SendSlots(), work, now, now + _KEPT_FOR)
        except StoreTrouble:
            return 1.0  # nothing leaves that is not counted

    def _current(self, known: dict[str, SendSlot], now: datetime) -> dict[str, SendSlot]:
        """Forget what was sent before long, and who did not come when it was their turn.

        A turn that is far away was given by a clock that was ahead.
        """
        since, last = now - max(self._pair, _SECOND), now + _KEPT_FOR
        kept = [
            (key, each)
            for key, each in known.items()
            if (since < each.at <= now if each.sent else each.at < last)
        ]
        late = now - _MISSED_AFTER
        return {key: each for key, each in kept[-_MOST_SLOTS:] if each.sent or each.at > late}

    def _next(
        self, others: dict[str, SendSlot], person: str, own: SendSlot | None, now: datetime
    ) -> datetime:
        """Return the first moment that is free; who comes at their turn yields only to the past."""
        if own is not None and not own.sent and now < own.at < now + _KEPT_FOR:
            return own.at
        is_due = own is not None and not own.sent
        slots = [each for each in others.values() if each.sent or not is_due]
        at = max((each.at + self._pair for each in slots if each.person == person), default=now)
        at = max(at, now)
        times = [each.at for each in slots]
        while near := self._crowd(times, at):
            at = near[0] + _SECOND
        return at

    def _crowd(self, times: Sequence[datetime], at: datetime) -> list[datetime]:
        """Return what is within a second of this moment, if one more were too many."""
        near = sorted(each for each in times if at - _SECOND < each < at + _SECOND)
        with_it = sorted([*near, at])
        pairs = zip(with_it, with_it[self._overall :], strict=False)
        return near if any(last - first < _SECOND for first, last in pairs) else []
