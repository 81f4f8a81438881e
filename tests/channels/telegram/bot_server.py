"""Telegram's Bot API on loopback: long polling, messages, buttons, and its documented errors.

    async with BotServer() as bot:
        bot.write("Remind me at 9")              # the owner writes
        bot.orders = [Fault(429, retry_after=3), Fault()]   # of the next sends; the last repeats
        assert [message.text for message in bot.accepted] == ["Good day."]

Real HTTP over a real socket. `accepted` is what people would have got, `edits` what their messages
say now, `toasts` what a pressed button answered.
"""

import asyncio
import email
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from enum import Enum, auto
from itertools import count
from typing import Final, cast

from remit.model.task_file import TaskFile
from tests.live.loopback import Listener, head_of, read_head, reset

TOKEN: Final = "7316554210:AAcanary7f3a91c4e2b85d60Zq9xWplok"
NAME: Final = "nina_remit_bot"
OWNER: Final = 55120001
STRANGER: Final = 66230002
ANNA: Final = 77340003
GROUP: Final = -4001234
STAMP: Final = 1_772_442_000  # 2 March 2026, 09:00 UTC
_MAX_UNITS: Final = 4096
_MAX_DATA_BYTES: Final = 64

Json = dict[str, object]


class Cut(Enum):
    """Where the connection is cut, by a reset as of a crashed machine."""

    BEFORE = auto()  # the message was not taken
    AFTER = auto()  # it was taken, and no answer goes out


@dataclass(frozen=True)
class Fault:
    """What becomes of one sendMessage; without anything it is taken."""

    status: int = 200
    description: str = ""
    retry_after: int | None = None
    migrate_to: int | None = None
    cut: Cut | None = None
    body: bytes | None = None  # instead of an answer
    chat: int | None = None  # only for messages to this chat


@dataclass(frozen=True)
class Sent:
    """A message that the bot sent."""

    chat: int
    message: int
    text: str
    entities: list[Json] = field(default_factory=list)
    buttons: dict[str, str] = field(default_factory=dict)  # data by label
    reply_to: int | None = None
    asks_for_text: bool = False
    silent: bool = False

    @property
    def ref(self) -> str:
        return f"{self.chat}:{self.message}"


class BotServer(Listener):
    def __init__(self) -> None:
        self.token = TOKEN
        self.accepted: list[Sent] = []
        self.edits: dict[str, str] = {}
        self.edited: list[tuple[str, str]] = []  # every edit, in order
        self.edit_orders: list[Fault] = [Fault()]  # of the next edits; the last repeats
        self.toasts: list[str] = []
        self.orders: list[Fault] = [Fault()]
        self.polls: list[Fault] = [Fault()]  # of getUpdates
        self.asked: list[tuple[str, Json]] = []  # every call, whole
        self.repeats = False  # brings every update twice
        self.webhook = False  # somebody has set one
        self.hurry = False  # an empty poll ends at once
        self.files: dict[str, bytes] = {}  # what people sent, by id
        self._updates: list[Json] = []
        self._numbers = count(9001)
        self._messages = count(1)
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    # What people do -----------------------------------------------------------------------------

    def write(
        self, text: str = "", sender: int = OWNER, chat: int | None = None, **more: object
    ) -> int:
        """Somebody writes; return the id of the message."""
        number = next(self._messages)
        said = {"text": text} if text else {}
        self.bring({"message": {**self._head(number, sender, chat), **said, **more}})
        return number

    def rewrite(self, message: int, text: str, sender: int = OWNER) -> None:
        self.bring({"edited_message": {**self._head(message, sender, None), "text": text}})

    def press(self, sent: Sent, label: str, sender: int = OWNER, chat: int | None = None) -> None:
        self.press_data(
            sent.buttons[label], sent.message, sender, sent.chat if chat is None else chat
        )

    def press_data(self, data: str, message: int, sender: int = OWNER, chat: int = OWNER) -> None:
        shown = {"message_id": message, "chat": _chat(chat), "date": STAMP}
        person = {"id": sender, "is_bot": False, "first_name": "Somebody"}
        query = {"id": str(next(self._numbers)), "from": person, "message": shown, "data": data}
        self.bring({"callback_query": query})

    def bring(self, update: Json) -> None:
        """Add an update, from any thread."""
        self._updates.append({"update_id": next(self._numbers), **update})
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._news.set)

    def number_anew(self, start: int) -> None:
        """Number the updates from here on."""
        self._numbers = count(start)

    def texts(self, chat: int = OWNER) -> list[str]:
        return [each.text for each in self.accepted if each.chat == chat]

    def _head(self, number: int, sender: int, chat: int | None) -> Json:
        person = {"id": sender, "is_bot": False, "first_name": "Somebody"}
        return {"message_id": number, "from": person, "chat": _chat(chat or sender), "date": STAMP}

    # What it answers ----------------------------------------------------------------------------

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._loop = asyncio.get_running_loop()
        while True:
            head = await read_head(reader)
            body = await reader.readexactly(head.length)
            if head.path.startswith(f"/file/bot{self.token}/"):
                answer: tuple[int, bytes] | Cut = self._stored(head.path)
            else:
                answer = await self._answer(head.path, _read(head.headers, body))
            if isinstance(answer, Cut):
                reset(writer)
                return
            status, told = answer
            headers = {"content-type": "application/json", "content-length": str(len(told))}
            writer.write(head_of(status, headers) + told)
            await writer.drain()

    def _stored(self, path: str) -> tuple[int, bytes]:
        found = self.files.get(path.rpartition("/")[2])
        return (404, b"") if found is None else (200, found)

    def get_file(self, fields: Json) -> tuple[int, bytes]:
        ident = str(fields["file_id"])
        if ident not in self.files:
            return _refuse(400, "Bad Request: file is too big")
        return _ok({"file_id": ident, "file_path": f"documents/{ident}"})

    async def _answer(self, path: str, fields: Json) -> tuple[int, bytes] | Cut:
        whose, _, method = path.removeprefix("/bot").partition("/")
        self.asked.append((method, fields))
        if whose != self.token:
            return _refuse(401, "Unauthorized")
        if method == "getUpdates":
            return await self._poll(fields)
        does = _DOES.get(method)
        return _refuse(404, "Not Found") if does is None else does(self, fields)

    def me(self, _: Json) -> tuple[int, bytes]:
        return _ok({"id": 7316554210, "is_bot": True, "username": NAME})

    def toast(self, fields: Json) -> tuple[int, bytes]:
        self.toasts.append(str(fields["text"]))
        return _ok(result=True)

    def delete_webhook(self, _: Json) -> tuple[int, bytes]:
        self.webhook = False
        return _ok(result=True)

    async def _poll(self, fields: Json) -> tuple[int, bytes] | Cut:
        order = self.polls.pop(0) if len(self.polls) > 1 else self.polls[0]
        if self.webhook:
            said = "Conflict: can't use getUpdates method while webhook is active"
            return _refuse(409, said)
        if order != Fault():
            return order.cut or _refuse(order.status, order.description, _more(order))
        offset, wait = int(str(fields.get("offset", 0))), float(str(fields.get("timeout", 0)))
        self._updates = [each for each in self._updates if cast("int", each["update_id"]) >= offset]
        if not self._updates and wait and not self.hurry:
            self._news.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._news.wait()
            except TimeoutError:
                pass
        found = self._updates[: int(str(fields.get("limit", 100)))]
        return _ok([*found, *found] if self.repeats else found)

    def send(self, fields: Json) -> tuple[int, bytes] | Cut:
        order = self.orders[0]
        if order.chat not in (None, fields["chat_id"]):
            order = Fault()
        elif len(self.orders) > 1:
            self.orders.pop(0)
        if order.cut is Cut.BEFORE:
            return order.cut
        if order.status != 200 or order.body is not None:
            told = order.body
            refused = _refuse(order.status, order.description, _more(order))
            return refused if told is None else (order.status, told)
        wrong = _wrong(fields)
        if wrong:
            return _refuse(400, f"Bad Request: {wrong}")
        sent = self._sent(fields)
        self.accepted.append(sent)
        if order.cut is Cut.AFTER:
            return order.cut
        shown = {"message_id": sent.message, "chat": _chat(sent.chat), "date": STAMP}
        return _ok({**shown, "text": sent.text})

    def _sent(self, fields: Json) -> Sent:
        markup = cast("Json", fields.get("reply_markup") or {})
        rows = cast("list[list[Json]]", markup.get("inline_keyboard") or [])
        reply = cast("Json", fields.get("reply_parameters") or {}).get("message_id")
        return Sent(
            chat=cast("int", fields["chat_id"]),
            message=next(self._messages),
            text=str(fields["text"]),
            entities=cast("list[Json]", fields.get("entities") or []),
            buttons={str(key["text"]): str(key["callback_data"]) for row in rows for key in row},
            reply_to=cast("int | None", reply),
            asks_for_text=markup.get("force_reply") is True,
            silent=fields.get("disable_notification") is True,
        )

    def edit(self, fields: Json) -> tuple[int, bytes] | Cut:
        order = self.edit_orders.pop(0) if len(self.edit_orders) > 1 else self.edit_orders[0]
        if order.cut is Cut.BEFORE:
            return order.cut
        if order.status != 200:
            return _refuse(order.status, order.description, _more(order))
        ref, text = f"{fields['chat_id']}:{fields['message_id']}", str(fields["text"])
        if wrong := self._unchanged(ref, text) or _wrong(fields):
            return _refuse(400, f"Bad Request: {wrong}")
        self.edits[ref] = text
        self.edited.append((ref, text))
        return order.cut or _ok({"message_id": fields["message_id"]})

    def _unchanged(self, ref: str, text: str) -> str:
        found = next((each for each in self.accepted if each.ref == ref), None)
        if found is None:
            return "message to edit not found"
        same = self.edits.get(ref, found.text) == text
        return (
            "message is not modified" if same and (ref in self.edits or not found.buttons) else ""
        )


_DOES: Final[Mapping[str, Callable[[BotServer, Json], tuple[int, bytes] | Cut]]] = {
    "getMe": BotServer.me,
    "sendMessage": BotServer.send,
    "sendDocument": BotServer.send,
    "getFile": BotServer.get_file,
    "editMessageText": BotServer.edit,
    "answerCallbackQuery": BotServer.toast,
    "deleteWebhook": BotServer.delete_webhook,
}


def _read(headers: Mapping[str, str], body: bytes) -> Json:
    """Return the fields of a call; a document counts as the line that names it."""
    kind = headers.get("content-type", "")
    if not kind.startswith("multipart/"):
        return cast("Json", json.loads(body or b"{}"))
    chat, document = multipart(kind, body)
    name, content = str(document.get_filename()), cast("bytes", document.get_payload(decode=True))
    digest = hashlib.sha256(content).hexdigest()
    file = TaskFile(name, document.get_content_type(), len(content), digest)
    said = cast("bytes", chat.get_payload(decode=True))
    return {"chat_id": int(said), "text": file.line, "content": content.decode("latin-1")}


def multipart(kind: str, body: bytes) -> "list[Message[str, str]]":
    found = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    return cast("list[Message[str, str]]", found.get_payload())


def _chat(chat: int) -> Json:
    return {"id": chat, "type": "private" if chat > 0 else "group"}


def _wrong(fields: Json) -> str:
    """Return what the Bot API would refuse."""
    text = str(fields.get("text") or "")
    length = len(text.encode("utf-16-le")) // 2
    if not text.strip():
        return "message text is empty"
    if length > _MAX_UNITS:
        return "message is too long"
    for entity in cast("list[dict[str, int]]", fields.get("entities") or []):
        if entity["length"] < 1 or entity["offset"] + entity["length"] > length:
            return "can't parse entities"
    markup = cast("Json", fields.get("reply_markup") or {})
    for row in cast("list[list[Json]]", markup.get("inline_keyboard") or []):
        if any(not 1 <= len(str(key["callback_data"]).encode()) <= _MAX_DATA_BYTES for key in row):
            return "BUTTON_DATA_INVALID"
    return ""


def _ok(result: object) -> tuple[int, bytes]:
    return 200, json.dumps({"ok": True, "result": result}).encode()


def _more(order: Fault) -> Mapping[str, object]:
    told = {"retry_after": order.retry_after, "migrate_to_chat_id": order.migrate_to}
    return {name: value for name, value in told.items() if value is not None}


def _refuse(
    status: int, description: str, more: Mapping[str, object] | None = None
) -> tuple[int, bytes]:
    told: Json = {"ok": False, "error_code": status, "description": description}
    return status, json.dumps(told | ({"parameters": more} if more else {})).encode()
