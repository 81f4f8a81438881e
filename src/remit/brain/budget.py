"""Reserves the possible cost of each model request, and refuses a request that does not fit.

There are three limits: one task with all its rounds, one series over 30 days, and all tasks of one
day. A reservation counts as spent, so tasks that run at the same time cannot exceed a limit
together. An interrupted request stays counted at its estimate, because the vendor may charge for
it. Over a limit the owner is asked; the task keeps its results so far.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final, Protocol, TypeVar, runtime_checkable

from msgspec.structs import replace

from remit.errors import StoreTrouble
from remit.model.reply import Ask, Prompt, Usage
from remit.model.status import Reason
from remit.model.task import Task, TaskBudget
from remit.ports import Clock
from remit.settings import BudgetSettings
from remit.store import spending
from remit.store.database import Database
from remit.store.spending import LimitScope, OverLimit, SpendingLimit, SpendingUnit

SERIES_SPAN: Final = timedelta(days=30)
_RETRY_SECONDS: Final = 1.0  # while the disk takes nothing
_TRIES: Final = 30
_FAILED: Final = Usage(requests=1)  # a request without an answer: that it was made is all we know
_KINDS: Final = {
    LimitScope.RUN: "This run",
    LimitScope.SERIES: "This series",
    LimitScope.DAY: "The day",
}
_WHEN: Final = {LimitScope.RUN: "", LimitScope.SERIES: " in 30 days", LimitScope.DAY: ""}


@runtime_checkable
class MeteredBrain(Protocol):
    """A brain whose requests cost something."""

    @property
    def metered(self) -> bool: ...

    async def estimate(self, prompt: Prompt) -> Usage:
        """Return what a request may cost at most."""


class PaidRequest(Protocol):
    """The result of a model request, with its usage."""

    @property
    def usage(self) -> Usage: ...


T = TypeVar("T", bound=PaidRequest)


class Budget:
    """Reserves the cost, runs the request, and settles."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        limits: BudgetSettings,
        day_start: Callable[[datetime], datetime],
    ) -> None:
        self._db = db
        self._clock = clock
        self._limits = limits
        self._day_start = day_start

    async def pay(
        self,
        key: str,
        task: Task,
        estimate: Usage,
        think: Callable[[], Awaitable[T]],
        *,
        granted: bool = False,
    ) -> T | Ask:
        """Run the request if the budget allows it; else return the question to the owner.

        A request the owner has just approved runs whatever it costs; after it the limits apply
        again.
        """
        over = await self._reserve(key, task, estimate, granted=granted)
        if over is not None:
            return Ask(Reason.APPROVAL, sentence(over, estimate), about=over.limit.about)
        return await self._think_and_settle(key, estimate, think)

    async def pay_for_all(
        self, key: str, estimate: Usage, think: Callable[[], Awaitable[T]]
    ) -> T | None:
        """Run a request of no task, such as reading a message: only the day's limit counts.

        If the budget does not allow it, it returns None and nobody is asked.
        """
        now = self._clock.now()
        day = [limit for limit in self._of_all(now) if limit.scope is LimitScope.DAY]
        over = await self._db.write(spending.reserve, key, None, estimate, day, now)
        if over is not None:
            return None
        return await self._think_and_settle(key, estimate, think)

    async def spent(self, task: Task) -> TaskBudget:
        """Return what a task has used in all its rounds, including reservations."""
        used = await self._db.read(spending.of_task, task.id)
        return TaskBudget(used.tokens, used.cents)

    async def _think_and_settle(
        self, key: str, estimate: Usage, think: Callable[[], Awaitable[T]]
    ) -> T:
        """Think, and put what it took in place of what was set aside."""
        try:
            thought = await think()
        except TimeoutError:
            raise  # we cancelled it: the vendor may charge for it
        except Exception:
            await self._settle(key, _FAILED)
            raise
        await self._settle(key, _usage_or_estimate(thought.usage, estimate))
        return thought

    async def _reserve(
        self, key: str, task: Task, estimate: Usage, *, granted: bool
    ) -> OverLimit | None:
        """Set the estimate aside. If the store refuses for long, the run fails, with its reason."""

        async def write() -> OverLimit | None:
            now = self._clock.now()
            limits = () if granted else tuple(self._limits_for(task, now))
            return await self._db.write(spending.reserve, key, task, estimate, limits, now)

        for _ in range(_TRIES - 1):
            try:
                return await write()
            except StoreTrouble:
                await self._clock.sleep(_RETRY_SECONDS)
        return await write()

    async def _settle(self, key: str, usage: Usage) -> None:
        # A paid result is not lost because the disk is full: the reservation stays.
        with suppress(StoreTrouble):
            await self._db.write(spending.settle, key, usage)

    def _limits_for(self, task: Task, now: datetime) -> Iterator[SpendingLimit]:
        """The limits that hold for a task; 0 in the settings is none."""
        ours, own = self._limits, task.budget
        run = {
            SpendingUnit.TOKENS: ours.run_tokens or None if own.tokens is None else own.tokens,
            SpendingUnit.REQUESTS: ours.run_requests or None,
            SpendingUnit.CENTS: ours.run_cents or None if own.cents is None else own.cents,
        }
        for unit, most in run.items():
            if most is not None:
                yield SpendingLimit(LimitScope.RUN, unit, most, most)
        for limit in self._of_all(now):
            if limit.scope is not LimitScope.SERIES or task.series_id:
                yield replace(limit, step=run[limit.unit] or limit.most)

    def _of_all(self, now: datetime) -> Iterator[SpendingLimit]:
        """Yield the limits that tasks share."""
        ours, month, today = self._limits, now - SERIES_SPAN, self._day_start(now)
        for scope, unit, most, since in (
            (LimitScope.SERIES, SpendingUnit.TOKENS, ours.series_tokens, month),
            (LimitScope.SERIES, SpendingUnit.CENTS, ours.series_cents, month),
            (LimitScope.DAY, SpendingUnit.TOKENS, ours.day_tokens, today),
            (LimitScope.DAY, SpendingUnit.CENTS, ours.day_cents, today),
        ):
            if most:
                yield SpendingLimit(scope, unit, most, most, since)


def sentence(over: OverLimit, wanted: Usage) -> str:
    """Return which limit it is, what is used, and what an approval means."""
    limit, unit = over.limit, over.limit.unit
    may = f"{_KINDS[limit.scope]} may use {_amount(over.most, unit)}{_WHEN[limit.scope]}"
    used = f"used or set aside: {_number(over.used, unit)}"
    next_ = f"the next request may take {_number(unit.amount(wanted), unit)}"
    whose = "the day's limit for this task" if limit.scope is LimitScope.DAY else "the limit"
    step = f"by {_amount(limit.step, unit)} " if limit.step else ""
    return f"{may}; {used}; {next_}. Approve to raise {whose} {step}and go on."


def midnight(zone: tzinfo | None) -> Callable[[datetime], datetime]:
    """Return a function for when a moment's day began in a zone; None: the machine's zone.

    If midnight does not exist, the day begins with the first moment after it; if it comes twice,
    with the first.
    """

    def start(now: datetime) -> datetime:
        first = datetime.combine(now.astimezone(zone).date(), time.min)
        there = first.replace(tzinfo=zone) if zone else first.astimezone()
        return there.astimezone(UTC)

    return start


def _usage_or_estimate(usage: Usage, estimate: Usage) -> Usage:
    """A vendor that does not say what an answer took is taken to have used all that was set aside.

    A request that was never sent (no key, no model) costs nothing.
    """
    if usage.requests and not usage.tokens:
        return Usage(estimate.tokens, estimate.cents, usage.requests)
    return usage


def _amount(number: int, unit: SpendingUnit) -> str:
    return _number(number, unit) + ("" if unit is SpendingUnit.CENTS else f" {unit}")


def _number(number: int, unit: SpendingUnit) -> str:
    return f"${number / 100:,.2f}" if unit is SpendingUnit.CENTS else f"{number:,}"
