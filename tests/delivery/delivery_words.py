"""The words of the model of one delivery: who makes a step happen, what a state is made of."""

from enum import Enum, auto
from typing import Final, NamedTuple

from remit.store.database import Cell


class By(Enum):
    """Who makes a step happen: what nobody must help along, what need not happen, a person."""

    ITSELF = auto()
    MISFORTUNE = auto()
    OWNER = auto()


class Message(Enum):
    """What became of a request, as the provider alone knows it."""

    FLYING = auto()
    LOST = auto()
    TAKEN = auto()
    FAILED = auto()  # taken, and reported undeliverable
    KNOWN = auto()  # the same key once more: nothing came of it but a yes


YES: Final = (Message.TAKEN, Message.FAILED, Message.KNOWN)
NOT_YET: Final = (Message.FLYING, Message.KNOWN)  # what may be answered with a no still


class Leg(NamedTuple):
    """A process at work: how far it is, and which request it waits for."""

    place: int
    waits_for: int | None = None


class Limits(NamedTuple):
    """How much misfortune there is, and how often the owner wants it sent again."""

    kills: int = 1
    takeovers: int = 1  # while the process that was thought dead lives
    rebuffs: int = 1  # 429, 4xx, an expired token, no way there
    resends: int = 1
    reports: int = 2
    cancels: int = 0


class State(NamedTuple):
    store: int
    legs: tuple[Leg | None, Leg | None]
    messages: tuple[Message, ...]
    left: Limits
    attempts: tuple[int, ...] = ()  # that the messages belong to
    resent: int = 0
    confirmed: bool = False  # the owner said that it arrived
    dropped: bool = False  # the owner left it out
    cut: bool = False  # a process was killed, or taken for dead


class Edge(NamedTuple):
    by: By
    what: str
    to: State


class View(NamedTuple):
    """What a store holds, as rows."""

    task: dict[str, Cell]
    delivery: dict[str, Cell]
    reviews: list[dict[str, Cell]]
    attempts: list[dict[str, Cell]]
