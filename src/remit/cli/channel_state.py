"""How the channels of the settings stand, as far as can be seen without sending anything."""

import os
from typing import Final

from msgspec import Struct

from remit.channels.health import ChannelHealth, channel_health
from remit.channels.registry import ChannelSecrets
from remit.settings import Settings
from remit.settings.channels import ChannelSettings
from remit.store import permissions
from remit.store.read_only import glance
from remit.store.secrets import Secrets, machine_ring

_DASHBOARD: Final = "what is for you is shown there; it is always ready"


class ChannelState(Struct, frozen=True):
    """`verdict` is ok, warn or fail, as the doctor says it."""

    name: str
    kind: str
    verdict: str
    said: str
    todo: str = ""
    aliases: tuple[str, ...] = ()


def look(settings: Settings) -> list[ChannelState]:
    """Every channel, the dashboard first."""
    return [ChannelState("dashboard", "dashboard", "ok", _DASHBOARD), *chosen(settings)]


def chosen(settings: Settings) -> list[ChannelState]:
    """The channels of the settings."""
    if not settings.channels:
        return []
    from remit.channels import setup  # noqa: PLC0415 - loads what speaks HTTP, SMTP and IMAP
    from remit.wiring import WallClock  # noqa: PLC0415 - the whole house

    keys = ChannelSecrets(Secrets(settings.home, machine_ring()), os.environ, settings.channels)
    wrong, off = setup.complaints(keys, WallClock()), _off(settings)
    return [
        _state(name, each, keys, off.get(name), wrong.get(name))
        for name, each in settings.channels.items()
    ]


def _off(settings: Settings) -> dict[str, str]:
    if not settings.database.exists():
        return {}
    with glance(settings.database) as tx:
        return permissions.channels_off(tx)


def _state(
    name: str, section: ChannelSettings, keys: ChannelSecrets, off: str | None, wrong: str | None
) -> ChannelState:
    if off is not None:
        found = ChannelHealth("fail", f"off: {off}", f"remit channels on {name}")
    else:
        found = channel_health(name, section, keys, wrong)
    return ChannelState(name, section.kind, found.verdict, found.said, found.todo, section.aliases)
