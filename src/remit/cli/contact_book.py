"""Loads the contact book of this home for a command."""

from remit.intake.book import FILE, Contacts
from remit.intake.recipients import ChannelName
from remit.settings import Settings
from remit.settings.channels import kind_of


def contacts_of(settings: Settings) -> Contacts:
    """Return the contact book of this home."""
    return Contacts(settings.home / FILE, settings.owner, _channels(settings))


def _channels(settings: Settings) -> tuple[str | ChannelName, ...]:
    """Return the channels available here."""
    more = (
        ChannelName(name, kind_of(each), each.aliases) for name, each in settings.channels.items()
    )
    return ("dashboard", *more)
