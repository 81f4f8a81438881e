"""What an answer about the request itself makes of a task that has not begun."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from remit.model.review import Review
from remit.model.task import Task


@dataclass(frozen=True, slots=True)
class Settled:
    """The task with the answer worked in, and what must be asked next, if anything.

    `moot` are the keys of gaps that nobody need fill any more. A task that is `over` has nothing
    left to do: the owner left all of it out.
    """

    task: Task
    ask: Review | None = None
    moot: tuple[str, ...] = ()
    over: bool = False


# Pure: it runs inside the transaction that writes the decision down.
Settle: TypeAlias = Callable[[Task, Review, str, datetime], Settled]
