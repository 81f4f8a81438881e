"""Wires notices (which event, where, in what words), the limits of sending, and the undo window."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from remit import notify
from remit.channels.buttons import ChatButtons
from remit.channels.push import PushContext, PushNotifier
from remit.contacts.permits import SendLimits
from remit.converse.notice_follower import NoticeDecisions, OwnerPresence
from remit.delivery.courier import Courier
from remit.delivery.notice_delivery import NoticeContext, NoticeWords
from remit.delivery.notice_sender import NoticeSender
from remit.model.conversation import NoticeContent, PlannedNotice
from remit.model.delivery import Delivery, SendGuarantee
from remit.model.permit import Reach, UnclearRecipient
from remit.model.run import Event
from remit.model.task import Task
from remit.notify import NoticeMoment, NoticeRules
from remit.settings import NoticeSettings, Settings
from remit.store import permissions
from remit.store.secrets import Secrets, machine_ring
from remit.wiring.app_context import AppContext


class NoticePreferences:
    """The owner's notice settings, which may change while Remit runs."""

    def __init__(self, settings: Settings) -> None:
        self.notices: NoticeSettings = settings.notices
        self._public_url = settings.server.public_url

    def now(self) -> NoticeSettings:
        return self.notices

    def root(self) -> str:
        """The base of links; empty if the dashboard opens only on this machine.

        A message is read on a phone, where an address of this machine leads nowhere.
        """
        return self.notices.link or self._public_url


class NoticeParts(Struct, frozen=True):
    """Everything that notifies the owner."""

    wishes: NoticePreferences
    push: PushNotifier  # web push while no page is open
    herald: NoticeSender  # sends decided notices
    tells: NoticeDecisions  # decides which notices to send


def build_notices(context: AppContext, courier: Courier, buttons: ChatButtons) -> NoticeParts:
    wishes = NoticePreferences(context.settings)
    push, rules = _push(context, wishes), _rules(context, wishes)
    around = _around(context, courier, rules, push, wishes)
    made = NoticeSender(replace(around, offer=buttons.offer))
    return NoticeParts(wishes, push, made, _tells(rules, made.ring))


def _push(context: AppContext, wishes: NoticePreferences) -> PushNotifier:
    home, hide = context.settings.home, context.keys.kept.hide

    def open_secrets() -> Secrets:
        # With the keyring in any case: a file beside it would hide everything in it.
        return Secrets(home, machine_ring(home), hide)

    return PushNotifier(PushContext(context.db, context.clock, open_secrets, wishes.now))


def _rules(context: AppContext, wishes: NoticePreferences) -> NoticeRules:
    names = [
        name
        for name, each in context.channels.items()
        if each.keeps is not SendGuarantee.TRANSACTION
    ]
    return NoticeRules(wishes.now, context.settings.deliver.quiet_hours, context.zone, names)


def _tells(found: NoticeRules, ring: Callable[[], None]) -> NoticeDecisions:
    """Build the decisions: which journal events become notices."""

    def concerns(event: Event) -> bool:
        news = notify.news(event)
        return news is not None and bool(found.wishes().ways(news))

    def posts(
        telling: NoticeContent, task: Task | None, here: OwnerPresence
    ) -> tuple[PlannedNotice, ...]:
        stands = NoticeMoment(here.now, here.channel, here.digested, here.listens)
        return found.posts(telling.news, task, stands)

    return NoticeDecisions(concerns, notify.telling, posts, notify.many, ring)


def _around(
    context: AppContext,
    courier: Courier,
    rules: NoticeRules,
    push: PushNotifier,
    wishes: NoticePreferences,
) -> NoticeContext:
    def reach(channel: str) -> Reach | UnclearRecipient:
        return courier.reach(Delivery(channel), None)

    channels = {name: each for name, each in context.channels.items() if name in rules.channels}
    return NoticeContext(
        db=context.db,
        clock=context.clock,
        ids=context.ids,
        zone=context.zone,
        channels=channels,
        reach=reach,
        push=push,
        words=NoticeWords(context.settings.agent, context.redact, wishes.root),
        wishes=wishes.now,
        next_digest=rules.next_digest,
        background=context.background,
    )


def send_limits(context: AppContext) -> SendLimits:
    """Return the limits for the courier."""
    db, deliver = context.db, context.settings.deliver
    return SendLimits(
        people=context.contacts,
        standing=lambda channel: db.read(permissions.list_for_channel, channel),
        sent=lambda delivery, since: db.read(permissions.sent_since, delivery, since),
        now=context.clock.now,
        zone=context.zone,
        quiet=deliver.quiet_hours,
        daily_cap=deliver.daily_cap,
        undo=deliver.undo,
    )
