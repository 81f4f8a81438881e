"""The state of the configured channels, as far as it can be known without sending."""

import os
from typing import Final

from remit.channels.health import ChannelState, channel_states
from remit.channels.registry import ChannelSecrets
from remit.settings import Settings
from remit.store import permissions
from remit.store.read_only import glance
from remit.store.secrets import Secrets, machine_ring

_DASHBOARD: Final = "what is for you is shown there; it is always ready"


def look(settings: Settings) -> list[ChannelState]:
    """Return every channel, the dashboard first."""
    return [ChannelState("dashboard", "dashboard", "ok", _DASHBOARD), *chosen(settings)]


def chosen(settings: Settings) -> list[ChannelState]:
    """Return the configured channels."""
    if not settings.channels:
        return []
    from remit.wiring import WallClock  # noqa: PLC0415 - the whole house

    keys = ChannelSecrets(Secrets(settings.home, machine_ring()), os.environ, settings.channels)
    return [*channel_states(keys, WallClock(), _off(settings)).values()]


def _off(settings: Settings) -> dict[str, str]:
    if not settings.database.exists():
        return {}
    with glance(settings.database) as tx:
        return permissions.channels_off(tx)
