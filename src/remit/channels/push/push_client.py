"""Encrypts a notice for one browser, sends it to the browser's push service once, and reports.

Encryption follows RFC 8291, the signature RFC 8292; every encrypted text has the same length. A
browser named the address, so it is resolved once, checked, and never inside the own network. This
module loads `cryptography` and the HTTP client: import it only where something is pushed.
"""

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec import Struct

from remit.channels.push import PushContent
from remit.errors import BadInput
from remit.store.callers import PushSubscription
from remit.system import http_client, safe_http
from remit.system.http_client import HttpFailure, HttpReply
from remit.system.safe_http import Resolve, ResolvedAddress

PADDED_BYTES: Final = 1024  # bytes of a text with its padding
SIGNATURE_LIFE: Final = timedelta(hours=12)  # of a signature; services accept a day at most
_RECORD_BYTES: Final = 4096
_SALT_BYTES: Final = 16
_AUTH_BYTES: Final = 16
_POINT_BYTES: Final = 65
_SCALAR_BYTES: Final = 32
_LAST: Final = b"\x02"  # ends the text of the last record; padding follows
_CURVE: Final = ec.SECP256R1()


def new_key() -> str:
    """Return a new key pair, as one text."""
    number = ec.generate_private_key(_CURVE).private_numbers().private_value
    return encode_base64url(number.to_bytes(_SCALAR_BYTES))


def public_of(key: str) -> str:
    """Return the public key for browsers, so that nobody else can push to them."""
    return encode_base64url(_point(_private(key).public_key()))


def check(p256dh: str, auth: str) -> None:
    """Refuse invalid keys of a browser."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, decode_base64url(p256dh, _POINT_BYTES))
    except ValueError:
        raise BadInput("p256dh must be a point of P-256, in base64url.", field="p256dh") from None
    try:
        decode_base64url(auth, _AUTH_BYTES)
    except ValueError:
        raise BadInput(f"auth must be {_AUTH_BYTES} bytes, in base64url.", field="auth") from None


def encrypt(text: bytes, p256dh: str, auth: str, length: int = PADDED_BYTES) -> bytes:
    """Encrypt the text for one browser, with a one-time key."""
    once = ec.generate_private_key(_CURVE)
    return encrypt_with(once, os.urandom(_SALT_BYTES), text, (p256dh, auth), length)


def encrypt_with(
    once: ec.EllipticCurvePrivateKey,
    salt: bytes,
    text: bytes,
    receiver: tuple[str, str],
    length: int,
) -> bytes:
    """Encrypt with all inputs given; a text longer than `length` is not padded."""
    theirs, secret = (
        decode_base64url(receiver[0], _POINT_BYTES),
        decode_base64url(receiver[1], _AUTH_BYTES),
    )
    ours = _point(once.public_key())
    shared = once.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, theirs))
    seed = _derive_key(shared, secret, b"WebPush: info\0" + theirs + ours, 32)
    key = _derive_key(seed, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive_key(seed, salt, b"Content-Encoding: nonce\0", 12)
    filled = (text + _LAST).ljust(length + 1, b"\0")
    head = salt + _RECORD_BYTES.to_bytes(4) + len(ours).to_bytes(1) + ours
    return head + AESGCM(key).encrypt(nonce, filled, None)


def signature(key: str, origin: str, contact: str, now: datetime) -> str:
    """Return the Authorization header for a push service, with its expiry."""
    claims = {"aud": origin, "exp": int((now + SIGNATURE_LIFE).timestamp()), "sub": contact}
    signed = f"{_part({'typ': 'JWT', 'alg': 'ES256'})}.{_part(claims)}"
    r, s = decode_dss_signature(_private(key).sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    proof = encode_base64url(r.to_bytes(_SCALAR_BYTES) + s.to_bytes(_SCALAR_BYTES))
    return f"vapid t={signed}.{proof}, k={public_of(key)}"


def encode_base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode_base64url(text: str, length: int) -> bytes:
    """Decode base64url; ValueError if the length differs."""
    plain = text.rstrip("=")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError from None
    if len(raw) != length:
        raise ValueError
    return raw


def _private(key: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decode_base64url(key, _SCALAR_BYTES)), _CURVE)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    form = serialization.PublicFormat.UncompressedPoint
    return key.public_bytes(serialization.Encoding.X962, form)


def _derive_key(secret: bytes, salt: bytes, label: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, label).derive(secret)


def _part(fields: Mapping[str, object]) -> str:
    return encode_base64url(json.dumps(fields, separators=(",", ":")).encode())


TTL_SECONDS: Final = 86_400  # seconds that a service keeps it for an absent browser
SEND_SECONDS: Final = 20.0
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_TOPIC_BYTES: Final = 24  # bytes; 32 characters, the most a service accepts


class PushSender(Struct, frozen=True):
    """Our key and contact, and whether the own network is allowed."""

    key: str
    contact: str
    private: bool
    resolve: Resolve = safe_http.resolve_host


class PushResult(StrEnum):
    TAKEN = "taken"
    GONE = "gone"  # the subscription is gone
    LATER = "later"  # not accepted; may be retried
    LOST = "lost"  # not accepted, or unknown


async def send(
    sender: PushSender, to: PushSubscription, shown: PushContent, now: datetime
) -> tuple[PushResult, float | None]:
    """Post it once; also return how long the service asks to wait, if it does."""
    place = await safe_http.resolve_address(
        to.endpoint, private=sender.private, resolve=sender.resolve
    )
    if not isinstance(place, ResolvedAddress):
        return (
            PushResult.LATER if isinstance(place, safe_http.UnresolvedAddress) else PushResult.LOST
        ), None
    parts = urlsplit(to.endpoint)
    origin = f"{parts.scheme}://{parts.netloc}"
    headers = {
        "authorization": signature(sender.key, origin, sender.contact, now),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "ttl": str(TTL_SECONDS),
        "urgency": "high" if shown.urgent else "normal",
        # It names the subject, and reveals nothing to the service.
        "topic": encode_base64url(hashlib.sha256(shown.about.encode()).digest()[:_TOPIC_BYTES]),
    }
    fields = {"title": "Remit", "body": shown.body, "href": shown.href, "tag": shown.about}
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    body = encrypt(text, to.p256dh, to.auth)
    async with safe_http.open_client(place) as client:
        reply = await http_client.post_bytes(client, to.endpoint, headers, body, SEND_SECONDS)
    return _result_of(reply), http_client.wait_of(reply, now) if isinstance(
        reply, HttpReply
    ) else None


def _result_of(reply: HttpReply | HttpFailure) -> PushResult:
    if isinstance(reply, HttpFailure):
        # What may have arrived is not sent again.
        return PushResult.LOST if reply.left else PushResult.LATER
    if reply.status // 100 == 2:  # noqa: PLR2004 - as the codes are grouped
        return PushResult.TAKEN
    if reply.status in _GONE:
        return PushResult.GONE
    patience = reply.status == HTTPStatus.TOO_MANY_REQUESTS
    return PushResult.LATER if patience or reply.status // 100 == 5 else PushResult.LOST  # noqa: PLR2004 - same
