"""What has been read of an order so far: verb, people, channels, times, text."""

from msgspec import Struct, field
from msgspec.structs import replace

from remit.contacts.people import Contact
from remit.language.order_words import OrderVerb, VerbKind
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
