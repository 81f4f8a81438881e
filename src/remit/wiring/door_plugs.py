"""What the doors in of a house are joined to."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from remit.deliver.ways import Keys
from remit.intake.admit import Intake
from remit.intake.book import Contacts
from remit.model.conversation import Turn
from remit.model.ids import ReviewId
from remit.model.review import Decision
from remit.model.task import Task
from remit.store.inbound import Came
from remit.wiring.ground import Ground


class DoorPlugs(Struct, frozen=True):
    """What the doors are joined to: who takes work in, who is known, who talks."""

    ground: Ground
    keys: Keys
    intake: Intake
    contacts: Contacts
    talk: Callable[[Came], Awaitable[Turn | None]]
    decide: Callable[[ReviewId, Decision], Awaitable[Task]]
