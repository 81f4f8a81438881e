"""What a line sends: to whom, through what, in which words; and what it says must not be sent."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from remit.intake.grammar.phrases import read_person
from remit.intake.grammar.pieces import Piece, Sort
from remit.intake.lexicon.shape import Does
from remit.intake.recipients import About, Channel, Contact, Question, channel_for, way_to
from remit.intake.sketch import Line, Sketch
from remit.model.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The sends of a line, and what must be asked about which of its pieces."""

    deliveries: tuple[Delivery, ...] = ()
    questions: tuple[tuple[Piece, Question], ...] = ()


@dataclass(frozen=True, slots=True)
class _Leg:
    piece: Piece
    person: Contact
    channel: Channel | None


def outgoing(line: Line, text: str) -> Outgoing:
    """Work out the sends of a line that sends."""
    letters = line.of(Sort.LETTER)
    people, channels = _people(line), _channels(line)
    if isinstance(channels, Outgoing):
        return channels
    if not people or any(letter.question for letter in letters):
        return Outgoing()
    legs = _legs(people, channels)
    if legs is None:
        question = Question(About.CHANNEL, "Who is to get it through which channel?")
        return Outgoing((), ((line.of(Sort.WAY)[-1], question),))
    contents: list[str | None] = [letter_text(line, letter, text) for letter in letters]
    if len(contents) <= 1:
        contents = (contents or [None]) * len(legs)
    if len(contents) != len(legs):
        question = Question(About.CONTENT, "Which text is for whom?")
        return Outgoing((), ((letters[-1], question),))
    return _sends(line, legs, contents)


def _sends(line: Line, legs: Sequence[_Leg], contents: Sequence[str | None]) -> Outgoing:
    book = line.said.book
    deliveries: dict[Delivery, None] = {}
    questions: list[tuple[Piece, Question]] = []
    for leg, content in zip(legs, contents, strict=True):
        way = way_to(leg.person, leg.channel, book)
        if isinstance(way, Question):
            questions.append((leg.piece, way))
        else:
            recipient = None if leg.person is book.owner else leg.person.name
            deliveries.setdefault(Delivery(way, recipient, content))
    return Outgoing(tuple(deliveries), tuple(questions))


def _people(line: Line) -> list[tuple[Piece, Contact]]:
    """Whom it goes to: those named, or the owner when nobody was."""
    pieces = line.of(Sort.VERB, Sort.PERSON)
    named = [(piece, piece.person) for piece in pieces if piece.person]
    if named or line.of(Sort.PERSON):
        return named
    return [(line.first, line.said.book.owner)]


def _channels(line: Line) -> list[Channel] | Outgoing:
    ways = line.of(Sort.WAY)
    known = [piece.channel for piece in ways if piece.channel]
    if len(known) < len(ways):
        return Outgoing()  # asked about where it was said
    verb = line.reading.verb
    if known or verb is None or verb.channel is None:
        return known
    channel = channel_for(verb.channel, verb.channel, line.said.book)
    if isinstance(channel, Question):
        return Outgoing((), ((line.of(Sort.VERB)[0], channel),))
    return [channel]


def _legs(
    people: Sequence[tuple[Piece, Contact]], channels: Sequence[Channel]
) -> list[_Leg] | None:
    """Pair people with channels; None when it is not said who gets which."""
    if len(channels) <= 1:
        channel = channels[0] if channels else None
        return [_Leg(piece, person, channel) for piece, person in people]
    if len(people) == 1:
        piece, person = people[0]
        return [_Leg(piece, person, channel) for channel in channels]
    if len(people) != len(channels):
        return None
    return [_Leg(*one, channel) for one, channel in zip(people, channels, strict=True)]


def letter_text(line: Line, letter: Piece, text: str) -> str:
    """The words to send, to the letter."""
    if letter.text is not None:
        return letter.text
    tokens = line.said.tokens
    return text[tokens[letter.start].start : tokens[letter.end - 1].end].strip()


# What must not go out -----------------------------------------------------------------------------


def forbidden(task: Sketch) -> frozenset[str | None] | None:
    """Who must not be sent anything (None is the owner); None when nobody may."""
    names: set[str | None] = set()
    for line in task.lines:
        verb = line.reading.verb
        no = line.reading.negated or line.refuses
        if not no or verb is None or verb.does is Does.WORK:
            continue
        people = named_in(line, line.reading.act.start, line.reading.act.end)
        if not people:
            return None
        names |= people
    for line in task.lines:
        for piece in line.of(Sort.NEGATED) if line.sends else ():
            names |= named_in(line, piece.start, piece.end)
    return frozenset(names)


def named_in(line: Line, start: int, end: int) -> set[str | None]:
    """Everybody of the book whom some words name; None is the owner."""
    book = line.said.book
    found = (read_person(line.said, at) for at in range(start, end))
    people = (person.who for person in found if person and isinstance(person.who, Contact))
    return {None if person is book.owner else person.name for person in people}


def without(
    deliveries: Iterable[Delivery], names: frozenset[str | None] | None
) -> tuple[Delivery, ...]:
    """The sends that nobody forbade."""
    if names is None:
        return ()
    return tuple(each for each in deliveries if each.recipient not in names)
