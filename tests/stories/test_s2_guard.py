"""Nobody talks his way around: tests, rules and contract hold, and so does it over a restart."""

import sqlite3

import pytest

from remit.model.codec import JsonMap
from remit.model.contract import ContractType, Result
from remit.model.review import ReviewAnswer
from remit.model.status import Reason, Status
from tests.engine.rig import until
from tests.sample_task import contract_of, verdict_of
from tests.soak import first_of, only_in_soak
from tests.specialist.repository import commit
from tests.stories.shop.rig import ADD, QUICK, Opens, Shop, results, settle, turn
from tests.stories.shop.sample import FILES, GOOD, README, UNTIDY, WORSE

LAX = """\
version: 1
files:
  "*.py": {unit: false, because: I say so}
"""
IGNORE = "collect_ignore = ['tests']\n"
WEAK = "def test_price_is_written() -> None:\n    pass\n"


# Who decides about the work -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "sly",
    first_of(
        [
            turn(WORSE, write={"tests/test_price.py": WEAK, "tests/test_checkout.py": WEAK}),
            turn(WORSE, delete=["tests/test_price.py", "tests/test_checkout.py"]),
            turn(WORSE, write={"conftest.py": IGNORE, "tests/test_new.py": WEAK}),
            turn(WORSE, write={"project.json": '{"commands": {"unit-test": ["true"]}}'}),
        ]
    ),
)
async def test_who_bends_the_tests_is_caught(sly: JsonMap, shop: Opens) -> None:
    async with shop(ada=[sly]) as house:
        task = await house.order()

        assert task.reason is Reason.VERIFICATION
        assert results(task)["unit-test"] is Result.FAIL
        assert house.log == ["more"]


async def test_good_work_with_a_weaker_test_shows_it_to_the_owner(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD, write={"tests/test_price.py": WEAK})]) as house:
        await house.order()

        review = await house.question()
        assert "It changes tests that were there before: tests/test_price.py." in review.question
        assert "-    assert written(1999)" in review.evidence


async def test_a_test_that_the_owner_names_may_be_changed(shop: Opens) -> None:
    sign = GOOD.replace('"EUR"', '"€"')
    tests = {
        name: text.replace(" EUR", " €")
        for name, text in FILES.items()
        if name.startswith("tests/")
    }
    files = ("shop/price.py", *tests)
    async with shop(ada=[turn(sign, write=tests)]) as house:
        task = await settle(house, await house.order("Write euros with their sign", files))

        assert results(task)["unit-test"] is Result.PASS
        assert "€" in house.text("tests/test_price.py")


def _with_sign() -> tuple[str, dict[str, str]]:
    """Euros with their sign, and the tests that say so."""
    tests = {name: text for name, text in FILES.items() if name.startswith("tests/")}
    sign = {name: text.replace(" EUR", " €") for name, text in tests.items()}
    return GOOD.replace('"EUR"', '"€"'), sign


async def test_a_change_of_tests_is_asked_about_once_and_counts_with_a_yes(shop: Opens) -> None:
    text, tests = _with_sign()
    async with shop(ada=[turn(text, write=tests)]) as house:
        await house.order()

        review = await house.question()
        assert review.options == (ReviewAnswer.APPROVE, ReviewAnswer.DROP, ReviewAnswer.DECLINE)
        assert "Is this change of tests/test_checkout.py, tests/test_price.py" in review.question
        assert "tests/test_checkout.py:5 test_checkout_adds_up" in review.question
        assert '+    assert written(1999) == "19.99 €"' in review.evidence
        assert "shop/price.py" not in review.evidence

        task = await settle(house, await house.say(ReviewAnswer.APPROVE))
        assert results(task)["unit-test"] is Result.PASS
        assert "€" in house.text("tests/test_price.py")
        assert len(house.hands["ada"].told) == 1


@only_in_soak
async def test_who_turns_the_linter_off_gains_nothing(shop: Opens) -> None:
    lax = FILES["pyproject.toml"].replace('select = ["E", "F", "I"]', "select = []")
    async with shop(ada=[turn(UNTIDY, write={"pyproject.toml": lax})]) as house:
        task = await house.order()

        assert results(task)["lint"] is Result.FAIL


async def test_who_writes_himself_other_rules_gains_nothing_and_it_is_told(shop: Opens) -> None:
    rules = {".remit/activities.yml": LAX}
    async with shop(ada=[turn(WORSE, write=rules), turn(GOOD)]) as house:
        task = await house.order()
        assert contract_of(task).type is ContractType.VERIFIABLE
        assert "of 2 tests failed" in house.hands["ada"].told[1]
        assert results(task)["unit-test"] is Result.PASS
        noted = [
            each.note or "" for each in verdict_of(task).findings if each.result is Result.PASS
        ]
        assert all(".remit/activities.yml" in note for note in noted)


@only_in_soak
async def test_rules_that_come_with_the_work_do_not_say_what_it_must_prove(shop: Opens) -> None:
    sly = turn(WORSE, write={"README.md": README + "\nMore.\n", ".remit/activities.yml": LAX})
    async with shop(ada=[sly]) as house:
        task = await house.order("Update README", ("README.md",))

        assert results(task)["unit-test"] is Result.FAIL


async def test_the_owners_own_rules_count(shop: Opens) -> None:
    strict = 'version: 1\nfiles:\n  "*.md": {unit: all, why: they are tested}\n'
    async with shop(ada=[turn(write={"README.md": README + "\nMore.\n"})]) as house:
        commit(house.repo, {".remit/activities.yml": strict})

        task = await settle(house, await house.order("Update README", ()))

        assert results(task)["unit-test"] is Result.PASS


async def test_a_contract_that_was_changed_in_the_file_is_not_worked_to(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE)]) as house:
        task = await house.order()
        with sqlite3.connect(house.world.house.settings.database_file) as file:
            changed = file.execute(
                "UPDATE steps SET output = replace(output, 'verifiable', 'advisory') "
                "WHERE name = 'plan_step'"
            )
            assert changed.rowcount == 1
        file.close()

        task = await house.say(ReviewAnswer.ARRIVED)

        assert task.status is Status.FAILED
        assert "not the one that was agreed on" in await house.why(task)
        assert house.log == ["more"]


# Into the owner's folder --------------------------------------------------------------------------


async def test_a_folder_with_work_of_its_owner_is_left_alone_with_a_sentence(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as house:
        await house.order()
        (house.repo / "README.md").write_text("mine\n")

        await house.say(ReviewAnswer.APPROVE)
        again = await house.question()
        assert (
            "has changes that are not committed (README.md); commit them first." in again.question
        )
        assert (house.log, house.text()) == (["more"], FILES["shop/price.py"])

        commit(house.repo, {"README.md": "mine\n"}, "mine")
        task = await house.say(ReviewAnswer.APPROVE)
        assert task.status is Status.COMPLETED
        assert "was not checked together with it" in (task.result_summary or "")
        assert (house.text(), house.text("README.md")) == (GOOD, "mine\n")


async def test_work_that_no_longer_fits_is_done_anew_from_what_the_owner_has(shop: Opens) -> None:
    mine = FILES["shop/price.py"].replace("How prices are written", "How we write prices")
    async with shop(
        ada=[turn(GOOD.replace("How prices are", "Prices, as they are"))], commands=QUICK
    ) as house:
        task = await house.order()
        commit(house.repo, {"shop/price.py": mine}, "mine")

        await house.say(ReviewAnswer.APPROVE)
        assert "does not fit with what changed since (shop/price.py)" in (
            (await house.question()).question
        )
        house.hands["ada"].then(turn(GOOD.replace("How prices are written", "How we write prices")))
        task = await house.say(ReviewAnswer.BACK, "Keep my headline.")

        await settle(house, task)
        assert "How we write prices" in house.text()
        assert "currency" in house.text()
        assert house.log == [ADD, "mine", "more"]


async def test_a_project_that_is_not_there_is_said_at_once(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)]) as house:
        house.repo.rename(house.repo.with_name("elsewhere"))

        task = await house.order()

        assert task.status is Status.FAILED
        assert str(house.repo) in await house.why(task)


# Stopped in the middle ----------------------------------------------------------------------------


async def _ends_well(house: Shop) -> None:
    (task,) = {review.task_id for review in await house.world.waiting()}
    await house.world.restart()
    await settle(house, await house.world.get(task))
    assert house.text() == GOOD
    assert house.log == [ADD, "more"]


@only_in_soak
async def test_stopped_while_somebody_works_he_is_asked_once_more(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE, hang=True), turn(GOOD)]) as house:
        await house.order(rests=False)
        await house.hands["ada"].hangs()

        await house.world.restart()
        await house.world.run()

        assert len(house.hands["ada"].told) == 2
        await _ends_well(house)


@only_in_soak
async def test_stopped_in_a_fix_the_first_try_is_not_made_again(shop: Opens) -> None:
    async with shop(ada=[turn(UNTIDY), turn(WORSE, hang=True), turn(GOOD)]) as house:
        await house.order(rests=False)
        await house.hands["ada"].hangs(1)

        await house.world.restart()
        await house.world.run()

        first, second, third = house.hands["ada"].told
        assert "What failed last time" not in first
        assert second == third
        await _ends_well(house)


async def test_stopped_while_it_is_checked_it_is_checked_again(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as house:
        task = await house.order(rests=False)

        async def checked() -> bool:
            found = (await house.world.get(task.id)).status
            return found in (Status.VERIFYING, Status.NEEDS_REVIEW)

        await until(checked)
        await house.world.restart()
        await house.world.run()

        assert len(house.hands["ada"].told) == 1
        await _ends_well(house)


@only_in_soak
async def test_stopped_while_everybody_has_tried_the_same_question_waits(shop: Opens) -> None:
    async with shop(ada=[turn(UNTIDY)]) as house:
        task = await house.order()
        before = await house.question()

        await house.world.restart()
        assert await house.question() == before
        (house.folder(task) / "shop/price.py").write_text(GOOD)
        await house.say(ReviewAnswer.ARRIVED)

        assert len(house.hands["ada"].told) == 2
        await _ends_well(house)
