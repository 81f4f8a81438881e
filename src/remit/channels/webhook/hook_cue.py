"""Turns a webhook call into a cue: the owner's configured text, and the body as material."""

from typing import Final

from remit.channels.webhook.receiving import HookEvent, pointed
from remit.language import outside_text
from remit.model.codec import JsonMap
from remit.model.delivery import Delivery
from remit.model.task import Creator, Cue, Source, SourceKind, Taint
from remit.settings.doors import HookSettings
from remit.store.cues import Arrival, CueFate, InboundCaps, StoredCue

DOOR: Final = "hook:"


def arrival(name: str, hook: HookSettings, event: HookEvent) -> Arrival:
    """Make the arrival of a webhook event."""
    named = pointed(event.content, hook.title) if hook.title else ""
    what = f"{name}: {event.kind}" if event.kind else f"Called by {name}"
    body: JsonMap = {
        "kind": "call",
        "type": outside_text.one_line(event.kind),
        "title": outside_text.title(named, what),
        "text": event.text,
    }
    ref = f"{DOOR}{name} {event.ref}"
    if event.greets:
        why = "it only says that the hook was set up"
        return Arrival(ref=ref, door=DOOR + name, body=body, fate=CueFate.IGNORED, why=why)
    return Arrival(ref=ref, door=DOOR + name, body=body)


def cue(kept: StoredCue, name: str, hook: HookSettings) -> Cue:
    """Make the cue: the owner's text and recipients; the event is outside text."""
    context: JsonMap = {"hook": name, "type": kept.body.get("type") or None}
    context["outside"] = str(kept.body.get("text") or "")
    return Cue(
        source=Source(SourceKind.WEBHOOK, f"{name}/{kept.ref.partition(' ')[2]}"),
        title=str(kept.body.get("title") or f"Called by {name}"),
        text=hook.text,
        delivery=(Delivery(hook.channel, hook.recipient or None),),
        context={key: value for key, value in context.items() if value is not None},
        created_by=Creator.SCHEDULER,
        taint=Taint.PUBLIC,
    )


def caps(hook: HookSettings) -> InboundCaps:
    """Return the limits of a hook; a caller over them is refused and may retry."""
    return InboundCaps(hook.hourly, hook.daily_tokens, hook.daily_cents, turns_away=True)
