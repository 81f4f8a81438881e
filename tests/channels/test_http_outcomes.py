"""Every channel over HTTP: what its answer says is what the provider did, whatever that was."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import pytest
from msgspec.structs import replace

from remit.channels.webhook import WebhookSettings
from remit.channels.webhook.sending import RETRY_SECONDS, HookGone, UnconfirmedSend, WebhookChannel
from remit.channels.whatsapp import BridgeLink, WhatsAppLine
from remit.channels.whatsapp.bridge import BridgeChannel
from remit.channels.whatsapp.sending import WhatsAppChannel
from remit.model.delivery import Accepted, Answer, Locked, Parcel, Refused, SendRetry, Unknown
from remit.system.http_client import Token
from remit.testing import START, FrozenClock
from tests.channels.webhook.hooks import CANARY, Receiver
from tests.channels.webhook.hooks import SECRET as HOOK_SECRET
from tests.channels.whatsapp.whatsapp import (
    NUMBER_ID,
    PERSON,
    TOKEN,
    BridgeProvider,
    Cut,
    Order,
    Provider,
)
from tests.live.loopback import FunctionListener
from tests.ports import free_port

Server: TypeAlias = Provider | BridgeProvider | Receiver
Sender: TypeAlias = WhatsAppChannel | BridgeChannel | WebhookChannel

SHORT: Final = 2.0  # seconds of patience with who never answers; until then all else has happened
PARCEL: Final = Parcel("dlv-01JZ", PERSON, "Lumphini Park, mornings.")


async def _just_now(_: str) -> datetime:
    return START


def _whatsapp(url: str, token: Token, patience: float) -> WhatsAppChannel:
    line = WhatsAppLine(number_id=NUMBER_ID, token="", url=f"{url}/v25.0")
    return WhatsAppChannel(line, token, FrozenClock(), _just_now, patience=patience)


def _bridge(url: str, token: Token, patience: float) -> BridgeChannel:
    return BridgeChannel(BridgeLink(url=url), token, FrozenClock(), patience=patience)


def _webhook(url: str, token: Token, patience: float) -> WebhookChannel:
    hook = WebhookSettings(url=f"{url}/in?from=remit", secret="", private=True)
    return WebhookChannel(hook, token, FrozenClock(), patience=patience)


@dataclass(frozen=True)
class Kind:
    server: Callable[[], Server]
    make: Callable[[str, Token, float], Sender]
    secret: str
    pause: float | None = None  # after a retry for which the provider named none

    @asynccontextmanager
    async def opened(
        self, url: str, token: Token | None = None, patience: float = 100.0
    ) -> AsyncIterator[Sender]:
        made = self.make(url, token or (lambda: self.secret), patience)
        yield made
        if not isinstance(made, WebhookChannel):
            await made.close()


KINDS: Final = {
    "whatsapp": Kind(Provider, _whatsapp, TOKEN),
    "bridge": Kind(BridgeProvider, _bridge, TOKEN),
    "webhook": Kind(Receiver, _webhook, HOOK_SECRET, RETRY_SECONDS[0]),
}
every_kind: Final = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def taken(server: Server) -> list[str | None]:
    messages = server.taken if isinstance(server, Receiver) else server.accepted
    return [each.key for each in messages]


# What the provider does, and what each channel answers. With a number: retry after so many seconds.
A, U, R, L, S, D = Accepted, Unknown, Refused, Locked, SendRetry, UnconfirmedSend
Outcome: TypeAlias = type[Answer] | tuple[type[Answer], float]
A_YEAR: Final = {"retry-after": "31536000"}
AT_LAST: Final = {"retry-after": "Mon, 02 Mar 2026 09:00:45 GMT"}
ENDLESS: Final = b'{"id": "1", "messages": [{"id": "wamid.1"}]}' + b" " * 200_000
NO_NAME: Final = b'{"id": " ", "messages": [{"id": " "}]}'
TABLE: Final[dict[str, tuple[Order, Outcome, Outcome, Outcome]]] = {
    "good": (Order(), A, A, A),
    "201": (Order(201, accept=True), U, U, A),
    "204 with no word": (Order(204, accept=True, body=b""), U, U, A),
    "no message named": (Order(body=b'{"messages": []}'), U, U, A),
    "an empty name": (Order(body=NO_NAME), U, U, A),
    "a page instead": (Order(body=b"<html>Welcome to the hotel</html>"), U, U, A),
    "a nest instead": (Order(body=b"[" * 60_000), U, U, A),
    "an answer without end": (Order(body=ENDLESS), U, U, A),
    "redirect": (Order(307, headers={"location": "/v25.0/1/messages"}), U, U, S),
    "400": (Order(400, details="no such chat"), R, R, S),
    "400 half read": (Order(400, cut=Cut.IN_ANSWER), S, S, S),
    "400 dripping": (Order(400, body=b" " * 100, pace=0.3), S, S, S),
    "401 without words": (Order(401, body=b"<html>"), L, L, S),
    "404 without words": (Order(404, body=b"<html>"), R, R, S),
    "409": (Order(409, body=b'{"id": "3EB0"}'), R, R, S),
    "410": (Order(410), R, R, HookGone),
    "429 without words": (Order(429, body=b""), S, S, S),
    "429 for 30 s": (Order(429, headers={"retry-after": "30"}), (S, 30), (S, 30), (S, 30)),
    "429 until a date": (Order(429, headers=AT_LAST), (S, 45), (S, 45), (S, 45)),
    "429 for a year": (Order(429, headers=A_YEAR), (S, 3600), (S, 3600), (S, 3600)),
    "500": (Order(500), U, U, D),
    "500 after it accepted": (Order(500, accept=True), U, U, D),
    "503 for 9 s": (Order(503, body=b"", headers={"retry-after": "9"}), U, U, (D, 9)),
    "reset in the request": (Order(cut=Cut.IN_REQUEST), U, U, D),
    "reset before it accepted": (Order(cut=Cut.BEFORE_ANSWER), U, U, D),
    "reset after it accepted": (Order(cut=Cut.BEFORE_ANSWER, accept=True), U, U, D),
    "half read": (Order(cut=Cut.IN_ANSWER, accept=True), U, U, A),
    "black hole": (Order(silent=True), U, U, D),
    "black hole that accepted": (Order(silent=True, accept=True), U, U, D),
    "slow drip": (Order(pace=0.3), U, U, A),
}


@pytest.mark.parametrize("case", TABLE)
async def test_the_answer_says_what_the_provider_did(case: str) -> None:
    order, *wanted = TABLE[case]
    tried = zip(KINDS.values(), wanted, strict=True)
    await asyncio.gather(*(_answers(kind, order, outcome) for kind, outcome in tried))


async def _answers(kind: Kind, order: Order, outcome: Outcome) -> None:
    means, after = outcome if isinstance(outcome, tuple) else (outcome, kind.pause)
    patience = SHORT if order.silent or order.pace else 100.0
    async with kind.server() as server, kind.opened(server.root, patience=patience) as channel:
        server.orders = [order]
        answer = await channel.send(PARCEL)

        tries = 0 if order.cut is Cut.IN_REQUEST else 1
        assert len(server.heard) == tries, "it tries once, whatever comes"
        assert taken(server) == [PARCEL.key] * order.accepts
    assert type(answer) is means
    if isinstance(answer, SendRetry):
        assert answer.after == after
    if not isinstance(answer, Accepted | HookGone):
        assert answer.why.endswith(".")
    assert kind.secret not in repr(answer)


@every_kind
async def test_where_nobody_listens_nothing_was_sent(kind: Kind) -> None:
    async with kind.opened(f"http://127.0.0.1:{free_port()}") as channel:
        assert type(await channel.send(PARCEL)) is SendRetry


@every_kind
async def test_a_secret_that_cannot_be_read_now_is_asked_for_again_later(kind: Kind) -> None:
    def locked() -> str:
        raise LookupError(f"the keyring with {kind.secret} is locked")

    async with kind.server() as server, kind.opened(server.root, locked) as channel:
        answer = await channel.send(PARCEL)
        assert server.heard == []
    assert type(answer) is SendRetry
    assert kind.secret not in answer.why


@every_kind
@pytest.mark.parametrize("token", ["two words", "a\r\nX-Evil: 1", "schlüssel"])
async def test_what_cannot_be_a_secret_is_not_sent(kind: Kind, token: str) -> None:
    async with kind.server() as server, kind.opened(server.root, lambda: token) as channel:
        answer = await channel.send(PARCEL)
        assert server.heard == []
    assert isinstance(answer, Locked)
    assert token not in answer.why


UNFIT: Final = {
    "empty": replace(PARCEL, body=""),
    "blank": replace(PARCEL, body=" \n "),
    "half a character": replace(PARCEL, body="half \ud83d"),
    "too long": replace(PARCEL, body="x" * 100_001),
    "no key": replace(PARCEL, key=""),
    "a long key": replace(PARCEL, key="x" * 513),
    "a key with a line": replace(PARCEL, key="a\nb"),
    "a key of two words": replace(PARCEL, key="two words"),
}


@every_kind
async def test_what_is_no_message_is_refused_in_a_sentence_before_a_byte_leaves(kind: Kind) -> None:
    async with kind.server() as server, kind.opened(server.root) as channel:
        for what, parcel in UNFIT.items():
            answer = await channel.send(parcel)
            assert isinstance(answer, Refused), what
            assert answer.why.endswith("."), what
        assert server.heard == []


class Told:
    """A way to a secret that shows it to who looks."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __call__(self) -> str:
        return self._secret

    __repr__ = __call__


@every_kind
async def test_the_secret_is_shown_nowhere(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret, shown = kind.secret, list[str]()
    words = f"{secret} is odd\r\nat {secret[4:20]}"
    echo = json.dumps({"error": {"code": 100, "message": words}}).encode()
    orders = [Order(status, body=echo) for status in (200, 400, 410, 500)]
    async with kind.server() as server:
        for order in (*orders, Order(cut=Cut.BEFORE_ANSWER)):
            async with kind.opened(server.root, Told(secret)) as channel:
                server.orders = [order]
                shown.append(repr(await channel.send(PARCEL)) + repr(vars(channel)))
    told = "\n".join((*shown, caplog.text))
    pieces = [secret[n : n + 8] for n in range(6, len(secret) - 7)]
    assert not [piece for piece in pieces if piece in told]
    assert CANARY not in told


@every_kind
async def test_a_line_that_is_not_safe_is_left_before_a_byte_of_the_message(kind: Kind) -> None:
    heard = bytearray()

    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(10_000))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")

    async with (
        FunctionListener(speak_plainly) as server,
        kind.opened(f"https://127.0.0.1:{server.port}") as channel,
    ):
        answer = await channel.send(PARCEL)

    assert type(answer) is SendRetry
    assert heard
    assert PARCEL.body.encode() not in heard
