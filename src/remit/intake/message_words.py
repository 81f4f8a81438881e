"""The words of a message with their positions, and the texts in it that are to be sent."""

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Final

from remit.contacts import ContactBook
from remit.intake.addressed_people import (
    NEAR,
    SENTENCE_MARKS,
    AddressedPeople,
)
from remit.intake.word_lookup import Span
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import TextLead, VerbKind, order_words
from remit.language.tokens import TokenKind, is_sign

PAUSES: Final = frozenset(".,;:!?-–—()…")
_FEW: Final = 3


def is_small_key(key: str) -> bool:
    """Whether a word means nothing by itself: "the", "please", "can you"."""
    return key in _small_words()


@cache
def _small_words() -> frozenset[str]:
    words = order_words()
    tables = (words.links, words.frames, words.leads, words.polite)
    return words.common.union(*(table.words for table in tables))


@lru_cache(maxsize=8)
def message_words(text: str, book: ContactBook) -> "MessageWords":
    """Return the words of a message; repeated calls share the result."""
    return MessageWords(text, book)


class MessageWords(AddressedPeople):
    """A message with its words, and the texts in it."""

    def is_one_sentence(self, start: int, end: int) -> bool:
        """Whether one sentence covers both places: "remind me to … and tell Bob …"."""
        between = self.text[start:end]
        return start <= end and not any(mark in between for mark in ".!?;…\n")

    def is_work_text(self, at: int) -> bool:
        """Whether a token follows a colon without an order to send: "summarise: …"."""
        return bool(self._colons) and at > self._colons[0] and not self._sends_before_colon

    @cached_property
    def _sends_before_colon(self) -> bool:
        return any(map(self.sends_at, range(self._colons[-1])))

    @cached_property
    def _colons(self) -> tuple[int, ...]:
        """Return the colons that introduce something."""
        inner = range(len(self.keys) - 1)
        return tuple(n for n in inner if self.keys[n] == ":" and not self.tokens[n + 1].tight)

    def is_order_word(self, at: int) -> bool:
        """Whether a word belongs to an order: a person, a channel, a verb or its particle."""
        if at in self.people or self.is_channel(at):
            return True
        return any(at in span for span in self._verb_spans)

    @cached_property
    def _verb_spans(self) -> tuple[range, ...]:
        words = order_words()
        gets = phrases_in_all("addressing", "gets")
        tables = (words.verbs, words.messages, words.particles, gets)
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
        return self.is_within(span, self.quotes) or before.endswith(":")

    def is_ordered_text(self, span: Span) -> bool:
        """Whether an order to send introduces a text, so that its words belong to it."""
        first = self.first_at(span[0])
        mixed = any(start < span[1] and span[0] < end for start, end in self.quotes)
        articles = order_words().articles
        noun = first + 1 if first < len(self.keys) and self.keys[first] in articles else first
        if mixed or order_words().messages.at(self.keys, noun) or self.channel_at(noun):
            return self.is_within(span, self.quotes)
        lead = range(self.sentence_start(first), first)
        return (
            self.is_marked_text(span)
            or any(
                self.sends_at(n)
                and n not in self.people
                and not (n and self.keys[n - 1] in articles)  # "the mail to Grace"
                for n in lead
            )
            or self._is_order_lead(lead)
            or self._is_sent_behind(span)
        )

    def _is_order_lead(self, lead: range) -> bool:
        """Whether words only say that somebody gets a text: "Anna should know"."""
        gets = phrases_in_all("addressing", "gets")
        hits = ((n, gets.at(self.keys, n)) for n in lead)
        known = {m for n, hit in hits if hit for m in range(n, hit[1])}
        others = (n for n in lead if n not in known)
        return (
            not known.isdisjoint(lead[-2:])
            and not self.people.isdisjoint(lead)
            and all(self.is_small_word(n) or self.is_order_word(n) for n in others)
        )

    def announces_text(self, start: int, end: int) -> bool:
        """Whether a sentence names somebody and a text for them: "Bob needs a mail: …".

        Whoever is said to have written it is not its reader: "Anna wrote: …".
        """
        inside = range(start, end)
        named = [n for n in inside if n in self.people]
        gets, reported = phrases_in_all("addressing", "gets"), phrases_in_all("cues", "reported")
        if not named or any(gets.at(self.keys, n) for n in inside):
            return bool(named)
        colon = next((n for n in inside if self.keys[n] == ":" and not self.is_tight(n + 1)), 0)
        return named[0] < colon < len(self.keys) - 1 and not any(
            reported.at(self.keys, n) for n in range(start, colon) if n not in self.people
        )

    def _is_sent_behind(self, span: Span) -> bool:
        """Whether an order to send it is all that follows a text: "I'm late - tell Anna that"."""
        first, rest = self.first_at(span[0]), range(self.first_at(span[1]), len(self.keys))
        addressed = self._names_only(range(first))
        order = any(
            order_words().refers.at(self.keys, n) or ((verb := self.verb_at(n)) and verb[0].it)
            for n in rest
        )
        return (
            (addressed or first == 0 or self.keys[first - 1] in SENTENCE_MARKS)
            and (addressed or not self.people.isdisjoint(rest))
            and order
            and all(self.is_small_word(n) or self.is_order_word(n) for n in rest)
        )

    def sentence_start(self, at: int) -> int:
        start = at
        while start and (
            start - 1 in self.people
            or not (
                self.keys[start - 1] in SENTENCE_MARKS
                or self.tokens[start - 1].kind is TokenKind.LINE
            )
        ):
            start -= 1
        return start

    def is_led_in(self, span: Span) -> bool:
        """Whether a text is marked, or follows a word like "that"."""
        first = self.first_at(span[0])
        that = words_in_all("addressing", "that")
        leads = (order_words().leads.at(self.keys, n) for n in range(max(0, first - NEAR), first))
        return (
            self.is_marked_text(span)
            or any(key in that for key in self.keys[max(0, first - 1) : first + 1])
            or any(lead[0] is TextLead.LETTER and lead[1] == first for lead in leads if lead)
        )

    def _names_only(self, lead: range) -> bool:
        """Whether words are only a person: "Jonas - …"."""
        marks = (n for n in lead if n not in self.people)
        return len(lead) > 0 and all(self.tokens[n].kind is TokenKind.MARK for n in marks)

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
        verbs = [
            n
            for n in range(len(self.keys))
            if self._sends_or_reminds(n) and not self.is_within(self.span_of(n), texts)
        ]
        return (
            len(inside) > _FEW
            or any(token.kind is TokenKind.QUOTE for token in inside)
            or (bool(inside) and len(verbs) > sends)
        )

    def _sends_or_reminds(self, at: int) -> bool:
        if at in self.people or self.is_channel(at):
            return False  # "Mark", and "a WhatsApp"
        verb = self.verb_at(at)
        asking = (VerbKind.SEND, VerbKind.TELL, VerbKind.REMIND)
        return verb is not None and verb[0].kind in asking
