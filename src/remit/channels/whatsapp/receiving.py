"""Turns a WhatsApp webhook call into store records, each with a stable id."""

import hashlib
from collections.abc import Iterator
from typing import Final

from remit.channels.registry import InboundHook
from remit.channels.whatsapp.callbacks import (
    MessageProgress,
    UnknownWhatsAppEvent,
    WhatsAppBatch,
    WhatsAppMessage,
    WhatsAppReport,
    settles,
)
from remit.model import delivery
from remit.model.codec import Json, JsonMap, stamp
from remit.model.delivery import Accepted, ProviderReport
from remit.store.inbound import InboundMessage

# Reports that outrank a late one: a delivered message cannot have failed.
_TRUER: Final = {
    MessageProgress.SENT: (MessageProgress.FAILED,),
    MessageProgress.DELIVERED: (),
    MessageProgress.READ: (),
    MessageProgress.FAILED: (MessageProgress.DELIVERED, MessageProgress.READ),
}


def all_of(batch: WhatsAppBatch, hook: InboundHook) -> list[InboundMessage]:
    """Return everything in a call; nothing is left out."""
    return [
        *(_reported(each, _channel_of(hook, each.line)) for each in batch.reports),
        *(_inbound_message(each, hook) for each in batch.messages),
        *_noted(batch.strange, hook.channel),
    ]


def reports_on(channel: str, ref: str) -> str:
    """Return the prefix of the refs of all reports on one message."""
    return f"{channel} report {ref} "


def _channel_of(hook: InboundHook, line: str | None) -> str:
    """Return the channel of our number: one app has one webhook for all its numbers."""
    return hook.lines.get(line or "", hook.channel)


def _reported(report: WhatsAppReport, channel: str) -> InboundMessage:
    answer = settles(report)
    why = "" if isinstance(answer, Accepted) else answer.why
    provider_report = ProviderReport(report.ref, arrived=isinstance(answer, Accepted), why=why)
    name = reports_on(channel, report.ref)
    body: JsonMap = {
        "key": report.key,
        "progress": report.progress.value,
        "at": stamp(report.at) if report.at else None,
        "why": why,
    }
    return InboundMessage(
        ref=name + report.progress,
        channel=channel,
        body=body,
        said_at=report.at,
        report=delivery.DeliveryReport(provider_report, channel, report.key),
        outdone_by=tuple(name + truer for truer in _TRUER[report.progress]),
    )


def _inbound_message(message: WhatsAppMessage, hook: InboundHook) -> InboundMessage:
    channel = _channel_of(hook, message.line)
    media: Json = None
    if message.media is not None:
        thing = message.media
        media = {
            "kind": thing.kind,
            "id": thing.id,
            "type": thing.type,
            "name": thing.name,
            "label": thing.label,
        }
    body: JsonMap = {
        "kind": message.kind,
        "text": message.text,
        "user_id": message.user_id,
        "number": message.number,
        "name": message.name,
        "media": media,
        "reply_to": message.reply_to,
        "line": message.line,
    }
    if message.button is not None:
        body["button"] = message.button
    sender = message.number or message.user_id or ""
    return InboundMessage(f"{channel} message {message.ref}", channel, body, sender, message.at)


def _noted(strange: tuple[UnknownWhatsAppEvent, ...], channel: str) -> Iterator[InboundMessage]:
    for each in strange:
        digest = hashlib.sha256(each.raw.encode()).hexdigest()
        body: JsonMap = {"what": each.what, "raw": each.raw}
        yield InboundMessage(f"{channel} strange {digest}", channel, body)
