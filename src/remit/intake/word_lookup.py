"""Looks up what begins at each word of a message: a name, a verb, a channel, a time."""

from functools import cached_property

from msgspec.structs import replace

from remit.contacts import Contact, ContactBook
from remit.language.cues import open_quotes
from remit.language.files import words_in_all
from remit.language.order_words import (
    OrderVerb,
    known_words,
    language_of,
    languages_in,
    order_words,
    words_of,
)
from remit.language.outside_text import pasted_lines
from remit.language.time import TimeText, time_words
from remit.language.time.clock_time import read_clock, read_number
from remit.language.time.day import names_end
from remit.language.time.phrase import TimePhrase, read_time
from remit.language.time.repeats import comes_back
from remit.language.tokens import Token, TokenKind, tokenize

Span = tuple[int, int]


class WordLookup:
    """The tokens of a message, and what begins at each of them: a name, a verb, a time."""

    def __init__(self, text: str, book: ContactBook) -> None:
        self._times: dict[int, TimePhrase | None] = {}
        self.orders: dict[tuple[int, int], object] = {}  # as they were read, by their places
        self.text = text
        self.book = book
        self.raw = tokenize(text)
        self.tokens: tuple[Token, ...] = open_quotes(self.raw)
        self.keys = tuple([token.key for token in self.tokens])

    @cached_property
    def language(self) -> str | None:
        """Return the code of the message's language; None if Remit does not read it."""
        pasted = pasted_lines(self.raw)
        own = [t for t in self.tokens if not pasted or self.line_at(t.start) not in pasted]
        colon = next((n for n, token in enumerate(own) if token.key == ":"), 0)
        return language_of(own[:colon]) or language_of(own or self.tokens)

    def own_words(self, name: str) -> frozenset[str]:
        """Return the single words of a list, in the message's language."""
        return words_of(self.language, name)

    @cached_property
    def named(self) -> dict[int, tuple[tuple[Contact, ...], int]]:
        """Return the named contacts by first token, and where each name ends."""
        firsts = self.book.people.firsts
        one = self.own_words("one") if self.language else frozenset[str]()
        places = (at for at, key in enumerate(self.keys) if key in firsts)
        found = ((at, self.book.people.at(self.keys, at)) for at in places)
        return {
            at: named
            for at, named in found
            if named and (named[1] > at + 1 or not self._is_plain_use(at, one))
        }

    def _is_plain_use(self, at: int, one: frozenset[str]) -> bool:
        """Whether a name is only a word here: "a rose", "I will"."""
        if not at or self.tokens[at].capital or self.tokens[at - 1].kind is not TokenKind.WORD:
            return False
        if self.keys[at + 1 : at + 2] == (":",):
            return False  # "mail a will: …"
        return self.keys[at - 1] in one or self.keys[at - 1] in words_in_all("words", "subjects")

    @cached_property
    def people(self) -> frozenset[int]:
        """Return the numbers of the tokens that name a contact."""
        return frozenset(n for at, (_, end) in self.named.items() for n in range(at, end))

    @cached_property
    def _time_texts(self) -> tuple[TimeText, ...]:
        """Return the message for the time parsers, its own language first."""
        own = (self.language,) if self.language else ()
        codes = dict.fromkeys((*own, *languages_in(self.tokens)))
        texts = (TimeText(self.tokens, self.keys, time_words(code)) for code in codes)
        return tuple(replace(text, recurs=comes_back(text)) for text in texts)

    def time_at(self, at: int) -> TimePhrase | None:
        """Return the time that begins at a token."""
        if at in self._times:
            return self._times[at]
        found = None
        for text in self._time_texts:
            if found := read_time(text, at):
                break
        self._times[at] = found
        return found

    def hour_at(self, at: int) -> TimePhrase | None:
        """Return the time of day at a token where one is expected: "remind me 3.30 to …"."""
        found = (read_clock(text, at, dotted=True) for text in self._time_texts)
        clock = next((each for each in found if each), None)
        return TimePhrase(at, clock[1], clocks=(clock[0],)) if clock else None

    def names_end(self, start: int, end: int) -> bool:
        """Whether some words name an end of a repetition, understood or not."""
        return any(names_end(text, at) for text in self._time_texts for at in range(start, end))

    def goes_on_with_order(self, at: int) -> bool:
        """Whether "and" is at a token, followed by a verb that asks for something."""
        link = order_words().links.at(self.keys, at)
        return link is not None and self.verb_at(link[1]) is not None

    def verb_at(self, at: int) -> tuple[OrderVerb, int] | None:
        """Return the verb that begins at a token, and where it ends."""
        return self._verbs[at] if at < len(self._verbs) else None

    def verb_end(self, at: int) -> int:
        verb = self.verb_at(at)
        return verb[1] if verb else at

    @cached_property
    def _verbs(self) -> tuple[tuple[OrderVerb, int] | None, ...]:
        table, keys = order_words().verbs, self.keys
        firsts = table.firsts
        return tuple(table.at(keys, at) if key in firsts else None for at, key in enumerate(keys))

    def first_at(self, place: int) -> int:
        """Return the number of the first token from a character on."""
        return next((n for n, t in enumerate(self.tokens) if t.start >= place), len(self.tokens))

    def channel_at(self, at: int) -> tuple[str, int] | None:
        """Return the channel named at a token: a configured one, or a kind of channel."""
        return self._channels.get(at)

    @cached_property
    def _channels(self) -> dict[int, tuple[str, int]]:
        ways, kinds, keys = self.book.ways, order_words().channels, self.keys
        firsts = ways.firsts | kinds.firsts
        found = (
            (at, ways.at(keys, at) or kinds.at(keys, at))
            for at, key in enumerate(keys)
            if key in firsts
        )
        return {at: named for at, named in found if named}

    def line_at(self, place: int) -> int:
        """Return the number of the line of a character."""
        return self.text.count("\n", 0, place)

    def is_name(self, at: int) -> bool:
        """Whether a token looks like a person's name."""
        return (
            self.is_plain_word(at)
            and self.tokens[at].capital
            and self.keys[at] not in known_words()
        )

    def is_told_before(self, at: int) -> bool:
        """Whether "is" or a similar word precedes a token, so that it continues a statement."""
        before = at - 1
        has_verb = before >= 0 and self.keys[before] in self.own_words("finite")
        return has_verb and before not in self.people

    def is_verb_first(self, start: int, end: int) -> bool:
        """Whether words begin with "is" or a similar verb: a condition or a question."""
        key = self.keys[start]
        begins = key in self.own_words("finite") and start not in self.people
        if key in words_in_all("words", "own_finite") and "ich" not in self.keys[start:end]:
            return False  # "bin schon unterwegs": the "I" is left out
        return begins and end - start > 1 and self.verb_at(start) is None

    def is_tight(self, at: int) -> bool:
        """Whether a token follows the one before it without a gap."""
        return at < len(self.tokens) and self.tokens[at].tight

    def is_plain_word(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind is TokenKind.WORD

    def is_number(self, at: int) -> bool:
        """Whether a token is a number, in digits or in words."""
        return any(read_number(text, at) is not None for text in self._time_texts)

    def is_known_word(self, at: int) -> bool:
        """Whether a token is a word of some language, and so hardly a name."""
        return self.keys[at] in known_words()

    def is_topic(self, key: str) -> bool:
        """Whether a time after a word belongs to a topic: "for tomorrow"."""
        return any(key in text.words.about.words for text in self._time_texts)

    def is_deadline(self, at: int) -> bool:
        """Whether a word says that something is to be done before the time behind it: "by"."""
        return any(self.keys[at] in text.words.deadlines.words for text in self._time_texts)

    def slice(self, start: int, end: int) -> str:
        """Return the words from one token to another, as typed."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if end > start else ""
