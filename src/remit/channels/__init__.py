"""Channels, one package for each integration: sending, receiving, errors, health.

Here: a kind of channel, its section of the settings, how its sender is built, and what it hears. To
add one is to add a folder whose `__init__.py` has the section: CONTRIBUTING.md shows it. It is read
with the settings by every command, so what sends is imported only when it is built.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import tzinfo
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from msgspec import Struct

from remit.settings.channels import ChannelSettings

if TYPE_CHECKING:
    from remit.channels.buttons import ChatButtons
    from remit.channels.registry import ChannelSecrets, InboundHook
    from remit.model.ids import TaskId
    from remit.model.run import Event
    from remit.ports import Channel, Clock
    from remit.store.cues import InboundMessage
    from remit.store.database import Database
    from remit.system.background import Background, LoopGroup


class JournalPages(Protocol):
    """Past events in pages, then each new one as it happens."""

    async def last(self) -> int: ...

    def pages(self, since: int) -> "AsyncIterator[list[Event]]": ...


class ChannelContext(Struct, frozen=True):
    """Gives a channel its secrets, clock and database; without a database nothing is sent."""

    name: str
    keys: "ChannelSecrets"
    clock: "Clock"
    db: "Database | None" = None


class ChatReply(Struct, frozen=True):
    """An immediate answer; empty if the answer comes as a turn of the conversation."""

    text: str = ""
    tasks: "tuple[TaskId, ...]" = ()  # what the message has started


class ChatContext(Struct, frozen=True, kw_only=True):
    """Gives a channel that fetches messages everything to act on them."""

    name: str
    keys: "ChannelSecrets"
    clock: "Clock"
    db: "Database"
    zone: tzinfo
    background: "Background"
    journal: "JournalPages"
    sender: "Channel"  # of the same name
    buttons: "ChatButtons"
    owner_address: "Callable[[], str]"  # empty until the owner has paired a chat
    is_contact: "Callable[[str], bool]"
    owner_wrote: "Callable[[InboundMessage], Awaitable[ChatReply]]"
    contact_wrote: "Callable[[InboundMessage], Awaitable[object]]"
    redact: "Callable[[str], str]"
    pair: "Callable[[str | None, str], Awaitable[str]]"  # a contact, or the owner, and an address


class ChannelKind(ChannelSettings, frozen=True, kw_only=True):
    built_by: ClassVar[str]  # the module with `build(section, context)`, imported when it is needed
    watched_by: ClassVar[str] = ""  # the module with `watch(section, context)`, if it must fetch
    added_by: ClassVar[str] = ""  # the module with `check(secret, url)`, for `remit channels add`

    def build(self, context: ChannelContext) -> "Channel":
        """Return the sender; raise BadInput if the settings are wrong."""
        return cast("Channel", import_module(self.built_by).build(self, context))

    def watch(self, context: ChatContext) -> "LoopGroup | None":
        """Return the loops that fetch messages; None if the provider calls us."""
        if not self.watched_by:
            return None
        return cast("LoopGroup", import_module(self.watched_by).watch(self, context))

    def loops(
        self, channel: "Channel", context: ChannelContext, background: "Background"
    ) -> "Sequence[LoopGroup]":
        """Return the other loops that run as long as Remit does."""
        del channel, context, background
        return ()

    def hook(
        self, name: str, every: Mapping[str, ChannelSettings], keys: "ChannelSecrets"
    ) -> "InboundHook | None":
        """Return what authenticates the provider's calls; None if it makes none."""
        del name, every, keys
        return None
