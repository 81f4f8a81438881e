"""The arguments of `remit add`, before a task exists."""

from datetime import datetime

from msgspec import Struct

from remit.model.series import Repeats
from remit.model.task import Priority


class MessageOrder(Struct, frozen=True, kw_only=True):
    """Words that are to be read: they may ask for one task, for several or for none."""

    text: str
    key: str  # the same key twice is the same tasks
    scheduled_for: datetime | None = None
    repeats: Repeats | None = None
    priority: Priority | None = None
    dry_run: bool = False  # only say what would become of it
    wait: bool = False  # until the words are read, if a model reads them


class CodeOrder(Struct, frozen=True):
    """The code that is to be worked on."""

    project: str
    files: tuple[str, ...] = ()  # that will likely change
    prd: str | None = None  # the requirements document, and after a # its story


class TaskOrder(Struct, frozen=True, kw_only=True):
    """A task that is to be taken as it is said, part by part."""

    text: str
    key: str  # the same key twice is the same task
    content: str | None = None
    recipient: str | None = None
    channel: str = "dashboard"
    work: tuple[str, ...] = ()
    scheduled_for: datetime | None = None
    repeats: Repeats | None = None
    priority: Priority | None = None
    code: CodeOrder | None = None  # work on a project, by a specialist

    def to_be_read(self, *, dry_run: bool, wait: bool = False) -> MessageOrder:
        """The same, if the words themselves say what it is."""
        return MessageOrder(
            text=self.text,
            key=self.key,
            scheduled_for=self.scheduled_for,
            repeats=self.repeats,
            priority=self.priority,
            dry_run=dry_run,
            wait=wait,
        )
