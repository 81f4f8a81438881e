"""Channel routes: state and guarantees, a test message, and switching one on again."""

import os
from collections.abc import Mapping
from typing import Final

from remit.channels.registry import ChannelSecrets
from remit.errors import BadInput, NotFound, RemitError
from remit.model.caller import Scope
from remit.model.codec import Json
from remit.model.delivery import Delivery, SendGuarantee
from remit.model.task import Cue, Priority, Source, SourceKind
from remit.server.bodies import ChannelTest
from remit.server.call import VIEW, Call, CallResult, Route, created
from remit.store import deliveries, permissions
from remit.store.database import Tx
from remit.store.secrets import Secrets, machine_ring
from remit.wiring import App

DASHBOARD: Final = "dashboard"
GUARANTEES: Final[Mapping[SendGuarantee, str]] = {
    SendGuarantee.TRANSACTION: "Exactly once: what is shown and what is written down are one.",
    SendGuarantee.KEY: "Once: the same message given twice is taken as one.",
    SendGuarantee.LOOKUP: "Once: after a cut it is looked up whether the message arrived.",
    SendGuarantee.NOTHING: "At most once: after a cut you are asked whether it arrived.",
}


async def list_channels(call: Call) -> CallResult:
    """Return all channels: whether each has what it needs, and its last error."""
    return CallResult({"channels": await listed(call.house)})


async def listed(house: App) -> list[Json]:
    """Return the same for a page."""
    names = [DASHBOARD, *(way.name for way in house.outfit.ways)]
    off, wrong = await house.db.read(_troubles, names)
    kinds = {way.name: (way.kind, way.aliases) for way in house.outfit.ways}
    keys = ChannelSecrets(
        Secrets(house.settings.home, machine_ring()), os.environ, house.settings.channels
    )
    found: list[Json] = []
    for name in names:
        kind, aliases = kinds.get(name, (DASHBOARD, ()))
        lacks = "" if name == DASHBOARD else _lacks(house, keys, name)
        why = f"off: {off[name]}" if name in off else lacks
        found.append(
            {
                "name": name,
                "kind": kind,
                "aliases": list[Json](aliases),
                "ready": not why,
                "why": why or None,
                "off": name in off,
                "guarantee": GUARANTEES[_keeps(house, name)],
                "lastError": wrong.get(name),
            }
        )
    return found


async def try_out(call: Call) -> CallResult:
    """Send a marked message through the normal path; the task shows the result."""
    body, name, house = call.read(ChannelTest), call.path["name"], call.house
    if name == DASHBOARD:
        raise BadInput("The dashboard is Remit's own; there is nothing to test.", field="name")
    if name not in house.outfit.channels:
        raise NotFound("channel", f"{name!r:.60}")
    mark = house.ids.ulid()[-4:]
    text = f"Test message {mark} from {house.settings.agent} on {name}. Nothing needs doing."
    title = f"Test the channel {name}"
    cue = Cue(
        source=Source(SourceKind.MANUAL, call.ref),
        title=title,
        text=title,
        delivery=(Delivery(name, body.to, text),),
        priority=Priority.HIGH,
    )
    return await created(call, await house.intake.admit(cue))


async def switch_on(call: Call) -> CallResult:
    """Switch it on again; what waited for it continues."""
    return CallResult(await call.house.permits.switch_on(call.path["name"]))


def _keeps(house: App, name: str) -> SendGuarantee:
    return SendGuarantee.TRANSACTION if name == DASHBOARD else house.outfit.channels[name].keeps


def _lacks(house: App, keys: ChannelSecrets, name: str) -> str:
    try:
        chosen = house.settings.channels[name]
        missing = [secret for secret in chosen.secrets if secret and not keys.get(secret)]
    except RemitError as error:
        return str(error)
    return f"lacks {', '.join(missing)}: nothing goes out before it is set" if missing else ""


def _troubles(tx: Tx, names: list[str]) -> tuple[Mapping[str, str], dict[str, str]]:
    last = {name: deliveries.last_trouble(tx, name) for name in names}
    return permissions.channels_off(tx), {name: why for name, why in last.items() if why}


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/channels",
        does=list_channels,
        says="Every way out: whether it has what it needs, and what it promises",
        gives="Channels",
    ),
    Route(
        method="POST",
        path="/api/channels/{name}/test",
        does=try_out,
        says="Send a marked test message; the task says what came of it",
        gives="Task",
        status=201,
        query=(VIEW,),
        body=ChannelTest,
        scope=Scope.ADMIN,
    ),
    Route(
        method="POST",
        path="/api/channels/{name}/on",
        does=switch_on,
        says="Use a channel again that was switched off; what waited for that goes on",
        gives="SwitchedOn",
        scope=Scope.ADMIN,
    ),
)
