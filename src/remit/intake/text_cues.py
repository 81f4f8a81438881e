"""Decides which cues inside a text of the owner are said to Remit, and so hold it back.

"Please don't pay it yet" is for Bob to read. "I'm late — don't send it yet" is not: its end is said
to Remit, even if a model takes it for part of the text. A text has parts, which end at a mark or at
a word like "but"; the meaning of a cue depends on its part.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Final

from msgspec import Struct

from remit.intake.message_words import PAUSES, MessageWords
from remit.intake.word_lookup import Span
from remit.language.cues import is_firm
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import order_words
from remit.language.tokens import TokenKind, fold, is_sign
from remit.model.veto import VetoCue, VetoKind

_ALWAYS: Final = frozenset("()[]\n")  # these end a part even if no blank follows
_OPENS: Final = frozenset("([<#*")  # these begin a part even if no blank follows
_NEAR: Final = 3  # words at the beginning of a text
_FEW: Final = 4  # words
_HELD: Final = (VetoKind.DENIAL, VetoKind.HOLD)


class _Opening(StrEnum):
    """How a part of a text begins."""

    TEXT = "text"  # with the text itself
    PAUSE = "pause"  # behind a comma, or with "but"
    SENTENCE = "sentence"
    ASIDE = "aside"  # behind a dash or what is struck through, or in brackets


_OPENINGS: Final = {
    **dict.fromkeys(".!?…\n", _Opening.SENTENCE),
    **dict.fromkeys("-–—/()[]~*", _Opening.ASIDE),
    **dict.fromkeys(",;:", _Opening.PAUSE),
}

# The marks behind which something else may be said than the text before it.
ASIDE_OPENINGS: Final = frozenset(
    mark for mark, opening in _OPENINGS.items() if opening is not _Opening.PAUSE
)


def cues_said_to_remit(
    message: MessageWords, cues: Sequence[VetoCue], texts: Sequence[Span]
) -> tuple[VetoCue, ...]:
    """Return the cues of a message, without those that only belong to one of these texts."""
    if not texts:
        return tuple(cues)
    parts = [part for span in texts for part in _parts(message, span)]
    return tuple(
        cue
        for cue in cues
        if all(part.may_hold(cue) for part in parts)
        and not any(_introduces(message, cue, span) for span in texts)
    )


def _introduces(message: MessageWords, cue: VetoCue, span: Span) -> bool:
    """Whether a cue only introduces a text: "diciendo que …"."""
    at, first = message.first_at(cue.start), message.first_at(span[0])
    that = words_in_all("addressing", "that")
    return 0 < first - at <= _NEAR and all(message.keys[n] in that for n in range(at, first))


def _parts(message: MessageWords, span: Span) -> Iterator["_Part"]:
    inside = [n for n, t in enumerate(message.tokens) if span[0] <= t.start < span[1]]
    if not inside:
        return
    breaks = words_in_all("addressing", "breaks")
    joined = breaks | words_in_all("addressing", "that")
    marked = message.is_marked_text(span)
    led_in = message.is_led_in(span) or message.keys[inside[0]] not in breaks
    first = _OPENINGS.get(message.tokens[inside[0]].text)  # "tell Jonas yes | - wait with that"
    edges = [(inside[0], first or (_Opening.TEXT if led_in else _Opening.ASIDE))]
    for n in inside[1:]:
        mark = message.tokens[n].text
        opening = _Opening.SENTENCE if is_sign(mark) else _OPENINGS.get(mark)
        if opening and (mark in _ALWAYS or not message.is_tight(n + 1)):
            edges.append((n + 1, opening))
        elif (
            (message.keys[n] in breaks or _condition_begins(message, n))
            and n not in message.people
            and message.keys[n - 1] not in words_in_all("addressing", "or")  # "if … or if …"
            # "but only if" is one
            and (edges[-1][0] < n - (message.keys[n - 1] in joined) or n - 1 == inside[0])
            and not (marked and message.keys[n] in words_in_all("cues", "asked"))
            and message.is_plain_word(n + 1)  # and not "he said: sí"
        ):
            edges.append((n, _Opening.PAUSE))
    for (start, opening), (end, _) in pairwise([*edges, (inside[-1] + 1, _Opening.TEXT)]):
        if end > start:
            yield _Part(message, span, opening, range(start, end))


class _Part(Struct, frozen=True, dict=True):
    """A part of a text: some of its tokens."""

    message: MessageWords
    span: Span
    opening: _Opening
    tokens: range

    def may_hold(self, cue: VetoCue) -> bool:
        """Whether a cue holds the text back: it is outside this part, or said to Remit."""
        at = next((n for n in self.tokens if self.message.tokens[n].start == cue.start), None)
        if at is None:
            return True
        moved = cue.kind is VetoKind.DENIAL and self._moves_day(at)
        if is_sign(self.message.tokens[at].text) or self._is_firm(at) or moved:
            return True
        if self.opening is _Opening.TEXT:
            led_in = self.message.is_led_in(self.span) or cue.kind is VetoKind.RETRACTION
            return not led_in and (self._is_bare(cue) or self._denies_order(at))
        return self._is_said_later(cue, at)

    def _moves_day(self, at: int) -> bool:
        """Whether a "not" stands between two days: "happy birthday tomorrow not today"."""
        after = self.message.time_at(at + 1)
        times = map(self.message.time_at, range(max(self.tokens[0], at - _NEAR), at))
        days = (each for each in times if each and each.day and each.end == at)
        return bool(after and after.day) and any(days)

    def _denies_order(self, at: int) -> bool:
        """Whether "that" or "of" follows the cue: it denies the order ("write Bob not that …")."""
        keys = self.message.keys
        near = range(at + 1, min(self.tokens[0] + _NEAR, len(keys)))
        that, of = words_in_all("addressing", "that"), words_in_all("addressing", "of")
        return any(keys[n] in that for n in near) or not of.isdisjoint(keys[at + 1 : at + _NEAR])

    def _is_said_later(self, cue: VetoCue, at: int) -> bool:
        """Whether a cue in a later part is said to Remit."""
        named = any(n in self.message.people for n in self.tokens)
        if self.opening is _Opening.ASIDE or named or self._is_bare(cue) or self._sends:
            return True
        if self._hesitates and not self._has("addressing", "listeners"):
            return True
        if self.opening is _Opening.SENTENCE and at > self.tokens[0] and self._refuses:
            return True
        begins = all(self._is_lead(n) for n in self.tokens if n < at)
        speaks = self._has("addressing", "speakers")
        later = self.opening is _Opening.SENTENCE
        listens = self._has("addressing", "listeners")
        reader = listens or (later and speaks)
        until = phrases_in_all("conditions", "not_before").at(self.message.keys, at) is not None
        return {
            VetoKind.RETRACTION: begins or (self._is_short and self._has("addressing", "message")),
            VetoKind.CONDITION: begins and _limit_end(self.message, at) > at and not reader,
            VetoKind.REPORTED: self._is_short,
            VetoKind.DENIAL: (begins and until) or self._is_held(cue, begins=begins),
            VetoKind.HOLD: (begins and until) or self._is_held(cue, begins=begins),
            VetoKind.HYPOTHESIS: begins and self._is_short and speaks and not listens,
        }.get(cue.kind, True)

    def _is_held(self, cue: VetoCue, *, begins: bool) -> bool:
        """Whether "don't" or "wait" is about the message: "that one doesn't leave the app"."""
        refers = self._has("addressing", "message")
        speaks = self._has("addressing", "speakers", outside=cue)
        later = self.opening is _Opening.SENTENCE
        if cue.kind is VetoKind.HOLD:
            return (begins or later) and (refers or not speaks)
        return later and refers and not speaks

    @property
    def _hesitates(self) -> bool:
        """Whether its sentence begins with a "well", or behind dots: "I'm coming... not really"."""
        first = self.tokens[0]
        while first and self.message.tokens[first - 1].text == ",":
            first -= 1
            while first and _OPENINGS.get(self.message.tokens[first - 1].text) is None:
                first -= 1
        before = self.message.tokens[first - 1] if first else None
        if before is None or before.start < self.span[0]:
            return False
        dots = before.text == "…" or self.message.text[: before.end].endswith("..")
        begins = _OPENINGS.get(before.text) is _Opening.SENTENCE
        is_hesitation = self.message.keys[first] in words_in_all("addressing", "hesitates")
        return begins and (dots or is_hesitation)

    @property
    def _refuses(self) -> bool:
        """Whether a part begins with a "nah", as an answer to what was said before it."""
        keys, first = self.message.keys, self.tokens[0]
        harmless = phrases_in_all("cues", "harmless").at(keys, first)
        return keys[first] in words_in_all("talk", "no") and not harmless

    @property
    def _sends(self) -> bool:
        """Whether a part is about sending something, or telling somebody."""
        refers = self._has("addressing", "message") or self._has("words", "them")
        return refers and any(self.message.sends_at(n) for n in self.tokens)

    def _is_firm(self, at: int) -> bool:
        """Whether nobody would send this cue; "never mind the cake" may begin a text."""
        end = is_firm(self.message.keys, at)
        if end is None:
            return False
        first = at == self.tokens[0] and self.opening is _Opening.TEXT
        return not first or end >= self.tokens[-1] + 1

    def _has(self, section: str, words: str, *, outside: VetoCue | None = None) -> bool:
        """Whether it contains one of these words, perhaps `outside` a cue."""
        table, tokens = phrases_in_all(section, words), self.message.tokens
        return any(
            table.at(self.message.keys, n)
            for n in self.tokens
            if outside is None or not outside.start <= tokens[n].start < outside.end
        )

    @property
    def _is_short(self) -> bool:
        return sum(map(self.message.is_plain_word, self.tokens)) <= _FEW

    def _is_bare(self, cue: VetoCue) -> bool:
        """Whether a part says nothing but the cue; "don't wait for me" says more."""
        if cue.kind is VetoKind.HYPOTHESIS and not self._is_short:
            return False
        says_more = cue.kind is not VetoKind.RETRACTION and self._has("addressing", "speakers")
        return self._says_nothing and not says_more

    def _is_lead(self, at: int) -> bool:
        """Whether a word may precede a cue that is said to Remit: "but", "please"."""
        speaks = self.message.keys[at] in words_in_all("addressing", "speakers")
        return not speaks and (self._is_small(at) or self.message.time_at(at) is not None)

    @cached_property
    def _says_nothing(self) -> bool:
        """Whether a part has only small words, times, people and cues: "not today"."""
        message, at, last = self.message, self.tokens[0], self.tokens[-1] + 1
        while at < last:
            time = message.time_at(at)
            if time is not None:
                at = max(at + 1, time.end)
            elif self._is_small(at):
                at += 1
            else:
                return False
        return True

    def _is_small(self, at: int) -> bool:
        message = self.message
        return (
            message.is_small_word(at)
            or at in message.people
            or message.is_number(at)
            or _denies(message.keys[at])
        )


def _limit_end(message: MessageWords, at: int) -> int:
    """Return where the first words of a condition end; `at` if none begins there."""
    tables = (phrases_in_all("conditions", kind) for kind in ("only_if", "after_ok"))
    return max((hit[1] for table in tables if (hit := table.at(message.keys, at))), default=at)


def _condition_begins(message: MessageWords, at: int) -> bool:
    """Whether a condition begins at a token; "not yet" only holds back."""
    tables = (phrases_in_all("cues", kind.value) for kind in _HELD)
    held = (hit[1] for table in tables if (hit := table.at(message.keys, at)))
    return _limit_end(message, at) > max(held, default=at)


def _denies(key: str) -> bool:
    held = any(key in words_in_all("cues", kind.value) for kind in _HELD)
    return held or key.endswith("n't")


# Words that no mark shows to be a text ------------------------------------------------------------

# A model may take words for a text that are said to Remit, or that only tell of a message. The
# words of a cue need not be known for that: the place of a part and the words around the verb
# tell it.


def may_be_no_text(message: MessageWords, text: str, person: str) -> bool:
    """Whether words without marks are perhaps no text for a person, or not to their end."""
    spans = tuple(message.places(text))
    return not any(map(message.is_marked_text, spans)) and any(
        _may_end_earlier(message, span) or _is_told_about(message, span, person) for span in spans
    )


def _may_end_earlier(message: MessageWords, span: Span) -> bool:
    """Whether a later part of a text may be said to Remit.

    That is a sentence or an aside that does not speak to the reader, or a part that speaks of
    somebody.
    """
    inside = [n for n, t in enumerate(message.tokens) if span[0] <= t.start < span[1]]
    marks = [n for n in inside[:-1] if _ends_part(message, n)]
    ends = [*marks[1:], inside[-1] + 1] if marks else []
    return any(_is_aside(message, mark, end) for mark, end in zip(marks, ends, strict=True))


def _ends_part(message: MessageWords, at: int) -> bool:
    token = message.tokens[at]
    opens = token.text in _OPENS
    pause = opens or (token.text in PAUSES and not message.is_tight(at + 1))
    return pause or token.kind is TokenKind.LINE


def _is_aside(message: MessageWords, mark: int, end: int) -> bool:
    part = range(mark + 1, end)
    keys = message.keys[mark + 1 : end]
    plain = [n for n in part if message.is_plain_word(n)]
    third = not words_in_all("words", "third").isdisjoint(keys)
    if message.tokens[mark].text in ",;:" or not plain:
        return third
    reader = not words_in_all("addressing", "listeners").isdisjoint(keys)
    return third or not (reader or message.keys[mark] == "?")


def _is_told_about(message: MessageWords, span: Span, person: str) -> bool:
    """Whether the words around the verb that sends a text order nothing.

    "So I text Bob …", "have Jonas tell May …", "trying to tell Mark …" only tell of it.
    """
    first = message.first_at(span[0])
    lead, spans = range(message.sentence_start(first), first), tuple(message.places(person))
    verb = next((n for n in lead if _orders_at(message, n)), None)
    if verb is None:  # "whoever loses must write Rose …": the verb is no part of her text
        late = any(_orders_at(message, n) for n in range(first, min(first + 2, len(message.keys))))
        others = (n for n in lead if n in message.people)
        return late or any(not message.is_within(message.span_of(n), spans) for n in others)
    persons = words_in_all("addressing", "speakers") | words_in_all("words", "subjects")
    own = persons - words_in_all("addressing", "listeners") - words_in_all("words", "third")
    if verb + 1 < first and message.keys[verb + 1] in own & words_in_all("words", "subjects"):
        return True  # "schicke ich Grace …"
    left = _before_order(message, verb)
    named = {n for n in left if message.is_within(message.span_of(n), spans)}
    named |= {n for n in left if message.keys[n] == fold(message.book.assistant)}
    return any(
        n not in named
        and (
            n in message.people
            or (n == left[-1] == verb - 1 and message.keys[n] in persons)
            or not (message.is_small_word(n) or message.is_order_word(n))
        )
        for n in left
    )


def _before_order(message: MessageWords, verb: int) -> list[int]:
    """Return the words of a clause before its verb that no request begins with."""
    known, harmless = order_words(), phrases_in_all("cues", "harmless")
    tables = (known.frames, known.polite, known.wants, known.links, known.talk, harmless)
    start = next((n for n in range(verb, 0, -1) if _begins_here(message, n)), 0)
    taken: set[int] = set()
    for n in range(message.sentence_start(verb), verb):
        hits = [hit[1] for table in tables if (hit := table.at(message.keys, n))]
        time = message.time_at(n)
        taken.update(range(n, max([*hits, time.end if time else 0, n])))
    return [n for n in range(start, verb) if n not in taken and message.is_plain_word(n)]


def _begins_here(message: MessageWords, at: int) -> bool:
    before = message.tokens[at - 1]
    if before.kind is TokenKind.NUMBER:
        return _orders_at(message, at)  # "2 tell Bob …"
    return before.kind is not TokenKind.WORD or before.key in words_in_all("addressing", "links")


def _orders_at(message: MessageWords, at: int) -> bool:
    """Whether a verb that sends is at a token, and no noun: "on WhatsApp", "an email"."""
    known = order_words()
    led = at > 0 and message.keys[at - 1] in known.by.words | known.on.words | known.articles
    return (
        message.sends_at(at) and at not in message.people and not (led and message.is_channel(at))
    )
