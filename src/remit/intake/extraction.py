"""What a reader returns: the tasks of a message, its open questions, and the fate of each word."""

from datetime import datetime

from msgspec import Struct

from remit.intake.recipients import Question
from remit.language.order_words import SmallTalk
from remit.language.time.resolve import Recurrence
from remit.model.contract import Clause, WorkItem
from remit.model.delivery import Delivery
from remit.model.veto import Condition, VetoCue


class Draft(Struct, frozen=True, kw_only=True):
    """A task as the owner's words make it. Times are in UTC; `clauses` are its own."""

    title: str
    instructions: str
    work: tuple[WorkItem, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    scheduled: bool = False  # it runs at a time, which may still be asked about
    scheduled_for: datetime | None = None
    recurrence: Recurrence | None = None
    needs_brain: bool = False
    stays: bool = False  # the same message says not to send it
    agent: str | None = None  # who does it, if no brain is to
    notes: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()

    @property
    def is_loose(self) -> bool:
        """Whether it is only work, without a recipient or a time."""
        timed = self.scheduled_for is not None or self.recurrence is not None
        return bool(self.work) and not self.deliveries and not timed


class Connective(Struct, frozen=True):
    """What is between clauses: blanks, marks, and words like "and" or "please"."""

    start: int
    end: int


class Extraction(Struct, frozen=True):
    """The result of reading. `answer` is the kind of talk in a message without a task."""

    tasks: tuple[Draft, ...]
    questions: tuple[Question, ...]
    answer: SmallTalk | None
    clauses: tuple[Clause, ...]
    connectives: tuple[Connective, ...]
    veto: tuple[VetoCue, ...] = ()  # words that hold it back from everybody but the owner
    conditions: tuple[Condition, ...] = ()  # limits that the owner set
    texts: tuple[tuple[int, int], ...] = ()  # where the message holds a text to somebody else

    def questions_about(self, draft: Draft) -> tuple[Question, ...]:
        """Return the questions that must be answered before a draft may run."""
        return tuple(q for q in self.questions if self.clauses[q.clause] in draft.clauses)


def connectives_between(clauses: tuple[Clause, ...], length: int) -> tuple[Connective, ...]:
    """Return what is between the clauses of a text of this length."""
    edges = [0, *(edge for clause in clauses for edge in (clause.start, clause.end)), length]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple(Connective(start, end) for start, end in pairs if end > start)


def headed(title: str) -> str:
    """Return a title with a capital first letter; a first word that is no plain word stays."""
    first = title.partition(" ")[0].rstrip(",;:.!?")
    plain = first.replace("'", "").replace("’", "").replace("-", "")
    return title[:1].upper() + title[1:] if plain.isalpha() and plain.islower() else title
