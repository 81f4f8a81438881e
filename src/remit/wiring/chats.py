"""Wires channels in which people chat: who wrote, what a button does, which chat is whose."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from remit.channels import ChannelKind, ChatContext, ChatReply, people
from remit.channels.buttons import ButtonPress, ButtonReply, ChatButtons
from remit.contacts import edit
from remit.contacts.book import FILE, OWNER, ContactAddress, ContactEntry
from remit.files import checks
from remit.intake.message import OwnerMessage
from remit.language import outside_text
from remit.language.sentences import message_language, notice_sentence
from remit.model.codec import JsonMap
from remit.model.delivery import Parcel, SendRetry
from remit.model.permit import is_same_address
from remit.model.task import Source, SourceKind, Taint
from remit.model.task_file import ATTACHMENTS
from remit.ports import AddressedChannel, ButtonChannel, FetchingChannel, implements
from remit.store import cues
from remit.store.cues import InboundMessage
from remit.store.opening import task_files
from remit.system.background import LoopGroup
from remit.wiring.app_context import TakeMessage
from remit.wiring.foundation import Foundation

_MAX_TRIES: Final = 3
VOICE_NOTE: Final = "a voice note"  # it says what it is, and is not heard
_MAX_REF: Final = 400  # characters of an id used as a task's ref


class ChatWiring:
    def __init__(self, base: Foundation, talk: TakeMessage, buttons: ChatButtons) -> None:
        self._base = base
        self._talk = talk
        self._buttons = buttons
        self._settings = base.settings

    def watches(
        self, contact_wrote: Callable[[InboundMessage], Awaitable[object]]
    ) -> Iterator[LoopGroup]:
        """Yield the loops that fetch messages, for each channel that is polled."""
        for name, section in self._settings.channels.items():
            if isinstance(section, ChannelKind):
                watch = section.watch(self._context(name, contact_wrote))
                yield from (watch,) if watch is not None else ()

    async def owner_sent(self, message: InboundMessage, *, again: bool) -> bool:
        """Take what is more than words of the owner, from a provider that calls us.

        That is a button, the text that one asked for, a file, or what another wrote: forwarded, or
        replied to. False if it is none of these, or not the owner's. `again`: it came before.
        """
        if not is_same_address(self._base.owner_address(message.channel), message.sender):
            return False
        if message.body.get("forwarded"):
            language = message_language(str(message.body.get("text") or ""))
            reply: ChatReply | None = ChatReply(notice_sentence(people.FORWARDED, language))
        elif await self._take_button(message):
            return True
        else:
            reply = await self._file_wrote(message) or await self._about_forwarded(message)
        if reply and not again:
            self._reply(message, self._key(message.channel) or None, ButtonReply(reply.text))
        return reply is not None

    async def _about_forwarded(self, message: InboundMessage) -> ChatReply | None:
        """Start what the owner asks for in a reply to forwarded words."""
        replied = f"{message.channel} message {message.body.get('reply_to')}"
        body, text = await self._base.db.read(cues.body_of, replied), message.body.get("text")
        material = body.get("text") if body.get("forwarded") else None
        if not isinstance(material, str) or not material or not isinstance(text, str):
            return None
        context: JsonMap = {"outside": outside_text.bound_text(material)}
        return await self._request(message, text, context, Taint.PUBLIC)

    async def _take_button(self, message: InboundMessage) -> bool:
        """Do what a button says, or take the text that one asked for; False if it is neither."""
        channel: object = self._base.channels.get(message.channel)
        if not implements(channel, ButtonChannel):
            return False
        address = self._key(message.channel)
        data, text = message.body.get("button"), message.body.get("text")
        if isinstance(data, str) and data:
            reply = await self._buttons.press(ButtonPress(message.channel, address, data))
        else:
            mine = replace(message, sender=address)
            found = await self._buttons.take_text(mine, text if isinstance(text, str) else "")
            if found is None:
                return False
            reply = found
        if reply.text:
            self._reply(message, address or None, reply)
        return True

    async def chosen(self, channel: str, data: str) -> str | None:
        """Return what a link in a message to the owner chooses; None if it is out of date."""
        return await self._buttons.fits(ButtonPress(channel, self._key(channel), data))

    def _key(self, channel: str) -> str:
        """The owner's address as the buttons are signed for it; empty if the channel knows it."""
        sender: object = self._base.channels.get(channel)
        knows = implements(sender, AddressedChannel) and sender.knows_owner
        return "" if knows else self._base.owner_address(channel)

    def _reply(self, message: InboundMessage, address: str | None, reply: ButtonReply) -> None:
        """Answer in the background, once; only what surely did not leave is tried again."""
        base = self._base
        channel = base.channels[message.channel]
        key = f"press-{hashlib.sha256(message.ref.encode()).hexdigest()[:32]}"
        parcel = Parcel(key, address, reply.text, buttons=reply.buttons)
        tries = iter(range(_MAX_TRIES))
        is_open = False  # a send began, and nobody knows how it ended

        async def send() -> None:
            nonlocal is_open
            while not is_open and next(tries, None) is not None:
                is_open = True
                answer = await channel.send(parcel)
                is_open = False
                if not isinstance(answer, SendRetry):
                    return
                await base.clock.sleep(answer.after or 1.0)

        base.background.start(f"reply:{key}", send)

    def _context(
        self, name: str, contact_wrote: Callable[[InboundMessage], Awaitable[object]]
    ) -> ChatContext:
        base = self._base
        return ChatContext(
            name=name,
            keys=base.keys,
            clock=base.clock,
            db=base.db,
            zone=base.zone,
            background=base.background,
            journal=base.journal,
            sender=base.channels[name],
            buttons=self._buttons,
            owner_address=partial(self._base.owner_address, name),
            is_contact=partial(self._is_contact, name),
            owner_wrote=self._owner_wrote,
            contact_wrote=contact_wrote,
            redact=base.redact,
            pair=partial(self._pair, name),
        )

    def _is_contact(self, channel: str, address: str) -> bool:
        entries = self._base.contacts.known_entries()
        lines = (each.lines.get(channel) for each in entries if each.role != OWNER)
        return any(line is not None and line.address == address for line in lines)

    async def with_file(self, message: InboundMessage, taint: Taint) -> InboundMessage:
        """Return a message with the file that it names at its provider, fetched and kept."""
        media = message.body.get("media")
        channel: object = self._base.channels.get(message.channel)
        if not isinstance(media, dict) or not implements(channel, FetchingChannel):
            return message
        ident = media.get("id")
        if not isinstance(ident, str) or not ident or media.get("label") == VOICE_NOTE:
            return message
        content = await channel.fetch_file(ident, checks.MAX_BYTES)
        named: JsonMap = {"name": media.get("name"), "type": media.get("type")}
        named["name"] = named["name"] or _default_name(media)
        kept = task_files(self._settings)
        listed = await asyncio.to_thread(people.keep_file, kept, named, content, taint)
        return replace(message, body=message.body | {ATTACHMENTS: [listed]})

    async def _file_wrote(self, message: InboundMessage) -> ChatReply | None:
        """Start what the owner's words ask for with a file; None if the message has none."""
        message = await self.with_file(message, Taint.OWNER)
        listed = message.body.get(ATTACHMENTS)
        if not isinstance(listed, list) or not isinstance(listed[0], dict):
            return None
        name, text = listed[0].get("name"), str(message.body.get("text") or "")
        if "sha256" not in listed[0]:
            return ChatReply(f"{name} was not kept: {listed[0].get('why')}. Nothing was done.")
        if not text.strip():
            return ChatReply(f"Send {name} again with words that say what I shall do with it.")
        return await self._request(message, text, {ATTACHMENTS: listed}, Taint.OWNER)

    async def _owner_wrote(self, message: InboundMessage) -> ChatReply:
        """A turn of the conversation; words about another's text are a request of their own."""
        if (reply := await self._file_wrote(message)) is not None:
            return reply
        material, text = str(message.body.get("outside") or ""), str(message.body.get("text") or "")
        if not material or not text.strip():
            await self._talk(message)
            return ChatReply()
        context: JsonMap = {"outside": outside_text.bound_text(material)}
        return await self._request(message, text, context, Taint.PUBLIC)

    async def _request(
        self, inbound: InboundMessage, text: str, context: JsonMap, taint: Taint
    ) -> ChatReply:
        message = OwnerMessage(
            text=text,
            source=Source(SourceKind.MANUAL, inbound.ref[:_MAX_REF]),
            context=context,
            home=inbound.channel,
            taint=taint,
            said_at=inbound.said_at,
        )
        found = await self._base.intake.hear(message)
        if not found.tasks:
            return ChatReply("I found nothing to do in that. Reply with what I shall do with it.")
        noted = f"Noted: “{found.tasks[0].title}”."
        return ChatReply(noted, tuple(each.id for each in found.tasks))

    async def _pair(self, channel: str, contact: str | None, address: str) -> str:
        """Write a chat into the contact book; return what to say there."""
        line = {channel: ContactAddress(address)}
        agent = self._settings.agent
        if contact is None:
            entries = self._base.contacts.entries()
            own = next((each.name for each in entries if each.role == OWNER), None)
            entry = ContactEntry(own or self._settings.owner, (), OWNER, line)
            text = f"This chat is yours. Write what {agent} shall do; questions come here."
        else:
            entry = ContactEntry(contact, (), None, line)
            text = f"Connected. {agent} may write to you here."
        await asyncio.to_thread(edit.put, self._settings.home / FILE, entry)
        return text


def _default_name(media: JsonMap) -> str:
    """A name for a file that has none: its kind, and the usual end of its type."""
    ends = {"image/jpeg": "jpg", "image/png": "png", "application/pdf": "pdf", "audio/ogg": "ogg"}
    end = ends.get(str(media.get("type")).partition(";")[0])
    kind = str(media.get("kind") or "file")
    return f"{kind}.{end}" if end else kind
