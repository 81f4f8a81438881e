"""Reads WhatsApp's webhook calls: delivery reports and messages, as the store keeps them. Pure.

One call may carry many of both, out of order and repeated. Every part becomes a value; a part of
unknown shape is kept with its text.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias

from remit.channels.registry import InboundHook
from remit.channels.whatsapp.cloud_api import answer_of_code
from remit.model.codec import Json, JsonMap, stamp, without_surrogates
from remit.model.delivery import DeliveryReport, ProviderReport
from remit.store.cues import InboundMessage
from remit.system.http_client import clean

MOST: Final = 4 * 1024 * 1024  # bytes of a call; the provider's own limit is lower
_MOST_NOTED: Final = 2000
_FAILED: Final = "failed"
# How far a message has come, and which reports outrank a late one: what arrived cannot have failed.
_OUTDONE_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "sent": (_FAILED,),
    "delivered": (),
    "read": (),
    _FAILED: ("delivered", "read"),
}
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

Fields: TypeAlias = Mapping[str, object]


def challenge(query: Mapping[str, str], verify_token: str) -> str | None:
    """Return the answer to the provider's verification request; None: refuse."""
    asked, given = query.get("hub.challenge", ""), query.get("hub.verify_token", "")
    known = hmac.compare_digest(given.encode(errors="replace"), verify_token.encode())
    if query.get("hub.mode") != "subscribe" or not verify_token or not known:
        return None
    # It is echoed to anybody with the token; a challenge is one word.
    return asked if asked.isascii() and asked.isalnum() else None


def read_call(body: bytes, hook: InboundHook) -> list[InboundMessage] | None:
    """Return everything in a call, in order; None if it is no WhatsApp call."""
    if len(body) > MOST:
        return None
    try:
        call: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("entry"), list):
        return None
    return [each for entry in call["entry"] for each in _entry(entry, hook)]


def _entry(entry: object, hook: InboundHook) -> Iterator[InboundMessage]:
    changes = _fields(entry).get("changes")
    if not isinstance(changes, list):
        yield _strange("an entry without changes", entry, hook)
        return
    for change in changes:
        field, value = _fields(change).get("field"), _fields(change).get("value")
        if field != "messages" or not isinstance(value, dict):
            yield _strange(f"a change of {_word(field) or 'nothing'}", change, hook)
            continue
        yield from _value(value, hook)


def _value(value: Fields, hook: InboundHook) -> Iterator[InboundMessage]:
    line = _word(_fields(value.get("metadata")).get("phone_number_id"))
    # One app has one webhook for all its numbers.
    channel = hook.lines.get(line or "", hook.channel)
    people = [_fields(each) for each in _list(value.get("contacts"))]
    for status in _list(value.get("statuses")):
        yield _report(_fields(status), channel) or _strange("a status", status, hook)
    for message in _list(value.get("messages")):
        found = _message(_fields(message), line, channel, people)
        yield found or _strange("a message", message, hook)
    for error in _list(value.get("errors")):
        yield _strange("an error", error, hook)
    if not any(isinstance(value.get(key), list) for key in ("statuses", "messages", "errors")):
        yield _strange("a change without anything in it", value, hook)


def _strange(what: str, raw: object, hook: InboundHook) -> InboundMessage:
    """Something that is neither a report nor a message, or has no id."""
    text = _raw(raw)
    digest = hashlib.sha256(text.encode()).hexdigest()
    body: JsonMap = {"what": what, "raw": text}
    return InboundMessage(f"{hook.channel} strange {digest}", hook.channel, body)


# Reports ------------------------------------------------------------------------------------------


def _report(status: Fields, channel: str) -> InboundMessage | None:
    """The report on a message of ours, by the key that it was sent with."""
    ref, progress = _word(status.get("id")), _word(status.get("status"))
    if ref is None or progress is None or progress not in _OUTDONE_BY:
        return None
    why = _failure(status) if progress == _FAILED else ""
    key, at = _word(status.get("biz_opaque_callback_data")), _time(status.get("timestamp"))
    provider_report = ProviderReport(ref, arrived=progress != _FAILED, why=why)
    name = f"{channel} report {ref} "
    moment = stamp(at) if at else None
    return InboundMessage(
        ref=name + progress,
        channel=channel,
        body={"key": key, "progress": progress, "at": moment, "why": why},
        said_at=at,
        report=DeliveryReport(provider_report, channel, key),
        outdone_by=tuple(name + truer for truer in _OUTDONE_BY[progress]),
    )


def _failure(status: Fields) -> str:
    error = next((_fields(each) for each in _list(status.get("errors"))), {})
    details = _fields(error.get("error_data")).get("details")
    why = clean(details or error.get("title") or error.get("message"), "")
    code = error.get("code")
    if isinstance(code, int) and not isinstance(code, bool):
        return answer_of_code(code, why).why
    return f"WhatsApp took the message and failed to deliver it: {why or '?'}."


# Messages -----------------------------------------------------------------------------------------


def _message(
    message: Fields, line: str | None, channel: str, people: Sequence[Fields]
) -> InboundMessage | None:
    """A message from a person; forwarded, its words are another's. `line` is our own number."""
    ref = _word(message.get("id"))
    number, user_id = _word(message.get("from")), _word(message.get("from_user_id"))
    person = _person(number, user_id, people)
    number = number or _word(person.get("wa_id"))
    user_id = user_id or _word(person.get("user_id"))
    sender = number or user_id
    if ref is None or sender is None:
        return None
    kind = _word(message.get("type")) or "unknown"
    content, context = _fields(message.get(kind)), _fields(message.get("context"))
    text, media = _text(kind, content), _media(kind, content)
    unread = not text and media is None
    body: JsonMap = {
        "kind": kind,
        "text": text,
        "user_id": user_id,
        "number": number,
        "name": _word(_fields(person.get("profile")).get("name")),
        "media": _unread(kind, message) if unread else media,
        "reply_to": _word(context.get("id") or content.get("message_id")),
        "line": line,
    }
    pressed = _fields(content.get(str(content.get("type")))) if kind == "interactive" else {}
    if (button := _word(pressed.get("id"))) is not None:
        body["button"] = button
    if any(context.get(mark) is True for mark in _FORWARDED):
        body["forwarded"] = True
    if unread:
        body["raw"] = _raw(message)
    at = _time(message.get("timestamp"))
    return InboundMessage(f"{channel} message {ref}", channel, body, sender, at)


def _person(number: str | None, user_id: str | None, people: Sequence[Fields]) -> Fields:
    """Return who of the named people wrote this; nobody is guessed."""
    for person in people:
        if user_id is not None and person.get("user_id") == user_id:
            return person
    for person in people:
        if number is not None and person.get("wa_id") == number:
            return person
    return people[0] if len(people) == 1 and number is None and user_id is None else {}


def _text(kind: str, content: Fields) -> str:
    """Return the text of a message; empty for media and unknown kinds."""
    words = _SAID.get(kind, ())
    if kind == "interactive":
        content, words = _fields(content.get(str(content.get("type")))), ("title",)
    text = ", ".join(str(content[key]) for key in words if content.get(key) is not None)
    return without_surrogates(text)


def _media(kind: str, content: Fields) -> Json:
    """Return media at the provider, which is not fetched."""
    if kind not in _MEDIA:
        return None
    name = _word(content.get("filename"))
    label = "a voice note" if content.get("voice") is True else _label(kind, name)
    ident, type_ = _word(content.get("id")), _word(content.get("mime_type"))
    return {"kind": kind, "id": ident, "type": type_, "name": name, "label": label}


def _unread(kind: str, message: Fields) -> JsonMap:
    """Return what a message is that has neither words nor media; a contact card has a name."""
    cards = _list(message.get(kind)) or [None]
    name = _word(_fields(_fields(cards[0]).get("name")).get("formatted_name"))
    return {"kind": kind, "id": None, "type": None, "name": name, "label": _label(kind, name)}


def _label(kind: str, name: str | None) -> str:
    label = _LABELS.get(kind) or f"a message of the kind “{kind}”"
    return f"{label} “{name}”" if name else label


# Values of any shape ------------------------------------------------------------------------------


def _time(stamp: object) -> datetime | None:
    if not isinstance(stamp, str | int) or isinstance(stamp, bool):
        return None
    try:
        return datetime.fromtimestamp(int(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _raw(some: object) -> str:
    return without_surrogates(json.dumps(some, ensure_ascii=False))[:_MOST_NOTED]


def _fields(some: object) -> Fields:
    return some if isinstance(some, dict) else {}


def _list(some: object) -> list[object]:
    return some if isinstance(some, list) else []


def _word(some: object) -> str | None:
    return without_surrogates(some) if isinstance(some, str) and some else None
