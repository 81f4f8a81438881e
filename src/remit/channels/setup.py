"""Builds the channels from settings and secrets.

A secret is looked up at each use, so a renewed one needs no restart. A missing secret does not stop
the start: its channel answers that it is locked, and the owner is asked.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from remit.channels.apprise.sending import AppriseChannel, AppriseTarget
from remit.channels.bridge import BridgeAddress, BridgeChannel
from remit.channels.inbound_cleanup import InboundCleanup
from remit.channels.mail import letter, letter_head
from remit.channels.mail.account import Security, SmtpAccount
from remit.channels.mail.bounce_watch import BounceWatch
from remit.channels.mail.letter import MailSender, MailThread
from remit.channels.mail.mailbox import Mailbox, SentFolderPolicy
from remit.channels.mail.sending import EmailChannel
from remit.channels.registry import (
    ChannelAlias,
    ChannelRegistry,
    ChannelSecrets,
    InboundHook,
)
from remit.channels.webhook.sending import WebhookChannel, WebhookTarget
from remit.channels.whatsapp.sending import WhatsAppChannel, WhatsAppNumber, WhatsAppTemplate
from remit.errors import BadInput
from remit.model.delivery import Parcel
from remit.ports import Channel, Clock
from remit.settings.channels import (
    CALLED,
    AppriseTargets,
    BridgeLink,
    Chosen,
    EmailSettings,
    WebhookSettings,
    WhatsAppLine,
)
from remit.store import deliveries, inbound, permissions
from remit.store.database import Database
from remit.system.background import Background

Fitted: TypeAlias = WhatsAppChannel | BridgeChannel | EmailChannel | WebhookChannel | AppriseChannel


def build_channels(
    keys: ChannelSecrets, db: Database, clock: Clock, background: Background, *, keep: int = 0
) -> ChannelRegistry:
    """Build every channel; errors in the settings name the channel.

    `keep` is for how many days inbound messages are kept; 0: for ever.
    """
    made: dict[str, Channel] = {}
    chosen = keys.chosen
    for name, each in chosen.items():
        try:
            made[name] = _made(name, each, keys, clock, _Past(name, db, clock))
        except BadInput as error:
            raise BadInput(f"[channels.{name}]: {error}", field=name) from None
    ways = tuple(
        ChannelAlias(name, CALLED[type(each)], each.aliases) for name, each in chosen.items()
    )
    boxes = {name: each.mailbox for name, each in made.items() if isinstance(each, EmailChannel)}
    watch = BounceWatch({name: box for name, box in boxes.items() if box}, db, clock, background)
    tidy = InboundCleanup(keep, db, clock, background)
    return ChannelRegistry(made, ways, _hooks(chosen, keys), watch, tidy)


def complaints(keys: ChannelSecrets, clock: Clock) -> dict[str, str]:
    """Return the errors of configured channels, by name; nothing is opened or sent."""
    found: dict[str, str] = {}
    for name, each in keys.chosen.items():
        try:
            _made(name, each, keys, clock, None)
        except BadInput as error:
            found[name] = str(error)
    return found


def _made(
    name: str, chosen: Chosen, keys: ChannelSecrets, clock: Clock, past: "_Past | None"
) -> Fitted:
    match chosen:
        case WhatsAppLine():
            return WhatsAppChannel(
                _line(chosen, keys), clock, past.last_at if past else _nobody, name=name
            )
        case BridgeLink():
            link = BridgeAddress(
                chosen.url, keys.token(chosen.token), chosen.owner or None, chosen.knows_ids
            )
            return BridgeChannel(link, clock, name=name)
        case EmailSettings():
            return _email(name, chosen, keys, clock, past)
        case WebhookSettings():
            hook = WebhookTarget(
                chosen.url, keys.token(chosen.secret), chosen.private, chosen.source
            )
            return WebhookChannel(hook, clock, name=name, switch=past)
        case AppriseTargets():  # pragma: no branch - there is no other
            targets = {
                target: AppriseTarget(keys.token(str(secret)), chosen.private)
                for target, secret in chosen.targets.items()
            }
            return AppriseChannel(targets, owner=chosen.owner or None, name=name)


def _line(chosen: WhatsAppLine, keys: ChannelSecrets) -> WhatsAppNumber:
    return WhatsAppNumber(
        chosen.number_id,
        keys.token(chosen.token),
        chosen.owner or None,
        _template(chosen) if chosen.template else None,
        chosen.url,
    )


def _template(chosen: WhatsAppLine) -> WhatsAppTemplate:
    parameters, most = chosen.template_parameters, chosen.template_limit
    return WhatsAppTemplate(chosen.template, chosen.language, parameters, most)


class _Past(Struct, frozen=True):
    """The stored state of a channel: last inbound, threads, and whether it is off."""

    channel: str
    db: Database
    clock: Clock

    async def last_at(self, address: str) -> datetime | None:
        return await self.db.read(inbound.last_at, self.channel, address)

    async def thread(self, parcel: Parcel) -> MailThread:
        found = await self.db.read(deliveries.find_thread, parcel.key, self.channel)
        title = found.subject or (letter.subject_of(found.first) if found.first else None)
        return MailThread(title, found.earlier)

    async def why_off(self) -> str | None:
        return await self.db.read(permissions.why_off, self.channel)

    async def turn_off(self, why: str) -> None:
        await self.db.write(permissions.turn_off, self.channel, why, self.clock.now())


async def _nobody(_: str) -> None:
    """Return None: nobody wrote."""


def _email(
    name: str, chosen: EmailSettings, keys: ChannelSecrets, clock: Clock, past: "_Past | None"
) -> EmailChannel:
    sender = letter_head.address(chosen.sender, chosen.sender_name or None)
    reply_to = letter_head.address(chosen.reply_to) if chosen.reply_to else None
    owner = letter_head.address(chosen.owner) if chosen.owner else None
    account = SmtpAccount(
        chosen.host,
        chosen.port,
        _security(chosen.security),
        chosen.user or None,
        keys.token(chosen.password) if chosen.user else None,
        _file(chosen.ca_file),
    )
    box = _mailbox(chosen, keys, sender.domain) if chosen.imap_host else None
    return EmailChannel(
        account,
        MailSender(sender, reply_to),
        clock,
        owner=owner,
        thread_of=past.thread if past else None,
        mailbox=box,
        name=name,
    )


def _mailbox(chosen: EmailSettings, keys: ChannelSecrets, domain: str) -> Mailbox:
    account = SmtpAccount(
        chosen.imap_host,
        chosen.imap_port,
        _security(chosen.imap_security),
        chosen.imap_user or chosen.user or None,
        keys.token(chosen.imap_password or chosen.password),
        _file(chosen.ca_file),
    )
    after = timedelta(minutes=chosen.filed_within) if chosen.filed_within else None
    return Mailbox(
        account, domain, SentFolderPolicy(chosen.sent_folders, authoritative_after=after)
    )


def _security(word: str) -> Security:
    if word not in list(Security):
        sentence = f"The security {word!r:.60} is none; it may be {', '.join(Security)}."
        raise BadInput(sentence, field="security")
    return Security(word)


def _file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _hooks(chosen: Mapping[str, Chosen], keys: ChannelSecrets) -> dict[str, InboundHook]:
    """Return the webhooks for providers. One app has one webhook for all its numbers."""
    lines = {name: each for name, each in chosen.items() if isinstance(each, WhatsAppLine)}
    return {
        name: InboundHook(
            name,
            keys.token(each.app_secret),
            keys.token(each.verify_token),
            {
                other.number_id: of
                for of, other in lines.items()
                if other.app_secret == each.app_secret
            },
        )
        for name, each in lines.items()
        if each.app_secret
    }
