"""The budget through the whole app: over a limit a task waits, and goes on where it was."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.cli import show
from remit.errors import Transient
from remit.model.reply import Usage
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Task, TaskBudget
from remit.settings import BudgetSettings, EngineSettings, Settings
from remit.store import spending
from remit.store.database import Tx
from remit.testing import World, script
from tests.brain.metered import MeteredBrain
from tests.engine.rig import Rig, until

ROOMY = BudgetSettings(run_tokens=0, run_requests=0, day_tokens=0)


def world(home: Path, brain: MeteredBrain, limits: BudgetSettings, **more: object) -> World:
    settings = Settings(home=home, budget=limits, zone="Europe/Berlin")
    start = more.pop("start", None)
    made = World(home, brain=brain, settings=replace(settings, **more))
    if isinstance(start, datetime):
        made.clock.jump(start)
    return made


def rows(tx: Tx) -> list[tuple[int, int, int]]:
    found = tx.ask("SELECT tokens, requests, settled FROM spending ORDER BY key")
    return [(int(r["tokens"] or 0), int(r["requests"] or 0), int(r["settled"] or 0)) for r in found]


async def asked(world: World, task: Task) -> Review:
    """The one question that a task waits with; it stands where it stood."""
    stands = await world.get(task.id)
    assert (stands.status, stands.reason) == (Status.NEEDS_REVIEW, Reason.APPROVAL)
    assert stands.resume_to is Status.RUNNING
    (review,) = [each for each in await world.waiting() if each.task_id == task.id]
    assert review.options == (ReviewAnswer.APPROVE, ReviewAnswer.DECLINE)
    return review


async def test_over_its_limit_a_task_waits_with_all_it_has_and_goes_on_at_that_very_turn(
    tmp_path: Path,
) -> None:
    brain = MeteredBrain(turns=5)
    limits = replace(ROOMY, run_tokens=600)
    async with world(tmp_path, brain, limits) as app:
        task = await app.add("Count")
        await app.run()

        review = await asked(app, task)
        assert review.question == (
            "This run may use 600 tokens; used or set aside: 300; the next request may take 400. "
            "Approve to raise the limit by 600 tokens and go on."
        )
        assert len(brain.heard) == 3
        assert (await app.get(task.id)).spent == TaskBudget(300, 6)

        await app.restart()
        await app.decide(review, ReviewAnswer.APPROVE)
        await app.run()

        assert [len(prompt.earlier) for prompt in brain.heard] == [0, 1, 2, 3, 4]
        assert brain.heard[3].results[0].call == "call-3"
        done = await app.get(task.id)
        assert (done.status, done.spent) == (Status.COMPLETED, TaskBudget(500, 10))
        assert [parcel.body for parcel in app.outbox.sent] == ["5 turns."]
        assert await app.app.db.read(rows) == [(100, 1, 1)] * 5


async def test_who_declines_ends_the_task_and_what_it_cost_stays_known(tmp_path: Path) -> None:
    brain = MeteredBrain(turns=5)
    async with world(tmp_path, brain, replace(ROOMY, run_requests=2)) as app:
        task = await app.add("Count")
        await app.run()
        review = await asked(app, task)
        assert "This run may use 2 requests; used or set aside: 2;" in review.question

        await app.decide(review, ReviewAnswer.DECLINE)
        await app.run()

        ended = await app.get(task.id)
        assert (ended.status, ended.spent) == (Status.CANCELLED, TaskBudget(200, 4))
        assert len(brain.heard) == 2


async def test_what_the_owner_grants_is_enough_for_the_next_request_whatever_it_takes(
    tmp_path: Path,
) -> None:
    """A limit below the price of one request would be asked about for ever otherwise."""
    brain = MeteredBrain(turns=2)
    async with world(tmp_path, brain, replace(ROOMY, run_tokens=1)) as app:
        task = await app.add("Count")
        for turn in (0, 1):
            await app.run()
            assert len(brain.heard) == turn
            await app.decide(await asked(app, task), ReviewAnswer.APPROVE)
        await app.run()

        assert (await app.get(task.id)).status is Status.COMPLETED


async def test_each_approval_raises_a_limit_by_one_step_and_no_more(tmp_path: Path) -> None:
    brain = MeteredBrain(turns=30)
    async with world(tmp_path, brain, replace(ROOMY, run_tokens=1000)) as app:
        task = await app.add("Count")
        await app.run()
        assert len(brain.heard) == 7  # 600 used, 400 more would still fit; 700 and 400 do not

        await app.decide(await asked(app, task), ReviewAnswer.APPROVE)
        await app.run()
        assert len(brain.heard) == 17
        again = await asked(app, task)
        assert "This run may use 2,000 tokens; used or set aside: 1,700;" in again.question


async def test_the_day_is_the_owners_from_midnight_to_midnight(tmp_path: Path) -> None:
    start, hours = datetime(2026, 3, 2, 9, 0, tzinfo=UTC), 14  # midnight in Berlin is 23:00 UTC
    brain = MeteredBrain()
    limits = replace(ROOMY, day_tokens=450)
    async with world(tmp_path, brain, limits, start=start) as app:
        await app.add("First")
        await app.run()
        last = app.now + timedelta(hours=hours) - timedelta(minutes=1)
        late = await app.add("Late", at=last)
        next_day = await app.add("Next day", at=last + timedelta(minutes=1))
        await app.run(timedelta(hours=hours))

        review = await asked(app, late)
        assert "The day may use 450 tokens; used or set aside: 100;" in review.question
        assert "Approve to raise the day's limit for this task by 450 tokens" in review.question
        assert (await app.get(next_day.id)).status is Status.COMPLETED
        assert len(brain.heard) == 2


async def test_tasks_that_think_beside_each_other_cannot_go_over_the_day_together(
    tmp_path: Path,
) -> None:
    brain = MeteredBrain(go=asyncio.Event())
    async with world(tmp_path, brain, replace(ROOMY, day_tokens=4000)) as app:
        tasks = [await app.add(f"Task {n}") for n in range(50)]

        async def all_are_asked_or_think() -> bool:
            return len(await app.waiting()) == 40

        await until(all_are_asked_or_think)
        assert len(brain.heard) == 10  # 400 each are set aside, and not one is answered

        assert brain.go is not None
        brain.go.set()
        await app.run()

        stand = [(await app.get(task.id)).status for task in tasks]
        assert stand.count(Status.COMPLETED) == 10
        assert stand.count(Status.NEEDS_REVIEW) == 40
        assert await app.app.db.read(rows) == [(100, 1, 1)] * 10


async def test_what_one_task_was_granted_another_cannot_use(tmp_path: Path) -> None:
    brain = MeteredBrain(turns=2)
    limits = replace(ROOMY, run_tokens=1000, day_tokens=250)
    async with world(tmp_path, brain, limits) as app:
        first, second = await app.add("One"), await app.add("Two")
        await app.run()
        mine = await asked(app, first)
        await asked(app, second)
        assert "raise the day's limit for this task by 1,000 tokens" in mine.question

        await app.decide(mine, ReviewAnswer.APPROVE)
        await app.run()

        assert (await app.get(first.id)).status is Status.COMPLETED
        assert (await app.get(second.id)).status is Status.NEEDS_REVIEW


async def test_a_request_that_failed_counts_as_one_and_is_made_again(tmp_path: Path) -> None:
    brain = MeteredBrain(failures=[Transient("busy"), Transient("busy")])
    async with world(tmp_path, brain, replace(ROOMY, run_requests=3)) as app:
        task = await app.add("Count")
        await app.run(timedelta(hours=1))

        assert (await app.get(task.id)).status is Status.COMPLETED
        assert await app.app.db.read(rows) == [(0, 1, 1), (0, 1, 1), (100, 1, 1)]


async def test_a_request_that_was_interrupted_stays_counted_as_reckoned(tmp_path: Path) -> None:
    """Its vendor may charge for it. Whoever forgot it would spend it twice."""
    brain = MeteredBrain(go=asyncio.Event())
    engine = EngineSettings(stop_limit=1)
    async with world(tmp_path, brain, replace(ROOMY, run_tokens=600), engine=engine) as app:
        task = await app.add("Count")
        await until(lambda: len(brain.heard) == 1)
        app.app.engine.heed(await app.app.owner.pause(task.id))
        await app.run()
        assert await app.app.db.read(rows) == [(400, 1, 0)]

        brain.go = None
        await app.app.owner.resume(task.id)
        await app.run()

        review = await asked(app, task)
        assert "used or set aside: 400;" in review.question


async def test_after_a_crash_no_turn_on_record_is_paid_twice(tmp_path: Path) -> None:
    brain = MeteredBrain(turns=3)
    async with Rig(tmp_path, brain=brain) as app:
        task = await app.add("Count")
        app.db.late["settle"] = asyncio.Event()  # the first turn is thought, and never recorded
        await until(lambda: app.db.done["settle"] == 1)
        await app.crash()
        brain.go = asyncio.Event()
        await until(lambda: len(brain.heard) == 2)  # again the first; it is answered now
        go, brain.go = brain.go, asyncio.Event()
        go.set()
        await until(lambda: len(brain.heard) == 3)
        await app.crash()  # while the second is thought
        brain.go = None
        await app.run()

        assert [len(prompt.earlier) for prompt in brain.heard] == [0, 0, 1, 1, 2]
        done = await app.get(task.id)
        assert done.status is Status.COMPLETED
        assert done.spent == TaskBudget(4 * 100 + 400, 4 * 2 + 5)  # one was answered for nobody
        assert sorted(await app.app.db.read(rows)) == [*[(100, 1, 1)] * 4, (400, 1, 0)]


def test_show_says_what_a_task_has_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def story() -> Task:
        async with world(tmp_path, MeteredBrain(used=Usage(1234, 205, 1)), ROOMY) as app:
            task = await app.add("Count")
            await app.run()
            return await app.get(task.id)

    task = asyncio.run(story())
    show._print_facts(task, task.last_updated)
    assert "1,234 tokens, $2.05" in capsys.readouterr().out

    show._print_facts(replace(task, spent=TaskBudget(1234, 0)), task.last_updated)
    assert "$" not in capsys.readouterr().out
    show._print_facts(replace(task, spent=TaskBudget(0, 0)), task.last_updated)
    assert "Cost" not in capsys.readouterr().out


async def test_an_answer_without_a_count_is_taken_at_what_was_set_aside(tmp_path: Path) -> None:
    brain = MeteredBrain(used=Usage(requests=1))
    async with world(tmp_path, brain, ROOMY) as app:
        task = await app.add("Count")
        await app.run()

        assert (await app.get(task.id)).spent == TaskBudget(400, 5)


async def test_a_task_that_is_cancelled_shows_what_it_has_cost(tmp_path: Path) -> None:
    brain = MeteredBrain(turns=2, go=asyncio.Event())
    assert brain.go is not None
    async with world(tmp_path, brain, ROOMY) as app:
        task = await app.add("Count")
        await until(lambda: len(brain.heard) == 1)
        await app.app.owner.cancel(task.id)  # it is seen when the thought is written down
        brain.go.set()
        await app.run()

        ended = await app.get(task.id)
        assert (ended.status, ended.spent) == (Status.CANCELLED, TaskBudget(100, 2))


async def test_a_brain_that_costs_nothing_is_not_written_down(tmp_path: Path) -> None:
    limits = BudgetSettings(run_tokens=1, run_requests=1, day_tokens=1)
    settings = Settings(home=tmp_path, budget=limits)
    free = script([{"reply": "<deliverable>Free.</deliverable>"}])
    async with World(tmp_path, brain=free, settings=settings) as app:
        task = await app.add("Greet")
        await app.run()

        assert (await app.get(task.id)).status is Status.COMPLETED
        assert await app.app.db.read(rows) == []


async def test_a_brain_without_a_model_is_not_metered_either(tmp_path: Path) -> None:
    brain = MeteredBrain(metered=False)
    async with world(tmp_path, brain, BudgetSettings(run_tokens=1)) as app:
        task = await app.add("Greet")
        await app.run()

        assert (await app.get(task.id)).status is Status.COMPLETED
        assert await app.app.db.read(rows) == []


async def test_what_went_in_and_what_came_out_is_told_apart(tmp_path: Path) -> None:
    took = Usage(tokens=100, cents=2, requests=1, asked=80, answered=20, cached=60)
    brain = MeteredBrain(turns=3, used=took)
    async with world(tmp_path, brain, ROOMY) as app:
        task = await app.add("Think about it")
        await app.run()
        used = await app.app.db.read(spending.told_apart, task.id)

    assert used == Usage(tokens=300, cents=6, requests=3, asked=240, answered=60, cached=180)
