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
    """What a clause of the request turned into."""

    WORK = "work"
    DELIVERY = "delivery"
    TIME = "time"
    CONSTRAINT = "constraint"
    DECLINED = "declined"


class Clause(Struct, frozen=True):
    """A piece of the owner's words, and what became of it; None means: nobody knows yet."""

    text: str
    start: int
    end: int
    became: ClauseOutcome | None = None
    why: str | None = None


class OwnerRequest(Struct, frozen=True):
    """The owner's words to the letter, with their clauses."""

    text: str
    clauses: tuple[Clause, ...] = ()


class Gap(Struct, frozen=True):
    """What a request left open. Until its owner says it, a task may not start.

    `waits` are deliveries that lack what is asked for; one that stands in two gaps lacks both.
    """

    clause: int  # of the request, counted from 1
    about: str
    options: tuple[str, ...] = ()
    waits: tuple[Delivery, ...] = ()
    letter: bool = False  # whether the answer is the text that is to be sent
    question: str = ""  # the sentence that asks for it, in English
    line: int = 0  # its number on the card that asks

    @property
    def key(self) -> str:
        """What the reviews that ask for it are named after."""
        return f"clause:{self.clause}:{self.about}"


class Plan(Struct, frozen=True):
    work: tuple[WorkItem, ...] = ()
    delivery: tuple[Delivery, ...] = ()
    contract: Contract | None = None
    unsure: str | None = None  # what the owner must say about the contract before the work begins
    notice: str | None = None  # what he is told of it, who need not answer
    conditional: bool = False  # whether something is looked up before anything is sent

    @property
    def precomposed(self) -> bool:
        """Whether everything to send was written by the owner, so that it can go out at once."""
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
    """What set a priority, kept so that one can ask why."""

    name: str
    because: str


class Guideline(Struct, frozen=True):
    """A standing word of the owner to the brain."""

    text: str
