"""Channels: how each stands, and what it promises."""

import asyncio
from collections.abc import Mapping
from typing import Final

from remit.channels.health import ChannelState, channel_states
from remit.model.codec import Json
from remit.model.delivery import SendGuarantee
from remit.operations.upkeep import DASHBOARD
from remit.server.call import Call, CallResult, read
from remit.store import deliveries, permissions
from remit.store.database import Tx
from remit.wiring import App
from remit.wiring.keys import keys_of

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
    states = await asyncio.to_thread(states_of, house, off)
    found: list[Json] = []
    for name in names:
        kind, aliases = kinds.get(name, (DASHBOARD, ()))
        state = states.get(name)
        why = state.said if state and not state.ready else ""
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


def _keeps(house: App, name: str) -> SendGuarantee:
    return SendGuarantee.TRANSACTION if name == DASHBOARD else house.outfit.channels[name].keeps


def states_of(house: App, off: Mapping[str, str]) -> dict[str, ChannelState]:
    """Whether each channel has what it needs; asks the machine's keyring, which may be slow."""
    return channel_states(keys_of(house.settings), house.clock, off)


def _troubles(tx: Tx, names: list[str]) -> tuple[Mapping[str, str], dict[str, str]]:
    last = {name: deliveries.last_trouble(tx, name) for name in names}
    return permissions.channels_off(tx), {name: why for name, why in last.items() if why}


ROUTES: Final = (
    read(
        "/api/channels",
        list_channels,
        "Every way out: whether it has what it needs, and what it promises",
        "Channels",
    ),
)
