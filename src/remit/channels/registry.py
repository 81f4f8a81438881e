"""The registry of channels by name, and the lookup of their secrets.

`setup` builds it and loads what each kind needs; code that only asks which channels exist does not
load that.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from remit.errors import NotFound, StoreTrouble
from remit.ports import Channel
from remit.settings.channels import Chosen
from remit.store.secrets import Secrets

_LONG: Final = 16  # characters; a shorter word of a secret may be any word

Token: TypeAlias = Callable[[], str]  # asked at each use, so a renewed one needs no restart


@runtime_checkable
class ClosableChannel(Protocol):
    """A channel that holds something open."""

    async def close(self) -> None: ...


class ChannelAlias(Struct, frozen=True):
    """How the owner may call a channel: by its name, its kind, or a word of his own."""

    name: str
    kind: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InboundHook:
    """What a call from a provider must show to be believed. Each is asked for at each call."""

    channel: str
    app_secret: Token = field(repr=False)
    verify_token: Token = field(repr=False)
    lines: Mapping[str, str]  # which channel a message is for, by the number it came in on


class ProviderWatch(Protocol):
    """Looks now and then for what a provider does not tell by itself."""

    def start(self) -> None: ...

    async def look(self) -> int: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ChannelRegistry:
    """Every channel of the settings, ready for use."""

    channels: Mapping[str, Channel] = field(default_factory=dict)
    ways: tuple[ChannelAlias, ...] = ()
    hooks: Mapping[str, InboundHook] = field(default_factory=dict)
    watch: ProviderWatch | None = None
    tidy: ProviderWatch | None = None

    def start(self) -> None:
        """Begin to look for what comes back, and for what is too old to be kept."""
        for each in filter(None, (self.watch, self.tidy)):
            each.start()

    async def close(self) -> None:
        """Give back what the channels hold open."""
        for each in filter(None, (self.watch, self.tidy)):
            await each.close()
        for channel in self.channels.values():
            if isinstance(channel, ClosableChannel):
                await channel.close()


@dataclass(frozen=True, slots=True)
class ChannelSecrets:
    """What names stand for: first what the owner keeps, then the environment."""

    kept: Secrets
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set, repr=False)  # every value that was ever handed out

    def token(self, name: str) -> Token:
        """What asks for a secret at each use; one that is nowhere is an empty text."""
        return lambda: self.get(name)

    def learn_all(self) -> None:
        """Know every secret there is. Where none can be read none is known, and none opens."""
        with suppress(StoreTrouble):
            used = {name for each in self.chosen.values() for name in each.secrets}
            for name in used | set(self.kept.names()):
                self.get(name)

    def get(self, name: str) -> str:
        """What a name stands for now; an empty text if it is nowhere."""
        found = self._find(name) if name else ""
        # While one is replaced two stand in one value, and each is a secret.
        self.learn((found, *(word for word in found.split() if len(word) >= _LONG)))
        return found

    def learn(self, values: Iterable[str]) -> None:
        """From now on these are secrets."""
        for value in filter(None, values):
            self.kept.hide.learn(value)
            self.seen.add(value)

    def _find(self, name: str) -> str:
        try:
            return self.kept.get(name)
        except NotFound:
            return self.environ.get(variable(name), "")


def variable(name: str) -> str:
    """The variable that a secret may stand in: whatsapp_token is WHATSAPP_TOKEN."""
    return "".join(char if char.isalnum() else "_" for char in name).upper()
