"""Checks a command about a task or question that a model read.

It may name only what was listed, and its words must stand in the message.
"""

from typing import Final

from remit.contacts.people import ContactBook
from remit.intake.message_words import MessageWords
from remit.intake.reading_form import TurnReading
from remit.intake.veto import find_veto
from remit.model.conversation import OrderKind, TalkContext, TurnOrder
from remit.model.ids import ReviewId, TaskId

# What ends or holds a task is said with a word that denies, holds or takes back.
_NEEDS_CUE: Final = (OrderKind.CANCEL, OrderKind.PAUSE, OrderKind.SKIP)


def checked_order(
    text: str, reading: TurnReading, book: ContactBook, talk: TalkContext
) -> TurnOrder | None:
    """The order as it may be followed; None if it names what was not listed, or asks for tasks."""
    order = reading.order
    if order is None or reading.tasks:
        return None
    if not any(True for _ in MessageWords(text, book).places(order.words)):
        return None
    kind = OrderKind(order.kind)
    if kind is OrderKind.ANSWER:
        listed = order.question in [each.id for each in talk.questions]
        return TurnOrder(kind, question=ReviewId(str(order.question))) if listed else None
    if order.task not in [each.id for each in talk.tasks]:
        return None
    certain = kind not in _NEEDS_CUE or bool(find_veto(text, book))
    return TurnOrder(kind, TaskId(str(order.task)), words=order.words, certain=certain)
