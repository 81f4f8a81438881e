"""The supervisor of loops: restarts with a growing pause, one report, few log lines, clean ends."""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

import pytest

from remit.errors import Transient
from remit.system.background import (
    LONGEST_PAUSE_SECONDS,
    RECOVERED_AFTER,
    REPORT_AGAIN_AFTER,
    Background,
    LoopState,
    OutOfTime,
    TimeLimit,
)
from remit.testing import FrozenClock
from tests.engine.rig import until

SECOND = timedelta(seconds=1)


class Rig:
    """A loop that fails as often as it is told to, and then waits for ever."""

    def __init__(self, *, failures: int = 0, report_fails: int = 0) -> None:
        self.clock = FrozenClock()
        self.failures, self.report_fails = failures, report_fails
        self.runs, self.sleeps = 0, list[float]()
        self.reports: list[LoopState] = []
        self.loops = Background(self.clock.now, self._sleep, self._report)

    async def work(self) -> None:
        self.runs += 1
        if self.failures > 0:
            self.failures -= 1
            raise OSError("the folder is away")
        await asyncio.Event().wait()

    async def runs_again(self, times: int) -> None:
        """Let time pass until the loop was started so often."""

        async def ran() -> bool:
            self.clock.advance(SECOND)
            return self.runs >= times

        await until(ran)

    async def _sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await self.clock.sleep(seconds)

    async def _report(self, state: LoopState) -> None:
        if self.report_fails > 0:
            self.report_fails -= 1
            raise RuntimeError("nobody is there")
        self.reports.append(state)


async def test_a_loop_that_fails_is_logged_reported_once_and_started_again_with_growing_pauses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig(failures=12, report_fails=1)
    rig.loops.start("folder:x", rig.work)
    rig.loops.start("folder:x", rig.work)  # does no harm

    await until(lambda: bool(rig.sleeps))
    (state,) = rig.loops.failing
    assert (state.name, state.failures, state.error) == (
        "folder:x",
        1,
        "OSError: the folder is away",
    )
    await rig.runs_again(13)

    assert rig.sleeps[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert max(rig.sleeps) == LONGEST_PAUSE_SECONDS
    assert [each.failures for each in rig.reports] == [2], "the first report itself failed"
    failed = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert len(failed) == 4, "of 12 equal failures the 1st, 2nd, 4th and 8th"
    assert all(each.exc_info for each in failed)
    assert rig.loops.failing[0].failures == 12
    rig.clock.advance(RECOVERED_AFTER)
    assert rig.loops.failing == ()
    assert rig.loops.states == (LoopState("folder:x"),)
    await rig.loops.close()


async def test_one_that_recovered_begins_anew_and_is_reported_again_only_after_a_day() -> None:
    rig = Rig(failures=1)
    rig.loops.start("x", rig.work)
    for failures, well_for, reports in ((1, RECOVERED_AFTER, 1), (2, REPORT_AGAIN_AFTER, 2)):
        await rig.runs_again(failures + 1)
        rig.clock.advance(well_for)
        _cancel_within("x")
        await until(lambda: len(rig.sleeps) > failures)  # noqa: B023 - at once
        assert len(rig.reports) == reports

    assert rig.sleeps == [1.0, 1.0, 1.0], "each time it had run well in between"
    assert "Cancelled" in rig.reports[-1].error
    await rig.loops.close()


async def test_a_finish_waits_for_the_end_restarts_what_pauses_and_cuts_what_hangs() -> None:
    rig, ended = Rig(failures=9), asyncio.Event()

    async def follower() -> None:
        await ended.wait()

    rig.loops.start("pauses", rig.work)
    rig.loops.start("ends", follower)
    rig.loops.start("hangs", asyncio.Event().wait)  # type: ignore[arg-type]
    await until(lambda: bool(rig.sleeps))
    ended.set()
    await rig.loops.finish("pauses", "ends", "hangs", "unknown", within=0.05)

    assert rig.runs == 2, "not started a third time"
    assert rig.loops.states == ()
    assert not rig.loops.has("hangs")


async def test_what_was_stopped_may_be_started_again_and_its_failures_are_remembered() -> None:
    rig = Rig(failures=2)
    rig.loops.start("x", rig.work)
    await until(lambda: bool(rig.sleeps))
    await rig.loops.stop("x")
    assert rig.loops.states == ()
    rig.loops.start("x", rig.work)
    await until(lambda: len(rig.sleeps) == 2)

    assert rig.loops.failing[0].failures == 2
    assert len(rig.reports) == 1
    await rig.loops.close()


async def test_a_loop_that_fails_while_it_is_stopped_ends_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig, begun = Rig(), asyncio.Event()

    async def stubborn() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            raise OSError("not now")

    rig.loops.start("x", stubborn)
    await begun.wait()
    await rig.loops.stop("x", "x")

    assert not rig.loops.has("x")
    assert "failed while it was stopped" in caplog.text


async def test_one_poisoned_loop_leaves_the_others_alone() -> None:
    rig, ticks = Rig(failures=10**6), 0

    async def healthy() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await rig.clock.sleep(1)

    rig.loops.start("poisoned", rig.work)
    rig.loops.start("healthy", healthy)

    async def ran() -> bool:
        rig.clock.advance(SECOND)
        return ticks >= 200

    await until(ran)
    assert rig.runs < 20
    assert [each.name for each in rig.loops.failing] == ["poisoned"]
    await rig.loops.close()


def _cancel_within(name: str) -> None:
    """End a loop as something in it would: neither its owner nor its supervisor asked for it."""
    for task in asyncio.all_tasks():
        if task.get_name() == name:
            task.cancel()


async def test_nothing_is_kept_of_work_that_has_ended_by_itself() -> None:
    rig = Rig()

    async def once() -> None:
        await asyncio.sleep(0)

    for n in range(50):
        rig.loops.start(f"reply {n}", once)
    await until(lambda: not rig.loops.states)

    assert not rig.loops._loops


async def test_work_that_takes_too_long_is_cut_and_the_rest_goes_on() -> None:
    limit, never, soon = TimeLimit(0.05), asyncio.Event(), asyncio.Event()

    async def quick() -> str:
        return "done"

    async def both() -> str:
        with pytest.raises(OutOfTime):
            await limit.run(never.wait())
        return await limit.run(quick())  # its task was cancelled for the first piece only

    late = asyncio.create_task(both())
    assert await limit.run(quick()) == "done"
    assert await late == "done"
    later = asyncio.create_task(limit.run(soon.wait()))  # a timer is set again for what comes next
    await asyncio.sleep(0)
    soon.set()
    assert await later


async def test_who_is_cancelled_by_somebody_else_is_not_out_of_time() -> None:
    never = asyncio.Event()
    work = asyncio.create_task(TimeLimit(60).run(never.wait()))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_a_timeout_of_the_works_own_is_no_limit_of_ours() -> None:
    async def fail() -> None:
        raise TimeoutError("the line is silent")

    with pytest.raises(TimeoutError, match="the line is silent"):
        await TimeLimit(60).run(fail())


async def test_work_that_ends_well_though_it_was_cut_leaves_its_task_uncancelled() -> None:
    async def stubborn() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "ended well"

    assert await TimeLimit(0.01).run(stubborn()) == "ended well"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_passes_by_itself_is_logged_as_one_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()

    async def away() -> None:
        raise Transient("The server does not answer.")

    rig.loops.start("x", away)
    await until(lambda: bool(rig.sleeps))
    await rig.loops.close()

    (record,) = (each for each in caplog.records if each.levelno == logging.ERROR)
    assert record.getMessage().endswith("it is started again. The server does not answer.")
    assert not record.exc_info
