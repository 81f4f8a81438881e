"""Asks a model how urgent a task is, from 0 to 1. The priority rules decide what that means.

A score is only a hint: it is limited in time and number, stored so that the same text is scored
once, and any failure gives no score.
"""

import asyncio
import hashlib
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from remit.brain import outside
from remit.brain.budget import Budget, MeteredBrain
from remit.brain.choose import FilledForm
from remit.errors import RemitError
from remit.model.codec import text_of
from remit.model.reply import Ask, Prompt, Reply
from remit.model.task import Taint, Task
from remit.ports import Clock
from remit.store import queue
from remit.store.database import Database
from remit.store.queue import UrgencyScore

T = TypeVar("T")

SECONDS: Final = 10.0
AT_ONCE: Final = 8
MAX_TEXT_CHARACTERS: Final = 4000  # characters of a task that are shown
MAX_WHY_CHARACTERS: Final = 160
_ASKED: Final = """\
How urgent is this task for the one who has to deal with it? Judge by what it says alone: a
deadline that is near, harm or cost if it waits, somebody who is blocked. Loud words, capitals and
claims of importance are no urgency.
score: a number from 0 (can wait for weeks) to 1 (cannot wait an hour).
why: one short sentence."""


@dataclass(frozen=True, slots=True)  # pydantic reads it
class Urgency:
    """The form a model fills in; it is checked before it counts."""

    score: float
    why: str


class ScoringModel(MeteredBrain, Protocol):
    """A model that fills in forms."""

    async def fill(
        self, prompt: Prompt, form: type[T], *, session: str
    ) -> FilledForm[T] | Reply: ...


class ModelScorer:
    def __init__(
        self,
        judge: ScoringModel,
        db: Database,
        clock: Clock,
        budget: Budget | None = None,
        *,
        seconds: float = SECONDS,
    ) -> None:
        self._judge = judge
        self._db = db
        self._clock = clock
        self._budget = budget
        self._seconds = seconds
        self._free = asyncio.Semaphore(AT_ONCE)

    async def score(self, task: Task) -> UrgencyScore | None:
        """Return how urgent a task is; None if unknown: then the rules decide alone."""
        try:
            return await self._stored_score(task) or await self._new_score(task)
        except (RemitError, TimeoutError):
            return None

    async def _stored_score(self, task: Task) -> UrgencyScore | None:
        return await self._db.read(queue.get_score, score_key(task))

    async def _new_score(self, task: Task) -> UrgencyScore | None:
        async with self._free:
            # While this call waited, another may have scored the same text.
            stored = await self._stored_score(task)
            if stored is not None:
                return stored
            filled = await self._ask(task)
            found = valid_score(filled.form) if isinstance(filled, FilledForm) else None
            if found is not None:
                await self._db.write(queue.keep_score, score_key(task), found, self._clock.now())
            return found

    async def _ask(self, task: Task) -> FilledForm[Urgency] | Reply | Ask:
        words = score_prompt(task)

        async def fill() -> FilledForm[Urgency] | Reply:
            async with asyncio.timeout(self._seconds):
                return await self._judge.fill(words, Urgency, session=task.session_id)

        if self._budget is None or not self._judge.metered:
            return await fill()
        estimate = await self._judge.estimate(words)  # may load a library, outside the limit
        return await self._budget.pay(f"{task.id}:score:{task.lease}", task, estimate, fill)


def score_prompt(task: Task) -> Prompt:
    """Return the prompt; the task's words are shown in it as data."""
    text = f"{task.title}\n\n{task.instructions}"
    shown = text if len(text) <= MAX_TEXT_CHARACTERS else f"{text[:MAX_TEXT_CHARACTERS]} […]"
    whence = {Taint.OWNER: "the owner", Taint.CONTACT: "a contact", Taint.PUBLIC: "a stranger"}
    source = f"{whence[task.taint]}, by {task.source.kind}"
    return Prompt(f"{_ASKED}\n\n{outside.mark(shown, source)}")


def valid_score(form: Urgency) -> UrgencyScore | None:
    """Return the score if it is within bounds; the reason is one short line."""
    if not 0 <= form.score <= 1:  # NaN is not within them either
        return None
    why = "".join(char for char in " ".join(form.why.split()) if char.isprintable())
    return UrgencyScore(float(form.score), why[:MAX_WHY_CHARACTERS] or "no reason given")


def score_key(task: Task) -> str:
    """Return the key of a score: the same words from the same kind of source."""
    parts = [task.title, task.instructions, task.source.kind, task.taint]
    return hashlib.sha256(text_of(list(parts)).encode()).hexdigest()
