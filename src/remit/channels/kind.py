"""A kind of channel: its section of the settings, how its sender is built, and what it hears.

To add one is to add a folder with a `section.py`: CONTRIBUTING.md shows it. A section is read with
the settings by every command, so what sends is imported only when it is built.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, cast

from msgspec import Struct

from remit.settings.channels import ChannelSettings

if TYPE_CHECKING:
    from remit.channels.registry import ChannelSecrets, InboundHook
    from remit.ports import Channel, Clock
    from remit.store.database import Database


class ChannelContext(Struct, frozen=True):
    """What a channel may use. Without a database it is only checked: nothing is sent."""

    name: str
    keys: "ChannelSecrets"
    clock: "Clock"
    db: "Database | None" = None


class ChannelKind(ChannelSettings, frozen=True, kw_only=True):
    built_by: ClassVar[str]  # the module with `build(section, context)`, imported when it is needed

    def build(self, context: ChannelContext) -> "Channel":
        """What sends; BadInput if the settings are wrong."""
        return cast("Channel", import_module(self.built_by).build(self, context))

    def hook(
        self, name: str, every: Mapping[str, ChannelSettings], keys: "ChannelSecrets"
    ) -> "InboundHook | None":
        """What a call from its provider must show; None if no provider calls."""
        del name, every, keys
        return None
