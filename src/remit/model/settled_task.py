"""How an answer about the request changes tasks that have not begun."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from remit.model.review import Review
from remit.model.task import Task


class SettledTask(Struct, frozen=True):
    """One task with the answer worked in; a `problem` says why the answer was not taken.

    A task that is `over` has nothing left to do: the owner left all of it out.
    """

    task: Task
    problem: str = ""
    over: bool = False


class SettledCard(Struct, frozen=True):
    """The tasks of a card that an answer changed, and the card that asks for the rest, if any.

    `approved` are the approvals that a yes gives: each is bound to the text that the card showed.
    """

    tasks: tuple[SettledTask, ...]
    ask: Review | None = None
    approved: tuple[Review, ...] = ()
    understood: bool = True


# Pure: it runs inside the transaction that writes the decision down. The first task is the one that
# the review belongs to; the others wait for the same answer.
Settle: TypeAlias = Callable[[Sequence[Task], Review, str, datetime], SettledCard]
