"""The words of a message, and the people in it who are written to."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Final

from remit.intake.word_lookup import Span, WordLookup
from remit.language.files import phrases_in_all, words_in_all
from remit.language.order_words import VerbKind, order_words
from remit.language.outside_text import pasted_lines
from remit.language.tokens import TokenKind

SENTENCE_MARKS: Final = frozenset(".;!?")
BEFORE_PEOPLE: Final = ("addressing", "before")
SKIPPED: Final = ("addressing", "skipped")
NEAR: Final = 3
FAR: Final = 8


@cache
def linking_words() -> frozenset[str]:
    return words_in_all("addressing", "links") | frozenset(",&")


class AddressedPeople(WordLookup):
    """A message in which somebody is written to."""

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

    def is_meant_alone(self, at: int) -> bool:
        """Whether something is for a person whom a later "her" means, and for nobody beside them.

        "A train for Anna and her mother", "the mother of Anna": there it may be somebody else.
        """
        end = self.named[at][1]
        joined = end < len(self.keys) and self.keys[end] in linking_words()
        led = at > 0 and (self.leads_to_person(at - 1) or self.verb_at(at - 1) is not None)
        alone = not (joined and self._is_third(end + 1))
        return led and alone and self.is_meant_later(at)

    def _is_third(self, at: int) -> bool:
        """Whether somebody else may be named at a token: it begins no order."""
        return at < len(self.keys) and self.verb_at(at) is None

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
