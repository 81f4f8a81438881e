"""The words of a message with their positions, and the texts in it that are to be sent."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final

from remit.contacts.people import ContactBook
from remit.intake.word_lookup import WordLookup
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import VerbKind, order_words
from remit.language.outside_text import pasted_lines
from remit.language.tokens import TokenKind, is_sign

Span = tuple[int, int]
_ENDS: Final = frozenset(".;!?")
_PAUSES: Final = frozenset(".,;:!?-–—()…")
_BEFORE: Final = ("addressing", "before")
_SKIPPED: Final = ("addressing", "skipped")
_NEAR: Final = 3
_FAR: Final = 8
_FEW: Final = 3


def is_small_key(key: str) -> bool:
    """Whether a word means nothing by itself: "the", "please", "can you"."""
    return key in _small_words()


@cache
def _small_words() -> frozenset[str]:
    words = order_words()
    tables = (words.links, words.frames, words.leads, words.polite)
    return words.common.union(*(table.words for table in tables))


@cache
def _linking() -> frozenset[str]:
    return words_in_all("addressing", "links") | frozenset(",&")


@lru_cache(maxsize=8)
def message_words(text: str, book: ContactBook) -> "MessageWords":
    """Return the words of a message; repeated calls share the result."""
    return MessageWords(text, book)


class MessageWords(WordLookup):
    """A message with its words, and the texts in it."""

    def is_one_sentence(self, start: int, end: int) -> bool:
        """Whether one sentence covers both places: "remind me to … and tell Bob …"."""
        between = self.text[start:end]
        return start <= end and not any(mark in between for mark in ".!?;…\n")

    def is_work_text(self, at: int) -> bool:
        """Whether a token follows a colon without an order to send: "summarise: …"."""
        return at > self._first_colon and not self.typed

    @cached_property
    def _first_colon(self) -> int:
        """Return the first colon that introduces something."""
        last = len(self.keys)
        loose = (
            n
            for n, key in enumerate(self.keys)
            if key == ":" and n + 1 < last and not self.tokens[n + 1].tight
        )
        return next(loose, last)

    @cached_property
    def quotes(self) -> tuple[Span, ...]:
        """Return quotations with a certain end, without their marks."""
        clear = (token for token in self.raw if token.kind is TokenKind.QUOTE and token.clear)
        return tuple((token.start + 1, token.end - 1) for token in clear)

    @cached_property
    def typed(self) -> tuple[Span, ...]:
        """Return the text after "text Anna:", up to the end of its line."""
        return tuple(self._typed())

    @cached_property
    def typed_openings(self) -> tuple[Span, ...]:
        """Return the sure part of each such text: up to a comma, or a word like "but"."""
        return tuple((start, self._opening_end(start, end)) for start, end in self.typed)

    def _opening_end(self, start: int, end: int) -> int:
        inside = [n for n, token in enumerate(self.tokens) if start <= token.start < end]
        breaks = words_in_all("addressing", "breaks")
        for n in inside[1:]:
            if self.keys[n] in breaks or self.tokens[n].text in _PAUSES:
                return self.tokens[n].start
        return end

    def _typed(self) -> Iterator[Span]:
        start = 0
        for at, token in enumerate(self.tokens):
            if token.kind is TokenKind.LINE:
                start = at + 1
            elif token.text == ":" and self._is_lead(start, at):
                lines = (each.start for each in self.tokens[at:] if each.kind is TokenKind.LINE)
                yield token.end, next(lines, len(self.text))

    def _is_lead(self, start: int, end: int) -> bool:
        """Whether some words say to whom a text goes: a person, and a verb or a channel."""
        named = any(n in self.people for n in range(start, end))
        return named and any(self.sends_at(n) or self._is_channel(n) for n in range(start, end))

    @cached_property
    def beside_people(self) -> frozenset[int]:
        """Return the tokens that may stand next to a person: "to", "please", "by mail"."""
        words = words_in_all(*_BEFORE) | words_in_all(*_SKIPPED) | words_in_all("words", "by")
        small = {n for n, key in enumerate(self.keys) if key in words}
        ways = ((n, self.channel_at(n)) for n in range(len(self.keys)))
        return frozenset(small | {m for n, way in ways if way for m in range(n, way[1])})

    def sends_at(self, at: int) -> bool:
        """Whether a verb that sends begins at a token."""
        verb = self.verb_at(at)
        return verb is not None and verb[0].kind in (VerbKind.SEND, VerbKind.TELL)

    def _is_channel(self, at: int) -> bool:
        return self.channel_at(at) is not None

    def is_order_word(self, at: int) -> bool:
        """Whether a word belongs to an order: a person, a channel, a verb or its particle."""
        if at in self.people or self._is_channel(at):
            return True
        return any(at in span for span in self._verb_spans)

    @cached_property
    def _verb_spans(self) -> tuple[range, ...]:
        words = order_words()
        tables = (words.verbs, words.messages, words.particles)
        found = ((at, t.at(self.keys, at)) for at in range(len(self.keys)) for t in tables)
        return tuple(range(at, hit[1]) for at, hit in found if hit is not None)

    def is_small_word(self, at: int) -> bool:
        """Whether a token means nothing by itself: a mark, "the", "please", "can you"."""
        token, key = self.tokens[at], self.keys[at]
        if token.kind is TokenKind.LINE or (
            token.kind is TokenKind.MARK and not is_sign(token.text)
        ):
            return True
        return is_small_key(key)

    def is_marked_text(self, span: Span) -> bool:
        """Whether a text is in quotation marks or after a colon."""
        before = self.text[: span[0]].rstrip()
        return self._within(span, self.quotes) or before.endswith(":")

    def is_ordered_text(self, span: Span) -> bool:
        """Whether an order to send introduces a text, so that its words belong to it."""
        first = self.first_at(span[0])
        mixed = any(start < span[1] and span[0] < end for start, end in self.quotes)
        articles = order_words().articles
        noun = first + 1 if first < len(self.keys) and self.keys[first] in articles else first
        if mixed or order_words().messages.at(self.keys, noun) or self.channel_at(noun):
            return self._within(span, self.quotes)
        return self.is_marked_text(span) or any(
            self.sends_at(n)
            and n not in self.people
            and not (n and self.keys[n - 1] in articles)  # "the mail to Grace"
            for n in range(self._sentence_start(first), first)
        )

    def _sentence_start(self, at: int) -> int:
        start = at
        while start and (
            start - 1 in self.people
            or not (self.keys[start - 1] in _ENDS or self.tokens[start - 1].kind is TokenKind.LINE)
        ):
            start -= 1
        return start

    def is_led_in(self, span: Span) -> bool:
        """Whether a text is marked, or follows a word like "that"."""
        first = self.first_at(span[0])
        return self.is_marked_text(span) or (
            first > 0 and self.keys[first - 1] in words_in_all("addressing", "that")
        )

    def asks_for_more(self, left: Sequence[Span], texts: Sequence[Span], sends: int) -> bool:
        """Whether words that no task took may be another order: many, a text, or an extra verb.

        `texts` are spans to be sent, `sends` is how many messages were understood.
        """
        inside = [
            token
            for token in self.raw
            if any(start <= token.start < end for start, end in left)
            and token.kind not in (TokenKind.MARK, TokenKind.LINE)
        ]
        if len(inside) > _FEW or any(token.kind is TokenKind.QUOTE for token in inside):
            return True
        verbs = [
            n
            for n in range(len(self.keys))
            if self._sends_or_reminds(n) and not self._within(self._span(n), texts)
        ]
        return bool(inside) and len(verbs) > sends

    def _span(self, at: int) -> Span:
        return self.tokens[at].start, self.tokens[at].end

    def _sends_or_reminds(self, at: int) -> bool:
        if at in self.people or self._is_channel(at):
            return False  # "Mark", and "a WhatsApp"
        verb = self.verb_at(at)
        asking = (VerbKind.SEND, VerbKind.TELL, VerbKind.REMIND)
        return verb is not None and verb[0].kind in asking

    def asks_at(self, at: int) -> bool:
        """Whether a verb that asks for something begins at a token."""
        return self.verb_at(at) is not None

    @cached_property
    def _own_text(self) -> str:
        """Return the message with the words of others blanked."""
        pasted = pasted_lines(self.raw)
        if not pasted:
            return self.text
        lines = self.text.split("\n")
        return "\n".join(" " * len(line) if n in pasted else line for n, line in enumerate(lines))

    def places(self, words: str) -> Iterator[Span]:
        """Yield where some words stand in what the owner wrote; blanks and case do not count."""
        parts = [re.escape(part) for part in words.split()]
        if not parts:
            return
        joined = r"\s+".join(parts)
        for found in re.finditer(rf"(?<!\w){joined}(?!\w)", self._own_text, re.IGNORECASE):
            yield found.span()

    def addresses(self, words: str) -> bool:
        """Whether the words stand where somebody is written to, outside any text to be sent."""
        return any(
            self._is_addressed(span) and not self._within(span, (*self.quotes, *self.typed))
            for span in self.places(words)
        )

    def _is_addressed(self, span: Span) -> bool:
        first = next((n for n, token in enumerate(self.tokens) if token.end > span[0]), None)
        if first is None:
            return False
        last = max(n for n, token in enumerate(self.tokens) if token.start < span[1])
        follows = self.keys[last + 1] if last + 1 < len(self.keys) else ""
        starts = first == 0 or self.tokens[first - 1].kind in (TokenKind.LINE, TokenKind.MARK)
        gets = phrases_in_all("addressing", "gets").at(self.keys, last + 1)
        return (
            (starts and follows == ":")
            or gets is not None
            or self._leads_to(first)
            or self._is_meant_later(first)
        )

    def _is_meant_later(self, at: int) -> bool:
        """Whether a later "her" means a person: "Anna is looking for me. Text her …".

        Nobody else may be named before it, except together: "Carlos and Lucía".
        """
        them = phrases_in_all("words", "them")
        texts = (*self.quotes, *self.typed)
        own = [n for n in sorted(self.people) if not self._within(self._span(n), texts)]
        for n in range(at + 1, len(self.keys)):
            behind = range(n + 1, min(n + _NEAR, len(self.keys)))
            if not self.sends_at(n) or not self._begins_clause(n):
                continue
            if self._ends_with_them(n) or any(them.at(self.keys, m) for m in behind):
                before = [m for m in own if m < n]
                between = range(min(before, default=n), max(before, default=n))
                return at in before and all(
                    m in before or self.keys[m] in _linking() for m in between
                )
        return False

    def _begins_clause(self, at: int) -> bool:
        token, key = self.tokens[at - 1], self.keys[at - 1]
        return (
            token.kind in (TokenKind.MARK, TokenKind.LINE)
            or key in words_in_all("addressing", "links")
            or order_words().polite.at(self.keys, at - 1) is not None
        )

    def _ends_with_them(self, at: int) -> bool:
        """Whether a Spanish verb ends in its recipient: "avísales", "mándaselo"."""
        endings = tuple(words_in_all("addressing", "endings"))
        return self.language == "es" and self.keys[at].endswith(endings)

    def _leads_to(self, at: int) -> bool:
        """Whether a verb that sends, or a word like "to", precedes a person."""
        before = at - 1
        while before >= 0 and (
            self.keys[before] in words_in_all(*_SKIPPED) or before in self.people
        ):
            before -= 1
        if before >= 0 and self.keys[before] in _linking():
            return before - 1 in self.people and self._leads_to(before - 1)
        if before >= 0 and self.keys[before] in words_in_all(*_BEFORE):
            return True
        if any(self.sends_at(n) for n in range(max(0, before - _NEAR), before + 1)):
            return True
        return any(self.sends_at(n) for n in self._rest_of_sentence(at))

    def _rest_of_sentence(self, at: int) -> Iterator[int]:
        """Return the tokens after one in its sentence: a German verb may be there."""
        for n in range(at + 1, min(len(self.tokens), at + _FAR)):
            if self.keys[n] in _ENDS or self.tokens[n].kind is TokenKind.LINE:
                return
            yield n

    def _within(self, span: Span, others: Sequence[Span]) -> bool:
        return any(start <= span[0] and span[1] <= end for start, end in others)

    def is_plain_text(self, text: str, person: str, *, more: bool = False) -> bool:
        """Whether a text is surely what the owner wants to send, and no more.

        It is a quotation, or follows a colon; or it goes from the person to the end of the message,
        or to another order if `more` is asked for, without asking for anything itself.
        """
        for span in self.places(text):
            for start, end in (*self.quotes, *self.typed):
                if self.text[start:end].strip(" .\n\t") == self.text[slice(*span)].strip(" .\n\t"):
                    return True
            if self._is_behind_colon(span, person):
                return True
            if self._follows(span, person, more=more) and not self._asks_more(span):
                return True
        return False

    def _is_behind_colon(self, span: Span, person: str) -> bool:
        """Whether a text is all that follows a colon, in the line of its person.

        An order to send it may follow: "Will: I've borrowed one. Mail him that".
        """
        line = self.text.rfind("\n", 0, span[0]) + 1
        end = self.text.find("\n", span[1])
        head = self.text[line : span[0]].rstrip()
        rest = self.text[span[1] : len(self.text) if end < 0 else end].strip(" .!?")
        named = any(line <= start < span[0] for start, _ in self.places(person))
        tail = self.text[span[1] :]
        sends = self.sends_at(self.first_at(len(self.text) - len(tail.lstrip(" .!?-–—"))))
        return head.endswith(":") and (not rest or sends) and named

    def _follows(self, span: Span, person: str, *, more: bool) -> bool:
        """Whether a text goes from near the person to the end of its sentence or line."""
        rest = next((n for n, t in enumerate(self.tokens) if t.start >= span[1]), None)
        ends = rest is None or self.keys[rest] in _ENDS or self.tokens[rest].kind is TokenKind.LINE
        if rest is not None and more:
            ends = ends or self.goes_on_with_order(rest) or self._is_numbered_order(rest)
        return ends and any(
            end <= span[0] and self._is_lead_in(end, span[0]) for _, end in self.places(person)
        )

    def _is_numbered_order(self, at: int) -> bool:
        return self.tokens[at].kind is TokenKind.NUMBER and self.verb_at(at + 1) is not None

    def _is_lead_in(self, start: int, end: int) -> bool:
        """Whether only small words and a channel are between a person and a text."""
        between = [n for n, t in enumerate(self.tokens) if start <= t.start < end]
        other = any(n in self.people or self.keys[n] in _ENDS for n in between)
        return len(between) <= _FAR and not other

    def _asks_more(self, span: Span) -> bool:
        inside = [n for n, t in enumerate(self.tokens) if span[0] <= t.start < span[1]]
        return any(
            self.asks_at(n)
            and n - 1 in inside
            and self.keys[n - 1] in _linking() | _ENDS
            and not self._is_asked_of_reader(n)
            for n in inside
        )

    def _is_asked_of_reader(self, at: int) -> bool:
        """Whether a verb asks the reader of the text: "call me", but not "remind me"."""
        speakers = words_in_all("addressing", "speakers")
        behind = self.keys[at + 1 : at + 1 + _NEAR]
        return not self._sends_or_reminds(at) and any(key in speakers for key in behind)
