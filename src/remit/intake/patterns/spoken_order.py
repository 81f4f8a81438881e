"""What has been read of an order so far: verb, people, channels, times, text."""

from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from remit.contacts.people import Contact
from remit.intake.message_words import MessageWords
from remit.intake.patterns.lines import MessageLine
from remit.language.order_words import OrderVerb, SmallTalk, VerbKind
from remit.language.time.phrase import TimePhrase

Span = tuple[int, int]  # tokens


class SpokenOrder(Struct):
    """What was named up to token `end`; spans count tokens."""

    start: int
    end: int
    verb: OrderVerb | None = None
    verb_at: int = -1
    people: list[tuple[Span, tuple[Contact, ...]]] = field(default_factory=list)
    unnamed: list[Span] = field(default_factory=list)  # "him", "the team"
    me: bool = False
    channels: list[tuple[Span, str]] = field(default_factory=list)
    times: list[TimePhrase] = field(default_factory=list)
    it: Span | None = None  # "it", "the list": what was made before
    corrected: Span | None = None  # what was said instead of a time before
    own_channel: bool = False  # "my mail", "the dashboard": one that the owner reads
    message: bool = False  # "a message"
    framed: bool = False  # "can you"

    @property
    def sends(self) -> bool:
        """Whether it says to send something, to anybody."""
        if self.verb is None:
            return False
        if self.verb.needs_channel:
            return bool(self.channels)
        if self.verb.kind is VerbKind.REMIND:
            return bool(self.people or self.unnamed) and not (self.verb.me or self.me)
        if self.verb.kind not in (VerbKind.SEND, VerbKind.TELL):
            return False
        return self.reaches or not self.verb.needs_person

    @property
    def reaches(self) -> bool:
        """Whether it names somebody, known or not."""
        verb = self.verb is not None and self.verb.me
        return bool(self.people or self.unnamed or self.me or verb or self.at_home)

    @property
    def refers(self) -> bool:
        """Whether it refers to what was made or said before."""
        return self.it is not None or (self.verb is not None and self.verb.it)

    @property
    def only_small(self) -> bool:
        """Whether it says no more than "please" or "thanks"."""
        named = self.people or self.unnamed or self.channels or self.times
        return not (named or self.me or self.verb or self.it)

    @property
    def to_me(self) -> bool:
        verb = self.verb is not None and self.verb.me
        return (self.me or verb or self.at_home) and not (self.people or self.unnamed)

    @property
    def at_home(self) -> bool:
        """Whether it goes to the owner, and nobody is named: "on my dashboard"."""
        sends = self.verb is not None and self.verb.kind is VerbKind.SEND
        return sends and self.own_channel

    @property
    def reminds(self) -> bool:
        return self.verb is not None and self.verb.kind is VerbKind.REMIND


def merged(one: SpokenOrder, other: SpokenOrder) -> SpokenOrder:
    """Return an order with what was named after its text."""
    return replace(
        one,
        people=[*one.people, *other.people],
        unnamed=[*one.unnamed, *other.unnamed],
        me=one.me or other.me,
        channels=[*one.channels, *other.channels],
        times=[*one.times, *other.times],
        corrected=one.corrected or other.corrected,
        own_channel=one.own_channel or other.own_channel,
    )


class UnitKind(StrEnum):
    SEND = "send"  # a text that the owner wrote goes to somebody
    DELIVER = "deliver"  # what was made before goes to somebody
    COMPOSE = "compose"  # something is to be made, and goes to somebody
    REMIND = "remind"  # the owner gets these words back, at a time
    NOTE = "note"  # the owner gets this list back
    WORK = "work"
    CONTROL = "control"  # about something that is under way
    CORRECT = "correct"  # a time, a channel or a person instead of the one before
    LIMIT = "limit"  # a condition, or an end, of what was said before
    RETRACT = "retract"  # what was said before is taken back
    PASTED = "pasted"  # others wrote it
    TALK = "talk"


class MessageUnit(Struct, frozen=True):
    """One unit, from token `start` to `end`; `body` is its content, `order` the words around it.

    `text` is the owner's own text, if any; `marked`: quotation marks or a colon show it.
    """

    kind: UnitKind
    start: int
    end: int
    body: tuple[int, int]
    line: MessageLine
    order: SpokenOrder = field(default_factory=lambda: SpokenOrder(0, 0))
    text: str | None = None
    marked: bool = False
    talk: SmallTalk | None = None
    also: bool = False  # "also": it begins another task
    begins_with_verb: bool = False
    names_thing: bool = False  # it is sent "the report", not "it"
    makes_thing: bool = False  # "a list": something new
    forbids: bool = False  # "but don't send it"
    stranger: bool = False  # an unknown person is named
    is_mark: bool = False  # nothing but a full stop or its like

    @property
    def corrects(self) -> bool:
        return self.kind is UnitKind.CORRECT

    @property
    def times(self) -> list[TimePhrase]:
        return self.order.times


class UnitSearch(Struct, frozen=True):
    """Where to look for a unit: from a token to the end of its sentence or its line."""

    words: MessageWords
    start: int
    body: int
    stop: int
    line: MessageLine
    also: bool

    def unit(
        self, kind: UnitKind, end: int, body: tuple[int, int], order: SpokenOrder
    ) -> MessageUnit:
        return MessageUnit(kind, self.start, end, body, self.line, order, also=self.also)
