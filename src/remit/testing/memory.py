"""Run steps in memory, without store and engine, that can fail around any write."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NoReturn, ParamSpec, TypeVar, Unpack, cast

from msgspec.structs import replace

from remit.errors import LeaseLost
from remit.model.delivery import (
    Answer,
    Delivery,
    DeliveryStatus,
    Found,
    SendCap,
    SendHistory,
    Unknown,
)
from remit.model.delivery_moves import (
    DELIVERY_MOVES,
    STATUS_AFTER_DECISION,
    DeliveryStep,
    after_answer,
)
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.status import Actor, Status
from remit.model.task import RunFindings, Task

P = ParamSpec("P")
T = TypeVar("T")

_NOTHING: Final[Mapping[str, object]] = {}


class PowerCut(BaseException):
    """A simulated power cut."""


class MemorySteps:
    """A run's steps in a dict: for trying the spine without store and engine.

    Recorded steps survive a cut. `trail` names every write, and a cut is named like one:
    `execute_tool`, `move:delivering`, `claim:dlv-1`, `settle:dlv-1`, `post:dlv-1`, `doubt:dlv-1`.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.cut_before: str | None = None
        self.cut_after: str | None = None
        self.trail: list[str] = []
        self.told: list[str] = []
        self.answered: dict[str, Decision] = {}
        self._done: dict[str, object] = {}
        self._looked: dict[str, object] = {}  # done, but lost in a cut
        self._owed: dict[str, object] = {}  # those of them that the end of a leg writes
        self._written = task

    @property
    def ledger(self) -> "MemorySteps":
        return self

    async def do(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        result = await self.look(name, work, *args, **kwargs)
        if name in self._looked:
            self._write(name, self.task, self._looked)
        return result

    async def look(
        self, name: str, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if name not in self._done and name not in self._looked:
            self._looked[name] = await work(*args, **kwargs)
        return cast("T", (self._done | self._looked)[name])

    async def save(self) -> None:
        if self._looked:
            self._write(list(self._looked)[-1], self.task, self._looked)

    def owe(self) -> None:
        self._owed = dict(self._looked)

    async def move(self, to: Status, by: Actor, *, soon: bool = False) -> None:
        del soon  # nothing is cut off here
        if self.task.status is not to:
            self._write(f"move:{to}", self.task.move(to, by), self._looked)
        elif self._owed:
            await self.save()

    async def decided(self, key: str) -> Decision | None:
        return self.answered.get(key)

    async def decisions(self, prefix: str) -> Mapping[str, Decision]:
        return {key: each for key, each in self.answered.items() if key.startswith(prefix)}

    def has(self, name: str) -> bool:
        return name in self._done or name in self._looked

    async def tell(self, text: str = "", done: Sequence[int] = ()) -> None:
        self.told += [text] if text else []
        self.task = self.task.ticked(done)

    def keep(self, **found: Unpack[RunFindings]) -> None:
        self.task = self.task.keeping(**found)

    async def claim(self, delivery: Delivery, body: str, cap: SendCap | None = None) -> int:
        del cap  # there is one process, and who sends has counted
        if delivery.status not in DELIVERY_MOVES[DeliveryStep.CLAIM].was:
            raise LeaseLost(self.task.id, self.task.lease)
        self._settle("claim", replace(delivery, status=DeliveryStatus.SENDING, body=body))
        return self.trail.count(f"claim:{delivery.id}")

    async def settle(self, delivery: Delivery, attempt: int, answer: Answer) -> None:
        del attempt
        now = next(each for each in self.task.delivery if each.id == delivery.id)
        self._settle("settle", after_answer(now, answer))

    async def post(self, delivery: Delivery, body: str) -> None:
        self._settle("post", replace(delivery, status=DeliveryStatus.SENT, body=body))

    async def doubt(self, delivery: Delivery, why: str) -> None:
        self._settle("doubt", after_answer(delivery, Unknown(why)))

    async def split(self, delivery: Delivery, parts: Sequence[str]) -> None:
        cut = self.task.with_parts(delivery, delivery.cut(parts))
        self._write(f"split:{delivery.id}", cut, self._looked)

    async def clear(self, delivery: Delivery, answer: Found) -> None:
        self._settle("clear", after_answer(delivery, answer))

    async def sends(self, delivery: Delivery) -> SendHistory:
        claims = self.trail.count(f"claim:{delivery.id}")
        return SendHistory(claims, None, claims)

    def decide(self, review: Review, answer: ReviewAnswer, text: str | None = None) -> None:
        """Apply the owner's decision to a waiting task."""
        self._done |= self._owed
        self.answered[review.key] = Decision(answer, text)
        if answer is ReviewAnswer.BACK:
            self.again(text or "")
            return
        notes = (*self.task.notes, text or "") if answer is ReviewAnswer.ANSWER else self.task.notes
        delivery = tuple(
            replace(each, status=STATUS_AFTER_DECISION.get(answer, each.status))
            if each.id == review.about
            else each
            for each in self.task.delivery
        )
        self._begin(replace(self.task, status=review.resume_to, notes=notes, delivery=delivery))

    def again(self, note: str) -> None:
        """Start a new round: earlier steps do not count, and the brain gets the note."""
        self._done.clear()
        task = replace(self.task, round=self.task.round + 1, notes=(*self.task.notes, note))
        self._begin(replace(task, status=Status.RUNNING))

    def _begin(self, task: Task) -> None:
        self._looked.clear()
        self._owed.clear()
        self.task = self._written = replace(task, lease=task.lease + 1)

    def _settle(self, verb: str, changed: Delivery) -> None:
        delivery = (changed if each.id == changed.id else each for each in self.task.delivery)
        self._write(f"{verb}:{changed.id}", replace(self.task, delivery=tuple(delivery)))

    def _write(self, name: str, task: Task, looked: Mapping[str, object] = _NOTHING) -> None:
        if name == self.cut_before:
            self._go_dark()
        self.trail.append(name)
        self._done |= looked
        self.task = self._written = task
        if looked:
            self._looked.clear()
            self._owed.clear()
        if name == self.cut_after:
            self._go_dark()

    def _go_dark(self) -> NoReturn:
        self.cut_before = self.cut_after = None
        self._begin(self._written)
        raise PowerCut
