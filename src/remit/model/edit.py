"""What the owner changes about a task that has not begun."""

from dataclasses import dataclass
from datetime import datetime

from remit.model.delivery import Delivery
from remit.model.task import Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What is None stays as it is."""

    title: str | None = None
    instructions: str | None = None
    scheduled_for: datetime | None = None
    priority: Priority | None = None
    delivery: tuple[Delivery, ...] | None = None

    @property
    def is_empty(self) -> bool:
        return self == Edit()
