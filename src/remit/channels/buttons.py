"""Buttons in a chat: the owner decides a question where it is shown.

The data of a button is signed for one question, one answer, the exact text that was shown, one
channel and one chat. Pressing it runs the operation of the same name as a button of the dashboard.
A press that does not fit does nothing but return a sentence.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from msgspec import Struct

from remit.errors import NotFound, RemitError
from remit.language.sentences import message_language, notice_sentence, task_language
from remit.model.codec import JsonMap, moment, stamp, text_of
from remit.model.delivery import ActionButton
from remit.model.ids import ReviewId
from remit.model.review import Review, ReviewAnswer
from remit.ports import Clock
from remit.store import cues, meta, reviews, tasks
from remit.store.cues import InboundMessage
from remit.store.database import Database, Tx

Decide: TypeAlias = Callable[[ReviewId, ReviewAnswer, str | None, str], Awaitable[None]]

LABELS: Final[dict[ReviewAnswer, str]] = {
    ReviewAnswer.APPROVE: "Approve",
    ReviewAnswer.EDIT: "Edit",
    ReviewAnswer.BACK: "Send back",
    ReviewAnswer.ANSWER: "Answer",
    ReviewAnswer.ARRIVED: "It arrived",
    ReviewAnswer.RESEND: "Send again",
    ReviewAnswer.DROP: "Leave out",
    ReviewAnswer.DECLINE: "Decline",
    ReviewAnswer.READDRESS: "Change the recipient",
}
_DONE: Final[dict[ReviewAnswer, str]] = {
    ReviewAnswer.APPROVE: "Approved.",
    ReviewAnswer.EDIT: "Approved with your text.",
    ReviewAnswer.BACK: "Sent back.",
    ReviewAnswer.ANSWER: "Answered.",
    ReviewAnswer.ARRIVED: "Noted: it arrived.",
    ReviewAnswer.RESEND: "It is sent again.",
    ReviewAnswer.DROP: "Left out.",
    ReviewAnswer.DECLINE: "Declined.",
}
_PROMPTS: Final = {
    ReviewAnswer.EDIT: "Write the text that shall be sent instead. You see it once more before.",
    ReviewAnswer.BACK: "Write what shall be different.",
    ReviewAnswer.ANSWER: "Write your answer.",
    ReviewAnswer.DROP: "Write why this check is left out.",
}
_SEND_EDITED, _DISCARD = "send", "discard"
_DATA: Final = re.compile(r"(?P<review>rev-[0-9A-Z]{26}):(?P<word>[a-z]{4,8}):(?P<mac>[\w-]{16})")
_KEY: Final = "buttons:key"
_MAC_BYTES: Final = 12
_KEY_BYTES: Final = 32
_TEXT_WAIT: Final = timedelta(hours=1)  # so long the next message is taken as the text
_UNFIT: Final = (
    "This button does not fit any more: what it was about has changed, or it was not made here. "
    "Nothing was done. The question is in the inbox of the dashboard."
)
_DECIDED: Final = "This was decided before: {0}. Nothing more was done."
_DISCARDED: Final = "Your text is discarded. The question is still open."
_INSTEAD: Final = "This will be sent instead:"
_EMPTY: Final = "That was no text, so nothing was done. Press the button again, and write one."


class ButtonPress(Struct, frozen=True):
    """A button that the owner pressed in the owner's chat; the channel has checked both."""

    channel: str
    address: str
    data: str


class ButtonReply(Struct, frozen=True):
    """The reply to a press. `asks_for_text`: the next message is taken as the text."""

    text: str
    asks_for_text: bool = False
    buttons: tuple[ActionButton, ...] = ()


class ChatButtons:
    """Offers buttons, and does what a pressed one says. `decide` runs the operation."""

    def __init__(self, db: Database, clock: Clock, decide: Decide) -> None:
        self._db = db
        self._clock = clock
        self._decide = decide

    async def offer(
        self, review_id: ReviewId, channel: str, address: str, *, whole: bool = True
    ) -> tuple[ActionButton, ...]:
        """The buttons of an open question; without `whole`, none that lets an unseen text go."""
        fresh = secrets.token_urlsafe(_KEY_BYTES)
        return await self._db.write(_offered, review_id, channel, address, whole, fresh)

    async def fits(self, press: ButtonPress) -> str | None:
        """Return the answer that a button stands for, without giving it; None: it does not fit."""
        found = await self._db.read(_pressed, press)
        return None if isinstance(found, ButtonReply) else LABELS[ReviewAnswer(found[1])]

    async def press(self, press: ButtonPress) -> ButtonReply:
        found = await self._db.read(_pressed, press)
        if isinstance(found, ButtonReply):
            return found
        review, word, text = found
        if word == _DISCARD:
            await self._db.write(meta.delete, _waits(press.channel, press.address))
            return ButtonReply(await self._db.read(_sentence, review, _DISCARDED))
        answer = ReviewAnswer.EDIT if word == _SEND_EDITED else ReviewAnswer(word)
        if text is None and review.needs_text(answer):
            until = stamp(self._clock.now() + _TEXT_WAIT)
            asked = text_of({"review": review.id, "word": word, "until": until})
            await self._db.write(meta.put, _waits(press.channel, press.address), asked)
            prompt = await self._db.read(_sentence, review, _PROMPTS[answer])
            return ButtonReply(prompt, asks_for_text=True)
        return await self._decide_by_button(review, answer, text, press)

    async def take_text(  # noqa: PLR0911 - each is another reason
        self, message: InboundMessage, text: str
    ) -> ButtonReply | None:
        """Use a message as the text that a button asked for; None if none did.

        The same message again, after a crash, is recognised and not used twice.
        """
        waits = _waits(message.channel, message.sender)
        if await self._db.read(_is_used, message.ref):
            return ButtonReply("")
        stored = await self._db.read(meta.get, waits)
        row = json.loads(stored) if stored else {}
        left = moment(row["until"]) - self._clock.now() if row else timedelta(0)
        waits_still = timedelta(0) < left < 2 * _TEXT_WAIT  # longer: by a clock that was ahead
        if not waits_still or row.get("ref", message.ref) != message.ref:
            return None
        review = await self._db.read(_find, ReviewId(row["review"]))
        if review is None or review.decision is not None or not text.strip():
            await self._db.write(_use, message, waits, self._clock.now())
            if review is None:
                return _unfit()
            if review.decision is None:
                return ButtonReply(await self._db.read(_sentence, review, _EMPTY))
            return ButtonReply(await self._db.read(_already, review))
        return await self._with_text(review, row, message, text)

    async def _with_text(
        self, review: Review, row: JsonMap, message: InboundMessage, text: str
    ) -> ButtonReply:
        """Another text is shown once more; a remark or an answer counts at once."""
        press = ButtonPress(message.channel, message.sender, message.ref)
        waits = _waits(message.channel, message.sender)
        if row["word"] == ReviewAnswer.EDIT:
            draft = {**row, "ref": message.ref, "text": text}
            buttons = await self._db.write(_drafted, review, press, draft)
            head = await self._db.read(_sentence, review, _INSTEAD)
            return ButtonReply(f"{head}\n\n{text}", buttons=buttons)
        await self._db.write(meta.put, waits, text_of({**row, "ref": message.ref}))
        reply = await self._decide_by_button(review, ReviewAnswer(str(row["word"])), text, press)
        await self._db.write(_use, message, waits, self._clock.now())
        return reply

    async def _decide_by_button(
        self, review: Review, answer: ReviewAnswer, text: str | None, press: ButtonPress
    ) -> ButtonReply:
        assert review.id is not None  # noqa: S101 - it was read from the store
        try:
            await self._decide(review.id, answer, text, press.channel)
        except RemitError as error:
            return ButtonReply(str(error))
        used = InboundMessage(_used_mark(press.data), press.channel, {"review": review.id})
        await self._db.write(cues.take_inbound, [used], self._clock.now())
        return ButtonReply(await self._db.read(_sentence, review, _DONE[answer]))


def shown_digest(review: Review) -> str:
    """The digest of everything that a card of this question shows, and of what a yes lets go."""
    parts = (review.question, review.evidence, review.digest or "", review.draft or "")
    return hashlib.sha256("\x1f".join((*parts, *review.options)).encode()).hexdigest()


def _offered(
    tx: Tx, review_id: ReviewId, channel: str, address: str, whole: bool, fresh: str
) -> tuple[ActionButton, ...]:
    review = _find(tx, review_id)
    if review is None or review.decision is not None:
        return ()
    words = [each for each in review.options if whole or each is not ReviewAnswer.APPROVE]
    key = meta.get(tx, _KEY)
    if key is None:
        key = fresh
        meta.put(tx, _KEY, key)
    shown = [(_sentence(tx, review, LABELS[each]), each.value) for each in words]
    return tuple(
        ActionButton(label, _signed(key, review, word, channel, address)) for label, word in shown
    )


def _drafted(
    tx: Tx, review: Review, press: ButtonPress, draft: JsonMap
) -> tuple[ActionButton, ...]:
    """Store the owner's text; the buttons under it are signed for exactly this text."""
    meta.put(tx, _waits(press.channel, press.address), text_of(draft))
    text = str(draft["text"])
    key = meta.get(tx, _KEY) or ""
    labels = {_SEND_EDITED: "Approve this text", "edit": "Edit again", _DISCARD: "Discard"}
    texts = {word: "" if word == "edit" else text for word in labels}
    where = press.channel, press.address
    return tuple(
        ActionButton(_sentence(tx, review, label), _signed(key, review, word, *where, texts[word]))
        for word, label in labels.items()
    )


def _pressed(tx: Tx, press: ButtonPress) -> tuple[Review, str, str | None] | ButtonReply:
    """The question, the word and the text of a press that fits; else what to say."""
    found = _DATA.fullmatch(press.data)
    review = _find(tx, ReviewId(found["review"])) if found else None
    if found is None or review is None:
        return _unfit()
    word = found["word"]
    stored = meta.get(tx, _waits(press.channel, press.address))
    draft = json.loads(stored).get("text") if stored else None
    text = draft if word in (_SEND_EDITED, _DISCARD) else None
    known = meta.get(tx, _KEY) or ""
    made = _signed(known, review, word, press.channel, press.address, text or "")
    if not known or not hmac.compare_digest(made, press.data):
        return _unfit()
    if review.decision is not None:
        return ButtonReply(_already(tx, review))
    return _unfit() if _is_used(tx, press.data) else (review, word, text)


def _signed(key: str, review: Review, word: str, channel: str, address: str, text: str = "") -> str:
    shown = (shown_digest(review), hashlib.sha256(text.encode()).hexdigest())
    whole = "\x1f".join((channel, address, str(review.id), word, *shown)).encode()
    made = hmac.new(key.encode(), whole, hashlib.sha256).digest()[:_MAC_BYTES]
    return f"{review.id}:{word}:{base64.urlsafe_b64encode(made).decode()}"


def _find(tx: Tx, review_id: ReviewId) -> Review | None:
    try:
        return reviews.get(tx, review_id)
    except NotFound:
        return None


def _sentence(tx: Tx, review: Review, english: str, *values: object) -> str:
    """Return a sentence in the language of the message that a question comes from."""
    return notice_sentence(english, task_language(tasks.get(tx, review.task_id)), *values)


def _unfit() -> ButtonReply:
    return ButtonReply(notice_sentence(_UNFIT, message_language("")))


def _already(tx: Tx, review: Review) -> str:
    answer = review.decision.answer if review.decision else ReviewAnswer.DECLINE
    return _sentence(tx, review, _DECIDED, _sentence(tx, review, LABELS[answer]))


def _waits(channel: str, address: str) -> str:
    return f"buttons:text:{channel}:{address}"


def _used_mark(data: str) -> str:
    return f"button used {data}"


def _is_used(tx: Tx, data: str) -> bool:
    return cues.is_known(tx, _used_mark(data))


def _use(tx: Tx, message: InboundMessage, waits: str, now: datetime) -> None:
    meta.delete(tx, waits)
    cues.take_inbound(tx, [InboundMessage(_used_mark(message.ref), message.channel, {})], now)
