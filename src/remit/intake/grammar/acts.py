"""A sentence as acts: each with the verb that says what is asked for, and all that hangs on it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.heads import Chunk, Head, find_head, skip_leading, small_talk
from remit.intake.grammar.phrases import (
    is_addressed,
    read_condition,
    read_limit,
    read_opening_limit,
    read_way,
)
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.intake.grammar.texts import Text, find_text, is_statement
from remit.intake.lexicon.shape import SEND, Does, Link, Talk, Told
from remit.intake.lexicon.words import Kind

_COMMAS: Final = frozenset(",;–—")


@dataclass(frozen=True, slots=True)
class Act:
    """One thing asked for, or (without a head) something said beside it."""

    lead: int
    start: int
    end: int
    head: Head | None = None
    links: frozenset[Link] = frozenset()
    text: Text | None = None
    quoted: bool = False
    talk: Talk | None = None
    denies: bool = False  # something is not to be sent, or not to somebody
    stops: tuple[int, ...] = ()  # where its later chunks begin
    unsure: bool = False  # its text may hold another request

    def starts_chunk(self, at: int) -> bool:
        """Whether a token is the first of one of its later chunks."""
        before = bisect_left(self.stops, at)
        return before < len(self.stops) and self.stops[before] == at

    def chunk_end(self, at: int) -> int:
        """Where the chunk ends that a token belongs to."""
        later = bisect_right(self.stops, at)
        return self.stops[later] if later < len(self.stops) else self.end


def read_acts(said: Said, start: int) -> tuple[Act, ...]:
    """Cut a sentence into acts, from a token on."""
    acts: list[Act] = []
    stops: list[list[int]] = []
    for chunk in _chunks(said, start):
        act = _act(said, chunk, acts[-1] if acts else None)
        joined = _join(said, acts[-1], act) if acts else None
        if joined:
            acts[-1] = joined
            stops[-1].append(chunk.start)
        else:
            acts.append(act)
            stops.append([])
    return tuple(replace(act, stops=tuple(at)) for act, at in zip(acts, stops, strict=True))


def _act(said: Said, chunk: Chunk, before: Act | None) -> Act:
    quoted = any(token.kind is Kind.QUOTE for token in said.tokens[chunk.start : chunk.end])
    head = find_head(said, chunk) or _implied(said, chunk, before)
    idle = head is None and chunk.end > chunk.start
    talk = small_talk(said, chunk.start, chunk.end) if idle else None
    text = find_text(said, head, chunk.start, chunk.end) if head else None
    no = _denies(said, head, chunk)
    return Act(chunk.lead, chunk.start, chunk.end, head, chunk.links, text, quoted, talk, no)


def _implied(said: Said, chunk: Chunk, before: Act | None) -> Head | None:
    """Send to somebody else what is not to go to the first: "nicht an Bob, sondern an Alice"."""
    if before is None or not before.denies:
        return None
    only = said.language.none_of.at(said.keys, chunk.start)
    at = only[1] if only else chunk.start
    way = read_way(said, at)
    return Head(SEND, at, at) if is_addressed(said, way.end if way else at) else None


def _denies(said: Said, head: Head | None, chunk: Chunk) -> bool:
    """Whether something is not to be sent, or not to somebody."""
    if head is None:
        return said.language.nots.at(said.keys, chunk.start) is not None
    if head.verb.does is not Does.SEND:
        return False
    nots = said.language.nots
    return head.negated or any(nots.at(said.keys, at) for at in range(head.end, chunk.end))


def _chunks(said: Said, start: int) -> Iterator[Chunk]:
    at = start
    while at < len(said.tokens):
        lead = at
        links, at = _links(said, at)
        stop = _chunk_end(said, at)
        yield Chunk(lead, at, stop, links)
        at = stop


def _links(said: Said, at: int) -> tuple[frozenset[Link], int]:
    """Read all the links and commas at a place."""
    links: set[Link] = set()
    while at < len(said.tokens):
        link = said.language.links.at(said.keys, at)
        if link and not _is_time(said, at):
            links.add(link[0])
            at = link[1]
        elif _is_comma(said, at):
            at += 1
        else:
            break
    return frozenset(links), at


def _chunk_end(said: Said, at: int) -> int:
    """Go to the next link or comma that is not within a phrase of time."""
    begun = at
    while at < len(said.tokens):
        if spoken := read_time(said, at):
            at = spoken.end
            continue
        link = said.language.links.at(said.keys, at)
        if at > begun and (_is_comma(said, at) or (link and link[0] is not Link.POLITE)):
            break
        at += 1
    return at


def _is_comma(said: Said, at: int) -> bool:
    return said.tokens[at].kind is Kind.MARK and said.keys[at] in _COMMAS


def _is_time(said: Said, at: int) -> bool:
    """Whether a word that could be a link starts a time: "so" is Sunday in German."""
    spoken = read_time(said, at)
    return spoken is not None and spoken.end > at + 1


def _join(said: Said, before: Act, act: Act) -> Act | None:
    """Join a chunk to the act before it, if it only goes on with it."""
    if before.talk or (act.talk and before.text is None):
        return None
    if before.text is not None and not _breaks_text(said, before.text, act):
        unsure = before.unsure or _may_be_request(before, act)
        return replace(_joined(said, before, act), unsure=unsure)
    plain = act.end > act.start and Link.AND not in act.links and not act.quoted
    if plain and _waits_for_text(before):
        return replace(before, end=act.end, text=_text_of(said, act))
    if act.head is not None:
        return _led_in(said, before, act)
    alone = before.head is None and _opens_limit(said, before)
    return None if alone else _joined(said, before, act)


def _led_in(said: Said, before: Act, act: Act) -> Act | None:
    """Let an act take in what was said before its verb: "die Zahlen und Daten | schicken"."""
    if before.head is not None or _opens_limit(said, before) or _tells(said, before):
        return None
    return replace(_joined(said, before, act), head=act.head, text=act.text)


def _text_of(said: Said, act: Act) -> Text:
    told = said.language.told.at(said.keys, act.start)
    return Text(act.start, told[1], told[0]) if told else Text(act.start, act.start, Told.BARE)


def _joined(said: Said, before: Act, act: Act) -> Act:
    text = before.text
    if text is None and before.head is not None:
        text = find_text(said, before.head, act.start, act.end)
    quoted, denies = before.quoted or act.quoted, before.denies or act.denies
    return replace(before, end=act.end, text=text, quoted=quoted, denies=denies)


def _waits_for_text(act: Act) -> bool:
    """Whether a reminder has not said yet of what: "erinnere mich um 9, Milch zu kaufen"."""
    head = act.head
    reminds = head is not None and not head.negated and head.verb.does is Does.REMIND
    return reminds and act.text is None and not act.quoted


def _tells(said: Said, act: Act) -> bool:
    """Whether it states something by itself, which the next request is no part of."""
    at, framed = skip_leading(said, act.start, act.end)
    if framed or said.language.wants.at(said.keys, at):
        return False
    return said.language.stating.at(said.keys, at) is not None and is_statement(said, at, act.end)


def _opens_limit(said: Said, act: Act) -> bool:
    at, _ = skip_leading(said, act.start, act.end)
    limits = (read_condition, read_opening_limit, read_limit)
    return any(read(said, at, act.end) is not None for read in limits)


def _breaks_text(said: Said, text: Text, act: Act) -> bool:
    """Whether a chunk after an unquoted text is surely a request of its own."""
    if act.head is None:
        return False
    if text.told is Told.TOPIC or act.head.verb.does is Does.REMIND:
        return True
    timed = act.head.start > act.start and read_time(said, act.start) is not None
    return timed or bool(act.links & {Link.ALSO, Link.THEN})


def _may_be_request(before: Act, act: Act) -> bool:
    """Whether a chunk within a text to be sent could just as well be a request to us."""
    if act.head is None or before.head is None or not act.links & {Link.AND, Link.BUT}:
        return False
    return before.head.verb.does is not Does.REMIND
