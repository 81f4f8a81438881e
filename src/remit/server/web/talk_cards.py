"""A task as a card in a conversation: work, delivery, text and buttons."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.contract import ItemStatus
from remit.model.conversation import CONVERSATION, NoticeKind, Turn
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task, TaskType
from remit.model.view import limit_sentences
from remit.server.call import Call
from remit.server.page_language import say
from remit.server.web import review_page, row, task_sections, words
from remit.server.web.review_kinds import ReviewButton, acts_of, kind_of, question_text
from remit.server.web.task_sections import DASHBOARD, CardContext
from remit.store import reviews, series, tasks
from remit.store.database import Tx

MOST_QUOTED: Final = 1_200  # characters; a longer text must be opened before approval
_SIMPLE: Final = frozenset({ReviewAnswer.APPROVE})  # answers possible with one click


class CardLine(Struct, frozen=True):
    """One work item or delivery: its state and its text."""

    kind: str
    icon: str
    text: str
    note: str = ""


class TaskCard(Struct, frozen=True, kw_only=True):
    """A task's card. `asked` and `acts` wait for the owner; `brief` needs no work."""

    task: Task
    at: datetime | None  # on the owner's clock: when it will run, or ended
    full: bool = True  # False: only one line
    work: tuple[CardLine, ...] = ()
    ways: tuple[CardLine, ...] = ()
    quote: str = ""
    whole: bool = True  # whether the whole text is shown
    review: Review | None = None
    acts: tuple[ReviewButton, ...] = ()  # possible answers
    click: ReviewButton | None = None  # the answer of one click
    asked: str = ""
    digest: str = ""
    limits: tuple[str, ...] = ()  # what the owner's words allow and hold back
    repeats: str = ""  # how often a series runs

    @property
    def brief(self) -> bool:
        """Whether there is nothing but a text to send."""
        plain = not self.work and not self.review and not self.limits
        return plain and len(self.ways) == 1 and bool(self.quote)

    @property
    def may_wait(self) -> bool:
        """Whether its time can still be changed."""
        unbegun = self.task.status in (Status.NEW, Status.READY)
        return unbegun and self.task.scheduled_for is not None

    @property
    def took(self) -> timedelta | None:
        begun, ended = self.task.started_at, self.task.completed_at
        return ended - begun if begun and ended and ended > begun else None


async def card(call: Call, task_id: TaskId, *, full: bool = True) -> TaskCard:
    return await call.app.db.read(_card, task_id, card_context(call), full=full)


def card_context(call: Call) -> CardContext:
    settings = call.app.settings
    reports = CONVERSATION in settings.notices.ways(NoticeKind.DONE)
    channels = task_sections.channel_labels(settings.channels)
    return CardContext(settings.agent, call.app.zone, channels, reports)


def task_card(
    task: Task, asked: Review | None, place: CardContext, *, full: bool = True
) -> TaskCard:
    """Return the card of a task, with its question."""
    at = task.completed_at or task.scheduled_for
    plain = TaskCard(
        task=task, at=at.astimezone(place.zone) if at else None, full=full, review=asked
    )
    if not full:
        return plain
    text = "" if place.reports and _is_reported(task) else _text(task, asked)
    whole = len(text) <= MOST_QUOTED
    acts = acts_of(asked, kind_of(asked)) if asked else ()
    return replace(
        plain,
        work=tuple(_work(task)),
        ways=tuple(_way(each, asked, place) for each in task.delivery if not each.part),
        quote=text[:MOST_QUOTED],
        whole=whole,
        acts=acts,
        click=next((each for each in acts[:1] if _is_click(each, asked) and whole), None),
        asked=question_text(asked.question) if asked else "",
        limits=tuple(limit_sentences(task)),
        digest=review_page.digest_of(asked) if asked else "",
    )


def _is_reported(task: Task) -> bool:
    """Whether the conversation has the result of this work as a message of its own."""
    here = any(each.channel == DASHBOARD and not each.recipient for each in task.delivery)
    at_once = task.type is TaskType.IMMEDIATE and task.status is Status.COMPLETED
    return at_once and here and bool(task.work)


def _is_click(act: ReviewButton, asked: Review | None) -> bool:
    """Whether one click may answer: nothing in another card is approved."""
    alone = asked is None or len(asked.card_tasks) <= 1
    return act.answer in _SIMPLE and alone


def cards_of_turn(
    tx: Tx, turn: Turn, place: CardContext, whole: Mapping[TaskId, int]
) -> list[TaskCard]:
    """Return the cards of a turn: a task's whole one in its turn in `whole`, elsewhere a line."""
    found = []
    for ref in turn.task_refs:
        card = _card(tx, ref.task_id, place, full=whole.get(ref.task_id) == turn.n)
        if card.task.deleted_at is None:
            found.append(card)
    return found


def line(task: Task, now: datetime) -> str:
    """Return a task's state, for the sidebar."""
    if task.status is Status.NEEDS_REVIEW or task.gaps:
        return say("Waits for you")
    at = task.completed_at or (task.scheduled_for if task.status is Status.READY else None)
    word = say(words.state(task).word)
    return f"{word}, {words.moment(at.astimezone(now.tzinfo), now)}" if at else word


def _card(tx: Tx, task_id: TaskId, place: CardContext, *, full: bool) -> TaskCard:
    task = tasks.get(tx, task_id)
    card = task_card(task, reviews.waiting_of(tx, task_id), place, full=full)
    found = series.get(tx, task.series_id) if full and task.series_id else None
    return replace(card, repeats=row.in_words(found.repeats, place.zone)) if found else card


def _work(task: Task) -> list[CardLine]:
    looks = {
        ItemStatus.COMPLETED: ("ok", "done"),
        ItemStatus.FAILED: ("bad", "fail"),
        ItemStatus.PENDING: ("idle", "pend"),
    }
    return [CardLine(*looks[item.status], item.description) for item in task.work]


def _way(delivery: Delivery, asked: Review | None, place: CardContext) -> CardLine:
    channel = say(place.channels.get(delivery.channel, delivery.channel))
    name = f"{channel} {say('to {0}', delivery.recipient or say('you'))}"
    if delivery.status is DeliveryStatus.PENDING and asked is not None:
        return CardLine("you", "you", name, "waiting for you")
    kind, icon, note = _WAYS[delivery.status]
    return CardLine(kind, icon, name, note)


def _text(task: Task, asked: Review | None) -> str:
    """Return the text to send, or sent."""
    if asked is not None and not asked.card_tasks:
        return review_page.draft_of(asked) if ReviewAnswer.EDIT in asked.options else ""
    others = [each for each in task.delivery if each.recipient and each.content]
    if asked is not None and len(others) > 1:
        return "\n".join(f"{each.recipient}: {each.content}" for each in others)
    texts = [each.body or each.content or "" for each in task.delivery if not each.part]
    return next((text for text in texts if text), "")


_WAYS: Final = {
    DeliveryStatus.PENDING: ("idle", "pend", ""),
    DeliveryStatus.SENDING: ("run", "run", "on its way"),
    DeliveryStatus.SENT: ("ok", "done", "sent"),
    DeliveryStatus.REFUSED: ("bad", "fail", "not sent"),
    DeliveryStatus.UNKNOWN: ("you", "ask", "nobody knows"),
}
