"""Calls of programs that know a secret, each with its own proof."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from typing import Final

from remit.channels.webhook.receiving import HookCall

SECRET: Final = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, ok").decode()
OTHER: Final = "whsec_" + base64.b64encode(b"another secret of the same bytes").decode()
NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def standard(
    body: bytes, *, ident: str = "msg_1", at: datetime = NOW, secret: str = SECRET, **more: str
) -> HookCall:
    """Return a call signed after Standard Webhooks."""
    stamp = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    made = hmac.new(key, f"{ident}.{stamp}.".encode() + body, hashlib.sha256).digest()
    signed = {
        "webhook-id": ident,
        "webhook-timestamp": stamp,
        "webhook-signature": "v1," + base64.b64encode(made).decode(),
    }
    return HookCall({"content-type": "application/json", **signed, **more}, body)


def hub(body: bytes, *, secret: str = SECRET, **more: str) -> HookCall:
    """Return a call signed as GitHub does it."""
    made = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    signed = {"content-type": "application/json", "x-hub-signature-256": f"sha256={made}"}
    return HookCall({**signed, **more}, body)


def bearer(body: bytes, *, secret: str = SECRET, **more: str) -> HookCall:
    return HookCall(
        {"content-type": "application/json", "authorization": f"Bearer {secret}", **more}, body
    )
