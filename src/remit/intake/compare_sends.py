"""Whether a plan sends what the owner said, to whom he said, by what, in his very words."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from remit.intake.compare_matter import Ground, Matter, show, shown
from remit.intake.lexicon import LANGUAGES
from remit.intake.lexicon.words import Kind, fold, keys_of, tokenize
from remit.intake.proposed import ProposedSend, ProposedTask
from remit.intake.recipients import (
    About,
    Book,
    Channel,
    Contact,
    Question,
    channel_for,
    resolve,
    way_to,
)
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId
from remit.model.plan import Became

_NOWHERE: Final = ("", "none", "null", "n/a")


@dataclass(frozen=True, slots=True)
class Planned:
    """A send of the model, as the book knows its channel and its person; else as it was written."""

    channel: str
    recipient: str | None
    content: str | None
    known: bool

    def goes_as(self, wanted: Delivery) -> bool:
        return (self.channel, self.recipient) == (wanted.channel, wanted.recipient)


def planned(task: ProposedTask, book: Book) -> tuple[Planned, ...]:
    """The sends of a task of the model."""
    sends = (_planned(send, book) for send in task.delivery if _goes_out(send))
    return tuple(dict.fromkeys(sends))


def _goes_out(send: ProposedSend) -> bool:
    return fold(send.channel.strip()) not in _NOWHERE


def _planned(send: ProposedSend, book: Book) -> Planned:
    channel = channel_for(send.channel.strip(), send.channel, book)
    person = _person((send.recipient or "").strip(), book)
    return Planned(
        channel.name if isinstance(channel, Channel) else send.channel,
        person.name if isinstance(person, Contact) else person,
        send.content or None,
        isinstance(channel, Channel) and not isinstance(person, str),
    )


def _person(name: str, book: Book) -> Contact | str | None:
    """Whom a name means: None is the owner, a text somebody whom the book does not know."""
    if not name or any(language.me.at((fold(name),), 0) for language in LANGUAGES):
        return None
    person = resolve(name, book)
    if isinstance(person, Question):
        return name
    return None if person is book.owner else person


# What the plan lacks ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Doubted:
    """A send that was said, and a question about it: it waits there for what is asked."""

    delivery: Delivery
    question: Question


def ask_sends(matter: Matter, ground: Ground) -> Iterator[Doubted]:
    """Ask about each send that was said and is not planned, or is planned otherwise."""
    wanted = matter.draft.deliveries
    left = [
        (each, task)
        for task in matter.tasks
        for each in planned(task, ground.book)
        if not any(_is_met(one, each, task, ground) for one in wanted)
    ]
    declined = matter.declined(ground, Became.DELIVERY)
    for one in wanted:
        if any(_is_met_by(one, task, ground) for task in matter.tasks):
            if declined:
                yield Doubted(one, _ask_declined(one, declined, matter, ground))
            continue
        instead = max(left, key=lambda pair: _likeness(one, pair[0]), default=None)
        if instead is not None and _likeness(one, instead[0]):
            left.remove(instead)
            yield Doubted(one, _ask_instead(one, instead[0], matter, ground))
        else:
            yield Doubted(one, _ask_missing(one, matter, ground))


def _is_met_by(wanted: Delivery, task: ProposedTask, ground: Ground) -> bool:
    return any(_is_met(wanted, each, task, ground) for each in planned(task, ground.book))


def _is_met(wanted: Delivery, send: Planned, task: ProposedTask, ground: Ground) -> bool:
    if not send.goes_as(wanted):
        return False
    if wanted.content is None or wanted.content == send.content:
        return True
    if _is_dictated(wanted.content, ground):
        return False
    words = ground.wording(send.content or task.title, *(() if send.content else task.work))
    return not words.lacks(ground.wording(wanted.content))


def _is_dictated(content: str, ground: Ground) -> bool:
    """Whether a text was quoted, or stands behind a colon: then every character counts."""
    quotes = (token for token in tokenize(ground.text) if token.kind is Kind.QUOTE)
    before = ground.text[: ground.text.find(content)]
    return before.rstrip().endswith(":") or any(token.text.strip() == content for token in quotes)


def _likeness(wanted: Delivery, send: Planned) -> int:
    return 2 * (wanted.recipient == send.recipient) + (wanted.channel == send.channel)


def _ask_instead(wanted: Delivery, send: Planned, matter: Matter, ground: Ground) -> Question:
    if send.goes_as(wanted):
        return _ask_text(wanted, send, matter, ground)
    who = wanted.recipient or ground.book.owner.name
    if wanted.recipient == send.recipient:
        at = matter.place(ground, wanted)
        plan = f"the plan of the model sends it by {show(send.channel)}"
        sentence = f"{_said(at, ground)}; {plan}. Through which channel shall {who} get it?"
        return _waiting(About.CHANNEL, sentence, wanted.channel, at, replace(wanted, channel=""))
    at = matter.place(ground, wanted, wanted.recipient)
    other = show(send.recipient or ground.book.owner.name)
    sentence = f"{_said(at, ground)}; the plan of the model sends it to {other}. Who is to get it?"
    return _waiting(About.RECIPIENT, sentence, who, at, replace(wanted, recipient=None))


def _ask_text(wanted: Delivery, send: Planned, matter: Matter, ground: Ground) -> Question:
    text = wanted.content or ""
    at = matter.place(ground, wanted, text, wanted.recipient)
    plan = f"has {show(send.content)} instead" if send.content else "leaves that text out"
    sentence = f"You wrote {show(text)}; the plan of the model {plan}. What is to be sent?"
    half = replace(wanted, content=None)
    return replace(_waiting(About.CONTENT, sentence, text, at, half), letter=True)


def _ask_missing(wanted: Delivery, matter: Matter, ground: Ground) -> Question:
    at = matter.place(ground, wanted, wanted.recipient)
    plan = "the plan of the model has no such delivery"
    sentence = f"{_said(at, ground)}; {plan}. {_shall(wanted)}"
    return _waiting(About.CHANNEL, sentence, wanted.channel, at, replace(wanted, channel=""))


def _ask_declined(
    wanted: Delivery, declined: Mapping[int, str], matter: Matter, ground: Ground
) -> Question:
    at = matter.place(ground, wanted, wanted.recipient)
    at = at if at in declined else next(iter(declined))
    left_out = f"The model would leave out {shown(ground.found.clauses[at])}{declined[at]}."
    sentence = f"{left_out} {_shall(wanted)}"
    return _waiting(About.CHANNEL, sentence, wanted.channel, at, replace(wanted, channel=""))


def _shall(wanted: Delivery) -> str:
    return f"Shall it go to {wanted.recipient or 'you'} by {wanted.channel}?"


def _said(at: int, ground: Ground) -> str:
    return f"You said {shown(ground.found.clauses[at])}"


def _waiting(about: About, sentence: str, option: str, at: int, half: Delivery) -> Question:
    """A question whose answer a delivery waits for; "yes" is the one answer that is offered."""
    return Question(about, sentence, (option,), at, (named(half, at),))


def named(half: Delivery, at: int, n: int = 0) -> Delivery:
    """A send that waits, by a name of its own."""
    return replace(half, id=DeliveryId(f"half-model-{at}-{n}"))


# What the plan adds -------------------------------------------------------------------------------


def added_sends(task: ProposedTask, owners: tuple[Matter, ...], book: Book) -> Iterator[Planned]:
    """The sends of a task that none of those it stands for asks for."""
    wanted = [one for matter in owners for one in matter.draft.deliveries]
    for send in planned(task, book):
        if not any(send.goes_as(one) for one in wanted):
            yield send


def own_texts(task: ProposedTask, owners: tuple[Matter, ...], book: Book) -> Iterator[Planned]:
    """The sends whose text the model wrote, though the owner dictated none."""
    wanted = [one for matter in owners for one in matter.draft.deliveries if one.content is None]
    for send in planned(task, book):
        if send.content and any(send.goes_as(one) for one in wanted):
            yield send


def ask_unread(send: Planned, matter: Matter, ground: Ground) -> Question | None:
    """Ask whether a send is meant that code cannot read, if the owner's words name it."""
    said = matter.said(ground).keys
    book = ground.book
    person = next((one for one in book.contacts if one.name == send.recipient), book.owner)
    names = (person.name, *person.aliases, *person.name.split()[:1])
    here = send.recipient is None or any(_is_said(name, said) for name in names)
    channel = channel_for(send.channel, send.channel, book)
    if not send.known or not here or not isinstance(channel, Channel):
        return None
    by = (channel.name, channel.kind, *channel.aliases)
    told = any(_is_said(name, said) for name in by) or way_to(person, None, book) == channel.name
    if not told or isinstance(way_to(person, channel, book), Question):
        return None
    at = matter.clauses[0]
    sentence = (
        f"Remit alone cannot read {shown(ground.found.clauses[at])}. The model reads in "
        f"it that the result goes to {send.recipient or 'you'} by {channel.name}. Shall it?"
    )
    quoted = [token.text.strip() for token in tokenize(ground.text) if token.kind is Kind.QUOTE]
    half = Delivery("", send.recipient, send.content if send.content in quoted else None)
    return _waiting(About.CHANNEL, sentence, channel.name, at, half)


def _is_said(name: str, said: Collection[str]) -> bool:
    keys = keys_of(tokenize(name))
    return bool(keys) and all(key in said for key in keys)
