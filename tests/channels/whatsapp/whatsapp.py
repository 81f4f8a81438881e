"""WhatsApp on loopback: takes messages as the Cloud API does, tells by hook, misbehaves on order.

    async with Provider() as provider:
        provider.orders = [Order(code=130429, status=429), Order()]   # the last one repeats
        …
        assert [message.text for message in provider.accepted] == ["Good day."]

Real HTTP over a real socket. What it accepted is what a person would have got; `heard` counts every
request that came in whole, so that a second try is seen even if it was refused.
"""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count
from typing import Final

import httpx2

from tests.channels.telegram.bot_server import multipart
from tests.live.loopback import Listener, head_of, read_head, reset

TOKEN: Final = "EAAcanary7f3a91c4e2b85d60Zq9xW"
SECRET: Final = "app-secret-canary-51c07"
NUMBER_ID: Final = "106540352242922"
PERSON: Final = "972501234567"
USER_ID: Final = "IL.13491208655302741918"
STAMP: Final = 1_772_442_000  # 2 March 2026, 09:00 UTC
_MOST: Final = 4096

Json = Mapping[str, object]


class Cut(Enum):
    """Where the connection is cut, by a reset as of a crashed machine."""

    IN_REQUEST = auto()  # half of the request was read
    BEFORE_ANSWER = auto()
    IN_ANSWER = auto()  # the head and half of the body went out


@dataclass(frozen=True, slots=True)
class Order:
    """What the provider does with one request."""

    status: int = 200
    code: int | None = None  # of an error, as the provider counts them
    details: str = "Something about it."
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None  # these bytes instead of an answer
    accept: bool | None = None  # by default: if it answers 200 and is not cut
    cut: Cut | None = None
    silent: bool = False  # never answers
    pace: float = 0  # seconds between two bytes of the answer

    @property
    def accepts(self) -> bool:
        if self.accept is not None:
            return self.accept
        return self.status == 200 and self.cut is None and not self.silent


@dataclass(frozen=True, slots=True)
class Heard:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, object]:
        found: object = json.loads(self.body or b"{}")
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True, slots=True)
class Message:
    """What a person would get."""

    ref: str
    to: str
    text: str
    key: str | None
    kind: str
    buttons: Mapping[str, str] = field(default_factory=dict)  # data by label


class Loopback(Listener):
    """An HTTP server that can misbehave."""

    def __init__(self) -> None:
        self.orders: list[Order] = [Order()]
        self.heard: list[Heard] = []

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        """Return the status and body of the answer to a complete request."""
        raise NotImplementedError

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._one(reader, writer):
            pass

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; true if the connection stays open for the next."""
        head = await read_head(reader)
        order = self.orders.pop(0) if len(self.orders) > 1 else self.orders[0]
        if order.cut is Cut.IN_REQUEST:
            await reader.readexactly(head.length // 2)
            reset(writer)
            return False
        heard = Heard(head.method, head.path, head.headers, await reader.readexactly(head.length))
        self.heard.append(heard)
        status, body = self.answer(heard, order)
        return await _say(reader, writer, order, status, body)


async def _say(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    order: Order,
    status: int,
    body: bytes,
) -> bool:
    if order.silent:
        await reader.read(1)  # until the client disconnects
        return False
    if order.cut is Cut.BEFORE_ANSWER:
        reset(writer)
        return False
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    writer.write(head_of(status, {**headers, **order.headers}))
    if order.cut is Cut.IN_ANSWER:
        writer.write(body[: len(body) // 2])
        await writer.drain()
        return False
    for n in range(len(body) if order.pace else 0):
        writer.write(body[n : n + 1])
        await writer.drain()
        await asyncio.sleep(order.pace)
    writer.write(b"" if order.pace else body)
    await writer.drain()
    return True


class Provider(Loopback):
    """The Cloud API of one number."""

    def __init__(self) -> None:
        super().__init__()
        self.accepted: list[Message] = []
        self.took = asyncio.Event()  # set once something was accepted
        self.token = TOKEN
        self.media: dict[str, bytes] = {}
        self.wrote: set[str] = {PERSON, USER_ID}  # who wrote within the last 24 hours
        self._numbers = count(1)

    @property
    def url(self) -> str:
        return f"{self.root}/v25.0"

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        if (stored := self._media(heard)) is not None:
            return stored
        refused = self._refused(heard, order)
        if refused is not None:
            return refused
        if order.accepts:
            self.accepted.append(self._message(heard.fields))
            self.took.set()
        if order.body is not None or order.status != 200:
            return order.status, order.body if order.body is not None else b"{}"
        return 200, _taken(self.accepted[-1] if order.accepts else self._message(heard.fields))

    def _media(self, heard: Heard) -> tuple[int, bytes] | None:
        """Take a file, or give one back: first its address, then its bytes."""
        if heard.headers.get("authorization") != f"Bearer {self.token}":
            return None
        if heard.path == f"/v25.0/{NUMBER_ID}/media":
            *_, file = multipart(heard.headers["content-type"], heard.body)
            content = file.get_payload(decode=True)
            assert isinstance(content, bytes)
            ident = f"media-{len(self.media) + 1}"
            self.media[ident] = content
            return 200, json.dumps({"id": ident}).encode()
        place, _, ident = heard.path.rpartition("/")
        if heard.method != "GET" or ident not in self.media:
            return None
        if place.endswith("/blob"):
            return 200, self.media[ident]
        return 200, json.dumps({"url": f"{self.url}/blob/{ident}"}).encode()

    def _refused(self, heard: Heard, order: Order) -> tuple[int, bytes] | None:
        if heard.method != "POST" or heard.path != f"/v25.0/{NUMBER_ID}/messages":
            return 404, _error(100, "There is no such place.")
        if heard.headers.get("authorization") != f"Bearer {self.token}":
            return 401, _error(190, "The access token has expired.")
        if order.code is not None:
            return order.status, _error(order.code, order.details)
        wrong = _wrong(heard.fields)
        return (400, _error(100, wrong)) if wrong is not None else None

    def _message(self, fields: Json) -> Message:
        number = next(self._numbers)
        ref = "wamid." + base64.b64encode(f"message-{number:020}".encode()).decode()
        to = str(fields.get("to") or fields.get("recipient"))
        key = fields.get("biz_opaque_callback_data")
        kind = str(fields["type"])
        named = str(key) if key is not None else None
        return Message(ref, to, _text(fields), named, kind, _buttons(fields))

    # What it tells by the hook ------------------------------------------------------------------

    def life(self, message: Message) -> list[Json]:
        """Return the statuses of a message, as they happen."""
        if message.to.endswith("0000"):
            return [self.failed(message, 131026, "Message undeliverable")]
        if message.kind != "template" and message.to not in self.wrote:
            return [self.failed(message, 131047, "Re-engagement message")]
        return [self.status(message, each) for each in ("sent", "delivered", "read")]

    def status(self, message: Message, status: str) -> Json:
        who = "recipient_user_id" if "." in message.to else "recipient_id"
        told = {"id": message.ref, "status": status, "timestamp": str(STAMP), who: message.to}
        return told if message.key is None else told | {"biz_opaque_callback_data": message.key}

    def failed(self, message: Message, code: int, title: str) -> Json:
        details = {"details": f"{title}, said at length."}
        error = {"code": code, "title": title, "message": title, "error_data": details}
        return {**self.status(message, "failed"), "errors": [error]}


async def tell(hook: str, body: bytes, signature: str | None = None) -> int:
    """Post a call to a webhook, correctly signed by default; return its status."""
    signed = sign(body) if signature is None else signature
    headers = {"content-type": "application/json", "x-hub-signature-256": signed}
    async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(verify=False)) as client:
        return (await client.post(hook, content=body, headers=headers)).status_code


async def ask(hook: str, verify_token: str, challenge: str = "1158201444") -> str | None:
    """Verify a webhook, as when it is registered; None if it refuses."""
    query = {"hub.mode": "subscribe", "hub.verify_token": verify_token, "hub.challenge": challenge}
    async with httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(verify=False)) as client:
        answer = await client.get(hook, params=query)
        return answer.text if answer.status_code == 200 else None


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def statuses(*told: Json) -> Json:
    """Return the value of a change with reports; without contacts, as it may come."""
    return {**_VALUE, "statuses": list(told)}


def messages(*said: Json, contacts: Sequence[Json] = ()) -> Json:
    """Return the value of a change with messages from people."""
    return {**_VALUE, "contacts": list(contacts), "messages": list(said)}


def call(*values: Json, field: str = "messages") -> bytes:
    """The body of one call: an entry for each value, as a batch comes."""
    changes = [[{"value": value, "field": field}] for value in values]
    entries = [{"id": "102290129340398", "changes": each} for each in changes]
    return json.dumps({"object": "whatsapp_business_account", "entry": entries}).encode()


_VALUE: Final[Json] = {
    "messaging_product": "whatsapp",
    "metadata": {"display_phone_number": "15550783881", "phone_number_id": NUMBER_ID},
}


def _taken(message: Message) -> bytes:
    contact = {"input": message.to, "wa_id": message.to}
    taken = {"messaging_product": "whatsapp", "contacts": [contact]}
    return json.dumps({**taken, "messages": [{"id": message.ref}]}).encode()


def _error(code: int, details: str) -> bytes:
    error = {
        "message": f"(#{code}) Scripted",
        "type": "OAuthException",
        "code": code,
        "error_data": {"messaging_product": "whatsapp", "details": details},
        "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
    }
    return json.dumps({"error": error}).encode()


def _wrong(fields: Json) -> str | None:
    """Return what the Cloud API would refuse."""
    if fields.get("messaging_product") != "whatsapp":
        return "messaging_product must be whatsapp"
    if not str(fields.get("to") or fields.get("recipient") or ""):
        return "to is required"
    if len(str(fields.get("biz_opaque_callback_data", ""))) > 512:
        return "biz_opaque_callback_data is too long"
    text = _text(fields)
    if fields.get("type") == "template" and any(sign in text for sign in ("\n", "\t", " " * 5)):
        return "Param text cannot have new-line/tab characters or more than 4 consecutive spaces"
    return None if 1 <= len(text) <= _MOST else "text must have 1 to 4096 characters"


def _text(fields: Json) -> str:
    match fields:
        case {"type": "text", "text": {"body": str(body)}}:
            return body
        case {
            "type": "template",
            "template": {"components": [{"parameters": [{"text": str(body)}]}]},
        }:
            return body
        case {"type": "interactive", "interactive": {"body": {"text": str(body)}}}:
            return body
        case {"type": "document", "document": {"id": str(), "filename": str(name)}}:
            return name
        case _:
            return ""


def _buttons(fields: Json) -> dict[str, str]:
    match fields:
        case {"interactive": {"action": {"buttons": list(keys)}}}:
            replies = [each["reply"] for each in keys]
        case {"interactive": {"action": {"sections": [{"rows": list(rows)}]}}}:
            replies = rows
        case _:
            return {}
    assert all(len(each["title"]) <= 20 and len(each["id"]) <= 200 for each in replies)
    return {each["title"]: each["id"] for each in replies}


class BridgeProvider(Loopback):
    """A program with a linked device; with `knows_ids` the same id twice is one message."""

    def __init__(self, *, knows_ids: bool = False) -> None:
        super().__init__()
        self.accepted: list[Message] = []
        self.knows_ids = knows_ids

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        given = {name: str(value) for name, value in heard.fields.items()}
        known = [message for message in self.accepted if message.key == given["id"]]
        if known and self.knows_ids:
            return 409, json.dumps({"id": known[0].ref}).encode()
        ref = f"3EB0{len(self.accepted):08}"
        if order.accepts:
            sent = Message(ref, given["to"], given["text"], given["id"], "text")
            self.accepted.append(sent)
        if order.body is not None or order.status != 200:
            return order.status, order.body or json.dumps({"error": order.details}).encode()
        return 200, json.dumps({"id": ref}).encode()
