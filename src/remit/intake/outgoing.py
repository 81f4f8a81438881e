"""What a line sends: to whom, through what, in which words; and what it says must not be sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from remit.intake.grammar.phrases import read_person
from remit.intake.grammar.pieces import Piece, Sort
from remit.intake.lexicon.shape import Does
from remit.intake.recipients import About, Channel, Contact, Question, channel_for, way_to
from remit.intake.sketch import Line, Sketch
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId


@dataclass(slots=True)
class Outgoing:
    """The sends of a line, what must be asked about which piece, and what waits for that."""

    deliveries: list[Delivery] = field(default_factory=list)
    questions: list[tuple[Piece, Question]] = field(default_factory=list)
    waits: list[tuple[Piece, Delivery]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Leg:
    """One send: whom it goes to and by which way; `way` without a channel is asked about."""

    at: Piece
    person: Contact | None  # None is somebody nobody knows
    way: Piece | None
    channel: Channel | None


def outgoing(line: Line, text: str) -> Outgoing:
    """Work out the sends of a line that sends."""
    made = Outgoing()
    legs = _legs(_people(line), _ways(line, made), made)
    contents = _contents(line, legs, text, made)
    for n, (leg, (letter, content)) in enumerate(zip(legs, contents, strict=True)):
        asked = [leg.at] if leg.person is None else []
        asked += [leg.way] if leg.way and leg.channel is None else []
        asked += [letter] if letter else []
        way: str | Question = leg.channel.name if leg.channel else ""
        if leg.person is not None and not asked:
            way = way_to(leg.person, leg.channel, line.said.book)
        if isinstance(way, Question):
            made.questions.append((leg.at, way))
            asked, way = [leg.at], ""
        delivery = Delivery(way, _name(leg.person, line), content)
        if not asked and delivery not in made.deliveries:
            made.deliveries.append(delivery)
        made.waits += [(piece, half(delivery, line, n)) for piece in asked]
    return made


def half(delivery: Delivery, line: Line, n: int) -> Delivery:
    """A send that lacks something, by a name of its own: it may lack two things."""
    name = DeliveryId(f"half-{line.number}-{line.reading.act.start}-{n}")
    return Delivery(delivery.channel, delivery.recipient, delivery.content, id=name)


def _name(person: Contact | None, line: Line) -> str | None:
    return None if person is None or person is line.said.book.owner else person.name


def _people(line: Line) -> list[tuple[Piece, Contact | None]]:
    """Whom it goes to: those named, known or not, or the owner when nobody was."""
    pieces = line.of(Sort.VERB, Sort.PERSON)
    named = [(each, each.person) for each in pieces if each.person or each.sort is Sort.PERSON]
    return named or [(line.first, line.said.book.owner)]


def _ways(line: Line, made: Outgoing) -> list[tuple[Piece, Channel | None]]:
    """By which ways it goes: those named, or the one in the verb."""
    named = [(piece, piece.channel) for piece in line.of(Sort.WAY)]
    verb = line.reading.verb
    if named or verb is None or verb.channel is None:
        return named
    at = line.first
    channel = channel_for(verb.channel, verb.channel, line.said.book)
    if isinstance(channel, Question):
        made.questions.append((at, channel))
        return [(at, None)]
    return [(at, channel)]


def _legs(
    people: Sequence[tuple[Piece, Contact | None]],
    ways: Sequence[tuple[Piece, Channel | None]],
    made: Outgoing,
) -> list[_Leg]:
    """Pair people with ways; it is asked when it is not said who gets which."""
    if len(ways) <= 1:
        way, channel = ways[0] if ways else (None, None)
        return [_Leg(at, person, way, channel) for at, person in people]
    if len(people) == 1:
        return [_Leg(*people[0], *way) for way in ways]
    if len(people) == len(ways):
        return [_Leg(*one, *way) for one, way in zip(people, ways, strict=True)]
    last = ways[-1][0]
    if all(channel for _, channel in ways):
        question = Question(About.CHANNEL, "Who is to get it through which channel?")
        made.questions.append((last, question))
    else:
        last = next(at for at, channel in ways if channel is None)
    return [_Leg(at, person, last, None) for at, person in people]


def _contents(
    line: Line, legs: Sequence[_Leg], text: str, made: Outgoing
) -> list[tuple[Piece | None, str | None]]:
    """The words of each send, with the piece at which they are asked about if they are not known.

    Several letters are given out in order; where their number does not fit, it is asked.
    """
    letters = line.of(Sort.LETTER)
    told = [_content(line, each, text) for each in letters] or [(None, None)]
    if len(told) == 1:
        return told * len(legs)
    if len(told) == len(legs):
        return told
    if not any(letter.question for letter in letters):
        made.questions.append((letters[-1], Question(About.CONTENT, "Which text is for whom?")))
    return [(next((each for each in letters if each.question), letters[-1]), None)] * len(legs)


def _content(line: Line, letter: Piece, text: str) -> tuple[Piece | None, str | None]:
    return (letter, None) if letter.question else (None, letter_text(line, letter, text))


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
    deliveries: Sequence[Delivery], names: frozenset[str | None] | None
) -> tuple[Delivery, ...]:
    """The sends that nobody forbade."""
    if names is None:
        return ()
    return tuple(each for each in deliveries if each.recipient not in names)
