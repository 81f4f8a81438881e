"""Operations that a program does on the owner's behalf: the journal names the program."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from remit.model.run import Event, NewEvent
from remit.model.status import Actor
from remit.store.database import JournalTail, Params, Row, Tx

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
