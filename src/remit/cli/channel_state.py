"""The state of the configured channels, as far as it can be known without sending."""

import os
from typing import Final

from msgspec import Struct

from remit.channels.registry import ChannelSecrets
from remit.errors import RemitError
from remit.settings import Settings
from remit.settings.channels import Chosen, WhatsAppLine, kind_of
from remit.store import permissions
from remit.store.read_only import glance
from remit.store.secrets import Secrets, machine_ring

_DASHBOARD: Final = "what is for you is shown there; it is always ready"


class ChannelState(Struct, frozen=True):
    """`verdict` is ok, warn or fail, as in the doctor."""

    name: str
    kind: str
    verdict: str
    said: str
    todo: str = ""
    aliases: tuple[str, ...] = ()


def look(settings: Settings) -> list[ChannelState]:
    """Return every channel, the dashboard first."""
    return [ChannelState("dashboard", "dashboard", "ok", _DASHBOARD), *chosen(settings)]


def chosen(settings: Settings) -> list[ChannelState]:
    """Return the configured channels."""
    if not settings.channels:
        return []
    from remit.channels import setup  # noqa: PLC0415 - loads what speaks HTTP, SMTP and IMAP
    from remit.wiring import WallClock  # noqa: PLC0415 - the whole house

    keys = ChannelSecrets(Secrets(settings.home, machine_ring()), os.environ, settings.channels)
    wrong, off = setup.complaints(keys, WallClock()), _off(settings)
    return [
        _off_state(name, each, off[name])
        if name in off
        else _state(name, each, keys, wrong.get(name))
        for name, each in settings.channels.items()
    ]


def _off(settings: Settings) -> dict[str, str]:
    if not settings.database.exists():
        return {}
    with glance(settings.database) as tx:
        return permissions.channels_off(tx)


def _off_state(name: str, chosen: Chosen, why: str) -> ChannelState:
    said, todo = f"off: {why}", f"remit channels on {name}"
    return ChannelState(name, kind_of(chosen), "fail", said, todo, chosen.aliases)


def _state(name: str, chosen: Chosen, keys: ChannelSecrets, wrong: str | None) -> ChannelState:
    kind, aliases = kind_of(chosen), chosen.aliases
    if wrong is not None:
        todo = f"Mend [channels.{name}] in settings.toml."
        return ChannelState(name, kind, "fail", wrong, todo, aliases)
    try:
        missing = [secret for secret in chosen.secrets if secret and not keys.get(secret)]
    except RemitError as error:
        return ChannelState(name, kind, "fail", str(error), "", aliases)
    if missing:
        todo = f"remit secrets set {missing[0]}"
        said = f"lacks {', '.join(missing)}: nothing goes out before it is set"
        return ChannelState(name, kind, "warn", said, todo, aliases)
    if isinstance(chosen, WhatsAppLine) and not chosen.app_secret:
        todo = f"Name app_secret and verify_token, and enter /hooks/whatsapp/{name} as the hook."
        said = "can send, but hears nothing: no text goes to who has not written, no doubt clears"
        return ChannelState(name, kind, "warn", said, todo, aliases)
    return ChannelState(name, kind, "ok", _ready(name, chosen), "", aliases)


def _ready(name: str, chosen: Chosen) -> str:
    if isinstance(chosen, WhatsAppLine):
        return f"has what it needs; its hook is /hooks/whatsapp/{name}"
    return "has what it needs"
