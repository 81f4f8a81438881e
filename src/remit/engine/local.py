"""The engine for one machine: claims due tasks, runs them, and sleeps when none is due.

A waiting task is a row, never a coroutine: scheduled, paused, retried or asking tasks cost no
memory. The engine wakes on a write, or when the next row is due.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Final

from remit import run
from remit.engine import endings
from remit.engine.steps import TROUBLE_PAUSE, LocalSteps, RunStopped, takes_writes, wish_of
from remit.errors import LeaseLost, StoreTrouble, WriteRefused
from remit.model.contract import RankingRule
from remit.model.ids import Ids, TaskId, WorkerId
from remit.model.recurrence import ON_TIME
from remit.model.status import Status
from remit.model.task import Priority, Task
from remit.plan import Ranking
from remit.ports import Clock
from remit.run import Done, Outcome, RunPorts, first_line
from remit.settings import EngineSettings
from remit.store import moves, queue, runs
from remit.store.database import Database
from remit.store.queue import ClaimedTask, ClaimFilter
from remit.system.background import Background, TimeLimit, Work, wait_until

DISPATCH: Final = "task dispatch"
HEARTBEAT_LOOP: Final = "heartbeat"
HEARTBEAT: Final = 15.0
_PAGE: Final = 256  # tasks ranked at once
_UNRANKED: Final = Ranking(Priority.MED, RankingRule("default", "the rules could not be applied"))
_LOG: Final = logging.getLogger("remit.engine")


class LocalEngine:
    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        rooms: RunPorts,
        limits: EngineSettings,
        background: Background,
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._rooms = rooms
        self._limits = limits
        self._step_limit = TimeLimit(limits.step_limit)
        self._chance = Random()  # noqa: S311 - jitter, not a secret
        self.worker: WorkerId = ids.worker()
        self._legs: dict[TaskId, tuple[asyncio.Task[None], LocalSteps]] = {}
        self._weighed: dict[TaskId, asyncio.Task[None]] = {}  # being read or scored by a model
        self._releases: set[str] = set()  # loops that release a task
        self._suspect: TaskId | None = None
        self._sources: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._stopping = False
        self._background = background
        # Called before anything is claimed if the last look is long ago: a machine may sleep.
        self.settle_missed: Callable[[], Awaitable[None]] | None = None
        self._looked: datetime | None = None
        db.on_commit(lambda _: self.nudge())

    async def start(self) -> int:
        """Release what a dead process held, then start; return how many tasks were released."""
        now = self._clock.now()
        await self._db.write(runs.beat, self.worker, now)
        freed = await self._db.write(queue.release_orphans, self.worker, self._ids.review, now)
        self._background.start(DISPATCH, self._dispatch)
        self._background.start(HEARTBEAT_LOOP, self._beat)
        return freed

    async def stop(self) -> None:
        """Claim nothing more, let running steps end, and park what does not end in time."""
        self._stopping = True
        self._wake.set()
        await self._background.finish(DISPATCH)
        await self._background.stop(HEARTBEAT_LOOP)
        for weighing in self._weighed.values():
            weighing.cancel()
        for _, steps in self._legs.values():
            steps.parting = True
        await asyncio.gather(*self._weighed.values(), return_exceptions=True)
        await self._drain(self._limits.stop_limit)
        for leg, steps in self._legs.values():
            steps.hurried = True
            if steps.working:
                leg.cancel()
        await self._drain(None)
        await self._background.finish(*self._releases, within=TROUBLE_PAUSE)
        with contextlib.suppress(StoreTrouble):
            await self._db.write(runs.leave, self.worker, self._clock.now())

    async def settled(self) -> None:
        """Return when nothing runs and nothing is due."""
        while True:
            await self._idle.wait()
            await asyncio.sleep(0)
            if self._idle.is_set():
                return

    def nudge(self) -> None:
        """Wake the engine after a change, to look at what is due."""
        self._idle.clear()
        self._wake.set()

    def heed(self, task: Task) -> None:
        """Apply the owner's pause or cancel to a task that may be running, also within a step."""
        found = self._legs.get(task.id)
        if found is None:
            return
        leg, steps = found
        steps.wish = wish_of(task)
        if steps.wish is not None and steps.working:
            leg.cancel()

    @property
    def running(self) -> int:
        return len(self._legs)

    # Claiming -----------------------------------------------------------------------------------

    async def _dispatch(self) -> None:
        while not self._stopping:
            self._wake.clear()
            # What is written has its own moment: the clock may have been put right since.
            now = self._clock.now()
            await self._after_absence(now)
            found = await self._db.read(queue.outlook, now)
            if (found.is_unranked and await self._rank(now)) or (
                found.is_due and await self._claim(now)
            ):
                continue
            at_work = self._legs or self._weighed or self._releases
            if not at_work and not self._wake.is_set():
                self._idle.set()
            await self._until(found.later)
            self._idle.clear()

    async def _after_absence(self, now: datetime) -> None:
        last, self._looked = self._looked or now, now
        if self.settle_missed is not None and now - last > ON_TIME:
            await self.settle_missed()

    async def _rank(self, now: datetime) -> bool:
        """Rank new tasks; those that need a score first do not delay others."""
        weighed = self._weighed
        found = await self._db.read(queue.list_unranked, now, _PAGE + len(weighed))
        fresh = [task for task in found if task.id not in weighed]
        declined = [task.id for task in fresh if task.cancel_requested]
        if declined:
            await self._db.write(moves.end_declined, declined, self._clock.now())
            return True
        ranked: list[tuple[TaskId, Priority, RankingRule]] = []
        for task in fresh:
            read = self._rooms.read if task.pending_reading else None
            ranking = None if read else self._by_rules(task)
            if ranking is None:
                self._start_ranking(task, read or self._weigh)
            else:
                ranked.append((task.id, ranking.priority, ranking.rule))
        if ranked:
            await self._rank_all(ranked, fresh)
        return bool(fresh)

    async def _rank_all(
        self, ranked: Sequence[tuple[TaskId, Priority, RankingRule]], found: Sequence[Task]
    ) -> None:
        """Rank some tasks in one write; if that is refused, each alone."""
        try:
            await self._db.write(queue.rank_page, ranked, self._clock.now())
        except Exception:
            if not await takes_writes(self._db, self.worker, self._clock.now()):
                raise
            refused = {task_id for task_id, *_ in ranked}
            for task in found:
                if task.id in refused:
                    self._start_ranking(task, self._rank_alone)

    async def _rank_alone(self, task: Task) -> None:
        ranking = self._by_rules(task) or _UNRANKED
        rule, now = ranking.rule, self._clock.now()
        await self._db.write(queue.rank, task.id, ranking.priority, rule, now)

    def _start_ranking(self, task: Task, work: Callable[[Task], Awaitable[None]]) -> None:
        self._weighed[task.id] = asyncio.create_task(self._before_ranking(task, work))

    def _by_rules(self, task: Task) -> Ranking | None:
        """Return the priority by rules alone; None if a score could change it."""
        planner = self._rooms.planner
        try:
            # In a flood, beyond one page, the rules decide without a score.
            if planner.is_unsure(task) and len(self._weighed) < _PAGE:
                return None
            return planner.rank(task)
        except Exception:  # noqa: BLE001 - one task must not keep all others from their start
            _LOG.exception("The priority of task %s could not be found; it is medium.", task.id)
            return _UNRANKED

    async def _weigh(self, task: Task) -> None:
        """Rank one task by a score."""
        r = await self._rooms.planner.weigh(task)
        await self._db.write(queue.rank, task.id, r.priority, r.rule, self._clock.now())

    async def _before_ranking(self, task: Task, work: Callable[[Task], Awaitable[None]]) -> None:
        """Read or score a new task. If the process ends first, the task stays new."""

        async def try_again() -> None:
            await work(task)

        try:
            await work(task)
        except StoreTrouble:
            await self._try_on(f"ranking: {task.id}", try_again)
        except Exception as error:  # noqa: BLE001 - then it is looked for again
            _LOG.warning("Task %s could not be read or ranked: %s", task.id, error)
            await self._clock.sleep(TROUBLE_PAUSE)
        finally:
            del self._weighed[task.id]
            self._wake.set()

    async def _try_on(self, name: str, work: Work) -> None:
        """Try again what the store refused. If that lasts, it is shown as a loop that fails."""
        await self._clock.sleep(TROUBLE_PAUSE)
        self._background.start(name, work)
        try:
            while self._background.has(name):
                await self._clock.sleep(TROUBLE_PAUSE)
        finally:
            await self._background.stop(name)

    async def _claim(self, now: datetime) -> bool:
        room = max(0, self._limits.parallel - len(self._legs))
        left = {name: most - self._sources[name] for name, most in self._limits.sources.items()}
        wanted = ClaimFilter(
            room, left, self._suspect is None, timedelta(seconds=self._limits.ageing)
        )
        if not room and not await self._db.read(queue.any_doubt, now):
            return False
        at = min(now, self._clock.now())
        found = await self._db.write(queue.claim, self.worker, wanted, self._ids.run, at)
        for claim in found:
            self._start(claim)
        return bool(found)

    def _start(self, claim: ClaimedTask) -> None:
        task = claim.task
        if task.crashes and not task.in_doubt:  # an unknown send is only asked about
            self._suspect = task.id
        self._sources[task.source.kind] += 1
        steps = LocalSteps(claim, self._db, self._clock, self._step_limit)
        leg = asyncio.create_task(self._leg(steps))
        self._legs[task.id] = (leg, steps)

    async def _until(self, due: datetime | None) -> None:
        """Wait until something is written, or until the due time by the wall clock."""
        if due is None:
            await self._wake.wait()
            return
        while not self._wake.is_set() and due > self._clock.now():
            await wait_until(self._wake, self._clock, due)

    # Running ------------------------------------------------------------------------------------

    async def _leg(self, steps: LocalSteps) -> None:
        task_id, source = steps.task.id, steps.task.source.kind
        try:
            await self._db.turn()
            await steps.finish(await self._run(steps))
        except LeaseLost:
            pass  # another leg holds it now; this result is obsolete
        except StoreTrouble:
            pass  # the process ends and the disk is full: the next process finds the old state
        except Exception as error:  # noqa: BLE001 - it is logged, and the owner is asked
            self._release(steps, error)
        finally:
            self._sources[source] -= 1
            if self._suspect == task_id:
                self._suspect = None
            # After a lost lease another leg of the same task may be registered; leave that one.
            if task_id in self._legs and self._legs[task_id][1] is steps:
                del self._legs[task_id]
            self._wake.set()

    async def _run(self, steps: LocalSteps) -> moves.Ending:
        try:
            outcome = await run.run(self._rooms, steps)
        except (LeaseLost, WriteRefused):
            raise
        except RunStopped:
            return self._ending_of_wish(steps)
        except asyncio.CancelledError as cut:
            if steps.asked is not None:
                return self._ending_of_wish(steps)
            if self._legs[steps.task.id][0].cancelling():
                raise  # the event loop and the store are closing; treat it as a crash
            # Nobody requested the cancellation, so it came from the work: an unexpected error.
            return self._ending_of_error(cut, steps)
        except Exception as error:  # noqa: BLE001 - whatever breaks a leg must not break the engine
            return self._ending_of_error(error, steps)
        return self._ending_of_outcome(outcome, steps)

    def _release(self, steps: LocalSteps, error: Exception) -> None:
        """Ask the owner about a task whose leg could not be ended, so that no lease stays.

        A loop does it: while that cannot be written either, it is shown as failing.
        """
        task_id, why = steps.task.id, str(error).removesuffix(".")
        _LOG.error("What a run of task %s did was refused.", task_id, exc_info=error)
        name = f"release: {task_id}"

        async def release() -> None:
            review, now = self._ids.review(), self._clock.now()
            await self._db.write(queue.release_leg, steps.lease, review, why, now)
            self._releases.discard(name)
            self._wake.set()

        self._releases.add(name)
        self._background.start(name, release)

    def _ending_of_outcome(self, outcome: Outcome, steps: LocalSteps) -> moves.Ending:
        now, most, review = self._clock.now(), self._limits.attempts, self._ids.review
        return endings.ending_of_outcome(outcome, steps.task, now, most, self._chance, review)

    def _ending_of_error(self, error: BaseException, steps: LocalSteps) -> moves.Ending:
        now, most, review = self._clock.now(), self._limits.attempts, self._ids.review
        return endings.of_error(error, steps.task, now, most, self._chance, review)

    def _ending_of_wish(self, steps: LocalSteps) -> moves.Ending:
        task, wish = steps.task, steps.asked or "park"
        if wish == "park":
            return endings.ending_of_shutdown(task, self._clock.now())
        if wish == "cancel" and task.in_doubt and not task.cancel_requested:
            return endings.ending_of_shutdown(
                task, self._clock.now()
            )  # the next leg asks, and then it ends
        sent = bool(task.delivery) and all(d.status == "sent" for d in task.delivery)
        if wish == "cancel" and task.status is Status.DELIVERING and sent:
            # Too late to cancel: everything has been sent.
            return self._ending_of_outcome(Done(first_line(task.delivery[0].body or "")), steps)
        return endings.ending_of_wish(task, wish)

    async def _drain(self, limit: float | None) -> None:
        legs = [leg for leg, _ in self._legs.values()]
        if legs:
            await asyncio.wait(legs, timeout=limit)

    async def _beat(self) -> None:
        """Record that this worker is alive while it has work; an idle one writes nothing."""
        while True:
            await self._clock.sleep(HEARTBEAT)
            if self._legs:
                with contextlib.suppress(StoreTrouble):
                    await self._db.write(runs.beat, self.worker, self._clock.now())
