"""Fetches what people write to the bot, by long polling: no address of ours need be public.

An update is stored and acted on before the offset moves on. After a crash in between Telegram
brings it again, and what was done for it is recognised by the message's id.
"""

import logging
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from remit.channels import ChatContext, ChatReply, pairing, people
from remit.channels.buttons import ButtonPress, ButtonReply
from remit.channels.telegram import TelegramSettings, bot_api
from remit.channels.telegram.answers import AnswerRelay
from remit.channels.telegram.bot_api import (
    REVOKED,
    BotReply,
    ChatMessage,
    ChatPress,
    NoToken,
    address_of,
    answer_of,
)
from remit.channels.telegram.sending import MAX_UNITS, MarkedText, TelegramChannel, units
from remit.errors import RemitError, StoreTrouble
from remit.failpoint import failpoint
from remit.language.sentences import message_language, notice_sentence
from remit.model.codec import moment, stamp
from remit.model.conversation import Action, TaskRef
from remit.model.delivery import Accepted
from remit.store import cues, meta
from remit.store.cues import InboundMessage
from remit.store.database import Tx
from remit.system.background import LoopGroup

POLL_SECONDS: Final = 25
_MARGIN_SECONDS: Final = 15.0  # after which an answer is late
_MAX_UPDATES: Final = 50
_MAX_BYTES: Final = 8 * 1024 * 1024  # of one answer; an update has 50 KB at most
_PAUSES: Final = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0, 60.0)  # seconds after unreported failures
_MAX_CONFLICTS: Final = 3  # after a restart our own last call may still be open
_MAX_TOAST: Final = 190  # characters that Telegram shows when a button is pressed
_QUIET: Final = timedelta(days=6)
_KEPT_AT: Final = ":at"  # behind the name of the offset: when it was stored
_KINDS: Final = ("message", "edited_message", "callback_query")
_CONFLICT: Final = (
    "Another program fetches the messages of this bot, and Telegram lets only one. Stop the other, "
    "or make a bot of its own for Remit."
)
_STRANGER: Final = "This bot works for one person alone. If you have got a code, send it to me."
_GROUP: Final = (
    "I take part in no group unless my owner has connected it, and I have read nothing here."
)
_HERE: Final = "I am here. Write what to do."
_EDITED: Final = (
    "You have edited a message. I go by what you wrote first, so the edit changes nothing. Write a "
    "new message if something shall be different."
)
_NOT_YOURS: Final = "This button is not for you. Nothing was done."
_LOG: Final = logging.getLogger("remit.telegram")


class TelegramTrouble(RemitError):
    """Messages cannot be fetched, and only the owner can put that right."""


def watch(section: TelegramSettings, context: ChatContext) -> "TelegramWatch":
    del section
    assert isinstance(context.sender, TelegramChannel)  # noqa: S101 - of the same section
    return TelegramWatch(context, context.sender)


class TelegramWatch(LoopGroup):
    def __init__(self, context: ChatContext, channel: TelegramChannel) -> None:
        self._context = context
        self._channel = channel
        self._db, self._clock = context.db, context.clock
        self.relay = AnswerRelay(context, channel)
        loops = {
            f"telegram:{context.name}": self._poll,
            f"telegram answers:{context.name}": self.relay.follow,
            f"telegram progress:{context.name}": self.relay.progress.follow,
        }
        super().__init__(context.background, loops)
        self._offset = f"telegram:{context.name}:offset"
        self._failures = 0

    async def _poll(self) -> None:
        while True:
            await self.look(POLL_SECONDS)

    async def look(self, seconds: int = 0) -> int:
        """Fetch what came, waiting this long for something to come; return how many updates."""
        offset = await self._db.read(self._next_offset)
        fields = {
            "offset": offset,
            "timeout": seconds,
            "limit": _MAX_UPDATES,
            "allowed_updates": _KINDS,
        }
        limit = seconds + _MARGIN_SECONDS
        reply = await self._channel.api.call("getUpdates", fields, limit, _MAX_BYTES)
        if not isinstance(reply, BotReply) or not reply.ok:
            await self._pause_after_failure(reply)
            return 0
        self._failures = 0
        count = 0
        for each in bot_api.read_updates(reply.result):
            if each.number >= offset:
                await self._safely(each)
                failpoint("telegram:handled")
                offset, count = each.number + 1, count + 1
                await self._db.write(_keep_offset, self._offset, offset, self._clock.now())
        return count

    def _next_offset(self, tx: Tx) -> int:
        """Return where to go on; after a quiet week Telegram may number from anywhere."""
        offset, kept_at = (meta.get(tx, self._offset + end) for end in ("", _KEPT_AT))
        age = self._clock.now() - moment(kept_at) if kept_at else timedelta(0)
        known = timedelta(0) <= age <= _QUIET  # below 0: by a clock that was ahead
        return int(offset or 0) if known else 0

    async def _pause_after_failure(self, answer: object) -> None:
        """Pause after a failure; one that lasts is raised, and so reported to the owner once."""
        code = answer.code if isinstance(answer, BotReply) else 0
        if isinstance(answer, NoToken) or code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND):
            raise TelegramTrouble(REVOKED)
        if isinstance(answer, BotReply) and answer.retry_after is not None:
            await self._clock.sleep(answer.retry_after)
            return
        if isinstance(answer, BotReply) and "webhook" in answer.said:
            await self._channel.api.call("deleteWebhook", {"drop_pending_updates": False})
        self._failures += 1
        if code == HTTPStatus.CONFLICT and self._failures > _MAX_CONFLICTS:
            raise TelegramTrouble(_CONFLICT)
        if self._failures > len(_PAUSES):
            raise TelegramTrouble("Telegram cannot be reached. Remit goes on trying.")
        await self._clock.sleep(_PAUSES[self._failures - 1])

    async def _safely(self, update: bot_api.ChatUpdate) -> None:
        """Act on one update; one that cannot be handled must not block those after it."""
        try:
            match update.content:
                case ChatPress() as press:
                    await self._take_button_press(press)
                case ChatMessage() as message:
                    await self._message(message)
                case None:
                    pass
        except StoreTrouble:
            raise
        except Exception:  # noqa: BLE001 - see above; it is logged
            _LOG.exception("An update of %s could not be handled.", self._context.name)

    # Messages -----------------------------------------------------------------------------------

    async def _message(self, message: ChatMessage) -> None:
        paired = await self._channel.paired_chat(message.chat)
        address = address_of(paired)
        mine = message.by_one and address == self._context.owner_address()
        known = mine or self._context.is_contact(address)
        if message.moved_to is not None and known:
            await self._channel.move(paired, message.moved_to)
        elif message.code is not None and not known and not message.edited:
            await self._pair(message, address)
        elif mine:
            await self._owner_wrote(message, paired)
        elif known and not message.edited:
            incoming = message.inbound(self._context.name, paired)
            await self._store(incoming)
            await self._context.contact_wrote(incoming)
        elif not message.edited:
            sentence = _STRANGER if message.private else _GROUP
            await self._say_once(f"stranger {address}", message.chat, sentence)

    async def _owner_wrote(self, message: ChatMessage, paired: int) -> None:
        incoming = message.inbound(self._context.name, paired)
        about, language = f"{message.chat}:{message.message}", message_language(message.text)
        if message.edited:
            sentence = notice_sentence(_EDITED, language)
            await self._say_once(f"edited {about} {message.at}", message.chat, sentence)
            return
        await self._store(incoming)
        failpoint("telegram:stored")
        if message.is_start:
            await self._say_once(f"start {about}", message.chat, notice_sentence(_HERE, language))
        elif message.forwarded:
            sentence = notice_sentence(people.FORWARDED, language)
            await self._say_once(f"forwarded {about}", message.chat, sentence, message.message)
        elif (
            response := await self._context.buttons.take_text(incoming, message.text)
        ) is not None:
            await self._reply(message.chat, response)
        elif (reply := await self._context.owner_wrote(incoming)).text:
            await self._note(message, reply)

    async def _note(self, message: ChatMessage, reply: ChatReply) -> None:
        """Say what a message has started; the answer shows how that goes on."""
        about, progress = f"{message.chat}:{message.message}", self.relay.progress
        refs = [TaskRef(each, Action.CREATED) for each in reply.tasks]
        await progress.expect(about, refs, reply.text)
        receipt = await self._say_once(f"noted {about}", message.chat, reply.text, message.message)
        await progress.note_message(about, receipt)
        await progress.note(receipt, message.message, reply.tasks)

    async def _pair(self, message: ChatMessage, address: str) -> None:
        code = str(message.code)
        now, name = self._clock.now(), self._context.name
        found = await self._db.write(pairing.find_code, name, code, now)
        if found is None:
            sentence = "This code is not valid, or not any more. Ask for a new one."
            await self._say_once(f"stranger {address}", message.chat, sentence)
            return
        if found.contact is None and not message.by_one:
            sentence = "In a group others can write, too. Send me this code in our own chat."
            await self._say_once(f"stranger {address}", message.chat, sentence)
            return
        try:
            text = await self._context.pair(found.contact, address)
        except RemitError as error:
            text = f"This chat could not be connected. {error}"
        else:
            await self._db.write(pairing.use_code, name, found)
        await self._say(message.chat, MarkedText(text))

    # Buttons ------------------------------------------------------------------------------------

    async def _take_button_press(self, press: ChatPress) -> None:
        """A press counts only from the owner, in the owner's own chat."""
        address = address_of(press.sender)
        mine = press.chat == press.sender and address == self._context.owner_address()
        if not mine:
            await self._toast(press, _NOT_YOURS)
            return
        reply = await self._context.buttons.press(
            ButtonPress(self._context.name, address, press.data)
        )
        failpoint("telegram:pressed")
        await self._toast(press, reply.text)
        if reply.asks_for_text:
            await self._reply(press.sender, reply)

    async def _toast(self, press: ChatPress, text: str) -> None:
        shown = {"callback_query_id": press.id, "text": text[:_MAX_TOAST], "show_alert": True}
        await self._channel.api.call("answerCallbackQuery", shown)

    async def _reply(self, chat: int, reply: ButtonReply) -> None:
        if reply.text:
            whole = reply.text if units(reply.text) <= MAX_UNITS else _TOO_LONG
            buttons = reply.buttons if whole is reply.text else ()
            await self._channel.post(
                chat, MarkedText(whole), buttons, asks_for_text=reply.asks_for_text
            )

    # What is said at once -----------------------------------------------------------------------

    async def _store(self, message: InboundMessage) -> None:
        await self._db.write(cues.take_inbound, [message], self._clock.now())

    async def _say_once(
        self, about: str, chat: int, text: str, reply_to: int | None = None
    ) -> str | None:
        """Say a sentence, once for each `about`; after a crash it may be missing, never doubled.

        Return what names the message, if it was said now and taken.
        """
        mark = InboundMessage(f"{self._context.name} said {about}", self._context.name, {})
        if await self._db.write(_is_new, mark, self._clock.now()):
            return await self._say(chat, MarkedText(text), reply_to)
        return None

    async def _say(self, chat: int, text: MarkedText, reply_to: int | None = None) -> str | None:
        reply = await self._channel.post(chat, text, reply_to=reply_to)
        answer = answer_of(reply, chat, self._clock.now())
        return answer.ref if isinstance(answer, Accepted) else None


def _keep_offset(tx: Tx, name: str, offset: int, now: datetime) -> None:
    meta.put(tx, name, str(offset))
    meta.put(tx, name + _KEPT_AT, stamp(now))


def _is_new(tx: Tx, mark: InboundMessage, now: datetime) -> bool:
    if cues.is_known(tx, mark.ref):
        return False
    cues.take_inbound(tx, [mark], now)
    return True


_TOO_LONG: Final = (
    "Your text is too long to be shown here whole, so it cannot be approved here. Edit the message "
    "on the dashboard, or write less."
)
