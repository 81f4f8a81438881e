"""A sender that was stopped between its claim and the first byte sends nothing.

Beside other workers a message is claimed when its connection stands, and not before.
"""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.sending import EmailChannel
from remit.channels.webhook import WebhookSettings
from remit.channels.webhook.sending import RETRY_SECONDS, WebhookChannel
from remit.channels.whatsapp import BridgeLink
from remit.channels.whatsapp.bridge import BridgeChannel
from remit.delivery.courier import Courier, ask
from remit.errors import LeaseLost
from remit.model.delivery import Accepted, Answer, Delivery, Parcel, SendCap, SendHistory, SendRetry
from remit.model.ids import DeliveryId, TaskId
from remit.ports import Channel
from remit.system import first_byte
from remit.testing import FrozenClock, Outbox
from tests.channels.mail.mail import PostOffice
from tests.channels.mail.test_email import NINA
from tests.live.loopback import HOST, Listener

SIGNING = "whsec_" + base64.b64encode(bytes(32)).decode()
TO = Delivery("channel", id=DeliveryId("dlv-1"), address="972501234567")


@pytest.mark.parametrize(("stopped", "answer"), [(9, Accepted), (11, SendRetry)])
async def test_what_is_late_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, stopped: int, answer: type[Answer]
) -> None:
    outbox, now = Outbox(), time.clock_gettime(time.CLOCK_BOOTTIME)
    with first_byte.within(10):
        monkeypatch.setattr(time, "clock_gettime", lambda _: now + stopped)
        said = await ask(outbox, "outbox", Parcel("key", None, "Hello", 1), 5)

    assert isinstance(said, answer)
    assert bool(outbox.sent) is (answer is Accepted)


class _Ledger:
    """Writes down when a message was claimed and settled, beside what the server saw."""

    def __init__(self, log: list[str], claim: Callable[[], Awaitable[None]] | None) -> None:
        self.log = log
        self._claim = claim

    async def claim(self, delivery: Delivery, body: str, cap: SendCap | None = None) -> int:
        del delivery, body, cap
        self.log.append("claimed")
        if self._claim is not None:
            await self._claim()
        return 7

    async def sends(self, delivery: Delivery) -> SendHistory:
        del delivery
        return SendHistory(6, None, 0)

    async def settle(self, delivery: Delivery, attempt: int, answer: Answer) -> None:
        del delivery
        self.log.append(f"settled {attempt} {type(answer).__name__}")


class _Bridge(Listener):
    """Says yes to each message, and logs connections and bytes."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._log.append("connected")
        if await reader.read(1):
            self._log.append("got it")
            body = b'{"id": "msg-1"}'
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)


@asynccontextmanager
async def bridge(log: list[str]) -> AsyncIterator[Channel]:
    async with _Bridge(log) as server:
        channel = BridgeChannel(BridgeLink(url=server.root), str, FrozenClock())
        yield channel
        await channel.close()


@asynccontextmanager
async def hook(log: list[str]) -> AsyncIterator[Channel]:
    async with _Bridge(log) as server:
        hook = WebhookSettings(url=server.root, secret="", private=True)
        yield WebhookChannel(hook, lambda: SIGNING, FrozenClock())


@asynccontextmanager
async def mail(log: list[str]) -> AsyncIterator[Channel]:
    async with PostOffice() as office:
        account = SmtpAccount(HOST, office.port, Security.NONE)
        channel = EmailChannel(account, NINA, FrozenClock(), owner=NINA.address)
        log.append("connected")  # it has no moment of its own: what counts is the dot
        yield channel
        await channel.close()
        await office.quiet()
        if office.accepted:
            log.insert(log.index("claimed") + 1, "got it")


CHANNELS = pytest.mark.parametrize("kind", [bridge, hook, mail])
# The library of the mail server does not clean up when a client hangs up within a letter.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def send(kind: object, claim: Callable[[], Awaitable[None]] | None = None) -> list[str]:
    log: list[str] = []
    async with kind(log) as channel:  # type: ignore[operator]
        to = Delivery("channel", id=TO.id) if kind is mail else TO
        courier = Courier({"channel": channel}, shared=True)
        try:
            await courier.send(to, "Hello", _Ledger(log, claim))  # type: ignore[arg-type]
        except LeaseLost:
            log.append("lease lost")
    return log


@CHANNELS
async def test_it_connects_then_claims_then_sends(kind: object) -> None:
    assert await send(kind) == ["connected", "claimed", "got it", "settled 7 Accepted"]


@CHANNELS
async def test_without_a_claim_nothing_leaves(kind: object) -> None:
    async def refuse() -> None:
        raise LeaseLost(TaskId("tsk-1"), 3)

    assert await send(kind, refuse) == ["connected", "claimed", "lease lost"]


@CHANNELS
async def test_who_was_stopped_after_the_claim_sends_nothing(
    kind: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.clock_gettime

    async def sleep() -> None:
        monkeypatch.setattr(time, "clock_gettime", lambda clock: real(clock) + 11)

    assert await send(kind, sleep) == ["connected", "claimed", "settled 7 SendRetry"]


async def test_a_server_that_is_not_there_is_written_down_and_a_pace_is_not() -> None:
    log: list[str] = []
    channel = BridgeChannel(BridgeLink(url=f"http://{HOST}:1"), str, FrozenClock())
    courier = Courier({"channel": channel}, shared=True)
    for _ in range(2):
        await courier.send(TO, "Hello", _Ledger(log, None))  # type: ignore[arg-type]
    await courier.send(
        Delivery("channel", id=DeliveryId("dlv-2"), address=TO.address),
        "Hello",
        _Ledger(log, None),  # type: ignore[arg-type]
    )
    await channel.close()

    assert log == ["claimed", "settled 7 SendRetry"]


async def test_the_pauses_of_a_hook_grow_although_nothing_was_reached() -> None:
    log: list[str] = []
    hook = WebhookSettings(url=f"http://{HOST}:1", secret="", private=True)
    channel = WebhookChannel(hook, lambda: SIGNING, FrozenClock())
    courier = Courier({"channel": channel}, shared=True)
    answer = await courier.send(TO, "Hello", _Ledger(log, None))  # type: ignore[arg-type]

    assert log == ["claimed", "settled 7 SendRetry"]
    assert isinstance(answer, SendRetry)
    assert answer.after == RETRY_SECONDS[6]
