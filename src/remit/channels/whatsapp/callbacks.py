"""Parses WhatsApp's webhook calls: delivery reports and messages, as the store keeps them. Pure.

One call may carry many of both, out of order and repeated. Every part becomes a value; a part of
unknown shape is kept with its text.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from remit.channels.registry import InboundHook
from remit.channels.whatsapp.error_codes import means
from remit.model import delivery
from remit.model.codec import Json, JsonMap, stamp, without_surrogates
from remit.model.delivery import Accepted, Locked, ProviderReport, Refused, SendRetry
from remit.store.inbound import InboundMessage
from remit.system.http_client import clean

MOST: Final = 4 * 1024 * 1024  # bytes of a call; the provider's own limit is lower
_MOST_NOTED: Final = 2000

Fields: TypeAlias = Mapping[str, object]


class MessageProgress(StrEnum):
    """How far a message has come; `failed` is final, the others follow each other."""

    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"


class WhatsAppReport(Struct, frozen=True):
    """The report on a message of ours. `key` is the key it was sent with, `line` our number."""

    ref: str
    key: str | None
    progress: MessageProgress
    at: datetime | None = None
    code: int | None = None  # of a failure
    why: str | None = None
    line: str | None = None


class WhatsAppMedia(Struct, frozen=True):
    """What a message has besides text: media at the provider, which is not fetched, or a card."""

    kind: str
    id: str | None
    type: str | None = None
    name: str | None = None
    voice: bool = False  # a voice note, not a file

    @property
    def label(self) -> str:
        named = f" “{self.name}”" if self.name else ""
        label = _LABELS.get(self.kind) or f"a message of the kind “{self.kind}”"
        return "a voice note" if self.voice else label + named


class WhatsAppMessage(Struct, frozen=True):
    """A message from a person; forwarded, its words are another's. `line` is our own number."""

    ref: str
    line: str | None
    kind: str
    text: str = ""
    user_id: str | None = None
    number: str | None = None
    name: str | None = None
    at: datetime | None = None
    media: WhatsAppMedia | None = None
    reply_to: str | None = None
    button: str | None = None  # the data of a button that was pressed
    forwarded: bool = False
    raw: str = ""  # as it came, if nothing of it could be read


class UnknownWhatsAppEvent(Struct, frozen=True):
    """Something that is neither a report nor a message, or has no id."""

    what: str
    raw: str


class WhatsAppBatch(Struct, frozen=True):
    reports: tuple[WhatsAppReport, ...] = ()
    messages: tuple[WhatsAppMessage, ...] = ()
    strange: tuple[UnknownWhatsAppEvent, ...] = ()


def challenge(query: Mapping[str, str], verify_token: str) -> str | None:
    """Return the answer to the provider's verification request; None: refuse."""
    asked, given = query.get("hub.challenge", ""), query.get("hub.verify_token", "")
    known = hmac.compare_digest(given.encode(errors="replace"), verify_token.encode())
    if query.get("hub.mode") != "subscribe" or not verify_token or not known:
        return None
    # It is echoed to anybody with the token; a challenge is one word.
    return asked if asked.isascii() and asked.isalnum() else None


def read(body: bytes) -> WhatsAppBatch | None:
    """Return everything in a call, in order; None if it is no WhatsApp call."""
    if len(body) > MOST:
        return None
    try:
        call: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("entry"), list):
        return None
    found = [each for entry in call["entry"] for each in _entry(entry)]
    return WhatsAppBatch(
        tuple(each for each in found if isinstance(each, WhatsAppReport)),
        tuple(each for each in found if isinstance(each, WhatsAppMessage)),
        tuple(each for each in found if isinstance(each, UnknownWhatsAppEvent)),
    )


def settles(report: WhatsAppReport) -> Accepted | SendRetry | Refused | Locked:
    """Return what a report says about the send: accepted, or never to arrive."""
    if report.progress is not MessageProgress.FAILED:
        return Accepted(report.ref)
    if report.code is None:
        return Refused(f"WhatsApp took the message and failed to deliver it: {report.why or '?'}.")
    return means(report.code, report.why or "")


def _entry(entry: object) -> Iterator[WhatsAppReport | WhatsAppMessage | UnknownWhatsAppEvent]:
    changes = _fields(entry).get("changes")
    if not isinstance(changes, list):
        yield _strange("an entry without changes", entry)
        return
    for change in changes:
        field, value = _fields(change).get("field"), _fields(change).get("value")
        if field != "messages" or not isinstance(value, dict):
            yield _strange(f"a change of {_word(field) or 'nothing'}", change)
            continue
        yield from _value(value)


def _value(value: Fields) -> Iterator[WhatsAppReport | WhatsAppMessage | UnknownWhatsAppEvent]:
    line = _word(_fields(value.get("metadata")).get("phone_number_id"))
    people = [_fields(each) for each in _list(value.get("contacts"))]
    for status in _list(value.get("statuses")):
        yield _report(_fields(status), line) or _strange("a status", status)
    for message in _list(value.get("messages")):
        yield _inbound(_fields(message), line, people) or _strange("a message", message)
    for error in _list(value.get("errors")):
        yield _strange("an error", error)
    if not any(isinstance(value.get(key), list) for key in ("statuses", "messages", "errors")):
        yield _strange("a change without anything in it", value)


def _report(status: Fields, line: str | None) -> WhatsAppReport | None:
    ref, word = _word(status.get("id")), status.get("status")
    if ref is None or word not in list(MessageProgress):
        return None
    error = next((_fields(each) for each in _list(status.get("errors"))), {})
    code = error.get("code")
    details = _fields(error.get("error_data")).get("details")
    return WhatsAppReport(
        ref=ref,
        key=_word(status.get("biz_opaque_callback_data")),
        progress=MessageProgress(str(word)),
        at=_time(status.get("timestamp")),
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        why=clean(details or error.get("title") or error.get("message"), "") or None,
        line=line,
    )


def _inbound(message: Fields, line: str | None, people: Sequence[Fields]) -> WhatsAppMessage | None:
    ref = _word(message.get("id"))
    number, user_id = _word(message.get("from")), _word(message.get("from_user_id"))
    person = _person(number, user_id, people)
    number = number or _word(person.get("wa_id"))
    user_id = user_id or _word(person.get("user_id"))
    if ref is None or (number is None and user_id is None):
        return None
    kind = _word(message.get("type")) or "unknown"
    content, context = _fields(message.get(kind)), _fields(message.get("context"))
    text, media = _text(kind, content), _media(kind, content)
    unread = not text and media is None
    return WhatsAppMessage(
        ref=ref,
        line=line,
        kind=kind,
        text=text,
        user_id=user_id,
        number=number,
        name=_word(_fields(person.get("profile")).get("name")),
        at=_time(message.get("timestamp")),
        media=_unread(kind, message) if unread else media,
        reply_to=_word(context.get("id") or content.get("message_id")),
        button=_word(_fields(content.get(str(content.get("type")))).get("id"))
        if kind == "interactive"
        else None,
        forwarded=any(context.get(mark) is True for mark in _FORWARDED),
        raw=_raw(message) if unread else "",
    )


def _person(number: str | None, user_id: str | None, people: Sequence[Fields]) -> Fields:
    """Return who of the named people wrote this; nobody is guessed."""
    for person in people:
        if user_id is not None and person.get("user_id") == user_id:
            return person
    for person in people:
        if number is not None and person.get("wa_id") == number:
            return person
    return people[0] if len(people) == 1 and number is None and user_id is None else {}


_LABELS: Final[Mapping[str, str]] = {
    "image": "a photo",
    "video": "a video",
    "document": "a document",
    "audio": "a sound file",
    "sticker": "a sticker",
    "contacts": "a contact card",
    "order": "an order",
    "unsupported": "a message that WhatsApp does not hand on",
}
_MEDIA: Final = frozenset({"image", "video", "document", "audio", "sticker"})
_FORWARDED: Final = ("forwarded", "frequently_forwarded")
_SAID: Final[Mapping[str, tuple[str, ...]]] = {  # where the text of each kind is
    "text": ("body",),
    "button": ("text",),
    "reaction": ("emoji",),
    "image": ("caption",),
    "video": ("caption",),
    "document": ("caption",),
    "location": ("name", "address", "latitude", "longitude"),
    "system": ("body",),
}


def _text(kind: str, content: Fields) -> str:
    """Return the text of a message; empty for media and unknown kinds."""
    words = _SAID.get(kind, ())
    if kind == "interactive":
        content, words = _fields(content.get(str(content.get("type")))), ("title",)
    text = ", ".join(str(content[key]) for key in words if content.get(key) is not None)
    return without_surrogates(text)


def _unread(kind: str, message: Fields) -> WhatsAppMedia:
    """Return what a message is that has neither words nor media; a contact card has a name."""
    cards = _list(message.get(kind)) or [None]
    name = _fields(_fields(cards[0]).get("name")).get("formatted_name")
    return WhatsAppMedia(kind, None, name=_word(name))


def _media(kind: str, content: Fields) -> WhatsAppMedia | None:
    if kind not in _MEDIA:
        return None
    type_, name = _word(content.get("mime_type")), _word(content.get("filename"))
    return WhatsAppMedia(kind, _word(content.get("id")), type_, name, content.get("voice") is True)


def _time(stamp: object) -> datetime | None:
    if not isinstance(stamp, str | int) or isinstance(stamp, bool):
        return None
    try:
        return datetime.fromtimestamp(int(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _strange(what: str, raw: object) -> UnknownWhatsAppEvent:
    return UnknownWhatsAppEvent(what, _raw(raw))


def _raw(some: object) -> str:
    return without_surrogates(json.dumps(some, ensure_ascii=False))[:_MOST_NOTED]


def _fields(some: object) -> Fields:
    return some if isinstance(some, dict) else {}


def _list(some: object) -> list[object]:
    return some if isinstance(some, list) else []


def _word(some: object) -> str | None:
    return without_surrogates(some) if isinstance(some, str) and some else None


# Reports that outrank a late one: a delivered message cannot have failed.
_TRUER: Final = {
    MessageProgress.SENT: (MessageProgress.FAILED,),
    MessageProgress.DELIVERED: (),
    MessageProgress.READ: (),
    MessageProgress.FAILED: (MessageProgress.DELIVERED, MessageProgress.READ),
}


def all_of(batch: WhatsAppBatch, hook: InboundHook) -> list[InboundMessage]:
    """Return everything in a call; nothing is left out."""
    return [
        *(_reported(each, _channel_of(hook, each.line)) for each in batch.reports),
        *(_inbound_message(each, hook) for each in batch.messages),
        *_noted(batch.strange, hook.channel),
    ]


def reports_on(channel: str, ref: str) -> str:
    """Return the prefix of the refs of all reports on one message."""
    return f"{channel} report {ref} "


def _channel_of(hook: InboundHook, line: str | None) -> str:
    """Return the channel of our number: one app has one webhook for all its numbers."""
    return hook.lines.get(line or "", hook.channel)


def _reported(report: WhatsAppReport, channel: str) -> InboundMessage:
    answer = settles(report)
    why = "" if isinstance(answer, Accepted) else answer.why
    provider_report = ProviderReport(report.ref, arrived=isinstance(answer, Accepted), why=why)
    name = reports_on(channel, report.ref)
    body: JsonMap = {
        "key": report.key,
        "progress": report.progress.value,
        "at": stamp(report.at) if report.at else None,
        "why": why,
    }
    return InboundMessage(
        ref=name + report.progress,
        channel=channel,
        body=body,
        said_at=report.at,
        report=delivery.DeliveryReport(provider_report, channel, report.key),
        outdone_by=tuple(name + truer for truer in _TRUER[report.progress]),
    )


def _inbound_message(message: WhatsAppMessage, hook: InboundHook) -> InboundMessage:
    channel = _channel_of(hook, message.line)
    media: Json = None
    if message.media is not None:
        thing = message.media
        media = {
            "kind": thing.kind,
            "id": thing.id,
            "type": thing.type,
            "name": thing.name,
            "label": thing.label,
        }
    body: JsonMap = {
        "kind": message.kind,
        "text": message.text,
        "user_id": message.user_id,
        "number": message.number,
        "name": message.name,
        "media": media,
        "reply_to": message.reply_to,
        "line": message.line,
    }
    if message.button is not None:
        body["button"] = message.button
    if message.forwarded:
        body["forwarded"] = True
    if message.raw:
        body["raw"] = message.raw
    sender = message.number or message.user_id or ""
    return InboundMessage(f"{channel} message {message.ref}", channel, body, sender, message.at)


def _noted(strange: tuple[UnknownWhatsAppEvent, ...], channel: str) -> Iterator[InboundMessage]:
    for each in strange:
        digest = hashlib.sha256(each.raw.encode()).hexdigest()
        body: JsonMap = {"what": each.what, "raw": each.raw}
        yield InboundMessage(f"{channel} strange {digest}", channel, body)
