"""Encrypts and signs a push message for one browser.

Encryption follows RFC 8291 (aes128gcm), the signature RFC 8292 (VAPID). Every encrypted text has
the same length, so the push service learns only when somebody is notified. This module loads the
extra `cryptography`; import it only where something is pushed.
"""

import base64
import binascii
import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from remit.errors import BadInput

LENGTH: Final = 1024  # bytes of a text with its padding
LIFE: Final = timedelta(hours=12)  # of a signature; services accept a day at most
_RECORD: Final = 4096
_SALT: Final = 16
_AUTH: Final = 16
_POINT: Final = 65
_SCALAR: Final = 32
_LAST: Final = b"\x02"  # ends the text of the last record; padding follows
_CURVE: Final = ec.SECP256R1()


def new_key() -> str:
    """Return a new key pair, as one text."""
    number = ec.generate_private_key(_CURVE).private_numbers().private_value
    return encoded(number.to_bytes(_SCALAR))


def public_of(key: str) -> str:
    """Return the public key for browsers, so that nobody else can push to them."""
    return encoded(_point(_private(key).public_key()))


def check(p256dh: str, auth: str) -> None:
    """Refuse invalid keys of a browser."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, decoded(p256dh, _POINT))
    except ValueError:
        raise BadInput("p256dh must be a point of P-256, in base64url.", field="p256dh") from None
    try:
        decoded(auth, _AUTH)
    except ValueError:
        raise BadInput(f"auth must be {_AUTH} bytes, in base64url.", field="auth") from None


def sealed(text: bytes, p256dh: str, auth: str, length: int = LENGTH) -> bytes:
    """Encrypt the text for one browser, with a one-time key."""
    once = ec.generate_private_key(_CURVE)
    return sealed_with(once, os.urandom(_SALT), text, (p256dh, auth), length)


def sealed_with(
    once: ec.EllipticCurvePrivateKey,
    salt: bytes,
    text: bytes,
    receiver: tuple[str, str],
    length: int,
) -> bytes:
    """Encrypt with all inputs given; a text longer than `length` is not padded."""
    theirs, secret = decoded(receiver[0], _POINT), decoded(receiver[1], _AUTH)
    ours = _point(once.public_key())
    shared = once.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, theirs))
    seed = _derived(shared, secret, b"WebPush: info\0" + theirs + ours, 32)
    key = _derived(seed, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(seed, salt, b"Content-Encoding: nonce\0", 12)
    filled = (text + _LAST).ljust(length + 1, b"\0")
    head = salt + _RECORD.to_bytes(4) + len(ours).to_bytes(1) + ours
    return head + AESGCM(key).encrypt(nonce, filled, None)


def signature(key: str, origin: str, contact: str, now: datetime) -> str:
    """Return the Authorization header for a push service, with its expiry."""
    claims = {"aud": origin, "exp": int((now + LIFE).timestamp()), "sub": contact}
    said = f"{_part({'typ': 'JWT', 'alg': 'ES256'})}.{_part(claims)}"
    r, s = decode_dss_signature(_private(key).sign(said.encode(), ec.ECDSA(hashes.SHA256())))
    proof = encoded(r.to_bytes(_SCALAR) + s.to_bytes(_SCALAR))
    return f"vapid t={said}.{proof}, k={public_of(key)}"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str, length: int) -> bytes:
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
    return ec.derive_private_key(int.from_bytes(decoded(key, _SCALAR)), _CURVE)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    form = serialization.PublicFormat.UncompressedPoint
    return key.public_bytes(serialization.Encoding.X962, form)


def _derived(secret: bytes, salt: bytes, label: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, label).derive(secret)


def _part(fields: Mapping[str, object]) -> str:
    return encoded(json.dumps(fields, separators=(",", ":")).encode())
