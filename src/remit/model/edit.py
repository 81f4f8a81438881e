"""The changes an owner may make to a task that has not begun."""

from datetime import datetime

from msgspec import Struct

from remit.model.delivery import Delivery
from remit.model.task import Priority


class Edit(Struct, frozen=True, kw_only=True):
    """Changes to a task; a field that is None stays as it is."""

    title: str | None = None
    instructions: str | None = None
    scheduled_for: datetime | None = None
    priority: Priority | None = None
    delivery: tuple[Delivery, ...] | None = None

    @property
    def is_empty(self) -> bool:
        return self == Edit()
