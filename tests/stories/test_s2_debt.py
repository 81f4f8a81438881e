"""Files whose tests failed: for thirty days more is asked of who touches them, and it says why."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import pytest

from remit.cli import clock
from remit.cli.main import run as cli
from remit.model.codec import JsonMap
from remit.model.contract import Contract, ContractType, Criterion, Timing
from remit.model.deferred import DebtBook
from remit.model.review import ReviewAnswer
from remit.model.task import Task
from remit.store import debts
from tests.soak import first_of
from tests.stories.shop.rig import Opens, Shop, settle, turn

OWED: Final = "All tests pass: shop/price.py failed before"
WHOLE: Final = "It works from end to end: shop/price.py failed often"
QUICK: Final = {
    "typecheck": ["true"],
    "lint": ["true"],
    "unit-test": ["sh", "-c", "! grep -n TODO shop/price.py", "{pattern}"],
}
E2E: Final = {**QUICK, "e2e": ["true"]}
PRICE: Final = '"""Prices."""\n'
TODO: Final = turn(f"{PRICE}# TODO\n")


def good(n: int) -> JsonMap:
    return turn(f"{PRICE}n = {n}\n")


async def book(app: Shop) -> DebtBook:
    return await app.world.app.db.read(debts.book, "shop", app.world.now)


def asked(task: Task) -> list[str]:
    """What its contract asks of tests."""
    contract: Contract | None = task.contract
    assert contract is not None
    tests = (each for each in contract.criteria if each.activity in ("unit-test", "e2e"))
    return [each.description for each in tests]


async def test_a_file_that_failed_and_was_mended_is_asked_more_for_thirty_days(shop: Opens) -> None:
    async with shop(ada=[TODO, good(1), good(2), good(3)], commands=QUICK) as app:
        first = await settle(app, await app.order("Fix one"))
        (owed,) = (await book(app)).debts
        assert (owed.path, owed.failures) == ("shop/price.py", 1)
        assert OWED not in asked(first)  # what it failed at itself is no reason

        second = await settle(app, await app.order("Fix two"))
        assert OWED in asked(second)
        assert f"**Unit tests** — {OWED}" in app.hands["ada"].told[-1]

        await app.world.run(timedelta(days=30))
        third = await settle(app, await app.order("Fix three"))
        assert (OWED in asked(third), (await book(app)).debts) == (False, ())


async def test_who_touches_such_a_file_unannounced_is_asked_after_the_work(shop: Opens) -> None:
    async with shop(ada=[TODO, good(1), good(2)], commands=QUICK) as app:
        await settle(app, await app.order("Fix one"))

        task = await settle(app, await app.order("Fix two", ("README.md",)))

        assert OWED not in app.hands["ada"].told[-1]  # nobody could know
        assert OWED in asked(task)


async def test_what_is_taken_unproven_is_owed_with_its_reason(shop: Opens) -> None:
    async with shop(ada=[TODO, TODO, good(1)], commands=QUICK) as app:
        await app.order("Fix one")
        await app.say(ReviewAnswer.DROP, "the shop opens at nine")
        await app.say(ReviewAnswer.APPROVE)

        (owed,) = (await book(app)).debts
        assert owed.failures == 2  # it failed, and was let through
        assert owed.reasons == ("the shop opens at nine",)


@pytest.mark.parametrize("commands", first_of([E2E, QUICK]))
async def test_what_failed_often_is_tried_from_end_to_end_where_that_can_be_done(
    shop: Opens, commands: Mapping[str, Sequence[str]]
) -> None:
    turns = [each for n in range(3) for each in (TODO, good(n))]
    async with shop(ada=[*turns, good(9)], commands=commands) as app:
        for n in range(3):
            await settle(app, await app.order(f"Fix number {n}"))

        task = await settle(app, await app.order("Fix the last"))

        assert OWED in asked(task)
        assert (WHOLE in asked(task)) is ("e2e" in commands)
        assert (await book(app)).debts[0].failures == 3


async def test_what_fails_with_its_group_is_owed_by_the_files_of_its_tasks(shop: Opens) -> None:
    late = Contract(
        ContractType.VERIFIABLE, (Criterion("e2e", "As a whole", timing=Timing.DEFERRED),)
    )
    commands = {**QUICK, "e2e": ["false"]}
    async with shop(ada=[good(1)], commands=commands) as app:
        await settle(app, await app.order("Fix one", contract=late))
        assert (await book(app)).debts == ()

        await app.world.run(timedelta(days=1))

        (owed,) = (await book(app)).debts
        assert (owed.path, owed.failures) == ("shop/price.py", 1)
        fix = await app.world.get((await app.question()).task_id)
        assert fix.context["files"] == ["shop/price.py"]


async def test_a_rehearsal_says_what_would_be_asked_besides_and_why(
    shop: Opens, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with shop(ada=[TODO, good(1)], commands=QUICK) as app:
        home = app.world.app.settings.home
        (home / "settings.toml").write_text(f'[projects.shop]\npath = "{app.repo}"\n')
        monkeypatch.setenv("REMIT_HOME", str(home))
        monkeypatch.setattr(clock, "now", app.world.clock.now)
        words = ["rehearse", "contract", "Fix it", "--files", "shop/price.py", "--json"]
        await settle(app, await app.order("Fix one"))

        assert cli([*words, "--project", "shop"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert OWED in [each["description"] for each in told["criteria"]]
        assert told["why"][-1].startswith("shop/price.py failed once, last on 2026-03-02")

        assert cli(words) == 0
        assert "failed" not in capsys.readouterr().out
        assert cli([*words, "--project", "shed"]) == 2
        assert "There is no project 'shed'; there is shop." in capsys.readouterr().err
