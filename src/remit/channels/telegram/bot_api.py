"""One call of Telegram's Bot API, what its answer means, and the updates that it brings.

The token is part of every address, so no address and no library's error text is ever shown.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, TypeAlias

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import Json, JsonMap
from remit.model.delivery import Accepted, Answer, Locked, Refused, SendRetry, Unknown
from remit.model.task_file import FileContent
from remit.store.cues import InboundMessage
from remit.system import http_client
from remit.system.http_client import HttpFailure, HttpReply, Token

DEFAULT_URL: Final = "https://api.telegram.org"
SEND_SECONDS: Final = 60.0  # for a whole exchange, less than the courier's limit
_TOKEN: Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{20,100}")
_URL: Final = re.compile(r"https://[a-z0-9.-]+(?::[0-9]{1,5})?|http://127\.0\.0\.1:[0-9]{1,5}")
_FILE_PATH: Final = re.compile(r"[A-Za-z0-9_./-]{1,300}")
_ADDRESS: Final = re.compile(r"(-?[1-9][0-9]{0,18})@telegram")
_UNSET: Final = (
    "The token of the Telegram bot is missing or is no token. @BotFather gives it to you; keep it "
    "with `remit secrets set`."
)
REVOKED: Final = (
    "Telegram does not take the token of the bot any more. Get a new one from @BotFather, and keep "
    "it with `remit secrets set`."
)
_FORBIDDEN: Final[Mapping[str, str]] = {  # by what Telegram says
    "blocked by the user": "This person has blocked the bot. Ask them to unblock it.",
    "user is deactivated": "This person's Telegram account was deleted.",
    "kicked": "The bot was removed from this group. Add it again.",
    "not a member": "The bot is not in this group. Add it.",
    "initiate conversation": "This person has not started the bot yet. Ask them to press Start.",
    "chat not found": "Telegram does not know this chat. Connect it with `remit channels pair`.",
}


class BotReply(Struct, frozen=True):
    """An answer of the Bot API. `said` is cleaned of the token."""

    ok: bool
    result: object = None
    code: int = 200
    said: str = ""
    retry_after: float | None = None
    moved_to: int | None = None  # the new id of a group that became a supergroup


class NoToken(Struct, frozen=True):
    """Nothing was asked: the secret is missing or has another form."""


BotAnswer = BotReply | HttpReply | HttpFailure | NoToken


class BotApi:
    """Calls methods of one bot, each once."""

    def __init__(self, token: Token, url: str = DEFAULT_URL) -> None:
        if not _URL.fullmatch(url):
            sentence = f"The address {url!r:.60} must be https, such as {DEFAULT_URL}."
            raise BadInput(sentence, field="url")
        self._token = http_client.hidden(token)
        self._url = url
        self._client = http_client.open_client(url)

    async def close(self) -> None:
        await self._client.aclose()

    async def call(
        self,
        method: str,
        fields: Mapping[str, object],
        seconds: float = SEND_SECONDS,
        max_bytes: int = http_client.MAX_ANSWER_BYTES,
    ) -> BotAnswer:
        content = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
        return await self._post(method, "application/json", content, seconds, max_bytes)

    async def send_file(
        self, method: str, fields: Mapping[str, str], file: FileContent, seconds: float
    ) -> BotAnswer:
        """One call that carries a file."""
        content = file.content
        kind, body = http_client.form_with_file(fields, "document", file.name, file.type, content)
        return await self._post(method, kind, body, seconds, http_client.MAX_ANSWER_BYTES)

    async def _post(
        self, method: str, kind: str, body: bytes, seconds: float, max_bytes: int
    ) -> BotAnswer:
        token = self._token()
        if not _TOKEN.fullmatch(token):
            return NoToken()
        url, headers = f"{self._url}/bot{token}/{method}", {"content-type": kind}
        reply = await http_client.post_bytes(self._client, url, headers, body, seconds, max_bytes)
        return reply if isinstance(reply, HttpFailure) else _reply(reply, token)

    async def fetch_file(self, file_id: str, most: int) -> bytes | None:
        """Return the content of a file that somebody sent; None if it cannot be had."""
        found = await self.call("getFile", {"file_id": file_id})
        fields = found.result if isinstance(found, BotReply) and found.ok else None
        path = fields.get("file_path") if isinstance(fields, dict) else None
        if not isinstance(path, str) or not _FILE_PATH.fullmatch(path) or ".." in path:
            return None
        url = f"{self._url}/file/bot{self._token()}/{path}"
        return await http_client.get_bytes(self._client, url, {}, SEND_SECONDS, most)


def address_of(chat: int) -> str:
    """The address of a chat in the contacts: no telephone number or mail address looks like it."""
    return f"{chat}@telegram"


def chat_of(address: str) -> int | None:
    """The id of a chat by its address; None if it is none."""
    found = _ADDRESS.fullmatch(address)
    return int(found[1]) if found else None


def answer_of(reply: BotAnswer, chat: int, now: datetime) -> Answer:
    """Return the result of a send: only `ok` with an id is a yes, only a 4xx is a no."""
    if isinstance(reply, NoToken):
        return Locked(_UNSET)
    if not isinstance(reply, BotReply):
        return http_client.answer_with_id(
            reply, "Telegram", now, None
        )  # not in the form of the Bot API
    if reply.ok:
        number = number_of(reply.result, "message_id")
        named = Accepted(f"{chat}:{number}")
        return named if number is not None else Unknown("Telegram took it and named no message.")
    return _answer_of_refusal(reply)


def _answer_of_refusal(reply: BotReply) -> SendRetry | Refused | Locked | Unknown:
    why = f"({reply.code}: {reply.said})"
    match reply.code:
        case HTTPStatus.TOO_MANY_REQUESTS:
            wait = f"Telegram asks for patience {why}."
            return SendRetry(wait, reply.retry_after, spends=False)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.NOT_FOUND:
            return Locked(REVOKED)
        case HTTPStatus.BAD_REQUEST | HTTPStatus.FORBIDDEN:
            known = (says for words, says in _FORBIDDEN.items() if words in reply.said.lower())
            return Refused(f"{next(known, 'Telegram refused the message.')} {why}")
        case code if code // 100 == HTTPStatus.BAD_REQUEST // 100:
            return Refused(f"Telegram refused the message {why}.")
        case _:
            return Unknown(f"Telegram answered {reply.code}, which says neither yes nor no.")


async def check(token: str, url: str) -> JsonMap:
    """Return the bot's name for the settings; raise BadInput if the token is not valid."""
    bot = BotApi(lambda: token, url or DEFAULT_URL)
    try:
        reply = await bot.call("getMe", {})
    finally:
        await bot.close()
    if isinstance(reply, NoToken):
        sentence = "This is no token of a bot: it looks like 123456:ABC… and comes from @BotFather."
        raise BadInput(sentence, field="token")
    result = reply.result if isinstance(reply, BotReply) else None
    name = result.get("username") if isinstance(result, dict) else None
    if isinstance(name, str) and re.fullmatch(r"\w{3,64}", name):
        return {"bot": name, "url": url} if url else {"bot": name}
    if isinstance(reply, BotReply) and not reply.ok:
        raise BadInput(
            f"Telegram does not know this token ({reply.code}: {reply.said}).", field="token"
        )
    raise BadInput("Telegram could not be asked about this token. Try again later.", field="token")


def _reply(reply: HttpReply, token: str) -> BotReply | HttpReply:
    fields = http_client.fields_of(reply.body)
    if fields.get("ok") is True and reply.status == HTTPStatus.OK:
        return BotReply(ok=True, result=fields.get("result"))
    code = fields.get("error_code")
    if fields.get("ok") is not False or not isinstance(code, int):
        return reply
    more = fields.get("parameters")
    wait = number_of(more, "retry_after")
    return BotReply(
        ok=False,
        code=code,
        said=http_client.clean(fields.get("description"), token),
        retry_after=None if wait is None else float(max(wait, 0)),
        moved_to=number_of(more, "migrate_to_chat_id"),
    )


def number_of(some: object, name: str) -> int | None:
    """Return a whole number in an answer; None if there is none."""
    found = some.get(name) if isinstance(some, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


Fields: TypeAlias = Mapping[str, object]
# Updates ----------------------------------------------------------------------------------------

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
    """Return all updates in order; one of unknown shape keeps only its number."""
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
