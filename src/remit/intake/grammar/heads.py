"""The verb that says what a stretch of words asks for, believed only with what must stand by it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.phrases import (
    is_addressed,
    read_condition,
    read_opening_limit,
    read_person,
    read_way,
)
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.intake.lexicon.shape import REMIND, REMIND_ME, Does, Link, Needs, Talk, Verb, laughs
from remit.language.phrases import words
from remit.language.tokens import Kind

_MOST_SKIPPED: Final = 6  # phrases between a verb and the person it is about
_MOST_LEADING: Final = 12  # phrases before a verb
_LABEL: Final = 4  # words at most, and a colon
_FAR: Final = 60  # words between a condition and the request that follows it
_MOST_TIMED: Final = 8  # words of a time before a noun
_NEAR: Final = 10  # words between a verb that sends and the reminder it sends
_LEADS_ON: Final = words(
    """to can could will would should may might must and or zu du man sie und oder que te se le
    nos y o"""
)  # words a verb may follow within a condition
_OPENERS: Final = frozenset(":¿¡(,-…")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch between commas and links; `lead` is where the links before it begin."""

    lead: int
    start: int
    end: int
    links: frozenset[Link] = frozenset()


@dataclass(frozen=True, slots=True)
class Head:
    """A verb, from one token to another."""

    verb: Verb
    start: int
    end: int
    negated: bool = False


def find_head(said: Said, chunk: Chunk) -> Head | None:
    """Find the verb that governs a chunk: in front, behind what leads it in, or at its end."""
    at, framed = skip_leading(said, chunk.start, chunk.end)
    if head := _negation(said, at, chunk) or _reminder_last(said, at, chunk):
        return head
    if head := _verb_at(said, at, chunk):
        return head
    if read_condition(said, at, chunk.end) or read_opening_limit(said, at, chunk.end):
        return None
    person = None if framed else read_person(said, at)
    behind = _verb_at(said, person.end, chunk) if person else None
    return _verb_at_end(said, chunk) or behind


def label_end(said: Said) -> int:
    """Where words end that only announce a request: "URGENT: email Bob the contract"."""
    start = said.marks
    for at in range(start + 1, min(len(said.keys), start + _LABEL)):
        if said.keys[at] == ":" and all(said.is_word(each) for each in range(start, at)):
            return at + 1 if _announces(said, start, at) else start
    return start


def _announces(said: Said, start: int, colon: int) -> bool:
    """Whether words before a colon ask for nothing, and a verb behind it does."""
    head = find_head(said, Chunk(start, start, colon))
    asks = head is not None and head.verb.does is not Does.WORK
    polite = skip_leading(said, start, colon)[0] == colon
    follows, _ = skip_leading(said, colon + 1, len(said.keys))
    return not (asks or polite) and said.language.verbs.at(said.keys, follows) is not None


def skip_leading(said: Said, at: int, end: int) -> tuple[int, bool]:
    """Step over what leads a request in: times, "please", "can you", "don't forget to"."""
    framed = False
    language = said.language
    for _ in range(_MOST_LEADING):
        if at >= end:
            break
        if spoken := read_time(said, at):
            at = spoken.end
            continue
        found = language.not_nots.at(said.keys, at) or language.frames.at(said.keys, at)
        step = found or language.links.at(said.keys, at)
        if step is None and not _is_skippable(said, at):
            break
        framed = framed or found is not None
        at = step[1] if step else at + 1
    return min(at, end), framed


def _is_skippable(said: Said, at: int) -> bool:
    return said.tokens[at].kind is Kind.MARK and said.keys[at] in _OPENERS


def _negation(said: Said, at: int, chunk: Chunk) -> Head | None:
    found = said.language.nots.at(said.keys, at)
    asks = said.language.verbs.at(said.keys, at)  # "don't let me forget" is one
    if found is None or (asks and asks[1] >= found[1]):
        return None
    inner = replace(chunk, start=found[1])
    place = _after_pronouns(said, found[1], chunk.end)
    head = _verb_at(said, found[1], inner) or _verb_at(said, place, replace(chunk, start=place))
    head = head or _verb_at_end(said, inner)
    if head is None and chunk.lead > said.marks:
        return None  # "…, not Bob, …" only goes on with what was said before
    verb = head.verb if head else Verb(Does.SEND)
    return Head(verb, at, chunk.end, negated=True)


def _after_pronouns(said: Said, at: int, end: int) -> int:
    """Step over "it" and "to her" before a verb: "no se lo envíes"."""
    language = said.language
    for phrases in (language.them, language.me, language.refers):
        if at < end and (found := phrases.at(said.keys, at)):
            at = found[1]
    return at


def _reminder_last(said: Said, at: int, chunk: Chunk) -> Head | None:
    """Find a reminder asked for by the noun alone: "call mum 4pm reminder"."""
    end = chunk.end
    while end > at and said.tokens[end - 1].kind is Kind.MARK:
        end -= 1
    me = said.language.me.at(said.keys, end - 1) if end - 1 > at else None
    noun = end - 2 if me else end - 1
    last = said.language.final_verbs.at(said.keys, noun) if noun > at else None
    verb = said.language.verbs.at(said.keys, noun) or last if noun > at else None
    if verb is None:
        return None
    named = said.language.reminders.at(said.keys, noun) is not None and not me
    reminds = named or verb[0] == REMIND  # "dentist 3pm remind"
    leads = at > chunk.start and read_time(said, chunk.start) is not None
    return Head(REMIND_ME, noun, end) if reminds and (leads or _timed(said, at, noun)) else None


def _timed(said: Said, at: int, end: int) -> bool:
    """Whether a time stands right before a place, and no article before that: "a 4pm reminder"."""
    for place in range(max(at, end - _MOST_TIMED), end):
        spoken = read_time(said, place)
        if spoken and spoken.end == end:
            described = place > at and said.keys[place - 1] in said.language.articles
            return place > at and spoken.is_exact and not described
    return False


def _verb_at(said: Said, at: int, chunk: Chunk) -> Head | None:
    found = said.language.verbs.at(said.keys, at)
    if found is None or at >= chunk.end:
        return None
    return _believed(said, found[0], at, min(found[1], chunk.end), chunk)


def _believed(said: Said, verb: Verb, at: int, end: int, chunk: Chunk) -> Head | None:
    """Take a verb for what it says only if what must stand with it does."""
    if verb.does is Does.SEND and _has_reminder(said, at, end, chunk):
        return Head(replace(verb, does=Does.REMIND, tells=True), at, end)
    if verb.does is Does.STOP:
        tasks = said.language.task_words
        named = any(tasks.at(said.keys, place) for place in range(end, chunk.end))
        return Head(verb if named else Verb(Does.WORK), at, end)
    if verb.dated and _books_message(said, end, chunk):
        return Head(Verb(Does.SEND, dated=True), at, end)
    if verb.needs is Needs.PERSON and not _has_person(said, verb, at, end, chunk):
        # "write a poem" is work by its own name; "text mining" is no request to text anybody.
        return Head(Verb(Does.WORK), at, end) if verb.composes and end < chunk.end else None
    placed = verb.needs is not Needs.CHANNEL or _has_way(said, chunk)
    return Head(verb if placed else Verb(Does.WORK), at, end)


def _books_message(said: Said, at: int, chunk: Chunk) -> bool:
    """Whether what is planned is a message: "schedule an email to Bob for Monday at 9"."""
    way = read_way(said, at)
    noun = said.language.messages.at(said.keys, at)
    if way is None and noun is None:
        return False
    return any(is_addressed(said, place) for place in range(at, chunk.end))


def _has_reminder(said: Said, at: int, end: int, chunk: Chunk) -> bool:
    """Whether what is sent is a reminder: "send me a reminder", "eine Erinnerung schicken"."""
    last = end >= chunk.end
    places = range(chunk.start, at) if last else range(end, min(chunk.end, end + _NEAR))
    return any(said.language.reminders.at(said.keys, place) for place in places)


def _has_person(said: Said, verb: Verb, at: int, end: int, chunk: Chunk) -> bool:
    if at > chunk.start and end == chunk.end:  # the verb stands last: the person is before it
        return any(read_person(said, place) for place in range(chunk.start, at)) or bool(
            verb.tells and not verb.channel
        )
    place = _skip_to_person(said, end, chunk.end)
    if _is_person(said, place, tells=verb.tells):
        return True
    far = verb.channel is not None or not verb.tells
    return far and any(is_addressed(said, each) for each in range(end, chunk.end))


def _skip_to_person(said: Said, at: int, end: int) -> int:
    language = said.language
    for _ in range(_MOST_SKIPPED):
        if at >= end:
            break
        if way := read_way(said, at):
            at = way.end
        elif spoken := read_time(said, at):
            at = spoken.end
        else:
            found = language.messages.at(said.keys, at) or language.refers.at(said.keys, at)
            polite = found or language.links.at(said.keys, at) or language.results.at(said.keys, at)
            if polite is None or read_person(said, at):
                break
            at = polite[1]
    return at


def _is_person(said: Said, at: int, *, tells: bool) -> bool:
    if read_person(said, at) or is_addressed(said, at):
        return True
    if not said.is_word(at):
        return at < len(said.tokens) and said.tokens[at].kind is Kind.ADDRESS
    if said.keys[at] in said.language.known:
        return tells and said.keys[at] in said.language.my
    if tells:
        return said.tokens[at].capital
    follows = said.keys[at + 1] if at + 1 < len(said.keys) else ""
    return said.tokens[at].capital and follows in said.language.articles


def _has_way(said: Said, chunk: Chunk) -> bool:
    return any(read_way(said, at) for at in range(chunk.start, chunk.end))


def _verb_at_end(said: Said, chunk: Chunk) -> Head | None:
    """Find a verb that stands last: "mir die Liste per Mail schicken"."""
    for start in range(chunk.start, chunk.end):
        found = said.language.final_verbs.at(said.keys, start)
        if found and found[1] <= chunk.end and _stands_last(said, found[1], chunk.end):
            return _believed(said, found[0], start, found[1], replace(chunk, end=found[1]))
    return None


def _stands_last(said: Said, at: int, end: int) -> bool:
    """Whether nothing follows but marks, or the very text that is to be sent."""
    if at >= end or said.tokens[at].kind in (Kind.MARK, Kind.QUOTE):
        return True
    return said.language.told.at(said.keys, at) is not None


def request_after(said: Said, at: int, end: int) -> int | None:
    """Find where a request follows a condition without a comma: "if it rains | email me".

    Only a verb that sends is believed, and only behind a word that cannot lead on to it.
    """
    at, _ = skip_leading(said, at, end)
    language = said.language
    led = language.only_if.at(said.keys, at) or language.conditions.at(said.keys, at)
    if led is None or read_time(said, at):
        return None
    found = None
    for place in _sends_within(said, led[1] + 1, end):
        if not _may_end_at(said, place - 1):
            continue
        found = place
        if said.keys[place] not in language.also_tell:
            break
    return found


def hidden_request(said: Said, at: int, end: int) -> int | None:
    """Find what may be a request within a condition, where nothing tells it apart."""
    language = said.language
    leads = language.subjects | language.third | language.articles | language.relatives
    for place in _sends_within(said, at + 2, end):
        before = said.keys[place - 1]
        known = before in leads or before in _LEADS_ON or before in language.nots.words
        if before in language.common and not known and said.keys[place] not in language.also_tell:
            return place
    return None


def _sends_within(said: Said, at: int, end: int) -> Iterator[int]:
    """Where verbs stand that would send, if a request began with them."""
    for place in range(at, min(end, at + _FAR)):
        verb = said.language.verbs.at(said.keys, place)
        if verb is None or verb[1] >= end or verb[0].does not in (Does.SEND, Does.REMIND):
            continue
        head = _verb_at(said, place, Chunk(place, place, min(end, place + _FAR)))
        if head is not None and head.verb.does in (Does.SEND, Does.REMIND):
            yield place


def _may_end_at(said: Said, at: int) -> bool:
    """Whether a condition may end with a word; in German its verb does: "wenn es kalt ist"."""
    language = said.language
    last = bool(language.final_verbs.firsts) and said.keys[at] in language.finite
    return last or said.keys[at] not in language.common


# Talk ---------------------------------------------------------------------------------------------

_THANKED: Final = 12  # words after "thanks" that may say what for


def small_talk(said: Said, at: int, end: int) -> Talk | None:
    """Say what sort of small talk a stretch without a verb is, if it is nothing else."""
    found: list[Talk] = []
    first = at
    while at < end:
        talk = said.language.talk.at(said.keys, at)
        step = talk or said.language.links.at(said.keys, at)
        if talk:
            found.append(talk[0])
        elif step is None and not _is_beside(said, at):
            return Talk.THANKS if _goes_on_thanking(said, first, end, found) else None
        at = min(step[1], end) if step else at + 1
    if not found:
        return Talk.CHATTER if _says_nothing(said, first, end) else None
    return next((sort for sort in (Talk.THANKS, Talk.GREETING) if sort in found), found[0])


def _is_beside(said: Said, at: int) -> bool:
    """Whether a token may stand in small talk: a mark, an emoji, laughter, somebody's name."""
    token = said.tokens[at]
    if token.kind is Kind.MARK or laughs(token.key):
        return True
    return token.kind is Kind.WORD and said.book.people.at(said.keys, at) is not None


def _goes_on_thanking(said: Said, first: int, end: int, found: list[Talk]) -> bool:
    """Whether "thanks" is all that is meant: "thanks a bunch for the list"."""
    if Talk.THANKS not in found or end - first > _THANKED:
        return False
    thanks = said.language.talk.at(said.keys, first)
    if thanks is None or thanks[1] >= end:
        return thanks is not None
    follows = said.tokens[thanks[1]]
    return follows.kind is Kind.MARK or follows.key in said.language.common


def _says_nothing(said: Said, first: int, end: int) -> bool:
    """Whether there is no word at all, or nothing but laughter."""
    tokens = said.tokens[first:end]
    return all(token.kind is Kind.MARK or laughs(token.key) for token in tokens)
