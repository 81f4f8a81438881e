"""Follows the journal: answers go to the owner's chat, and decided cards show what happened.

The place in the journal is stored after each event, and the send of an answer is claimed before
its first byte. So after a crash an answer is never repeated; one in doubt is said to be missing.
"""

import logging
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from remit.channels import ChatContext
from remit.channels.telegram.bot_api import BotReply, answer_of, chat_of
from remit.channels.telegram.progress import ProgressMessages, is_shown, prefix_of
from remit.channels.telegram.sending import (
    MAX_UNITS,
    MarkedText,
    TelegramChannel,
    render,
    split,
    units,
)
from remit.errors import NotFound
from remit.failpoint import failpoint
from remit.language.sentences import message_language, notice_sentence, task_language
from remit.model.codec import stamp
from remit.model.conversation import Role, Turn
from remit.model.delivery import Accepted, ActionButton, DeliveryStatus, SendRetry
from remit.model.ids import ConversationId, ReviewId, TaskId
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import TERMINAL, Status
from remit.model.task import Task
from remit.store import after_restore, conversations, meta, notices, reviews, tasks
from remit.store.database import Tx

_MAX_TRIES: Final = 5
_RETRY_SECONDS: Final = 5.0
_MAX_SHOWN: Final = 2_500  # characters of a text under a decision
_DOUBT: Final = (
    "An answer of mine may be missing here: I was interrupted while I sent it. It is in the "
    "conversation on the dashboard."
)
_RECALLED: Final = "Called back. It waits for you on the dashboard."
_DECIDED: Final = {
    ReviewAnswer.APPROVE: "Approved {0}",
    ReviewAnswer.EDIT: "Approved with your text {0}",
    ReviewAnswer.BACK: "Sent back {0}",
    ReviewAnswer.ANSWER: "Answered {0}",
    ReviewAnswer.ARRIVED: "It arrived {0}",
    ReviewAnswer.RESEND: "Sent again {0}",
    ReviewAnswer.DROP: "Left out {0}",
    ReviewAnswer.DECLINE: "Declined {0}",
    ReviewAnswer.READDRESS: "Goes to somebody else {0}",
}
_SENT: Final = "sent"
_ENDS: Final = {Status.COMPLETED: "done", Status.FAILED: "failed", Status.CANCELLED: "cancelled"}
_LOG: Final = logging.getLogger("remit.telegram")


class _Card(Struct, frozen=True):
    """A question that was shown in a chat, and where."""

    review: Review
    task: Task
    receipts: tuple[str, ...]


class _AnswerTurn(Struct, frozen=True):
    """An answer to what the owner wrote here, and the one open question in it."""

    turn: Turn
    reply_to: int | None
    asks: ReviewId | None


class AnswerRelay:
    def __init__(self, context: ChatContext, channel: TelegramChannel) -> None:
        self._context = context
        self._channel = channel
        self._db = context.db
        self._place = f"telegram:{context.name}:told"
        self._claim = f"telegram:{context.name}:sending"
        self._cards = f"telegram:{context.name}:card:"
        self.progress: Final = ProgressMessages(context, channel)

    async def follow(self) -> None:
        """Relay everything that happens from now on, and what happened since the last stop."""
        at = await self.begin()
        async for page in self._context.journal.pages(at):
            for event in page:
                self.progress.touch(event.task_id)
                if event.kind in _HEEDED:
                    await self._heed(event)
            await self._db.write(meta.put, self._place, str(page[-1].seq))

    async def begin(self) -> int:
        """Return the place to go on from; of an answer in doubt the owner is told.

        After a restore nobody knows what was sent since the backup, so none of it is sent.
        """
        last = await self._context.journal.last()
        at, doubtful = await self._db.write(
            _begun, self._context.name, self._place, self._claim, last
        )
        if doubtful:
            await self._post(notice_sentence(_DOUBT, message_language("")))
        return at

    async def _heed(self, event: Event) -> None:
        match event.kind:
            case EventKind.TURN_SAID:
                found = await self._db.read(self._answer_in, event)
                if found is not None:
                    await self._relay(found, event.seq)
            case EventKind.REVIEW_DECIDED:
                review = str(event.data.get("review") or "")
                card = await self._db.read(self._card, ReviewId(review)) if review else None
                if card is not None:
                    await self._show(card)
            case _:
                await self._update_card_at_end(event)

    async def _update_card_at_end(self, event: Event) -> None:
        """A task that was decided in the chat has ended, or was called back: the card says so."""
        ended = event.data.get("to") in TERMINAL
        if event.task_id is None or not (ended or event.data.get("review")):
            return
        card = await self._db.read(self._last_card, event.task_id)
        if card is None:
            return
        await self._show(card)
        if ended:
            await self._db.write(meta.delete, f"{self._cards}{card.review.id}")

    # Answers ------------------------------------------------------------------------------------

    def _answer_in(self, tx: Tx, event: Event) -> _AnswerTurn | None:
        if event.data.get("role") != Role.ASSISTANT.value:
            return None
        place, n = ConversationId(str(event.data["conversation"])), int(str(event.data["turn"]))
        try:
            turn = conversations.turn(tx, place, n)
        except NotFound:
            return None  # deleted meanwhile
        if turn.answers is None or turn.channel != self._context.name or not turn.content.strip():
            return None
        asked = [
            each
            for ref in turn.task_refs
            for each in reviews.of_task(tx, ref.task_id)
            if each.decision is None and each.resume_to is Status.NEW
        ]
        only = {each.id for each in asked}
        key = conversations.turn_key(tx, place, turn.answers)
        replied = key.rpartition(":")[2]
        reply_to = int(replied) if key.startswith("in:") and replied.isdecimal() else None
        return _AnswerTurn(turn, reply_to, asked[0].id if len(only) == 1 else None)

    async def _relay(self, found: _AnswerTurn, seq: int) -> None:
        texts = split(found.turn.content)
        buttons: tuple[ActionButton, ...] = ()
        address = self._context.owner_address()
        if found.asks is not None and len(texts) == 1:
            buttons = await self._context.buttons.offer(found.asks, self._context.name, address)
        await self.progress.expect(str(seq), found.turn.task_refs, texts[-1])
        await self._db.write(meta.put, self._claim, str(seq))
        failpoint("telegram:claimed")
        receipt = None
        for text in texts:
            receipt = await self._post(text, buttons, found.reply_to)
        failpoint("telegram:answered")
        await self.progress.note_message(str(seq), receipt, asks=bool(buttons))
        about = [each.task_id for each in found.turn.task_refs]
        await self.progress.note(receipt, found.reply_to, about)
        if receipt and found.asks is not None and buttons:
            await self._db.write(meta.put, f"{self._cards}{found.asks}", receipt)
        await self._db.write(_moved_on, self._place, str(seq), self._claim)

    async def _post(
        self, text: str, buttons: Sequence[ActionButton] = (), reply_to: int | None = None
    ) -> str | None:
        """Send one message; only what surely did not leave is tried again."""
        chat = chat_of(self._context.owner_address())
        if chat is None:
            return None
        for _ in range(_MAX_TRIES):
            reply = await self._channel.post(chat, render(text), buttons, reply_to=reply_to)
            answer = answer_of(reply, chat, self._context.clock.now())
            if not isinstance(answer, SendRetry):
                break
            await self._context.clock.sleep(answer.after or _RETRY_SECONDS)
        if isinstance(answer, Accepted):
            return answer.ref
        _LOG.warning("An answer may not have reached Telegram: %s", answer.why)
        return None

    # Cards --------------------------------------------------------------------------------------

    def _card(self, tx: Tx, review_id: ReviewId) -> _Card | None:
        try:
            review = reviews.get(tx, review_id)
        except NotFound:
            return None
        name = self._context.name
        shown = notices.receipts(tx, name, review)
        relayed = meta.get(tx, f"{self._cards}{review.id}")
        receipts = (*shown, *((relayed,) if relayed else ()))
        return _Card(review, tasks.get(tx, review.task_id), receipts) if receipts else None

    def _last_card(self, tx: Tx, task_id: TaskId) -> _Card | None:
        """The card of a task that was decided last, or is open again."""
        found = [each.id for each in reviews.of_task(tx, task_id) if each.id is not None]
        cards = (self._card(tx, each) for each in reversed(found))
        return next((card for card in cards if card is not None), None)

    async def _show(self, card: _Card) -> None:
        """Replace what the card shows; a failure is only logged, for the decision holds anyway."""
        text = _card_text(card, self._outcome(card))
        for receipt in card.receipts:
            if await self.progress.takes(card.task.id, receipt, text.text):
                continue
            chat, _, message = receipt.partition(":")
            for _ in range(_MAX_TRIES):
                reply = await self._channel.edit(int(chat), int(message), text)
                if not isinstance(reply, BotReply) or reply.retry_after is None:
                    break
                await self._context.clock.sleep(reply.retry_after)
            if not is_shown(reply):
                _LOG.info("A card in Telegram could not be changed.")

    def _outcome(self, card: _Card) -> str:
        decision, task = card.review.decision, card.task
        language = task_language(task)
        if decision is None:
            return notice_sentence(_RECALLED, language)
        at = decision.decided_at
        when = f"{at.astimezone(self._context.zone):%H:%M}" if at else ""
        word = "" if decision.answer is ReviewAnswer.DECLINE else _ENDS.get(task.status, "")
        away = [each for each in task.delivery if each.channel != "dashboard"]
        if word == "done" and any(each.status is DeliveryStatus.SENT for each in away):
            word = _SENT
        decided = notice_sentence(_DECIDED[decision.answer], language, when).rstrip()
        return f"{decided}{f', {notice_sentence(word, language)}' if word else ''}."


def _card_text(card: _Card, outcome: str) -> MarkedText:
    review = card.review
    text = review.decision.text if review.decision and review.decision.text else review.evidence
    cut = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    named = "“{0}”: {1}"
    head = notice_sentence(named, task_language(card.task), card.task.title, review.question)
    whole = "\n\n".join(filter(None, (head, cut, outcome)))
    return MarkedText(whole if units(whole) <= MAX_UNITS else outcome)


def _begun(tx: Tx, name: str, place: str, claim: str, last: int) -> tuple[int, bool]:
    """The place after the last event that was handled, or claimed by a process that died."""
    restored, seen = after_restore.restored_at(tx), f"{place}:restored"
    stamped = stamp(restored) if restored else ""
    known, claimed = meta.get(tx, place), meta.get(tx, claim)
    is_new = known is None or (meta.get(tx, seen) or "") != stamped
    at = last if is_new else int(claimed or known or last)
    for key in meta.starting_with(tx, prefix_of(name)) if is_new else ():
        meta.delete(tx, prefix_of(name) + key)
    meta.put(tx, seen, stamped)
    _moved_on(tx, place, str(at), claim)
    return at, claimed is not None and not is_new


def _moved_on(tx: Tx, place: str, seq: str, claim: str) -> None:
    meta.put(tx, place, seq)
    meta.delete(tx, claim)


_HEEDED: Final = (EventKind.TURN_SAID, EventKind.REVIEW_DECIDED, EventKind.TASK_MOVED)
