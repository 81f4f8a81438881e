"""The words of a message: the texts in it that are to be sent, and the people written to."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final

from remit.contacts import ContactBook
from remit.intake.word_lookup import Span, WordLookup
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import TextLead, VerbKind, order_words
from remit.language.outside_text import pasted_lines
from remit.language.tokens import TokenKind, is_sign

PAUSES: Final = frozenset(".,;:!?-–—()…")
SENTENCE_MARKS: Final = frozenset(".;!?")
BEFORE_PEOPLE: Final = ("addressing", "before")
SKIPPED: Final = ("addressing", "skipped")
NEAR: Final = 3
FAR: Final = 8
_FEW: Final = 3
_ORDERS: Final = (VerbKind.SEND, VerbKind.TELL, VerbKind.REMIND)


@cache
def linking_words() -> frozenset[str]:
    return words_in_all("addressing", "links") | frozenset(",&")


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


class MessageWords(WordLookup):
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
        tables = (words.messages, words.particles, gets)
        found = ((at, t.at(self.keys, at)) for at in range(len(self.keys)) for t in tables)
        named = [range(at, hit[1]) for at, hit in found if hit is not None]
        verbs = ((at, hit) for at, hit in enumerate(self._verbs) if hit is not None)
        return (*named, *(range(at, end) for at, (verb, end) in verbs if verb.kind in _ORDERS))

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

    def is_work_verb(self, at: int) -> bool:
        verb = self.verb_at(at)
        return verb is not None and verb[0].kind is VerbKind.WORK

    def _sends_or_reminds(self, at: int) -> bool:
        if at in self.people or self.is_channel(at):
            return False  # "Mark", and "a WhatsApp"
        verb = self.verb_at(at)
        asking = (VerbKind.SEND, VerbKind.TELL, VerbKind.REMIND)
        return verb is not None and verb[0].kind in asking

    # Who is written to -----------------------------------------------------------------------

    def addresses(self, words: str) -> bool:
        """Whether the words stand where somebody is written to, outside any text to be sent."""
        return any(
            self._is_addressed(span) and not self.is_within(span, self.quotes)
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
            or self.is_meant_later(first)
        )

    def is_meant_later(self, at: int) -> bool:
        """Whether a later "her" means a person: "Anna is looking for me. Text her …".

        Nobody else may be named before it, except together: "Carlos and Lucía".
        """
        them = phrases_in_all("words", "them")
        own = [n for n in sorted(self.people) if not self.is_within(self.span_of(n), self.quotes)]
        for n in range(at + 1, len(self.keys)):
            behind = range(n + 1, min(n + NEAR + 2, len(self.keys)))
            if not self.sends_at(n) or not self.begins_clause(n):
                continue
            if self.ends_with_them(n) or any(them.at(self.keys, m) for m in behind):
                before = [m for m in own if m < n]
                between = range(min(before, default=n), max(before, default=n))
                return at in before and all(
                    m in before or self.keys[m] in linking_words() for m in between
                )
        return False

    def begins_clause(self, at: int) -> bool:
        if at == 0:
            return True
        token, key = self.tokens[at - 1], self.keys[at - 1]
        return (
            token.kind in (TokenKind.MARK, TokenKind.LINE)
            or key in words_in_all("addressing", "links")
            or order_words().polite.at(self.keys, at - 1) is not None
        )

    def ends_with_them(self, at: int) -> bool:
        """Whether a Spanish verb ends in its recipient: "avísales", "mándaselo"."""
        endings = tuple(words_in_all("addressing", "endings"))
        return self.language == "es" and self.keys[at].endswith(endings)

    def _leads_to(self, at: int) -> bool:
        """Whether a verb that sends, or a word like "to", precedes a person."""
        before = at - 1
        while before >= 0 and (
            self.keys[before] in words_in_all(*SKIPPED) or before in self.people
        ):
            before -= 1
        if before >= 0 and self.keys[before] in linking_words() and before - 1 in self.people:
            return self._leads_to(before - 1)
        if before >= 0 and self.leads_to_person(before):
            return True
        if any(self.sends_at(n) for n in range(max(0, before - NEAR), before + 1)):
            return True
        return any(self.sends_at(n) for n in self._rest_of_sentence(at))

    def leads_to_person(self, at: int) -> bool:
        """Whether a word may stand before a person who is written to: "to", "for"."""
        return self.keys[at] in words_in_all(*BEFORE_PEOPLE)

    def _rest_of_sentence(self, at: int) -> Iterator[int]:
        """Return the tokens after one in its sentence: a German verb may be there."""
        for n in range(at + 1, min(len(self.tokens), at + FAR)):
            if self.keys[n] in SENTENCE_MARKS or self.tokens[n].kind is TokenKind.LINE:
                return
            yield n

    def sends_at(self, at: int) -> bool:
        """Whether a verb that sends begins at a token."""
        verb = self.verb_at(at)
        if verb is None:
            return False
        if verb[0].kind is VerbKind.REMIND and not verb[0].me:
            return verb[1] in self.people  # "remind Bob to …"
        return verb[0].kind in (VerbKind.SEND, VerbKind.TELL)

    def is_channel(self, at: int) -> bool:
        return self.channel_at(at) is not None

    @cached_property
    def beside_people(self) -> frozenset[int]:
        """Return the tokens that may stand next to a person: "to", "please", "by mail"."""
        words = words_in_all(*BEFORE_PEOPLE) | words_in_all(*SKIPPED) | words_in_all("words", "by")
        small = {n for n, key in enumerate(self.keys) if key in words}
        ways = ((n, self.channel_at(n)) for n in range(len(self.keys)))
        return frozenset(small | {m for n, way in ways if way for m in range(n, way[1])})

    @cached_property
    def quotes(self) -> tuple[Span, ...]:
        """Return quotations with a certain end, without their marks."""
        clear = (token for token in self.raw if token.kind is TokenKind.QUOTE and token.clear)
        return tuple((token.start + 1, token.end - 1) for token in clear)

    def places(self, words: str) -> Iterator[Span]:
        """Yield where some words stand in what the owner wrote; blanks and case do not count."""
        parts = [re.escape(part) for part in words.split()]
        if not parts:
            return
        joined = r"\s+".join(parts)
        for found in re.finditer(rf"(?<!\w){joined}(?!\w)", self._own_text, re.IGNORECASE):
            yield found.span()

    @cached_property
    def _own_text(self) -> str:
        """Return the message with the words of others blanked."""
        pasted = pasted_lines(self.raw)
        if not pasted:
            return self.text
        lines = self.text.split("\n")
        return "\n".join(" " * len(line) if n in pasted else line for n, line in enumerate(lines))

    def is_within(self, span: Span, others: Sequence[Span]) -> bool:
        return any(start <= span[0] and span[1] <= end for start, end in others)

    def span_of(self, at: int) -> Span:
        return self.tokens[at].start, self.tokens[at].end
