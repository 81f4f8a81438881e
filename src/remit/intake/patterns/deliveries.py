"""To whom something is sent and by which channel; what is missing becomes a question."""

from collections.abc import Sequence

from msgspec import Struct, field

from remit.contacts.people import ChannelName, Contact
from remit.intake.message_words import MessageWords
from remit.intake.patterns.unit import MessageUnit, UnitKind
from remit.intake.recipients import Question, QuestionTopic, channel_for, way_to
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId


class FoundDeliveries(Struct, frozen=True):
    """What goes out, what waits for an answer, and the questions, each with its token."""

    deliveries: tuple[Delivery, ...] = ()
    waits: list[Delivery] = field(default_factory=list)
    asked: list[tuple[int, Question]] = field(default_factory=list)


class _Target(Struct, frozen=True):
    """Somebody who is named: a person, or a question who it is."""

    at: int
    who: Contact | Question


def plan_sends(unit: MessageUnit, content: str | None, words: MessageWords) -> FoundDeliveries:
    """The sends of one unit, all with the same text."""
    made = FoundDeliveries()
    targets = _targets(unit, words)
    ways = _ways(unit, words)
    deliveries = []
    for n, (target, (at, way)) in enumerate(_paired(targets, ways)):
        person = target.who if isinstance(target.who, Contact) else None
        channel = way if isinstance(way, ChannelName) else None
        questions = [(target.at, target.who)] if isinstance(target.who, Question) else []
        questions += [(at, way)] if isinstance(way, Question) else []
        name = channel.name if channel else ""
        if person is not None and not questions:
            reached = way_to(person, channel, words.book)
            if isinstance(reached, Question):
                questions = [(target.at, reached)]
                name = ""
            else:
                name = reached
        recipient = None if person is None or person is words.book.owner else person.name
        if not questions:
            deliveries.append(Delivery(name, recipient, content))
            continue
        half = Delivery(name, recipient, content, id=DeliveryId(f"half-{unit.start}-{n}"))
        made.waits.append(half)
        made.asked.extend((place, _waiting(question, half)) for place, question in questions)
    return FoundDeliveries(tuple(dict.fromkeys(deliveries)), made.waits, _joined(made.asked))


def _waiting(question: Question, half: Delivery) -> Question:
    return Question(question.about, question.sentence, question.options, waits=(half,))


def _joined(asked: Sequence[tuple[int, Question]]) -> list[tuple[int, Question]]:
    """Ask the same thing about several sends once."""
    found: dict[tuple[int, QuestionTopic, str], tuple[int, Question]] = {}
    for at, question in asked:
        key = (at, question.about, question.sentence)
        before = found[key][1].waits if key in found else ()
        waits = (*before, *question.waits)
        found[key] = at, Question(question.about, question.sentence, question.options, waits=waits)
    return list(found.values())


def _targets(unit: MessageUnit, words: MessageWords) -> list[_Target]:
    """Whom it goes to: those named, known or not, or the owner when nobody was."""
    if unit.kind in (UnitKind.REMIND, UnitKind.NOTE):
        return [_Target(max(unit.order.verb_at, unit.start), words.book.owner)]
    named = [
        _Target(span[0], _one_of(people, words.slice(*span))) for span, people in unit.order.people
    ]
    named += [_Target(span[0], _unknown(span, words, unit)) for span in unit.order.unnamed]
    if named and unit.order.me:
        named.append(_Target(unit.end - 1, words.book.owner))
    named.sort(key=lambda each: each.at)
    return named or [_Target(max(unit.order.verb_at, unit.start), words.book.owner)]


def _one_of(people: Sequence[Contact], said: str) -> Contact | Question:
    if len(people) == 1:
        return people[0]
    names = tuple(person.name for person in people)
    return Question(QuestionTopic.RECIPIENT, f"Which {said} is meant?", names)


def _unknown(span: tuple[int, int], words: MessageWords, unit: MessageUnit) -> Question:
    said = words.slice(*span)
    if unit.stranger:
        sentence = f"Who is {said!r}? Nobody of that name is in the book."
        return Question(QuestionTopic.RECIPIENT, sentence)
    return Question(QuestionTopic.RECIPIENT, f"Who is meant by {said!r}?")


def _ways(
    unit: MessageUnit, words: MessageWords
) -> list[tuple[int, ChannelName | Question | None]]:
    """By which ways it goes: those named, or the one in the verb."""
    order = unit.order
    found: list[tuple[int, ChannelName | Question | None]] = [
        (span[0], channel_for(name, words.slice(*span), words.book))
        for span, name in order.channels
    ]
    verb = order.verb
    if not found and verb is not None and verb.channel:
        found = [(order.verb_at, channel_for(verb.channel, verb.channel, words.book))]
    unique = {way: at for at, way in reversed(found)}
    return [(at, way) for way, at in reversed(unique.items())] or [(unit.start, None)]


def _paired(
    targets: Sequence[_Target],
    ways: Sequence[tuple[int, ChannelName | Question | None]],
) -> list[tuple[_Target, tuple[int, ChannelName | Question | None]]]:
    """Who gets it by which way; asked where that is not said."""
    if len(ways) == 1:
        return [(each, ways[0]) for each in targets]
    if len(targets) == 1:
        return [(targets[0], way) for way in ways]
    if len(targets) == len(ways):
        return list(zip(targets, ways, strict=True))
    question = Question(QuestionTopic.CHANNEL, "Who is to get it through which channel?")
    return [(each, (ways[-1][0], question)) for each in targets]
