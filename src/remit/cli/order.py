"""The arguments of `remit add`, before a task exists."""

from datetime import datetime

from msgspec import Struct

from remit.model.series import Repeats
from remit.model.task import Priority


class MessageOrder(Struct, frozen=True, kw_only=True):
    """Words to be read: they may ask for one task, several or none."""

    text: str
    key: str  # the same key twice is the same tasks
    scheduled_for: datetime | None = None
    repeats: Repeats | None = None
    priority: Priority | None = None
    dry_run: bool = False  # only report the result
    wait: bool = False  # until the words are read, if a model reads them


class CodeOrder(Struct, frozen=True):
    """The code to work on."""

    project: str
    files: tuple[str, ...] = ()  # likely to change
    prd: str | None = None  # the requirements document, and after a # its story


class TaskOrder(Struct, frozen=True, kw_only=True):
    """A task given part by part."""

    text: str
    key: str  # the same key twice is the same task
    content: str | None = None
    recipient: str | None = None
    channel: str = "dashboard"
    work: tuple[str, ...] = ()
    scheduled_for: datetime | None = None
    repeats: Repeats | None = None
    priority: Priority | None = None
    code: CodeOrder | None = None  # project work by a specialist

    def to_be_read(self, *, dry_run: bool, wait: bool = False) -> MessageOrder:
        """Return the order as a message whose words are read."""
        return MessageOrder(
            text=self.text,
            key=self.key,
            scheduled_for=self.scheduled_for,
            repeats=self.repeats,
            priority=self.priority,
            dry_run=dry_run,
            wait=wait,
        )
