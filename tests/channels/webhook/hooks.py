"""A receiver of webhooks on loopback: checks every signature itself, misbehaves on order.

    async with Receiver() as receiver:
        receiver.orders = [Order(status=500, accept=True), Order()]   # the last one repeats
        …
        assert [taken.text for taken in receiver.taken] == ["Good day."]

It knows nothing of how we sign: the rules of Standard Webhooks are written down here once more.
What has no good signature, an old timestamp, or is no CloudEvent is never taken.
"""

import base64
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.channels.whatsapp.whatsapp import Heard, Loopback, Order

NOW: Final = 1_772_442_000  # 2 March 2026, 09:00 UTC
TOLERANCE: Final = 300
CANARY: Final = "canary-of-the-hook-4f7d91"
SECRET: Final = "whsec_" + base64.b64encode(CANARY.encode()).decode()
OTHER: Final = "whsec_" + base64.b64encode(b"another-key-of-32-bytes-length!!").decode()


@dataclass(frozen=True, slots=True)
class Taken:
    key: str
    text: str
    recipient: str | None


class Receiver(Loopback):
    """`taken` is what it accepted; the same id twice is accepted once."""

    def __init__(self, secret: str = SECRET) -> None:
        super().__init__()
        self.taken: list[Taken] = []
        self.secret = secret
        self.now = NOW  # on its clock

    @property
    def url(self) -> str:
        return f"{self.root}/in?from=remit"

    def answer(self, heard: Heard, order: Order) -> tuple[int, bytes]:
        wrong = complaint(heard.headers, heard.body, self.secret, self.now)
        if heard.method != "POST" or wrong is not None:
            return 401, (wrong or "Not a post.").encode()
        if order.accepts:
            self._take(heard)
        return order.status, order.body if order.body is not None else b'{"ok": true}'

    def _take(self, heard: Heard) -> None:
        data = heard.fields["data"]
        assert isinstance(data, dict)
        key = heard.headers["webhook-id"]
        if key not in [each.key for each in self.taken]:
            self.taken.append(Taken(key, data["text"], data["recipient"]))


def complaint(headers: Mapping[str, str], body: bytes, secret: str, now: int = NOW) -> str | None:
    """Return a receiver's objection to a call."""
    key, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not stamp.isdecimal() or abs(int(stamp) - now) > TOLERANCE:
        return "The timestamp is too old, too new, or none."
    known = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = hmac.digest(known, f"{key}.{stamp}.".encode() + body, "sha256")
    given = [each.split(",", 1) for each in headers.get("webhook-signature", "").split(" ")]
    if ["v1", base64.b64encode(wanted).decode()] not in given:
        return "No signature fits."
    if headers.get("content-type") != "application/cloudevents+json; charset=utf-8":
        return "The content type is not that of a CloudEvent."
    event = json.loads(body)
    needed = ("id", "source", "specversion", "type")
    if not all(isinstance(event.get(name), str) and event[name] for name in needed):
        return "An attribute is missing."
    same = event["specversion"] == "1.0" and event["id"] == key
    return None if same else "The event is not the one that was named."
