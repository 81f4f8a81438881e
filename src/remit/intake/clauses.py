"""An act read word by word; here the acts that ask for work, in `sending` those that send."""

from collections.abc import Iterator
from typing import Final

from remit.intake.grammar.acts import Act
from remit.intake.grammar.heads import skip_leading
from remit.intake.grammar.phrases import (
    Way,
    is_range,
    is_topic,
    read_condition,
    read_limit,
    read_opening_limit,
    read_way,
    words_of,
)
from remit.intake.grammar.pieces import (
    Piece,
    Pieces,
    Reading,
    Sort,
    after_link,
    condition,
    event_time,
    time_piece,
)
from remit.intake.grammar.sending import read_send
from remit.intake.grammar.sentences import Said
from remit.intake.grammar.spoken import Spoken, read_time
from remit.intake.lexicon.shape import Does
from remit.intake.recipients import About, Question

_NEAR: Final = 12  # words within which something described is thought to go on


def read_act(said: Said, act: Act) -> Reading:
    """Read every word of an act."""
    pieces = Pieces(said, act.end)
    pieces.skip(act.lead, act.start)
    head = act.head
    at = _leading(said, act, pieces)
    if head is not None and head.negated:
        pieces.add(Piece(at, act.end, Sort.NEGATED))
    elif head is not None and head.verb.does in (Does.SEND, Does.REMIND):
        read_send(said, act, head, at, pieces)
    else:
        _work(said, act, at, pieces)
    pieces.flush(act.end)
    found = tuple(pieces.found)
    return Reading(act, found if head else tuple(_doubtful(said, act, found)))


def _leading(said: Said, act: Act, pieces: Pieces) -> int:
    """Read what stands before the request itself: times, "please", "can you"."""
    at = act.start
    stop, _ = skip_leading(said, at, act.head.start if act.head else act.end)
    while at < stop:
        spoken = read_time(said, at)
        at = pieces.add(time_piece(spoken)) if spoken else pieces.skip(at, at + 1)
    wants = said.language.wants.at(said.keys, at)
    if wants and wants[1] < act.end:
        at = pieces.skip(at, wants[1])
    return at


def _doubtful(said: Said, act: Act, pieces: tuple[Piece, ...]) -> Iterator[Piece]:
    """Doubt the time of something that only takes place: "Friday at 3pm meeting with Bob"."""
    event = not said.language.events.isdisjoint(said.keys[act.start : act.end])
    for piece in pieces:
        yield event_time(said, piece.spoken) if event and piece.spoken else piece


def _work(said: Said, act: Act, at: int, pieces: Pieces) -> None:
    head = act.head
    tail = _tail(said, at, act.end)
    begun = at
    while at < act.end:
        if head and at == head.start:
            at = pieces.gather(at, head.end)
        elif said.keys[at] == ":" and head and at >= head.end:
            at = pieces.gather(at, act.end)  # what follows a colon is what the work is about
        elif at == begun and (me := _me_apart(said, act, at)):
            at = pieces.add(Piece(at, me, Sort.VERB))
        elif piece := _beside(said, act, at, tail, opening=at == begun or act.starts_chunk(at)):
            at = pieces.add(piece)
        elif spoken := read_time(said, at):
            at = pieces.gather(at, spoken.end)
        else:
            at = pieces.gather(at, at + 1)


def _me_apart(said: Said, act: Act, at: int) -> int | None:
    """Step over a "mir" that stands apart from the work: "mir bis Freitag drei Angebote suchen"."""
    me = said.language.me.at(said.keys, at)
    if me is None or act.head is None or act.head.start <= at:
        return None
    after = me[1]
    while after < act.end and (step := after_link(said, after)):
        after = step
    limit = read_limit(said, after, act.end) if after < act.end else None
    return me[1] if limit else None


def _beside(said: Said, act: Act, at: int, tail: int, *, opening: bool) -> Piece | None:
    """Read what stands beside the work: a limit, a channel, when to do it."""
    stop = act.chunk_end(at)
    if opening and (end := read_condition(said, at, stop)):
        return condition(said, at, end)
    end = read_limit(said, at, stop) or (read_opening_limit(said, at, stop) if opening else None)
    if end:
        only = said.language.only_if.at(said.keys, at)
        return condition(said, at, end) if only else Piece(at, end, Sort.LIMIT)
    way = read_way(said, at)
    if way and (way.strong or way.end >= tail):
        return _way(said, at, way)
    spoken = read_time(said, at)
    return _time(said, act, spoken, tail) if spoken else None


def _way(said: Said, at: int, way: Way) -> Piece:
    """A channel in a request to work: after "via" it is meant, after "on" it must be asked."""
    if isinstance(way.channel, Question):
        return Piece(at, way.end, Sort.WAY, question=way.channel)
    if way.strong:
        return Piece(at, way.end, Sort.WAY, channel=way.channel)
    words = words_of(said, at, way.end)
    sentence = f"Is the result to go out {words}, or is it about that?"
    question = Question(About.CHANNEL, sentence, ("it is to go out", "it is about that"))
    return Piece(at, way.end, Sort.WAY, question=question, channel=way.channel)


def _time(said: Said, act: Act, spoken: Spoken, tail: int) -> Piece | None:
    """A time in a request to work says when to do it, unless it belongs to what is asked for."""
    head = act.head
    if is_range(said, spoken):
        return None
    if head is not None and spoken.start <= head.end:
        return time_piece(spoken)
    dated = head is not None and head.verb.dated
    language = said.language
    start = max(head.end if head else act.start, spoken.start - _NEAR)
    before = said.keys[start : spoken.start]
    if spoken.end < tail or dated or is_topic(said, spoken):
        return None
    if not language.relatives.isdisjoint(before):
        return None
    event = not language.events.isdisjoint(before)
    return event_time(said, spoken) if event else time_piece(spoken)


def _tail(said: Said, at: int, end: int) -> int:
    """Where the times, channels and limits begin after which nothing else comes."""
    tail = at
    while at < end:
        after = _phrase_end(said, at, end)
        at = after or at + 1
        if after is None:
            tail = at
    return tail


def _phrase_end(said: Said, at: int, end: int) -> int | None:
    if spoken := read_time(said, at):
        return spoken.end
    if way := read_way(said, at):
        return way.end
    return read_limit(said, at, end) or after_link(said, at)
