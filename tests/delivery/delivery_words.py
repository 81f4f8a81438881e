"""The terms of the model of one delivery: who makes a step happen, and the state."""

from enum import Enum, auto
from typing import Final, NamedTuple

from remit.store.database import Cell


class By(Enum):
    """Who makes a step happen: the system, a misfortune, or a person."""

    ITSELF = auto()
    MISFORTUNE = auto()
    OWNER = auto()


class Message(Enum):
    """What became of a request, as only the provider knows."""

    FLYING = auto()
    LOST = auto()
    TAKEN = auto()
    FAILED = auto()  # accepted, and reported undeliverable
    KNOWN = auto()  # the same key again: only a yes


YES: Final = (Message.TAKEN, Message.FAILED, Message.KNOWN)
NOT_YET: Final = (Message.FLYING, Message.KNOWN)  # may still be answered with a no


class Leg(NamedTuple):
    """A working process: how far it is, and which request it waits for."""

    place: int
    waits_for: int | None = None


class Limits(NamedTuple):
    """How many misfortunes there are, and how often the owner resends."""

    kills: int = 1
    takeovers: int = 1  # while the process that was thought dead lives
    rebuffs: int = 1  # 429, 4xx, an expired token, no route
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
    dropped: bool = False  # the owner dropped it
    cut: bool = False  # a process was killed, or taken for dead


class Edge(NamedTuple):
    by: By
    what: str
    to: State


class View(NamedTuple):
    """The content of a store, as rows."""

    task: dict[str, Cell]
    delivery: dict[str, Cell]
    reviews: list[dict[str, Cell]]
    attempts: list[dict[str, Cell]]
