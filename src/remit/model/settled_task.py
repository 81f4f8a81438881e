"""How an answer about the request changes tasks that have not begun."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from remit.model.review import Review
from remit.model.task import Task


class SettledTask(Struct, frozen=True):
    """One task after an answer; `problem` says why the answer was not accepted.

    A task that is `over` has nothing left to do: the owner left everything out.
    """

    task: Task
    problem: str = ""
    over: bool = False


class SettledCard(Struct, frozen=True):
    """The tasks of a card that an answer changed, and the next card if something is open.

    `approved` are the approvals that a yes gives, each bound to the text shown on the card.
    """

    tasks: tuple[SettledTask, ...]
    ask: Review | None = None
    approved: tuple[Review, ...] = ()
    understood: bool = True


# Pure: it runs inside the transaction that stores the decision. The first task is the one with the
# review; the others wait for the same answer.
Settle: TypeAlias = Callable[[Sequence[Task], Review, str, datetime], SettledCard]
