"""The small phrases of a request: a person, a channel, a limit. Each reader says where one ends."""

from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.hours import read_number
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import Spoken, read_time
from remit.intake.recipients import (
    ELSEWHERE,
    About,
    Channel,
    Contact,
    Question,
    channel_for,
    resolve,
)
from remit.language.phrases import Phrases
from remit.language.tokens import Kind

_MOST_NAMES: Final = 3  # words in the name of somebody nobody knows
_MOST_UNITS: Final = 3  # words after the number of a limit
_RANGES: Final = frozenset("-–")
_PER: Final = frozenset({"per", "pro", "each", "je"})


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody named from one token to another: known, or a question."""

    end: int
    who: Contact | Question


@dataclass(frozen=True, slots=True)
class Way:
    """A channel named from one token to another: known, or a question."""

    end: int
    channel: Channel | Question
    strong: bool


def words_of(said: Said, start: int, end: int) -> str:
    """The owner's words from one token to another, with single spaces where tokens are apart."""
    parts = [
        (" " if not t.tight and n else "") + t.text for n, t in enumerate(said.tokens[start:end])
    ]
    return "".join(parts)


# Persons ------------------------------------------------------------------------------------------


def read_person(said: Said, at: int) -> Person | None:
    """Read somebody named outright: "me", "Bob", "my wife", "them"."""
    language = said.language
    me = language.me.at(said.keys, at)
    if me and not _is_somebody_s(said, me[1]):
        return Person(me[1], said.book.owner)
    if them := language.them.at(said.keys, at):
        return Person(them[1], nobody(said, at, them[1]))
    start = at + 1 if at < len(said.keys) and said.keys[at] in language.my else at
    if found := said.book.people.at(said.keys, start):
        end = found[1]
        return Person(end, resolve(words_of(said, start, end), said.book))
    return None


def _is_somebody_s(said: Said, at: int) -> bool:
    """Whether a word for the owner only leads on to somebody else: "a mi prima" is not "a mí"."""
    follows = said.is_word(at) and said.keys[at] not in said.language.opens
    return follows and said.keys[at - 1] in said.language.my


def read_addressed(said: Said, at: int) -> Person | None:
    """Read "to Bob", "an Bob", "a Bob"; after such a word even a stranger is a person."""
    led = said.language.to.at(said.keys, at)
    if led is None:
        return None
    known = read_person(said, led[1])
    if known is None:
        return read_stranger(said, led[1])
    surname = known.end < len(said.tokens) and _is_name(said, known.end)
    if isinstance(known.who, Contact) and known.who is not said.book.owner and surname:
        return read_stranger(said, led[1])  # "Bob Miller" need not be our Bob
    return known


def is_addressed(said: Said, at: int) -> bool:
    """Whether somebody is written to here: "to Bob", "an Zoe", "to my cousin"."""
    led = said.language.to.at(said.keys, at)
    if led is None or led[1] >= len(said.tokens):
        return False
    token = said.tokens[led[1]]
    named = token.capital and token.kind is Kind.WORD and token.key not in said.language.known
    mine = token.key in said.language.my and read_way(said, at) is None
    return named or mine or token.kind is Kind.ADDRESS or read_person(said, led[1]) is not None


def read_stranger(said: Said, at: int) -> Person | None:
    """Read the name of somebody who is not in the book: who it is must be asked."""
    start = at
    if at < len(said.keys) and (said.keys[at] in said.language.articles or _is_tongue(said, at)):
        start += 1
    end = start
    while end - start < _MOST_NAMES and said.is_word(end) and _is_strange(said, end, start > at):
        end += 1
    if end == start:
        return _address(said, at)
    return Person(end, nobody(said, at, end))


def _is_tongue(said: Said, at: int) -> bool:
    """Whether a word for a language describes people: "to Spanish clients"."""
    key = said.keys[at]
    return key in said.language.tongues.words and key not in said.language.common


def _address(said: Said, at: int) -> Person | None:
    if at < len(said.tokens) and said.tokens[at].kind is Kind.ADDRESS:
        return Person(at + 1, nobody(said, at, at + 1))
    return None


def _is_strange(said: Said, at: int, described: bool) -> bool:
    """Whether a word may be part of a stranger's name: unknown, and a name or after an article."""
    token = said.tokens[at]
    if read_way_name(said, at):
        return False
    if said.book.people.at(said.keys, at):
        return True
    return token.key not in said.language.known and (token.capital or described)


def _is_name(said: Said, at: int) -> bool:
    token = said.tokens[at]
    return token.kind is Kind.WORD and token.capital and token.key not in said.language.known


def nobody(said: Said, start: int, end: int) -> Question:
    words = words_of(said, start, end)
    return Question(About.RECIPIENT, f"Who is meant by {words!r}? The book does not say.")


# Channels -----------------------------------------------------------------------------------------


def read_way(said: Said, at: int) -> Way | None:
    """Read "on WhatsApp", "per Mail", "a WhatsApp message", "to my dashboard"."""
    language = said.language
    for leads, strong in ((language.by, True), (language.on, False)):
        led = leads.at(said.keys, at)
        way = _named_way(said, _after_article(said, led[1]), at, strong=strong) if led else None
        if led and way:
            mine = said.keys[led[1]] in language.my  # "to my WhatsApp" can mean nothing else
            return replace(way, strong=strong or mine)
    if at < len(said.keys) and said.keys[at] in language.one:
        return _message(said, at)
    return _named_way(said, at, at, strong=False) if _is_alias(said, at) else None


def read_way_name(said: Said, at: int) -> tuple[str, int] | None:
    """Read what some channel is called, ours or not; the longest name wins."""
    sources: tuple[Phrases[str], ...] = (said.book.ways, said.language.channels, ELSEWHERE)
    found = [name for source in sources if (name := source.at(said.keys, at))]
    return max(found, key=lambda name: name[1], default=None)


def _message(said: Said, at: int) -> Way | None:
    """Read "a WhatsApp", "an email message", "a quick email"."""
    for start in (at + 1, at + 2):
        if start == at + 2 and not said.is_word(at + 1):
            return None
        if found := _named_way(said, start, at, strong=False):
            return found
    return None


def _named_way(said: Said, name_at: int, at: int, *, strong: bool) -> Way | None:
    name = read_way_name(said, name_at)
    if name is None:
        return None
    end = name[1]
    if noun := said.language.messages.at(said.keys, end):
        end = noun[1]
    if not (strong and said.language.strong_is_enough) and _is_described(said, end):
        return None
    return Way(end, channel_for(name[0], words_of(said, at, end), said.book), strong)


def _is_described(said: Said, at: int) -> bool:
    """Whether a noun follows, so that the channel only describes it: "WhatsApp bug report"."""
    if not said.is_word(at) or said.keys[at] in said.language.opens:
        return False
    token = said.tokens[at]
    return token.tight or not token.capital or said.language.nouns_are_capital


def _is_alias(said: Said, at: int) -> bool:
    found = said.book.ways.at(said.keys, at)
    return found is not None and "_" in said.keys[at]


def _after_article(said: Said, at: int) -> int:
    return at + 1 if at < len(said.keys) and said.keys[at] in said.language.articles else at


# Limits -------------------------------------------------------------------------------------------


def read_limit(said: Said, at: int, stop: int) -> int | None:
    """Read what narrows the work, anywhere: "under 200 words", "in Spanish", "without nuts"."""
    if read_time(said, at):
        return None
    return _form(said, at) or _measure(said, at) or _but(said, at, stop) or _deadline(said, at)


def _form(said: Said, at: int) -> int | None:
    """Read "in Spanish", "as a table"."""
    for phrases in (said.language.tongues, said.language.formats):
        found = phrases.at(said.keys, at)
        if found and not (said.language.to.at(said.keys, at) and _is_described(said, found[1])):
            return found[1]  # "to German", not "to German clients"
    return None


def _but(said: Said, at: int, stop: int) -> int | None:
    """Read "without nuts", "only if it rains"."""
    if found := said.language.without.at(said.keys, at):
        return short_end(said, found[1], stop) if found[1] < stop else None
    found = said.language.only_if.at(said.keys, at)
    return stop if found and found[1] < stop else None


def read_condition(said: Said, at: int, stop: int) -> int | None:
    """Read "if it rains": at the start of a clause, or where something is sent."""
    found = said.language.conditions.at(said.keys, at)
    return stop if found and found[1] < stop and not read_time(said, at) else None


def short_end(said: Said, at: int, stop: int) -> int:
    """Where a limit ends: when and how something goes out is no part of it."""
    for place in range(at + 1, stop):
        spoken = read_time(said, place)
        if read_way(said, place) or (spoken and spoken.is_exact):
            return place
    return stop


def read_opening_limit(said: Said, at: int, stop: int) -> int | None:
    """Read what narrows the work at the start of a clause: "no seafood", "keep it friendly"."""
    for phrases in (said.language.none_of, said.language.manners):
        if (found := phrases.at(said.keys, at)) and found[1] < stop:
            return short_end(said, found[1], stop)
    return None


def _measure(said: Said, at: int) -> int | None:
    language = said.language
    led = language.limit_starts.at(said.keys, at)
    limit = language.limits.at(said.keys, led[1] if led else at)
    if limit is None:
        number = read_number(said, led[1]) if led else None
        length = language.lengths.at(said.keys, number[1]) if number else None
        return length[1] if length else None
    start = limit[1] + (limit[1] < len(said.keys) and said.keys[limit[1]] in "$€£")
    number = read_number(said, start)
    return _after_units(said, number[1]) if number else None


def _after_units(said: Said, at: int) -> int:
    """Step over what is counted: "400 euros each"."""
    end = at
    while end < len(said.tokens) and end - at < _MOST_UNITS:
        token = said.tokens[end]
        counted = token.kind is Kind.WORD and token.key not in said.language.common
        counted = counted or token.key in _PER
        if not counted and token.text not in "$€£%":
            break
        if said.language.verbs.at(said.keys, end) or said.language.links.at(said.keys, end):
            break
        end += 1
    return end


def _deadline(said: Said, at: int) -> int | None:
    led = said.time.deadline.at(said.keys, at)
    if led is None:
        return None
    when = read_time(said, led[1])
    return when.end if when and not when.ahead else None


# Times --------------------------------------------------------------------------------------------


def is_range(said: Said, spoken: Spoken) -> bool:
    """Whether a day only ends a stretch of days, and is no moment: "14-18 May"."""
    dash = spoken.start - 1
    if dash < 1 or said.keys[dash] not in _RANGES or not said.tokens[dash].tight:
        return False
    last = dash - 2 if dash > 1 and said.is_tight(dash - 1, ".") else dash - 1
    return said.number(last) is not None


def is_topic(said: Said, spoken: Spoken) -> bool:
    """Whether a time belongs to what is talked about: "the 3pm call", "for tomorrow"."""
    if spoken.start == 0:
        return False
    before = spoken.start - 1
    key = said.keys[before]
    if is_range(said, spoken):
        return True
    if key in said.language.articles or key in said.language.events:
        return True
    return any(
        (found := said.time.about.at(said.keys, place)) and found[1] == spoken.start
        for place in (before, max(before - 1, 0))
    )
