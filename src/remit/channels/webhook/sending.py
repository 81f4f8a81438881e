"""The webhook channel: the text as a signed event, delivered at least once.

    POST {url}
    webhook-id: dlv-01JZ…                       the same at every attempt: a receiver sees repeats
    webhook-timestamp: 1772442000
    webhook-signature: v1,base64(HMAC-SHA256(secret, "id.timestamp.body"))
    {"specversion": "1.0", "id": "dlv-01JZ…", "type": "remit.delivery.v1", …}

Signed after Standard Webhooks, packed as CloudEvents 1.0. A parcel has the same bytes at every
attempt; only the timestamp and the signature change. Only a 2xx is a success. 410 means that the
receiver is gone: the hook is switched off, also across restarts, and its deliveries wait until the
owner switches it on again.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import Final

from remit.channels import ChannelContext
from remit.channels.webhook import WebhookSettings
from remit.errors import BadInput
from remit.model.delivery import (
    Accepted,
    Answer,
    Locked,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.task_file import FileLimits
from remit.ports import Clock
from remit.store import permissions
from remit.store.database import Database
from remit.system import address_rules, http_client, safe_http
from remit.system.address_rules import BlockedAddress
from remit.system.http_client import HttpFailure, HttpReply, Token
from remit.system.safe_http import Resolve, UnresolvedAddress

MAX_CHARACTERS: Final = 100_000
SEND_SECONDS: Final = 20.0  # seconds; a slow receiver should answer first
# Seconds after the first attempt, the second, and so on; then it gives up.
RETRY_SECONDS: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)

_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")  # no dot: dots separate what is signed
_MARK: Final = "whsec_"
_SHORT, _LONG = 24, 64  # bytes of a signing secret
_SOURCE: Final = re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]{1,200}")
_UNSIGNED: Final = (
    "The signing secret of the hook is none: whsec_ and 24 to 64 bytes in base64. Set it anew."
)


class UnconfirmedSend(SendRetry, frozen=True):
    """Unknown whether it arrived; it may be sent again, because its id is the same."""

    @property
    def doubtful(self) -> bool:
        return True


class HookGone(Locked, frozen=True):
    """Definitely not sent, and the receiver wants no more: the hook is off."""


def build(section: WebhookSettings, context: ChannelContext) -> "WebhookChannel":
    secret = context.keys.token(section.secret)
    return WebhookChannel(section, secret, context.clock, name=context.name, db=context.db)


class WebhookChannel:
    """Posts to one program. While its secret is replaced, there may be several, with spaces."""

    most: Final = MAX_CHARACTERS
    files: Final = FileLimits(1_000_000, 1_000_000)  # in the event, as base64
    keeps: Final = SendGuarantee.KEY
    counts_every_try: Final = True  # its pauses grow with each, also if nothing was reached
    grace: Final = 60.0  # seconds after which a receiver is sent it again
    guidance: Final = "A program reads this text. Write plain Markdown, without greeting or sign."

    def __init__(  # noqa: PLR0913 - each is handed in by name
        self,
        hook: WebhookSettings,
        secret: Token,
        clock: Clock,
        *,
        name: str = "webhook",
        db: Database | None = None,  # keeps over restarts that it is switched off
        patience: float = SEND_SECONDS,
        resolve: Resolve = safe_http.resolve_host,
    ) -> None:
        spot = address_rules.read_address(hook.url, private=hook.private)
        if isinstance(spot, BlockedAddress):
            raise BadInput(f"The hook cannot be used. {spot.why}", field="url")
        if not _SOURCE.fullmatch(hook.source):
            raise BadInput("The source of a hook must be a URI, such as urn:remit.", field="source")
        self.name: Final = name
        self._db = db
        self._off: str | None = None  # why, without a database
        self._failed: dict[str, int] = {}  # by key: number of attempts, none of them unknown
        self._hook = hook
        self._secret = http_client.hidden(secret)
        self._clock = clock
        self._patience = patience
        self._resolve = resolve

    async def send(self, parcel: Parcel) -> Answer:
        """Post the event once; the attempt's number decides the next pause.

        A no counts only if every earlier attempt is known to have failed; otherwise one may have
        arrived.
        """
        answer = await self._try(parcel)
        failed = self._failed.pop(parcel.key, 0)
        certain = failed == parcel.attempt - 1
        if isinstance(answer, Refused) and not certain:
            return Unknown(f"{answer.why} But a try before this one may have arrived.")
        unsent = isinstance(answer, SendRetry | Locked) and not isinstance(answer, UnconfirmedSend)
        if certain and unsent:
            self._failed[parcel.key] = parcel.attempt
        return answer

    async def _try(self, parcel: Parcel) -> Answer:
        if not _KEY.fullmatch(parcel.key):
            return Refused("The key of a delivery must have 1 to 200 letters, digits, - and _.")
        if (wrong := http_client.unfit(parcel.body, MAX_CHARACTERS)) is not None:
            return Refused(wrong)
        try:
            off = await self._db.read(permissions.why_off, self.name) if self._db else self._off
            keys = signing_keys(self._secret())
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            why = f"The secret of the hook cannot be read ({type(error).__name__})."
            return retry_or_give_up(why, parcel.attempt)
        if off is not None:
            return HookGone(
                f"{off.rstrip('.')}; `remit channels on {self.name}` switches it on again."
            )
        return await self._post(parcel, keys) if keys else Locked(_UNSIGNED)

    async def find(self, parcel: Parcel) -> Accepted | None:
        """Look up an event by sending it again: a receiver knows it by its id."""
        answer = await self._try(parcel)
        # A no concerns only this attempt: the unknown one may have arrived.
        return answer if isinstance(answer, Accepted) else None

    async def _post(self, parcel: Parcel, keys: tuple[bytes, ...]) -> Answer:
        hook = self._hook
        found = await safe_http.resolve_address(
            hook.url, private=hook.private, resolve=self._resolve
        )
        if isinstance(found, BlockedAddress):
            return Refused(f"The hook {self.name} cannot be used. {found.why}")
        if isinstance(found, UnresolvedAddress):
            return retry_or_give_up(
                f"The hook {self.name} cannot be found: {found.why}.", parcel.attempt
            )
        now = self._clock.now()
        body = event(parcel, hook.source)
        headers = signed_headers(parcel.key, int(now.timestamp()), body, keys)
        async with safe_http.open_client(found) as client:
            reply = await http_client.post_bytes(client, hook.url, headers, body, self._patience)
        answer = _answer(reply, parcel, now)
        if isinstance(answer, HookGone):
            self._off = answer.why
            with suppress(Exception):  # if it cannot be stored, the next 410 does it
                if self._db:
                    await self._db.write(permissions.turn_off, self.name, answer.why, now)
            return HookGone(f"{answer.why}; `remit channels on {self.name}` switches it on again.")
        return answer


def event(parcel: Parcel, source: str) -> bytes:
    """Return the parcel as a CloudEvent without a time, so that every attempt is the same."""
    data: dict[str, object] = {"recipient": parcel.recipient, "text": parcel.body}
    if parcel.files:
        data["files"] = [
            {
                "name": each.name,
                "type": each.type,
                "sha256": hashlib.sha256(each.content).hexdigest(),
                "content": base64.b64encode(each.content).decode(),
            }
            for each in parcel.files
        ]
    fields = {
        "specversion": "1.0",
        "id": parcel.key,
        "source": source,
        "type": "remit.delivery.v1",
        "datacontenttype": "application/json",
        "data": data,
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def signed_headers(key: str, stamp: int, body: bytes, secrets: tuple[bytes, ...]) -> dict[str, str]:
    """Return the headers of an event: one signature for each secret."""
    content = f"{key}.{stamp}.".encode() + body
    macs = (hmac.digest(secret, content, hashlib.sha256) for secret in secrets)
    return {
        "content-type": "application/cloudevents+json; charset=utf-8",
        "user-agent": "Remit",
        "webhook-id": key,
        "webhook-timestamp": str(stamp),
        "webhook-signature": " ".join("v1," + base64.b64encode(mac).decode() for mac in macs),
    }


def signing_keys(text: str) -> tuple[bytes, ...]:
    """Return the secrets in a text; none if one of them is invalid."""
    keys: list[bytes] = []
    for word in text.split():
        try:
            key = base64.b64decode(word.removeprefix(_MARK), validate=True)
        except (ValueError, binascii.Error):
            return ()
        if not word.startswith(_MARK) or not _SHORT <= len(key) <= _LONG:
            return ()
        keys.append(key)
    return tuple(keys)


def retry_or_give_up(
    why: str, attempt: int, *, wait: float | None = None, doubt: bool = False
) -> Answer:
    """Return a retry after a growing pause; after the last one, the final answer."""
    if attempt > len(RETRY_SECONDS):
        why = f"{why} It was tried {attempt} times and is given up."
        return Unknown(why) if doubt else Refused(why)
    after = max(float(RETRY_SECONDS[max(attempt, 1) - 1]), wait or 0.0)
    # The pauses limit the attempts, so the task's own are not used up.
    return (UnconfirmedSend if doubt else SendRetry)(why, after, spends=False)


def _answer(reply: HttpReply | HttpFailure, parcel: Parcel, now: datetime) -> Answer:
    if isinstance(reply, HttpFailure):
        broke = "The hook was posted to, and then the line broke"
        why = broke if reply.left else "Could not connect"
        return retry_or_give_up(f"{why} ({reply.why}).", parcel.attempt, doubt=reply.left)
    family = reply.status // 100
    if family == 2:  # noqa: PLR2004 - as the codes are grouped
        return Accepted(parcel.key)
    if reply.status == HTTPStatus.GONE:
        return HookGone("its receiver says that it is gone (410), so it is switched off")
    why = f"The hook answered {reply.status}; only 2xx is a yes."
    if family == 3:  # noqa: PLR2004 - the same
        why = f"The hook answered {reply.status}; it must answer at its address, not send us on."
    doubt = family not in (3, 4)
    return retry_or_give_up(why, parcel.attempt, wait=http_client.wait_of(reply, now), doubt=doubt)
