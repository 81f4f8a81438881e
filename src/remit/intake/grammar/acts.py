"""A sentence as acts: each with the verb that says what is asked for, and all that hangs on it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.heads import (
    Chunk,
    Head,
    find_head,
    request_after,
    skip_leading,
    small_talk,
)
from remit.intake.grammar.phrases import (
    is_addressed,
    read_condition,
    read_limit,
    read_opening_limit,
    read_person,
    read_way,
)
from remit.intake.grammar.runs import runs_on
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import read_time
from remit.intake.grammar.texts import Text, find_text, is_statement
from remit.intake.lexicon.shape import SEND, Does, Link, Needs, Talk, Told
from remit.language.tokens import Kind

_COMMAS: Final = frozenset(",;–—")
_WITHIN: Final = (Link.POLITE, Link.TOO)  # links that end no chunk


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
    if before is None:
        return None
    if _names_result(said, chunk):
        return Head(SEND, chunk.start, chunk.start)
    if not before.denies:
        return None
    only = said.language.none_of.at(said.keys, chunk.start)
    at = only[1] if only else chunk.start
    way = read_way(said, at)
    return Head(SEND, at, at) if is_addressed(said, way.end if way else at) else None


def _names_result(said: Said, chunk: Chunk) -> bool:
    """Whether a chunk says no more than where the result goes: "…, Ergebnis aufs Dashboard"."""
    result = said.language.results.at(said.keys, chunk.start)
    if result is None or chunk.lead == chunk.start:
        return False
    at, ways = result[1], 0
    while at < chunk.end:
        way = read_way(said, at)
        ways += way is not None
        if way is None and said.tokens[at].kind is not Kind.MARK:
            return False
        at = way.end if way else at + 1
    return ways > 0


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
        cut = None if _asks_behind(said, stop) else request_after(said, at, stop)
        cut = cut or runs_on(said, at, stop)
        yield Chunk(lead, at, cut or stop, links)
        at = cut or stop


def _asks_behind(said: Said, at: int) -> bool:
    """Whether a comma and a verb follow: then the condition goes on to the comma."""
    if at >= len(said.tokens) or not _is_comma(said, at):
        return False
    return (
        said.language.verbs.at(said.keys, skip_leading(said, at + 1, len(said.keys))[0]) is not None
    )


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
        elif then := _send_after(said, at):
            links.add(Link.THEN)
            at = then
        else:
            break
    return frozenset(links), at


def _send_after(said: Said, at: int) -> int | None:
    """Step over a word that only says what comes next: "and after send it to me"."""
    led = said.language.conditions.at(said.keys, at) if at > said.marks else None
    verb = said.language.verbs.at(said.keys, led[1]) if led else None
    if led is None or verb is None or said.keys[led[1]] in said.language.also_tell:
        return None
    sure = verb[0].needs is Needs.NOTHING or read_person(said, verb[1]) is not None
    return led[1] if verb[0].does is Does.SEND and sure else None


def _chunk_end(said: Said, at: int) -> int:
    """Go to the next link or comma that is not within a phrase of time."""
    begun = at
    while at < len(said.tokens):
        if spoken := read_time(said, at):
            at = spoken.end
            continue
        link = said.language.links.at(said.keys, at)
        if at > begun and (_is_comma(said, at) or (link and link[0] not in _WITHIN)):
            break
        at += 1
    return at


def _is_comma(said: Said, at: int) -> bool:
    if said.tokens[at].kind is not Kind.MARK or said.keys[at] not in _COMMAS:
        return False
    return not _is_in_number(said, at)


def _is_in_number(said: Said, at: int) -> bool:
    """Whether a mark stands within a number or a range: "1,60", "14–18"."""
    near = said.tokens[max(at - 1, 0) : at + 2]
    tight = all(token.tight for token in near[1:])
    return tight and [token.kind for token in near] == [Kind.NUMBER, Kind.MARK, Kind.NUMBER]


def _is_time(said: Said, at: int) -> bool:
    """Whether a word that could be a link starts a time: "so" is Sunday in German."""
    spoken = read_time(said, at)
    return spoken is not None and spoken.end > at + 1


def _join(said: Said, before: Act, act: Act) -> Act | None:
    """Join a chunk to the act before it, if it only goes on with it."""
    if before.talk or (act.talk and (before.text is None or _thanks_for(before, act))):
        return None
    if before.text is not None and not _breaks_text(said, before.text, act):
        unsure = before.unsure or _may_be_request(before, act)
        return replace(_joined(said, before, act), unsure=unsure)
    plain = act.end > act.start and Link.AND not in act.links and not act.quoted
    if plain and _waits_for_text(before):
        return replace(before, end=act.end, text=_text_of(said, act))
    if act.head is not None:
        return _reminder_of(said, before, act) or _led_in(said, before, act)
    alone = before.head is None and _opens_limit(said, before)
    return None if alone else _joined(said, before, act)


def _thanks_for(before: Act, act: Act) -> bool:
    """Whether somebody is thanked for a reminder: that is no part of its text."""
    reminds = before.head is not None and before.head.verb.does is Does.REMIND
    return reminds and act.talk is Talk.THANKS


def _reminder_of(said: Said, before: Act, act: Act) -> Act | None:
    """Take what was said before for the text of a reminder: "call Mum at 4, remind me"."""
    head, first = act.head, before.head
    if head is None or head.negated or head.verb.does is not Does.REMIND:
        return None
    if act.links - {Link.POLITE}:
        return None
    if act.text or act.quoted or before.quoted or not _only_names_me(said, head, act.end):
        return None
    asks = first is not None and (first.negated or first.verb.does is not Does.WORK)
    if asks or _opens_limit(said, before) or _tells(said, before):
        return None
    start, _ = skip_leading(said, before.start, before.end)
    text = Text(start, start, Told.BARE, end=act.lead)
    return replace(before, end=act.end, head=head, text=text) if start < act.lead else None


def _only_names_me(said: Said, head: Head, end: int) -> bool:
    """Whether nothing follows a verb but "me", a time and marks."""
    me = said.language.me.at(said.keys, head.end)
    at = me[1] if me else head.end
    spoken = read_time(said, at) if me else None
    rest = said.tokens[spoken.end if spoken else at : end]
    return all(token.kind is Kind.MARK for token in rest)


def _led_in(said: Said, before: Act, act: Act) -> Act | None:
    """Let an act take in what was said before its verb: "die Zahlen und Daten | schicken"."""
    if before.head is not None or _opens_limit(said, before) or _tells(said, before):
        return None
    last = bool(said.language.final_verbs.firsts)
    if not last and Link.AND in act.links and skip_leading(said, before.start, before.end)[1]:
        return None  # "could you dig out some recipes and email me the list"
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
