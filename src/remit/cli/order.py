"""What `remit add` was told, before it is anybody's task."""

from dataclasses import dataclass
from datetime import datetime

from remit.model.task import Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    text: str
    key: str  # the same key twice is the same task
    content: str | None = None
    recipient: str | None = None
    channel: str = "dashboard"
    work: tuple[str, ...] = ()
    scheduled_for: datetime | None = None
    priority: Priority | None = None
