"""Starts, restarts and stops every background loop. Also: locks by key, filters for logs.

A loop that raises is logged, reported to the owner once, and started again after a pause that
doubles while it keeps failing. So a loop resumes from what is stored, never from what it had in
memory, or keeps its place where a second start finds it. A store that is away for a moment is
waited for; nobody is told of it before it lasts.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, Generic, Literal, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from msgspec import Struct, field

from remit.errors import StoreAway, StoreBusy, StoreFull, StoreTrouble, Transient

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
TROUBLES_PASSED_OVER: Final = 30  # store errors in a row, each with the first pause after it
LONGEST_NAP_SECONDS: Final = 30.0
RECOVERED_AFTER: Final = timedelta(minutes=1)  # a loop that ran so long runs well again
REPORT_AGAIN_AFTER: Final = timedelta(days=1)  # how often one that comes and goes is reported
MAX_ERROR_CHARACTERS: Final = 500
_PASSING: Final = (Transient, StoreAway, StoreBusy, StoreFull)
_LOG: Final = logging.getLogger("remit.background")

Work: TypeAlias = Callable[[], Coroutine[None, None, None]]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]
T = TypeVar("T")


class LoopState(Struct, frozen=True):
    """The state of a loop; without failures it is healthy."""

    name: str
    failures: int = 0  # in a row
    error: str = ""  # the last one
    since: datetime | None = None  # when the first one happened


class _Clock(Protocol):
    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


Report: TypeAlias = Callable[[LoopState], Awaitable[None]]


class _Loop(Struct):
    state: LoopState
    started: datetime | None = None  # None while it waits for a restart
    task: "asyncio.Task[None] | None" = None
    ending: asyncio.Event = field(default_factory=asyncio.Event)  # do not restart it
    reported: datetime | None = None
    troubles: int = 0  # store errors in a row


class Background:
    """The loops of one process, by name. `report` notifies the owner of a failure."""

    def __init__(
        self, now: Callable[[], datetime], sleep: Sleep, report: Report | None = None
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._report = report
        self._loops: dict[str, _Loop] = {}

    def start(self, name: str, work: Work) -> None:
        """Start a loop, unless it runs already; its earlier failures are remembered."""
        if not self.has(name):
            loop = self._loops.setdefault(name, _Loop(LoopState(name)))
            loop.ending = asyncio.Event()
            loop.task = asyncio.create_task(self._supervise(loop, work), name=f"supervisor: {name}")

    def has(self, name: str) -> bool:
        """Whether a loop runs or waits for a restart."""
        loop = self._loops.get(name)
        return loop is not None and loop.task is not None and not loop.task.done()

    async def stop(self, *names: str) -> None:
        """Cancel some loops, and return when they have ended."""
        tasks = self._tasks(names)
        for name in names:
            if name in self._loops:
                self._loops[name].task = None
        for task in tasks:
            task.cancel()
        for failed in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(failed, Exception):
                _LOG.error("A background loop failed while it was stopped.", exc_info=failed)

    async def finish(self, *names: str, within: float | None = None) -> None:
        """Wait until some loops end by themselves; one that takes longer is cancelled.

        One that waits for a restart is started at once, for the last time.
        """
        for name in names:
            if name in self._loops:
                self._loops[name].ending.set()
        if tasks := self._tasks(names):
            await asyncio.wait(tasks, timeout=within)
        await self.stop(*names)

    async def close(self) -> None:
        """Stop whatever still runs."""
        await self.stop(*self._loops)

    @property
    def states(self) -> tuple[LoopState, ...]:
        """Every loop that runs or waits for a restart, by name."""
        return tuple(
            self._state(self._loops[name]) for name in sorted(self._loops) if self.has(name)
        )

    @property
    def failing(self) -> tuple[LoopState, ...]:
        """The loops that failed and have not recovered."""
        return tuple(state for state in self.states if state.failures)

    def _tasks(self, names: Iterable[str]) -> "list[asyncio.Task[None]]":
        found = (self._loops[name].task for name in names if name in self._loops)
        return [task for task in found if task is not None]

    # One loop -----------------------------------------------------------------------------------

    async def _supervise(self, loop: _Loop, work: Work) -> None:
        name, ending = loop.state.name, loop.ending
        while True:
            loop.started = self._now()
            try:
                # A task of its own, so that a cancellation from inside the work can be told from
                # one meant for this loop.
                await asyncio.create_task(work(), name=name)
            except (asyncio.CancelledError, Exception) as error:
                if _is_cancelled():
                    raise
                passed = self._is_passed_over(loop, error)
                if not passed:
                    await self._failed(loop, error)
            else:
                if self._loops.get(name) is loop:
                    del self._loops[name]
                return
            if ending.is_set():
                return
            doubled = 0 if passed else min(loop.state.failures - 1, 10)
            pause = FIRST_PAUSE_SECONDS * 2**doubled
            await wait_at_most(ending, self._sleep, min(pause, LONGEST_PAUSE_SECONDS))

    def _is_passed_over(self, loop: _Loop, error: BaseException) -> bool:
        """Whether it is the store, and may be away for a moment only."""
        if not isinstance(error, StoreTrouble):
            return False
        if loop.started and not timedelta(0) <= self._now() - loop.started < RECOVERED_AFTER:
            loop.troubles = 0
        loop.troubles += 1
        return loop.troubles <= TROUBLES_PASSED_OVER

    async def _failed(self, loop: _Loop, error: BaseException) -> None:
        before, now = self._state(loop), self._now()
        text = f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS].removesuffix(": ")
        failures = before.failures + 1
        # The same failure is logged at the 1st, 2nd, 4th, 8th … time.
        if text != before.error or failures & (failures - 1) == 0:
            # What passes by itself is no fault of the code: there is nothing to trace back.
            passes = isinstance(error, _PASSING)
            sentence = "The background loop %r failed (%d in a row); it is started again.%s"
            why, trace = (f" {error}", None) if passes else ("", error)
            _LOG.error(sentence, before.name, failures, why, exc_info=trace)
        loop.state = LoopState(before.name, failures, text, before.since or now)
        loop.started = None
        await self._report_failure(loop, now)

    async def _report_failure(self, loop: _Loop, now: datetime) -> None:
        """Report a failure, unless one of this loop was reported recently."""
        last = loop.reported
        if self._report is None or (last and last <= now < last + REPORT_AGAIN_AFTER):
            return
        try:
            await self._report(loop.state)
            loop.reported = now
        except Exception:  # noqa: BLE001 - it is tried again with the next failure
            _LOG.warning("The owner could not be told that %r failed.", loop.state.name)

    def _state(self, loop: _Loop) -> LoopState:
        """Return the current state: a loop that has run for a while has recovered."""
        recovered = loop.started and not (
            timedelta(0) <= self._now() - loop.started < RECOVERED_AFTER
        )
        return LoopState(loop.state.name) if recovered else loop.state


class LoopGroup:
    """Loops that are started and stopped together."""

    def __init__(self, background: Background, loops: Mapping[str, Work]) -> None:
        self._background = background
        self._loops = loops

    def start(self) -> None:
        for name, work in self._loops.items():
            self._background.start(name, work)

    async def close(self) -> None:
        await self._background.stop(*self._loops)


async def wait_until(
    event: asyncio.Event, clock: _Clock, due: datetime | None, least: float = 0.0
) -> None:
    """Wait for an event, or until a moment by the clock on the wall, or for half a minute.

    So it is soon noticed that the clock was set, or that the machine slept.
    """
    left = LONGEST_NAP_SECONDS if due is None else (due - clock.now()).total_seconds()
    await wait_at_most(event, clock.sleep, min(max(left, least), LONGEST_NAP_SECONDS))


async def wait_at_most(event: asyncio.Event, sleep: Sleep, seconds: float | None) -> None:
    """Wait for an event, but at most this many seconds by the clock of `sleep`."""

    async def nap(seconds: float) -> Literal[True]:
        await sleep(seconds)
        return True

    waits = {asyncio.create_task(event.wait())}
    if seconds is not None:
        waits.add(asyncio.create_task(nap(seconds)))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()


class OutOfTime(Exception):
    """Work took longer than its limit, and was cancelled."""


class TimeLimit:
    """Limits many pieces of work with one timer; `asyncio.timeout` sets one for each of them.

    All have the same limit, so the first that began is the first that is late.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until: dict[asyncio.Task[object], float] = {}  # by the loop's clock, earliest first
        self._late: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, work: Awaitable[T]) -> T:
        """Return what work of the current task returns; raise `OutOfTime` if it takes too long."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine runs in a task
        cancelled_before = task.cancelling()
        self._until[task] = asyncio.get_running_loop().time() + self.seconds
        if self._timer is None:
            self._end_late_work()
        try:
            return await work
        except asyncio.CancelledError as cut:
            if task in self._late and task.cancelling() - 1 <= cancelled_before:
                raise OutOfTime from cut
            raise  # somebody else cancelled it as well
        finally:
            self._until.pop(task, None)
            if task in self._late:
                self._late.remove(task)
                task.uncancel()

    def _end_late_work(self) -> None:
        """Cancel what is late, and set the timer for what will be next."""
        loop, self._timer = asyncio.get_running_loop(), None
        for task, until in list(self._until.items()):
            if until > loop.time():
                self._timer = loop.call_at(until, self._end_late_work)
                return
            del self._until[task]
            self._late.add(task)
            task.cancel()


def _is_cancelled() -> bool:
    """Whether the current task was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


K = TypeVar("K", bound=Hashable)


class LocksByKey(Generic[K]):
    """One lock for each key, dropped when nobody holds it or waits for it.

    `async with locks[key]:` keeps the lock alive until the block ends, and waiting keeps it too.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()

    def __getitem__(self, key: K) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    def __len__(self) -> int:
        return len(self._locks)


MAX_ALIKE: Final = 10  # records per place in the code and window
WINDOW_SECONDS: Final = 60.0
_LEFT_OUT: Final = "%s (%d more like this were left out.)"


class RepeatFilter(logging.Filter):
    """Passes a limited number of records per place in the code and minute.

    The next record that passes says how many were left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self._begun = time.monotonic()
        self._seen: Counter[tuple[str, str, int]] = Counter()
        self._before: Counter[tuple[str, str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        if time.monotonic() - self._begun >= WINDOW_SECONDS:
            self._begun, self._before, self._seen = time.monotonic(), self._seen, Counter()
        place = record.name, record.pathname, record.lineno
        self._seen[place] += 1
        left_out = self._before.pop(place, 0) - MAX_ALIKE
        if left_out > 0:
            record.msg, record.args = _LEFT_OUT, (record.getMessage(), left_out)
        return self._seen[place] <= MAX_ALIKE


class RedactingFilter(logging.Filter):
    """A log filter that removes secrets from every record."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._hide(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._hide(record.exc_text)
        if record.stack_info:
            record.stack_info = self._hide(record.stack_info)
        return True
