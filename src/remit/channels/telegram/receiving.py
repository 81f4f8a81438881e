"""Reads Telegram's updates: what people wrote, edited and pressed. Pure."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypeAlias

from msgspec import Struct

from remit.channels.telegram.bot_api import address_of, number_of
from remit.model.codec import Json, JsonMap
from remit.store.inbound import InboundMessage

Fields: TypeAlias = Mapping[str, object]
_CODE: Final = re.compile(r"(?:/start(?:@\w+)?\s+)?([0-9A-Za-z]{10})")
_START: Final = re.compile(r"/start(?:@\w+)?(?:\s+\S+)?\s*")
_MEDIA: Final[Mapping[str, str]] = {  # by the field of a message, the surest first
    "voice": "a voice note",
    "video_note": "a video note",
    "animation": "an animation",
    "photo": "a photo",
    "video": "a video",
    "audio": "a sound file",
    "document": "a document",
    "sticker": "a sticker",
    "venue": "a place",
    "location": "a location",
    "contact": "a contact card",
    "poll": "a poll",
    "dice": "a dice",
}


_MAX_ID: Final = 300  # characters
_FILES: Final = ("document", "photo", "audio", "video")


class ChatFile(Struct, frozen=True):
    """A file at the provider, which is fetched by its id."""

    id: str
    name: str
    type: str = ""


class ChatMessage(Struct, frozen=True):
    """A message in a chat. `forwarded`: the words are another's."""

    chat: int
    message: int
    sender: int | None
    private: bool
    text: str = ""
    media: str = ""  # what it carries besides text, in words
    file: ChatFile | None = None
    at: datetime | None = None
    reply_to: int | None = None
    forwarded: bool = False
    material: str = ""  # another's text that this one replies to
    edited: bool = False
    moved_to: int | None = None  # a group's new id

    @property
    def code(self) -> str | None:
        """The pairing code, if the message is nothing else."""
        found = _CODE.fullmatch(self.text.strip())
        return found[1] if found and not self.forwarded else None

    @property
    def is_start(self) -> bool:
        """Whether it only begins a chat with a bot, with a code or without."""
        return _START.fullmatch(self.text) is not None

    @property
    def by_one(self) -> bool:
        """Whether the chat is a person's own, and nobody else can write there."""
        return self.private and self.sender == self.chat

    def inbound(self, channel: str, chat: int) -> InboundMessage:
        """The message as every channel's; `chat` is the id under which it was paired."""
        found: JsonMap = {"label": self.media}
        if self.file is not None:
            found |= {"id": self.file.id, "name": self.file.name, "type": self.file.type}
        media: Json = found if self.media else None
        replied = f"{self.chat}:{self.reply_to}" if self.reply_to is not None else None
        body: JsonMap = {
            "text": self.text,
            "media": media,
            "reply_to": replied,
            "outside": self.material,
        }
        ref = f"{channel} message {self.chat}:{self.message}"
        return InboundMessage(ref, channel, body, address_of(chat), self.at)


class ChatPress(Struct, frozen=True):
    """A pressed button. `chat` and `message` are None if the message is too old to be named."""

    id: str
    sender: int
    chat: int | None
    message: int | None
    data: str


class ChatUpdate(Struct, frozen=True):
    """One update, in Telegram's order; without content it is of a kind that starts nothing."""

    number: int
    content: ChatMessage | ChatPress | None = None


def read_updates(result: object) -> list[ChatUpdate]:
    """Every update with a number, in order; what has another shape keeps its number alone."""
    listed = result if isinstance(result, list) else []
    found = [(number_of(each, "update_id"), _fields(each)) for each in listed]
    return sorted(
        (ChatUpdate(number, _content(each)) for number, each in found if number is not None),
        key=lambda update: update.number,
    )


def _content(update: Fields) -> ChatMessage | ChatPress | None:
    if "callback_query" in update:
        return _press(_fields(update["callback_query"]))
    if "edited_message" in update:
        return _message(_fields(update["edited_message"]), edited=True)
    return _message(_fields(update.get("message")), edited=False)


def _press(query: Fields) -> ChatPress | None:
    ident, data = query.get("id"), query.get("data")
    sender = number_of(query.get("from"), "id")
    if not isinstance(ident, str) or sender is None or not isinstance(data, str):
        return None
    message = _fields(query.get("message"))
    chat = number_of(message.get("chat"), "id")
    return ChatPress(ident, sender, chat, number_of(message, "message_id"), data)


def _message(fields: Fields, *, edited: bool) -> ChatMessage | None:
    chat, number = number_of(fields.get("chat"), "id"), number_of(fields, "message_id")
    if chat is None or number is None:
        return None
    replied = _fields(fields.get("reply_to_message"))
    return ChatMessage(
        chat=chat,
        message=number,
        # A message in a channel's or an anonymous admin's name is nobody's.
        sender=None if "sender_chat" in fields else number_of(fields.get("from"), "id"),
        private=_fields(fields.get("chat")).get("type") == "private",
        text=_text(fields),
        media=next((label for name, label in _MEDIA.items() if name in fields), ""),
        file=_file(fields),
        at=_time(number_of(fields, "date")),
        reply_to=number_of(replied, "message_id"),
        forwarded=_is_forwarded(fields),
        material=_text(replied) if _is_forwarded(replied) else "",
        edited=edited,
        moved_to=number_of(fields, "migrate_to_chat_id"),
    )


def _file(fields: Fields) -> ChatFile | None:
    """Return the file of a message; of a photo the largest size, which comes last."""
    kind = next((name for name in _FILES if name in fields), None)
    some = fields[kind] if kind else None
    found = _fields(some[-1] if isinstance(some, list) and some else some)
    ident, name, media = (found.get(key) for key in ("file_id", "file_name", "mime_type"))
    if not isinstance(ident, str) or len(ident) > _MAX_ID:
        return None
    shown = name if isinstance(name, str) else f"{kind}.jpg" if kind == "photo" else str(kind)
    return ChatFile(ident, shown, media if isinstance(media, str) else "")


def _is_forwarded(fields: Fields) -> bool:
    return any(name in fields for name in ("forward_origin", "forward_date", "via_bot"))


def _text(fields: Fields) -> str:
    text = fields.get("text") or fields.get("caption")
    whole = text if isinstance(text, str) else ""
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _time(seconds: int | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _fields(some: object) -> Fields:
    return some if isinstance(some, dict) else {}
