"""A push service on loopback, and a subscribed browser, written from the standards.

It uses none of Remit's code: a mistake shared by sender and receiver would not be seen.
"""

import base64
import hmac
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from remit.model.codec import JsonMap

DAY: Final = 86_400


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _hkdf(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869, for up to one block."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\1", "sha256")[:length]


class Phone:
    """A browser with its own keys."""

    def __init__(
        self, name: str = "one", private: bytes | None = None, auth: bytes = b"a" * 16
    ) -> None:
        self.name = name
        self.auth = auth
        number = int.from_bytes(private) if private else None
        curve = ec.SECP256R1()
        self._key = (
            ec.derive_private_key(number, curve) if number else ec.generate_private_key(curve)
        )
        form = serialization.PublicFormat.UncompressedPoint
        self.point = self._key.public_key().public_bytes(serialization.Encoding.X962, form)

    def keys(self) -> JsonMap:
        return {"p256dh": b64(self.point), "auth": b64(self.auth)}

    def opened(self, body: bytes) -> bytes:
        """Return the text of an encrypted body, without padding."""
        salt, record, length = body[:16], int.from_bytes(body[16:20]), body[20]
        theirs, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= record
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
        shared = self._key.exchange(ec.ECDH(), point)
        seed = _hkdf(self.auth, shared, b"WebPush: info\0" + self.point + theirs, 32)
        key = _hkdf(salt, seed, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _hkdf(salt, seed, b"Content-Encoding: nonce\0", 12)
        text, mark, _ = AESGCM(key).decrypt(nonce, sealed, None).rpartition(b"\2")
        assert mark == b"\2"
        return text


@dataclass
class Arrived:
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Relay:
    """Accepts what is correctly signed, and answers as configured; then 201."""

    port: int = 0
    now: int = 0  # seconds; signatures are checked against it
    keys: set[str] = field(default_factory=set)  # every key that asked
    came: list[Arrived] = field(default_factory=list)  # each correctly signed one
    answers: list[int] = field(default_factory=list)
    wrongs: list[str] = field(default_factory=list)
    phones: dict[str, Phone] = field(default_factory=dict)

    def endpoint(self, phone: Phone) -> str:
        self.phones[f"/push/{phone.name}"] = phone
        return f"http://127.0.0.1:{self.port}/push/{phone.name}"

    def notes(self) -> list[JsonMap]:
        """Return what the phones show."""
        opened = (self.phones[each.path].opened(each.body) for each in self.came)
        return [cast("JsonMap", json.loads(text)) for text in opened]

    def status_for(self, came: Arrived) -> int:
        wrong = self._wrong(came.headers)
        if wrong is not None:
            self.wrongs.append(wrong)
            return 403
        self.came.append(came)
        return self.answers.pop(0) if self.answers else 201

    def _wrong(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, rest = headers["authorization"].partition(" ")
        said = dict(part.strip().split("=", 1) for part in rest.split(","))
        head, claims, proof = said["t"].split(".")
        raw = unb64(proof)
        r, s = int.from_bytes(raw[:32]), int.from_bytes(raw[32:])
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(said["k"]))
        try:
            key.verify(
                encode_dss_signature(r, s), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256())
            )
        except InvalidSignature:
            return "the signature is none"
        told = json.loads(unb64(claims))
        self.keys.add(said["k"])
        checks = {
            "scheme": scheme == "vapid",
            "header": json.loads(unb64(head)) == {"typ": "JWT", "alg": "ES256"},
            "length of the proof": len(raw) == 64,
            "aud": told["aud"] == f"http://127.0.0.1:{self.port}",
            "exp": self.now < told["exp"] <= self.now + DAY,
            "sub": told["sub"].startswith(("mailto:", "https://")),
            "encoding": headers["content-encoding"] == "aes128gcm",
            "ttl": headers["ttl"].isdecimal(),
            "urgency": headers["urgency"] in ("very-low", "low", "normal", "high"),
            "topic": len(headers["topic"]) <= 32,
        }
        return next((f"{name} is wrong" for name, right in checks.items() if not right), None)


@contextmanager
def relay(now: int) -> Iterator[Relay]:
    found = Relay(now=now)

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.send_response(found.status_for(Arrived(self.path, headers, body)))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Do nothing: nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield found
        server.shutdown()
        thread.join(100)
