"""What the calendars need from other packages."""

from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct

from remit.contacts.book import Contacts
from remit.model.ids import Ids
from remit.model.task import Cue, Task
from remit.wiring.app_context import AppContext


class IntakeParts(Struct, frozen=True):
    """What the calendars need: store, clock, intake and contacts."""

    ground: AppContext
    ids: Ids
    admit: Callable[[Cue], Awaitable[Task]]
    contacts: Contacts
    learn: Callable[[Iterable[str]], None]  # registers new secrets
