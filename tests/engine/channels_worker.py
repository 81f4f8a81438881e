"""One life of a Remit with a real channel, which may be killed at any moment.

    REMIT_FAILPOINT=send:claimed:1 python -m tests.engine.channels_worker HOME '{"kind": …}'

The provider is somewhere else and outlives it. Started again on the same HOME it goes on, until
every task has ended or waits for news, or for an answer that only a person could give.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from remit import wiring
from remit.brain.scripted import ScriptedBrain
from remit.channels import parts
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.letter import MailSender
from remit.channels.mail.letter_head import address
from remit.channels.mail.sending import EmailChannel
from remit.channels.telegram.bot_api import BotApi, address_of
from remit.channels.telegram.sending import TelegramChannel
from remit.channels.webhook import WebhookSettings
from remit.channels.webhook.sending import WebhookChannel
from remit.channels.whatsapp import BridgeLink, WhatsAppLine, cloud_api
from remit.channels.whatsapp import sending as whatsapp_
from remit.channels.whatsapp.bridge import BridgeChannel
from remit.channels.whatsapp.sending import WhatsAppChannel
from remit.contacts import edit
from remit.contacts.book import ContactAddress, ContactEntry
from remit.files.kept_files import KeptFiles
from remit.model.codec import JsonMap
from remit.model.delivery import Delivery, DeliveryReport, DeliveryStatus, Parcel, ProviderReport
from remit.model.reply import Policy
from remit.model.status import Status
from remit.model.task import Cue, Source, SourceKind, Task
from remit.model.task_file import ATTACHMENTS, to_context
from remit.ports import Channel
from remit.settings import EngineSettings, Settings
from remit.store import deliveries, search
from remit.testing import FrozenClock
from remit.wiring import App
from tests.channels.mail import mail
from tests.channels.telegram import bot_server
from tests.channels.webhook import hooks
from tests.channels.whatsapp import whatsapp
from tests.live import loopback

LONG: Final = "It goes on, and on. " * 500  # three messages by WhatsApp
REFS: Final = ("one", "two", "long")
FILE: Final = b"park,price\nLumphini,0\n"
PEOPLE: Final = ("Anna Weber", "Ben Stone")
ADDRESSES: Final = {
    "whatsapp": ("4915112345678", "4915187654321"),
    "email": ("anna@example.test", "ben@example.test"),
    "telegram": ("77340003@telegram", "77340004@telegram"),
}


class Hasty(FrozenClock):
    """Ten seconds pass with every look at the clock: nothing is ever too early."""

    def now(self) -> datetime:
        self.advance(timedelta(seconds=10))
        return super().now()


class _Patient:
    """Waits this long for news about an unknown send."""

    knows_owner: Final = True
    seconds: float = 0

    @property
    def grace(self) -> float:
        return self.seconds

    def takes(self, address: str) -> bool:
        return bool(address)

    async def find(self, parcel: Parcel) -> None:
        """Return None: only the provider's reports are known."""


class PatientWhatsApp(_Patient, WhatsAppChannel):  # type: ignore[misc, override]
    most = 40_000  # type: ignore[misc]  # of a text; a message has less

    def shape(self, text: str) -> str:
        return cloud_api.message_text(text)

    def parts(self, shaped: str) -> tuple[str, ...]:
        return parts.split(shaped, whatsapp_.MAX_CHARACTERS)


class PatientEmail(_Patient, EmailChannel):
    pass


class PatientTelegram(_Patient, TelegramChannel):
    most = 40_000  # type: ignore[misc]  # of a text; a message has less
    knows_owner = False  # type: ignore[misc]  # the contacts know


class PatientHook(_Patient, WebhookChannel):  # type: ignore[misc, override]
    pass


class OwnHook(WebhookChannel):
    """The production channel: an unknown send is repeated under its key."""

    knows_owner: Final = True

    def takes(self, address: str) -> bool:
        return bool(address)


@dataclass(frozen=True)
class Plan:
    """What a run gets."""

    kind: str
    port: int
    grace: float = 0
    reports: tuple[str, ...] = ()  # the keys of what the provider says arrived
    patience: float = 100  # seconds
    files: bool = False  # every message carries a file

    def channel(self) -> Channel:
        made: PatientWhatsApp | PatientEmail | PatientHook | PatientTelegram
        limit, root = self.patience, f"http://127.0.0.1:{self.port}"
        hook = WebhookSettings(url=f"{root}/in", secret="", private=True)
        if self.kind == "hook":
            return OwnHook(hook, lambda: hooks.SECRET, FrozenClock(), patience=limit)
        if self.kind == "bridge":
            link = BridgeLink(url=root, owner=whatsapp.PERSON, knows_ids=True)
            return BridgeChannel(link, str, Hasty(), patience=limit)
        if self.kind == "whatsapp":
            line = WhatsAppLine(
                number_id=whatsapp.NUMBER_ID, token="", owner=whatsapp.PERSON, url=f"{root}/v25.0"
            )
            made = PatientWhatsApp(line, lambda: whatsapp.TOKEN, Hasty(), _just_now, patience=limit)
        elif self.kind == "email":
            account = SmtpAccount(loopback.HOST, self.port, Security.NONE)
            nina = address(mail.USER, "Nina")
            made = PatientEmail(
                account, MailSender(nina), FrozenClock(), owner=nina, patience=limit
            )
        elif self.kind == "telegram":
            bot = BotApi(lambda: bot_server.TOKEN, root)
            made = PatientTelegram(bot, Hasty(), patience=limit)
        else:
            made = PatientHook(hook, lambda: hooks.SECRET, FrozenClock(), patience=limit)
        made.seconds = self.grace
        return made


async def _just_now(_: str) -> datetime:
    return datetime.max.replace(tzinfo=UTC) - timedelta(days=1)


def cues() -> tuple[Cue, ...]:
    def cue(ref: str, *texts: str) -> Cue:
        people = PEOPLE if len(texts) > 1 else (None,)
        sends = tuple(
            Delivery("line", recipient=to, content=text)
            for to, text in zip(people, texts, strict=True)
        )
        return Cue(source=Source(SourceKind.MANUAL, ref), title=ref, text=ref, delivery=sends)

    return cue("one", "Good day."), cue("two", "To the first.", "To the second."), cue("long", LONG)


def cue_with_file(home: Path) -> tuple[Cue, ...]:
    """A message to the owner, and one to a contact, each with a file."""
    kept = KeptFiles(home / "tasks" / "files")
    files = [kept.keep_incoming(name, FILE, "owner") for name in ("Prices.csv", "Costs.csv")]
    context: JsonMap = {ATTACHMENTS: [to_context(each) for each in files]}
    mine = Delivery("line", content="Here it is.\n\n[file: Prices.csv]")
    other = Delivery("line", PEOPLE[0], content="There it is.\n\n[file: Costs.csv]")
    source = Source(SourceKind.MANUAL, "file")
    return (Cue(source=source, title="f", text="f", delivery=(mine, other), context=context),)


async def befriend(app: App, kind: str) -> None:
    """Add two contacts who may be written to without asking."""
    book = app.settings.home / "contacts.yaml"
    if book.exists():
        return
    if kind == "telegram":
        line = ContactAddress(address_of(bot_server.OWNER))
        edit.put(book, ContactEntry("you", (), "owner", {"line": line}))
    for name, address_ in zip(PEOPLE, ADDRESSES.get(kind, ADDRESSES["whatsapp"]), strict=True):
        edit.put(book, ContactEntry(name, (), None, {"line": ContactAddress(address_)}))
        await app.permits.permit(name, "line", Policy.ALLOW)


async def known(app: App) -> dict[str, Task]:
    page = await app.db.read(search.page, search.TaskFilter(limit=100))
    return {task.source.ref: task for task in page.tasks}


def rests(task: Task) -> bool:
    doubtful = any(each.status is DeliveryStatus.UNKNOWN for each in task.delivery)
    waits = task.status is Status.DELIVERING and doubtful
    return task.ended or task.status is Status.NEEDS_REVIEW or waits


async def live(home: Path, plan: Plan) -> None:
    channels = {"line": plan.channel()}
    brain = ScriptedBrain(())
    # One at a time, so that it is known what is in progress at each failpoint.
    settings = Settings(home=home, engine=EngineSettings(parallel=1))
    async with wiring.opened(settings, brain=brain, channels=channels) as app:
        await befriend(app, plan.kind)
        given = cue_with_file(home) if plan.files else cues()
        tasks = {cue.source.ref: await app.intake.admit(cue) for cue in given}
        for key in plan.reports:
            told = DeliveryReport(ProviderReport(f"ref-{key}", arrived=True), "line", key)
            await app.db.write(deliveries.report, told, app.clock.now())
        await app.engine.start()
        while not all(map(rests, tasks.values())):
            await app.engine.settled()
            await asyncio.sleep(0.003)
            tasks = await known(app)
        await app.engine.settled()
        await app.engine.stop()


if __name__ == "__main__":
    told = json.loads(sys.argv[2])
    asyncio.run(live(Path(sys.argv[1]), Plan(**{**told, "reports": tuple(told["reports"])})))
