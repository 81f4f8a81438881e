"""Verifies a webhook call by its secret, derives its identity, and turns it into a cue. Pure.

A caller proves the secret in one of three ways: a Standard Webhooks signature over id, time and
body (Svix uses `svix-…` headers); GitHub's signature over the body; or the secret as a bearer
token. The identity uses signed parts only, because a replay may change the rest.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from remit.errors import BadInput
from remit.language import outside_text
from remit.model.codec import Json, JsonMap
from remit.model.delivery import Delivery
from remit.model.task import Creator, Cue, Source, SourceKind, Taint
from remit.settings.doors import HookSettings
from remit.store.cues import Arrival, CueFate, InboundCaps, StoredCue
from remit.system.http_client import is_signed

TOLERANCE: Final = timedelta(minutes=5)
PREFIX: Final = "whsec_"
_MOST_SIGNATURES: Final = 10
_ID: Final = re.compile(r"[\x21-\x2d\x2f-\x7e]{1,200}")  # no dot: it separates id and time
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_BEARER: Final = re.compile(r"(?i)bearer +(\S+) *")
_REQUIRED: Final = ("id", "source", "type")
_MAKERS: Final = ("webhook", "svix")  # prefixes of the header names
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 1_000
_STRUCTURED: Final = "application/cloudevents+json"


class HookProof(StrEnum):
    """How a caller proved the secret."""

    STANDARD = "standard"
    GITHUB = "github"
    BEARER = "bearer"


@dataclass(frozen=True, slots=True)
class HookCall:
    """A request; header names are in lower case."""

    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def is_standard(self) -> bool:
        """Whether it claims a Standard Webhooks signature."""
        return any(f"{maker}-signature" in self.headers for maker in _MAKERS)

    def standard(self, name: str) -> str:
        """Return its id, timestamp or signature, from one vendor's headers."""
        made = (maker for maker in _MAKERS if f"{maker}-signature" in self.headers)
        return self.headers.get(f"{next(made, _MAKERS[0])}-{name}", "")


class HookEvent(Struct, frozen=True):
    """A parsed call: its ref, the kind of event, and its text."""

    ref: str
    kind: str
    text: str
    content: Json = None  # the parsed body, if it is JSON or a form
    greets: bool = False  # it only says that the hook was set up


def verify(call: HookCall, secrets: Sequence[str], now: datetime) -> HookProof | None:
    """Return how the caller proved the secret; None if not. A signature must be valid."""
    good = [secret for secret in secrets if secret]
    if call.is_standard:
        return HookProof.STANDARD if _is_standard(call, good, now) else None
    if "x-hub-signature-256" in call.headers:
        signature = call.headers["x-hub-signature-256"]
        return HookProof.GITHUB if is_signed(call.body, signature, good) else None
    return HookProof.BEARER if _is_bearer(call, good) else None


def read(call: HookCall, how: HookProof) -> HookEvent:
    """Parse an authenticated call."""
    content = _parse_body(call)
    found = _cloud_event(call, content)
    if found is None:
        kind = outside_text.one_line(call.headers.get("x-github-event", ""))
        text = _text(content, call.body)
        # GitHub only tests a new hook. The header is not signed, the body is.
        ping = kind == "ping" and isinstance(content, dict) and {"zen", "hook_id"} <= {*content}
        return HookEvent(_ref(call, how, None), kind, text, content, ping)
    about, payload = found
    signed = about if how is not HookProof.GITHUB or _is_structured(call) else None
    return HookEvent(_ref(call, how, signed), about["type"], _text(payload, call.body), payload)


def value_at(content: Json, pointer: str) -> str:
    """Return the text at a JSON pointer such as /issue/title; empty if missing."""
    found = content
    for step in pointer.split("/")[1:]:
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return str(found) if isinstance(found, str | int | float) else ""


def new_secret(random: bytes) -> str:
    """Return a secret in the Standard Webhooks format."""
    return PREFIX + base64.b64encode(random).decode("ascii")


# The secret ---------------------------------------------------------------------------------------


def _is_standard(call: HookCall, secrets: Sequence[str], now: datetime) -> bool:
    ident, at = call.standard("id"), call.standard("timestamp")
    if not _ID.fullmatch(ident) or not _SECONDS.fullmatch(at):
        return False
    if abs(now.timestamp() - int(at)) > TOLERANCE.total_seconds():
        return False
    signed = f"{ident}.{at}.".encode() + call.body
    given = call.standard("signature").split()[:_MOST_SIGNATURES]
    known = False
    for secret in secrets:
        digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
        wanted = b"v1," + base64.b64encode(digest)
        for each in given:
            known |= hmac.compare_digest(each.encode(errors="replace"), wanted)
    return known


def _is_bearer(call: HookCall, secrets: Sequence[str]) -> bool:
    found = _BEARER.fullmatch(call.headers.get("authorization", ""))
    given = found[1].encode(errors="replace") if found else b""
    known = False
    for secret in secrets:
        known |= hmac.compare_digest(given, secret.encode())
    return known


def _key(secret: str) -> bytes:
    """Return the bytes of a secret."""
    if secret.startswith(PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            pass  # the owner's own secret that only looks like one
    return secret.encode()


# What it says -------------------------------------------------------------------------------------


def _ref(call: HookCall, how: HookProof, about: Mapping[str, str] | None) -> str:
    """Return the ref of a call, from signed parts only."""
    if how is HookProof.STANDARD:
        return f"wh:{call.standard('id')}"
    if about is not None:
        return f"ce:{_digest(about['source'].encode())[:16]}:{_digest(about['id'].encode())[:32]}"
    ident = call.standard("id") if how is HookProof.BEARER else ""
    if _ID.fullmatch(ident):
        return f"wh:{ident}"
    return f"body:{_digest(call.body)}"


def _cloud_event(call: HookCall, content: Json) -> tuple[dict[str, str], Json] | None:
    """Return an event's attributes and its content; None if it is no CloudEvent."""
    if _is_structured(call):
        if not isinstance(content, dict):
            raise BadInput("The CloudEvent is no JSON object.", field="body")
        about = {name: content.get(name) for name in (*_REQUIRED, "specversion")}
        payload = content.get("data")
        if payload is None and isinstance(content.get("data_base64"), str):
            payload = _decode_base64(str(content["data_base64"]))
    elif "ce-specversion" in call.headers:
        names = (*_REQUIRED, "specversion")
        about = {name: unquote(call.headers.get(f"ce-{name}", "")) for name in names}
        payload = content if content is not None else call.body.decode("utf-8", "replace")
    else:
        return None
    for name in _REQUIRED:
        if not isinstance(about[name], str) or not about[name]:
            raise BadInput(f"The CloudEvent lacks its {name}.", field=name)
    if about["specversion"] != "1.0":
        raise BadInput("The CloudEvent must be of specversion 1.0.", field="specversion")
    return {name: outside_text.one_line(str(about[name]), 1000) for name in _REQUIRED}, payload


def _is_structured(call: HookCall) -> bool:
    return call.headers.get("content-type", "").lower().replace(" ", "").startswith(_STRUCTURED)


def _decode_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


def _parse_body(call: HookCall) -> Json:
    """Return the body as JSON or a form; GitHub puts its JSON into one form field."""
    kind = call.headers.get("content-type", "").lower().partition(";")[0].strip()
    if kind != _FORM:
        return _json(call.body)
    try:
        pairs = parse_qsl(call.body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    fields: dict[str, Json] = dict(pairs)
    inner = _json(str(fields["payload"]).encode(errors="replace")) if "payload" in fields else None
    return fields or None if inner is None else inner


def _json(text: bytes) -> Json:
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def _text(content: Json, body: bytes) -> str:
    """Return the content as readable text; raw if nothing else works."""
    if isinstance(content, str):
        return outside_text.bound_text(content)
    try:
        text = json.dumps(content, ensure_ascii=False, indent=1) if content is not None else ""
    except RecursionError:
        text = ""
    return outside_text.bound_text(text or body.decode("utf-8", "replace"))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


DOOR: Final = "hook:"


def arrival(name: str, hook: HookSettings, event: HookEvent) -> Arrival:
    named = value_at(event.content, hook.title) if hook.title else ""
    what = f"{name}: {event.kind}" if event.kind else f"Called by {name}"
    body: JsonMap = {
        "kind": "call",
        "type": outside_text.one_line(event.kind),
        "title": outside_text.title(named, what),
        "text": event.text,
    }
    ref = f"{DOOR}{name} {event.ref}"
    if event.greets:
        why = "it only says that the hook was set up"
        return Arrival(ref=ref, door=DOOR + name, body=body, fate=CueFate.IGNORED, why=why)
    return Arrival(ref=ref, door=DOOR + name, body=body)


def cue(kept: StoredCue, name: str, hook: HookSettings) -> Cue:
    """Make the cue: the owner's text and recipients; the event is outside text."""
    context: JsonMap = {"hook": name, "type": kept.body.get("type") or None}
    context["outside"] = str(kept.body.get("text") or "")
    return Cue(
        source=Source(SourceKind.WEBHOOK, f"{name}/{kept.ref.partition(' ')[2]}"),
        title=str(kept.body.get("title") or f"Called by {name}"),
        text=hook.text,
        delivery=(Delivery(hook.channel, hook.recipient or None),),
        context={key: value for key, value in context.items() if value is not None},
        created_by=Creator.SCHEDULER,
        taint=Taint.PUBLIC,
    )


def caps(hook: HookSettings) -> InboundCaps:
    """Return the limits of a hook; a caller over them is refused and may retry."""
    return InboundCaps(hook.hourly, hook.daily_tokens, hook.daily_cents, turns_away=True)
