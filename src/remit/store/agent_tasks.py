"""Tasks created by other agents, and what a program does on the owner's behalf.

The journal names the program.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from msgspec import Struct

from remit.model.ids import SessionId, TaskId
from remit.model.review import Review
from remit.model.run import Event, NewEvent
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.store import reviews, rows, tasks
from remit.store.database import Cell, JournalTail, Params, Row, Tx


class AgentTaskFilter(Struct, frozen=True, kw_only=True):
    """Which of its tasks an agent asks for; an unset field does not filter."""

    statuses: Collection[Status] = ()
    session: SessionId | None = None
    since: datetime | None = None  # changed at or after
    before: TaskId | None = None  # the last task of the previous page
    limit: int = 50


def list_agent_tasks(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> list[Task]:
    """Return tasks whose source ref has this prefix, newest first, without deleted ones."""
    params = {**_params(prefix, wanted), "before": wanted.before}
    return tasks.all_with_deliveries(tx, tx.all("list_caller_tasks", params))


def count(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> int:
    """Return how many there are, whatever the page, counted up to the filter's limit."""
    row = tx.one("count_caller_tasks", _params(prefix, wanted))
    return rows.number(row["tasks"]) if row else 0


def looked_at(tx: Tx, task_id: TaskId) -> tuple[Task, Review | None]:
    """Return a task, and its open question to the owner."""
    waiting = [each for each in reviews.of_task(tx, task_id) if each.decision is None]
    return tasks.get(tx, task_id), waiting[-1] if waiting else None


def _params(prefix: str, wanted: AgentTaskFilter) -> dict[str, Cell]:
    return {
        **rows.prefix_range(prefix),
        "session": wanted.session,
        "since": rows.millis(wanted.since),
        "statuses": f" {' '.join(wanted.statuses)} " if wanted.statuses else None,
        "limit": wanted.limit,
    }


P = ParamSpec("P")
T = TypeVar("T")

THROUGH: Final = "through"  # key in an event's data


class OnBehalfTx:
    """A transaction for a program that acts with the owner's token."""

    def __init__(self, tx: Tx, name: str) -> None:
        self._tx = tx
        self.name = name

    @property
    def tail(self) -> JournalTail | None:
        return self._tx.tail

    @tail.setter
    def tail(self, tail: JournalTail | None) -> None:
        self._tx.tail = tail

    @property
    def shared(self) -> bool:
        return self._tx.shared

    @property
    def appended(self) -> list[Event]:
        return self._tx.appended

    def one(self, name: str, params: Params = ()) -> Row | None:
        return self._tx.one(name, params)

    def all(self, name: str, params: Params = ()) -> list[Row]:
        return self._tx.all(name, params)

    def run(self, name: str, params: Params = ()) -> int:
        return self._tx.run(name, params)

    def ask(self, sql: str, params: Params = ()) -> list[Row]:
        return self._tx.ask(sql, params)


def on_behalf_of(
    name: str, verb: Callable[Concatenate[Tx, P], T]
) -> Callable[Concatenate[Tx, P], T]:
    """Wrap a verb so that its events name the program that called it."""

    @wraps(verb)
    def order(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return verb(OnBehalfTx(tx, name), *args, **kwargs)

    return order


def event_text_on_behalf(event: Event, text: str) -> str:
    """Return an event's sentence with the agent instead of "You"."""
    if event.actor is not Actor.AGENT:
        return text
    who = f"The agent {event.data.get(THROUGH)}"
    return f"{who} {text[4:]}" if text.startswith("You ") else f"{text} {who} ordered it."


def named(tx: Tx, entry: NewEvent) -> NewEvent:
    """Return the event with the program as its actor, if the transaction is on behalf."""
    if isinstance(tx, OnBehalfTx) and entry.actor is Actor.OWNER:
        return NewEvent(entry.kind, Actor.AGENT, {**entry.data, THROUGH: tx.name})
    return entry
