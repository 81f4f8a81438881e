"""Builds the channels from settings and secrets.

A secret is looked up at each use, so a renewed one needs no restart. A missing secret does not stop
the start: its channel answers that it is locked, and the owner is asked.
"""

from remit.channels import ChannelContext, ChannelKind
from remit.channels.mail.mailbox_watch import BounceWatch
from remit.channels.mail.sending import EmailChannel, token_source
from remit.channels.oauth.tokens import SignInWatch
from remit.channels.registry import ChannelAlias, ChannelRegistry, ChannelSecrets, InboundCleanup
from remit.errors import BadInput
from remit.ports import Channel, Clock
from remit.settings.channels import ChannelSettings
from remit.store.database import Database
from remit.system.background import Background


def build_channels(
    keys: ChannelSecrets, db: Database, clock: Clock, background: Background, *, keep: int = 0
) -> ChannelRegistry:
    """Build every channel; errors in the settings name the channel.

    `keep` is for how many days inbound messages are kept; 0: for ever.
    """
    made: dict[str, Channel] = {}
    sections = {name: _kind(each) for name, each in keys.chosen.items()}
    for name, each in sections.items():
        try:
            made[name] = each.build(ChannelContext(name, keys, clock, db))
        except BadInput as error:
            raise BadInput(f"[channels.{name}]: {error}", field=name) from None
    ways = tuple(ChannelAlias(name, each.called, each.aliases) for name, each in sections.items())
    boxes = {name: each.mailbox for name, each in made.items() if isinstance(each, EmailChannel)}
    watch = BounceWatch({name: box for name, box in boxes.items() if box}, db, clock, background)
    tidy = InboundCleanup(keep, db, clock, background)
    sources = [
        (name, source)
        for name, each in sections.items()
        if (source := token_source(each, ChannelContext(name, keys, clock)))
    ]
    renewal = SignInWatch(sources, clock, background)
    hooks = {name: each.hook(name, sections, keys) for name, each in sections.items()}
    hooks_in_use = {name: hook for name, hook in hooks.items() if hook is not None}
    return ChannelRegistry(made, ways, hooks_in_use, (watch, tidy, renewal))


def complaints(keys: ChannelSecrets, clock: Clock) -> dict[str, str]:
    """Return the errors of configured channels, by name; nothing is opened or sent."""
    found: dict[str, str] = {}
    for name, each in keys.chosen.items():
        try:
            _kind(each).build(ChannelContext(name, keys, clock))
        except BadInput as error:
            found[name] = str(error)
    return found


def _kind(section: ChannelSettings) -> ChannelKind:
    if not isinstance(section, ChannelKind):
        raise TypeError(f"{type(section).__name__} has no build(); derive it from ChannelKind.")
    return section
