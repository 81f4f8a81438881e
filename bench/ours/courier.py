"""The courier: sends a second to providers that answer at once, what waits, what reports cost.

The providers are the ones of the tests, on loopback, in the same process; so are the bare loops
that they are compared with. What differs is everything that makes a send safe.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bench.measure import (
    WARM_UP,
    Measurement,
    Stopwatch,
    read_peak_bytes,
    read_resident_bytes,
    require_count,
)
from bench.ours import lives
from bench.ours.throughput import InstantBrain
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.letter import MailSender
from remit.channels.mail.letter_head import address
from remit.channels.mail.sending import EmailChannel
from remit.channels.whatsapp import WhatsAppLine
from remit.channels.whatsapp.sending import WhatsAppChannel
from remit.model.delivery import (
    Answer,
    Delivery,
    DeliveryReport,
    Parcel,
    ProviderReport,
    SendGuarantee,
    Unknown,
)
from remit.model.ids import TaskId
from remit.model.task import Cue, Source, SourceKind
from remit.ports import Channel
from remit.settings import EngineSettings, Settings
from remit.store import deliveries, tasks
from remit.testing import FrozenClock
from remit.wiring import App, opened
from tests.channels.mail import mail
from tests.channels.whatsapp import whatsapp
from tests.live import loopback

IN_FLIGHT: Final = 64
TEXT: Final = "Lumphini Park, mornings."
_NO_END: Final = datetime(9000, 1, 1, tzinfo=UTC)


class HastyClock(FrozenClock):
    """Ten seconds pass whenever somebody looks: no rate limit is ever met."""

    def now(self) -> datetime:
        self.advance(timedelta(seconds=10))
        return super().now()


class OwnWhatsApp(WhatsAppChannel):
    knows_owner: Final = True

    def takes(self, address: str) -> bool:
        return bool(address)


class OwnEmail(EmailChannel):
    knows_owner: Final = True

    def takes(self, address: str) -> bool:
        return bool(address)


class Silent:
    """Takes everything and never says so; its provider reports later."""

    name: Final = "line"
    guidance: Final = "Plain text."
    most: Final = 4096
    keeps: Final = SendGuarantee.NOTHING
    grace: Final = 86_400.0
    knows_owner: Final = True

    def takes(self, address: str) -> bool:
        return bool(address)

    async def send(self, parcel: Parcel) -> Answer:
        return Unknown(f"no answer about {parcel.key}")

    async def find(self, parcel: Parcel) -> None:
        """Nobody can say."""


def run_whatsapp(size: int, home: Path) -> Measurement:
    return asyncio.run(_run_whatsapp(size, home))


def run_email(size: int, home: Path) -> Measurement:
    return asyncio.run(_run_email(size, home))


def run_pending(size: int, home: Path) -> Measurement:
    """The memory that so many deliveries hold that wait for their time."""
    return asyncio.run(_run_pending(size, home))


def run_reports(size: int, home: Path) -> Measurement:
    """How long it takes until so many reports have settled so many doubts."""
    return asyncio.run(_run_reports(size, home))


async def _run_whatsapp(size: int, home: Path) -> Measurement:
    async with whatsapp.Provider() as provider:
        line = WhatsAppLine(
            number_id=whatsapp.NUMBER_ID, token="", owner=whatsapp.PERSON, url=provider.url
        )
        channel = OwnWhatsApp(line, lambda: whatsapp.TOKEN, HastyClock(), _just_now)
        measured = await _sent(size, home, channel)
        require_count("accepted", len({each.key for each in provider.accepted}), size + WARM_UP)
        require_count("accepted", len(provider.accepted), size + WARM_UP)
        await channel.close()
    return measured


async def _run_email(size: int, home: Path) -> Measurement:
    async with mail.PostOffice() as office:
        account = SmtpAccount(loopback.HOST, office.port, Security.NONE)
        nina = address(mail.USER, "Nina")
        channel = OwnEmail(account, MailSender(nina), FrozenClock(), owner=nina)
        measured = await _sent(size, home, channel)
        require_count("accepted", len(office.accepted), size + WARM_UP)
        await channel.close()
    return measured


async def _just_now(_: str) -> datetime:
    return _NO_END


async def _sent(size: int, home: Path, channel: Channel) -> Measurement:
    async with _app(home, channel) as app:
        await app.engine.start()
        await _hand_over(app, range(WARM_UP))
        await app.engine.settled()
        watch = Stopwatch()
        with watch:
            await _hand_over(app, range(WARM_UP, WARM_UP + size))
            await app.engine.settled()
        counts = await app.db.read(tasks.counts)
        await app.engine.stop()
    require_count("completed", counts["completed"], size + WARM_UP)
    return sends(watch, size, {"in_flight": IN_FLIGHT})


async def _run_pending(size: int, home: Path) -> Measurement:
    watch = Stopwatch()
    async with _app(home, Silent()) as app:
        await app.engine.start()
        await app.engine.settled()
        before = read_resident_bytes()
        with watch:
            await _hand_over(app, range(size), lives.now() + timedelta(days=1))
            await app.engine.settled()
        held = read_resident_bytes() - before
        await app.engine.stop()
    return _less("memory", held / 2**20, "MB", size, watch)


async def _run_reports(size: int, home: Path) -> Measurement:
    async with _app(home, Silent()) as app:
        await app.engine.start()
        ids = await _hand_over(app, range(size))
        await app.engine.settled()
        keys = [str((await app.db.read(tasks.get, each)).delivery[0].id) for each in ids]
        watch = Stopwatch()
        with watch:
            told = [
                DeliveryReport(ProviderReport(f"ref-{key}", arrived=True), "line", key)
                for key in keys
            ]
            now = lives.now()
            await asyncio.gather(*(app.db.write(deliveries.report, each, now) for each in told))
            app.engine.nudge()
            await app.engine.settled()
        counts = await app.db.read(tasks.counts)
        await app.engine.stop()
    require_count("completed", counts["completed"], size)
    return _less("settle all", watch.wall_seconds * 1000, "ms", size, watch)


def _app(home: Path, channel: Channel) -> AbstractAsyncContextManager[App]:
    settings = Settings(home=home, engine=EngineSettings(parallel=IN_FLIGHT))
    return opened(settings, brain=InstantBrain(), channels={"line": channel})


async def _hand_over(app: App, numbers: range, at: datetime | None = None) -> list[TaskId]:
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def add(number: int) -> TaskId:
        async with gate:
            cue = Cue(
                source=Source(SourceKind.MANUAL, str(number)),
                title=f"Report {number}",
                text=f"Report {number}",
                delivery=(Delivery("line", content=TEXT),),
                scheduled_for=at,
            )
            return (await app.intake.admit(cue)).id

    added = await asyncio.gather(*map(add, numbers))
    app.engine.nudge()
    return list(added)


def sends(watch: Stopwatch, count: int, facts: Mapping[str, int]) -> Measurement:
    return Measurement(
        "sends",
        count / watch.wall_seconds,
        "sends/s",
        count,
        watch.wall_seconds,
        watch.cpu_seconds,
        read_peak_bytes(),
        facts=facts,
    )


def _less(name: str, value: float, unit: str, count: int, watch: Stopwatch) -> Measurement:
    return Measurement(
        name, value, unit, count, watch.wall_seconds, watch.cpu_seconds, read_peak_bytes(), "less"
    )
