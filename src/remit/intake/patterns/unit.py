"""A unit of a message: the part that one closed pattern covers."""

from enum import StrEnum

from msgspec import Struct, field

from remit.intake.message_words import MessageWords
from remit.intake.patterns.lines import MessageLine
from remit.intake.patterns.spoken_order import SpokenOrder
from remit.language.order_words import SmallTalk
from remit.language.time.phrase import TimePhrase


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
