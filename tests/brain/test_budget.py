"""The purse: which limits hold for a task, what its questions say, when a day begins."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from remit.brain import choose, models
from remit.brain.budget import Budget, midnight, sentence
from remit.brain.choose import ModelConfig, Vendor
from remit.brain.models import ModelBrain
from remit.brain.scripted import ScriptedBrain
from remit.cli import doctor
from remit.errors import StoreFull
from remit.model.ids import SeriesId, TaskId
from remit.model.reply import Ask, Prompt, Reply, Tool, ToolResult, Usage
from remit.model.status import Reason
from remit.model.task import Task, TaskBudget
from remit.settings import BrainSettings, BudgetSettings, Settings
from remit.store import spending
from remit.store.database import Database
from remit.store.spending import LimitScope, OverLimit, SpendingLimit, SpendingUnit
from remit.testing import FrozenClock
from tests.brain.metered import MOST, TASK, USED, database
from tests.tables import for_each

NONE = BudgetSettings(run_tokens=0, run_requests=0, day_tokens=0)
SERIES = SeriesId("ser-1")


def made(n: int = 1, budget: TaskBudget | None = None, series: SeriesId | None = None) -> Task:
    budget = budget or TaskBudget()
    return replace(TASK, id=TaskId(f"task-{n}"), budget=budget, series_id=series)


class App:
    """A purse over a store of its own, and a count of what was thought."""

    def __init__(self, db: Database, limits: BudgetSettings) -> None:
        self.db = db
        self.clock = FrozenClock()
        self.purse = Budget(db, self.clock, limits, midnight(UTC))
        self.thoughts = 0

    async def think(self, task: Task, estimate: Usage = MOST, used: Usage = USED) -> str | None:
        """Think once; what the owner is asked instead, if he is."""

        async def thought() -> Reply:
            self.thoughts += 1
            return Reply("So.", usage=used)

        self.keys = getattr(self, "keys", 0) + 1
        paid = await self.purse.pay(f"{task.id}:{self.keys}", task, estimate, thought)
        if isinstance(paid, Ask):
            assert paid.reason is Reason.APPROVAL
            return f"{paid.about}: {paid.question}"
        assert paid.text == "So."
        return None


@asynccontextmanager
async def opened(folder: Path, limits: BudgetSettings) -> AsyncIterator[App]:
    async with database(folder) as db:
        yield App(db, limits)


@for_each(
    ("limits", "budget", "about"),
    [
        (replace(NONE, run_tokens=399), None, "budget:run: This run may use 399 tokens"),
        (replace(NONE, run_cents=4), None, "budget:run: This run may use $0.04"),
        (replace(NONE, series_tokens=399), None, "budget:series: This series may use 399 tokens"),
        (replace(NONE, series_cents=4), None, "budget:series: This series may use $0.04 in 30"),
        (replace(NONE, day_tokens=399), None, "budget:day: The day may use 399 tokens"),
        (replace(NONE, day_cents=4), None, "budget:day: The day may use $0.04"),
        (NONE, TaskBudget(tokens=399), "budget:run: This run may use 399 tokens"),
        (NONE, TaskBudget(cents=4), "budget:run: This run may use $0.04"),
        (NONE, TaskBudget(tokens=0), "budget:run: This run may use 0 tokens"),
        (BudgetSettings(), TaskBudget(tokens=399), "budget:run: This run may use 399 tokens"),
    ],
)
async def test_every_limit_holds(
    tmp_path: Path, limits: BudgetSettings, budget: TaskBudget | None, about: str
) -> None:
    async with opened(tmp_path, limits) as app:
        asked = await app.think(made(budget=budget, series=SERIES))

        assert asked is not None
        assert asked.startswith(about)
        assert app.thoughts == 0


@pytest.mark.parametrize(
    ("limits", "task"),
    [
        (replace(NONE, run_tokens=400, run_cents=5, run_requests=1), made(series=SERIES)),
        (replace(NONE, series_tokens=400, series_cents=5), made(series=SERIES)),
        (replace(NONE, day_tokens=400, day_cents=5), made(series=SERIES)),
        (replace(NONE, series_tokens=1), made()),  # a task without a series has none of its limits
        # A task's own budget goes before the settings.
        (replace(NONE, run_tokens=1, run_cents=1), made(budget=TaskBudget(tokens=400, cents=5))),
    ],
)
async def test_what_just_fits_is_thought(
    tmp_path: Path, limits: BudgetSettings, task: Task
) -> None:
    async with opened(tmp_path, limits) as app:
        assert await app.think(task) is None


async def test_without_limits_all_that_was_put_to_a_vendor_is_counted(tmp_path: Path) -> None:
    async with opened(tmp_path, NONE) as app:
        for _ in range(5):
            assert await app.think(made()) is None
        await app.think(made(2), used=Usage())

        assert await app.purse.spent(made()) == TaskBudget(500, 10)
        assert await app.db.read(spending.of_task, made(2).id) == Usage()


async def test_a_series_has_its_limit_in_any_thirty_days(tmp_path: Path) -> None:
    async with opened(tmp_path, replace(NONE, series_tokens=450)) as app:
        assert await app.think(made(1, series=SERIES)) is None
        app.clock.advance(timedelta(days=30))
        asked = await app.think(made(2, series=SERIES))
        assert asked is not None
        assert "This series may use 450 tokens in 30 days; used or set aside: 100;" in asked

        app.clock.advance(timedelta(milliseconds=1))
        assert await app.think(made(2, series=SERIES)) is None


class Full(App):
    """The disk is full for the first writes, then there is room."""

    async def write(self, *args: object) -> object:
        self.full -= 1
        if self.full >= 0:
            raise StoreFull("agent.db", "disk full")
        return await self.db.write(*args)  # type: ignore[arg-type]

    full = 0

    def read(self, *args: object) -> object:
        return self.db.read(*args)  # type: ignore[arg-type]


async def test_while_the_disk_is_full_nothing_is_thought_that_is_not_set_aside(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, NONE) as plain:
        app = Full(plain.db, NONE)
        app.purse = Budget(app, app.clock, NONE, midnight(UTC))  # type: ignore[arg-type]
        app.full = 1
        thinking = asyncio.create_task(app.think(made()))
        while app.full >= 0:
            assert app.thoughts == 0
            app.clock.advance(timedelta(seconds=1))
            await asyncio.sleep(0)

        assert await thinking is None
        assert await plain.purse.spent(made()) == TaskBudget(100, 2)


async def test_a_thought_is_not_lost_if_it_cannot_be_settled(tmp_path: Path) -> None:
    async with opened(tmp_path, NONE) as plain:
        app = Full(plain.db, NONE)
        app.purse = Budget(app, app.clock, NONE, midnight(UTC))  # type: ignore[arg-type]

        async def thought() -> Reply:
            app.full = 1
            return Reply("So.", usage=USED)

        paid = await app.purse.pay("a", made(), MOST, thought)

        assert paid == Reply("So.", usage=USED)
        assert await plain.purse.spent(made()) == TaskBudget(400, 5)  # what was set aside stays


def test_a_limit_of_nothing_is_asked_about_without_a_step() -> None:
    over = OverLimit(SpendingLimit(LimitScope.RUN, SpendingUnit.TOKENS, 0, 0), 0, 0)

    assert sentence(over, MOST).endswith("Approve to raise the limit and go on.")


# When a day begins ------------------------------------------------------------------------------


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@for_each(
    ("zone", "now", "began"),
    [
        ("Europe/Berlin", "2026-03-02T22:59:59Z", "2026-03-01T23:00:00Z"),
        ("Europe/Berlin", "2026-03-02T23:00:00Z", "2026-03-02T23:00:00Z"),
        ("Europe/Berlin", "2026-03-29T21:59:59Z", "2026-03-28T23:00:00Z"),  # 23 hours long
        ("Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z"),  # 25 hours long
        ("Asia/Beirut", "2026-03-29T12:00:00Z", "2026-03-28T22:00:00Z"),  # no midnight that day
        ("America/Havana", "2026-11-01T05:30:00Z", "2026-11-01T04:00:00Z"),  # midnight twice
        ("Pacific/Auckland", "2026-03-02T11:00:00Z", "2026-03-02T11:00:00Z"),
        ("America/Los_Angeles", "2026-03-02T07:59:00Z", "2026-03-01T08:00:00Z"),
    ],
)
def test_a_day_begins_at_midnight_where_the_owner_is(zone: str, now: str, began: str) -> None:
    assert midnight(ZoneInfo(zone))(at(now)) == at(began)


def test_without_a_zone_the_machines_own_clock_counts() -> None:
    now = at("2026-03-02T12:00:00Z")

    began = midnight(None)(now)

    assert (began.astimezone().hour, began.astimezone().minute) == (0, 0)
    assert timedelta(0) <= now - began < timedelta(days=1)


# What a request may cost ------------------------------------------------------------------------


def test_all_that_is_said_is_reckoned_and_the_longest_answer() -> None:
    prompt = Prompt("x" * 30, rules="y" * 28, results=(ToolResult("c", "z" * 26),))
    assert models.estimate_usage(prompt, 1000) == Usage(
        tokens=1000 + 30, requests=1
    )  # two blank lines

    more = replace(prompt, earlier=("e" * 300, "e" * 300), tools=(Tool("t", "s" * 59, {}),))
    assert models.estimate_usage(more, 0).tokens == 30 + 200 + 20
    # A text that is not Latin is not reckoned too low.
    assert models.estimate_usage(Prompt("私は行きます"), 0).tokens == 6
    assert models.estimate_usage(Prompt("\ud800"), 0).tokens >= 1


def test_a_known_model_has_a_price_and_an_unknown_one_none() -> None:
    known = ModelConfig(Vendor.ANTHROPIC, "claude-sonnet-4-5", None, "K", None)

    assert models.price_in_cents(known, 1_000_000, 0) == 600
    assert models.price_in_cents(known, 1, 1) == 1  # rounded up
    assert models.price_in_cents(replace(known, name="nobody-knows-it"), 1_000_000, 0) == 0
    assert models.price_in_cents(replace(known, vendor=Vendor.OLLAMA), 1_000_000, 0) == 0


async def test_a_model_reckons_what_it_may_cost_and_is_metered_once_it_is_there() -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-none"}
    wanted = BrainSettings(model="anthropic:claude-sonnet-4-5", token_limit=1000)
    brain = ModelBrain(choose.choose_models(environ, wanted))
    estimate = await brain.estimate(Prompt("x" * 30_000))
    await brain.close()

    assert brain.metered
    assert estimate == Usage(tokens=11_000, cents=5, requests=1)  # 3 for the prompt, 1.5 for it

    nobody = ModelBrain(choose.choose_models({}, wanted))
    assert not nobody.metered
    assert (await nobody.estimate(Prompt("x" * 30))).cents == 0
    assert not hasattr(ScriptedBrain(()), "metered")


@for_each(
    ("model", "verdict", "says"),
    [
        ("anthropic:claude-sonnet-4-5", "ok", "each request is rounded up to a cent"),
        ("anthropic:nobody-knows-it", "warn", "the price of anthropic:nobody-knows-it"),
        ("ollama:qwen3", "warn", "the price of ollama:qwen3"),
        ("nonsense", "ok", "money is limited"),  # what is wrong with it is said elsewhere
    ],
)
def test_the_doctor_says_whose_price_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, verdict: str, says: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-none")

    found = doctor._money(Settings(home=tmp_path, brain=BrainSettings(model=model)))

    assert (found.part, found.verdict) == ("budget", verdict)
    assert says in found.said
    assert [BudgetSettings(run_cents=1).limits_money, BudgetSettings().limits_money] == [
        True,
        False,
    ]
