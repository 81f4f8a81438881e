"""Limits of sending and the undo window, from settings."""

from remit.contacts.book import Contacts
from remit.delivery.send_limits import SendLimits
from remit.model.delivery import SendGuarantee
from remit.model.undo import Undo
from remit.store import permissions
from remit.wiring.app_context import AppContext


def send_limits(ground: AppContext, contacts: Contacts) -> SendLimits:
    """Return the limits for the courier."""
    db, deliver = ground.db, ground.settings.deliver
    return SendLimits(
        people=contacts,
        standing=lambda channel: db.read(permissions.on, channel),
        sent=lambda delivery, since: db.read(permissions.sent_since, delivery, since),
        now=ground.clock.now,
        zone=ground.zone,
        quiet=deliver.quiet_hours,
        daily_cap=deliver.daily_cap,
        undo=deliver.undo,
    )


def undo_window(ground: AppContext) -> Undo:
    """Return how long an approval can be undone; local channels need not wait."""
    stays = (
        name for name, each in ground.channels.items() if each.keeps is SendGuarantee.TRANSACTION
    )
    return Undo(ground.settings.deliver.undo, tuple(stays))
