"""Groups units into tasks, and plans to whom and on which channel each is sent.

What is missing becomes a question.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from remit.contacts import ChannelName, Contact
from remit.intake.extraction import Question, QuestionTopic, channel_for, way_to
from remit.intake.message_words import MessageWords
from remit.intake.patterns import MessageUnit, UnitKind
from remit.intake.work_cues import work_areas
from remit.language.order_words import SmallTalk
from remit.language.time.phrase import TimePhrase, combine, corrected
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId


class UnitGroup(Struct):
    """Units of one task, or of none; `given` is a time that was said before them."""

    number: int
    units: list[MessageUnit]
    is_task: bool = True
    given: list[TimePhrase] = field(default_factory=list)
    taken_back: bool = False
    stays: bool = False  # the same message says not to send it
    heading: str = ""

    @property
    def main(self) -> MessageUnit:
        return next((unit for unit in self.units if unit.kind is not UnitKind.LIMIT), self.units[0])

    def add(self, unit: MessageUnit) -> None:
        """Add a unit; a correction changes the recipient or channel of the last one."""
        last = self.units[-1]
        if unit.corrects and (unit.order.people or unit.order.channels):
            people = unit.order.people or last.order.people
            channels = unit.order.channels or last.order.channels
            order = replace(last.order, people=people, channels=channels)
            self.units[-1] = replace(last, order=order)
        if unit.kind is UnitKind.DELIVER and last.talk is SmallTalk.QUESTION:
            self.units[-1] = replace(last, kind=UnitKind.WORK, talk=None)
        self.units.append(unit)
        self.is_task = True

    @property
    def only_works(self) -> bool:
        return all(unit.kind in (UnitKind.WORK, UnitKind.PASTED) for unit in self.units)

    @property
    def asked_at(self) -> int:
        """Return the token for questions about the task: its own time, else its content."""
        own = [phrase.start for unit in self.units for phrase in unit.times]
        return own[0] if own else min(self.main.body[0], self.main.end - 1)

    @property
    def waits_for_limit(self) -> bool:
        """Whether the owner is notified when something happens: "if it rains, tell me"."""
        rest = self.units[1:]
        kinds = (UnitKind.DELIVER, UnitKind.REMIND)
        bare = rest and all(each.kind in kinds and each.text is None for each in rest)
        return bool(bare) and self.units[0].kind is UnitKind.LIMIT

    @property
    def reminds(self) -> bool:
        is_free = not self.waits_for_limit
        return is_free and any(unit.kind is UnitKind.REMIND for unit in self.units)

    @property
    def times(self) -> list[TimePhrase]:
        timed_units = [unit for unit in self.units if unit.times]
        found: list[TimePhrase] = []
        for unit in timed_units:
            if unit.corrects and found:
                whole = [combine(found[0], each) or each for each in found[1:]] or found[:1]
                found = [corrected(whole[0], unit.times[0])]
            else:
                found = [*found, *unit.times]
        return found or self.given


_LOOSE: Final = (
    UnitKind.TALK,
    UnitKind.CONTROL,
    UnitKind.CORRECT,
    UnitKind.PASTED,
    UnitKind.RETRACT,
)
_TELLS: Final = (SmallTalk.STATEMENT, SmallTalk.FORBIDDEN)
_FEW: Final = 4  # tokens that only change what was said before
_SHORT: Final = 6  # tokens of an aside


def group_units(units: Sequence[MessageUnit], words: MessageWords) -> list[UnitGroup]:
    """Group units that are about one task; talk is a group by itself."""
    groups: list[UnitGroup] = []
    for each in units:
        last = _last_group(groups)
        unit = _seen_behind(each, last)
        if last is not None:
            _look_back(unit, last)
        if last is not None and _belongs(unit, last):
            last.add(unit)
            continue
        given = _time_before(unit, last) if last else []
        group = UnitGroup(len(groups), [unit], unit.kind not in _LOOSE, given)
        if last is not None and last.main.line.heading and not last.is_task:
            group.heading = words.slice(*last.main.body)
        groups.append(group)
    return groups


def _seen_behind(unit: MessageUnit, last: UnitGroup | None) -> MessageUnit:
    """Return a unit as it is meant after another."""
    if last is not None and not last.is_task and _is_aside(unit, last):
        return replace(unit, kind=UnitKind.TALK, talk=SmallTalk.STATEMENT)
    if last is not None and last.is_task and _is_added(unit, last):
        return replace(unit, kind=UnitKind.LIMIT)
    return _thing_to_make(unit, last)


def _look_back(unit: MessageUnit, last: UnitGroup) -> None:
    """Apply a unit that is about the task before it: do not send it, or forget it."""
    if unit.forbids and last.is_task and not last.main.text:
        last.stays = True
    if unit.kind is UnitKind.RETRACT:
        last.is_task = False
        last.taken_back = True


def _last_group(groups: Sequence[UnitGroup]) -> UnitGroup | None:
    """Return the group before; a full stop or a ticked item may be in between."""
    open_groups = (
        each for each in reversed(groups) if not (each.main.line.ticked or each.main.is_mark)
    )
    return next(open_groups, None)


def _belongs(unit: MessageUnit, group: UnitGroup) -> bool:
    """Whether a unit continues the task before it."""
    if group.main.kind is UnitKind.LIMIT:
        return unit.kind not in _LOOSE
    decide = _BELONGS.get(unit.kind)
    return decide is not None and decide(unit, group)


def _is_near(unit: MessageUnit, group: UnitGroup) -> bool:
    return unit.line.number - group.units[-1].line.number <= 1 or unit.line.boxed


def _reminder_belongs(unit: MessageUnit, group: UnitGroup) -> bool:
    """Read "…, remind me at 6": the words before are its subject."""
    last = group.units[-1]
    is_message = last.kind is UnitKind.TALK and last.talk in _TELLS
    about = group.only_works or is_message or group.main.kind is UnitKind.REMIND
    return unit.text is None and _is_near(unit, group) and about


def _delivery_belongs(unit: MessageUnit, group: UnitGroup) -> bool:
    """Read "… and send it to me", "What is the weather? Send it to me"."""
    if group.units[-1].talk is SmallTalk.QUESTION:
        return _is_near(unit, group)
    made = group.main.kind in (UnitKind.WORK, UnitKind.COMPOSE)
    return made and (not unit.also or unit.order.refers)


def _thing_belongs(unit: MessageUnit, group: UnitGroup) -> bool:
    """Read "… and mail me the three cheapest"."""
    same_line = unit.line.number == group.units[-1].line.number
    return same_line and _delivery_belongs(unit, group)


def _work_belongs(unit: MessageUnit, group: UnitGroup) -> bool:
    if unit.also or not _is_near(unit, group) or not group.is_task:
        return False
    same_line = unit.line.number == group.units[-1].line.number
    timed = bool(unit.times) and (bool(group.times) or not same_line)
    return group.only_works and not timed


def _beside_task(_unit: MessageUnit, group: UnitGroup) -> bool:
    return group.is_task


def _pasted_belongs(_unit: MessageUnit, group: UnitGroup) -> bool:
    return group.is_task and group.main.kind is UnitKind.WORK


_BELONGS: Final[Mapping[UnitKind, Callable[[MessageUnit, UnitGroup], bool]]] = {
    UnitKind.REMIND: _reminder_belongs,
    UnitKind.DELIVER: _delivery_belongs,
    UnitKind.COMPOSE: _thing_belongs,
    UnitKind.WORK: _work_belongs,
    UnitKind.LIMIT: _beside_task,
    UnitKind.CORRECT: _beside_task,
    UnitKind.PASTED: _pasted_belongs,
}


def _thing_to_make(unit: MessageUnit, before: UnitGroup | None) -> MessageUnit:
    """Return what is sent as a thing to be made: "the report" without work before it, "a list"."""
    it = unit.order.it
    new = unit.makes_thing and unit.order.to_me
    if unit.kind is not UnitKind.DELIVER or it is None:
        return unit
    if before is not None and before.is_task and not new:
        return unit
    return replace(unit, kind=UnitKind.COMPOSE, body=it) if unit.names_thing else unit


def _is_aside(unit: MessageUnit, before: UnitGroup) -> bool:
    """Whether a few words after a question or a statement ask for nothing either."""
    same_line = unit.line.number == before.units[-1].line.number
    talk = before.main.talk in (SmallTalk.QUESTION, *_TELLS)
    alone = unit.kind is UnitKind.WORK and not unit.times and not unit.begins_with_verb
    return same_line and talk and alone and unit.end - unit.start <= _SHORT


def _is_added(unit: MessageUnit, before: UnitGroup) -> bool:
    """Whether a few words after an order only change it: ", maybe"."""
    same_line = unit.line.number == before.units[-1].line.number
    alone = unit.kind is UnitKind.WORK and not unit.times and not unit.begins_with_verb
    few = unit.end - unit.start <= _FEW
    return same_line and alone and few and not unit.also and not before.only_works


def _time_before(unit: MessageUnit, before: UnitGroup) -> list[TimePhrase]:
    """Return the time at the start of the sentence, which also applies after "and"."""
    last = before.units[-1]
    if unit.line.number != last.line.number or unit.times or unit.also or unit.kind in _LOOSE:
        return []
    return [phrase for phrase in last.times if phrase.end <= last.order.verb_at]


class FoundDeliveries(Struct, frozen=True):
    """The sends, those that wait for an answer, and the questions, each with its token."""

    deliveries: tuple[Delivery, ...] = ()
    waits: list[Delivery] = field(default_factory=list)
    asked: list[tuple[int, Question]] = field(default_factory=list)


class _Target(Struct, frozen=True):
    """A named recipient: a person, or the question who it is."""

    at: int
    who: Contact | Question


def plan_sends(unit: MessageUnit, content: str | None, words: MessageWords) -> FoundDeliveries:
    """Return the sends of one unit, all with the same text."""
    made = FoundDeliveries()
    targets = _targets(unit, words)
    ways = _ways(unit, words)
    deliveries = []
    for n, (target, (at, way)) in enumerate(_pair_channels(targets, ways)):
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
    return FoundDeliveries(
        tuple(dict.fromkeys(deliveries)), made.waits, _join_questions(made.asked)
    )


def _waiting(question: Question, half: Delivery) -> Question:
    return Question(question.about, question.sentence, question.options, waits=(half,))


def _join_questions(asked: Sequence[tuple[int, Question]]) -> list[tuple[int, Question]]:
    """Join equal questions about several sends."""
    found: dict[tuple[int, QuestionTopic, str], tuple[int, Question]] = {}
    for at, question in asked:
        key = (at, question.about, question.sentence)
        before = found[key][1].waits if key in found else ()
        waits = (*before, *question.waits)
        found[key] = at, Question(question.about, question.sentence, question.options, waits=waits)
    return list(found.values())


def _targets(unit: MessageUnit, words: MessageWords) -> list[_Target]:
    """Return the recipients: those named, known or not; the owner if nobody is named."""
    if unit.kind in (UnitKind.REMIND, UnitKind.NOTE):
        return [_Target(max(unit.order.verb_at, unit.start), words.book.owner)]
    named = [
        _Target(span[0], _one_of(people, words.slice(*span))) for span, people in unit.order.people
    ]
    named += [
        _Target(span[0], _unknown_recipient(span, words, unit)) for span in unit.order.unnamed
    ]
    if named and unit.order.me:
        named.append(_Target(unit.end - 1, words.book.owner))
    named.sort(key=lambda each: each.at)
    return named or [_Target(max(unit.order.verb_at, unit.start), words.book.owner)]


def _one_of(people: Sequence[Contact], text: str) -> Contact | Question:
    if len(people) == 1:
        return people[0]
    names = tuple(person.name for person in people)
    return Question(QuestionTopic.RECIPIENT, f"Which {text} is meant?", names)


def _unknown_recipient(
    span: tuple[int, int], words: MessageWords, unit: MessageUnit
) -> Contact | Question:
    text = words.slice(*span)
    if (reader := _reader_of_work(span[0], words, unit)) is not None:
        return reader
    if unit.stranger:
        sentence = f"Who is {text!r}? Nobody in your contacts is called that."
        return Question(QuestionTopic.RECIPIENT, sentence)
    if span[0] == unit.order.verb_at:  # "write to Anna and send it by email"
        people = [person for some, _ in words.named.values() for person in some]
        names = dict.fromkeys(each.name for each in people if each is not words.book.owner)
        return Question(QuestionTopic.RECIPIENT, "Who is to get it?", tuple(names))
    return Question(QuestionTopic.RECIPIENT, f"Who is meant by {text!r}?")


def _reader_of_work(at: int, words: MessageWords, unit: MessageUnit) -> Contact | None:
    """Return the only person named, if the result of some work is for them: "for May … send it"."""
    named = [(n, people) for n, (people, _) in words.named.items()]
    if unit.stranger or unit.kind is not UnitKind.DELIVER or len(named) != 1:
        return None
    start, people = named[0]
    is_result = unit.order.refers and at == unit.order.verb_at  # "send it", and not "to him"
    led = unit.start > start > 0 and words.leads_to_person(start - 1)
    works = any(area.first < start for area in work_areas(words))
    return people[0] if is_result and led and works and len(people) == 1 else None


def _ways(
    unit: MessageUnit, words: MessageWords
) -> list[tuple[int, ChannelName | Question | None]]:
    """Return the channels: those named, or the one in the verb."""
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


def _pair_channels(
    targets: Sequence[_Target],
    ways: Sequence[tuple[int, ChannelName | Question | None]],
) -> list[tuple[_Target, tuple[int, ChannelName | Question | None]]]:
    """Return each recipient with a channel; ask if that is not said."""
    if len(ways) == 1:
        return [(each, ways[0]) for each in targets]
    if len(targets) == 1:
        return [(targets[0], way) for way in ways]
    if len(targets) == len(ways):
        return list(zip(targets, ways, strict=True))
    question = Question(QuestionTopic.CHANNEL, "Who is to get it through which channel?")
    return [(each, (ways[-1][0], question)) for each in targets]
