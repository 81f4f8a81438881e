"""What inbound triggers need from other packages."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from remit.channels.registry import ChannelSecrets
from remit.contacts.book import Contacts
from remit.intake.admit import Intake
from remit.model.conversation import Turn
from remit.model.ids import ReviewId
from remit.model.review import Decision
from remit.model.task import Task
from remit.store.inbound import InboundMessage
from remit.wiring.app_context import AppContext


class InboundPorts(Struct, frozen=True):
    """What inbound triggers need: intake, contacts, conversation, decisions."""

    ground: AppContext
    keys: ChannelSecrets
    intake: Intake
    contacts: Contacts
    talk: Callable[[InboundMessage], Awaitable[Turn | None]]
    decide: Callable[[ReviewId, Decision], Awaitable[Task]]
