"""Loads the contact book of this home for a command."""

from remit.contacts.book import FILE, Contacts
from remit.contacts.people import ChannelName
from remit.settings import Settings


def contacts_of(settings: Settings) -> Contacts:
    """Return the contact book of this home."""
    return Contacts(settings.home / FILE, settings.owner, _channels(settings))


def _channels(settings: Settings) -> tuple[str | ChannelName, ...]:
    """The channels that a house here has."""
    more = (ChannelName(name, each.kind, each.aliases) for name, each in settings.channels.items())
    return ("dashboard", *more)
