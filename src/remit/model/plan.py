"""The plan: what was asked, what the brain works on, and where the result goes."""

from enum import StrEnum

from msgspec import Struct

from remit.model.contract import Contract
from remit.model.delivery import Delivery


class ItemStatus(StrEnum):
    PENDING = "pending"
    COMPLETED = "completed"
    FAILED = "failed"


class WorkItem(Struct, frozen=True):
    """One thing the brain works on. Never delivered."""

    description: str
    status: ItemStatus = ItemStatus.PENDING


class ClauseOutcome(StrEnum):
    """What a clause of the request became."""

    WORK = "work"
    DELIVERY = "delivery"
    TIME = "time"
    CONSTRAINT = "constraint"
    DECLINED = "declined"


class Clause(Struct, frozen=True):
    """A piece of the owner's words and what became of it; None: not known yet."""

    text: str
    start: int
    end: int
    became: ClauseOutcome | None = None
    why: str | None = None


class OwnerRequest(Struct, frozen=True):
    """The owner's exact words, with their clauses."""

    text: str
    clauses: tuple[Clause, ...] = ()


class Gap(Struct, frozen=True):
    """A missing part of a request; the task cannot start until the owner provides it.

    `waits` are deliveries that lack it; one listed in two gaps lacks both.
    """

    clause: int  # number in the request, from 1
    about: str
    options: tuple[str, ...] = ()
    waits: tuple[Delivery, ...] = ()
    letter: bool = False  # whether the answer is the text to send
    question: str = ""  # the question, in English
    line: int = 0  # its number on the card that asks

    @property
    def key(self) -> str:
        """The key of the reviews that ask for it."""
        return f"clause:{self.clause}:{self.about}"


class Plan(Struct, frozen=True):
    work: tuple[WorkItem, ...] = ()
    delivery: tuple[Delivery, ...] = ()
    contract: Contract | None = None
    unsure: str | None = None  # a question about the contract that must be answered first
    notice: str | None = None  # a remark for the owner that needs no answer
    conditional: bool = False  # whether a condition is checked before anything is sent

    @property
    def precomposed(self) -> bool:
        """Whether everything to send was written by the owner and can be sent at once."""
        return self.composed and not self.conditional

    @property
    def composed(self) -> bool:
        """Whether everything to send was written by the owner."""
        return (
            bool(self.delivery)
            and not self.work
            and all(delivery.content is not None for delivery in self.delivery if not delivery.part)
        )


class RankingRule(Struct, frozen=True):
    """The rule that set a priority, stored for `remit why`."""

    name: str
    because: str
