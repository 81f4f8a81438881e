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
    async with shop(ada=[sly]) as app:
        task = await app.order()

        assert task.reason is Reason.VERIFICATION
        assert results(task)["unit-test"] is Result.FAIL
        assert app.log == ["more"]


async def test_good_work_with_a_weaker_test_shows_it_to_the_owner(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD, write={"tests/test_price.py": WEAK})]) as app:
        await app.order()

        review = await app.question()
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
    async with shop(ada=[turn(sign, write=tests)]) as app:
        task = await settle(app, await app.order("Write euros with their sign", files))

        assert results(task)["unit-test"] is Result.PASS
        assert "€" in app.text("tests/test_price.py")


def _with_sign() -> tuple[str, dict[str, str]]:
    """Euros with their sign, and the tests that say so."""
    tests = {name: text for name, text in FILES.items() if name.startswith("tests/")}
    sign = {name: text.replace(" EUR", " €") for name, text in tests.items()}
    return GOOD.replace('"EUR"', '"€"'), sign


async def test_a_change_of_tests_is_asked_about_once_and_counts_with_a_yes(shop: Opens) -> None:
    text, tests = _with_sign()
    async with shop(ada=[turn(text, write=tests)]) as app:
        await app.order()

        review = await app.question()
        assert review.options == (ReviewAnswer.APPROVE, ReviewAnswer.DROP, ReviewAnswer.DECLINE)
        assert "Is this change of tests/test_checkout.py, tests/test_price.py" in review.question
        assert "tests/test_checkout.py:5 test_checkout_adds_up" in review.question
        assert '+    assert written(1999) == "19.99 €"' in review.evidence
        assert "shop/price.py" not in review.evidence

        task = await settle(app, await app.say(ReviewAnswer.APPROVE))
        assert results(task)["unit-test"] is Result.PASS
        assert "€" in app.text("tests/test_price.py")
        assert len(app.hands["ada"].told) == 1


@only_in_soak
async def test_who_turns_the_linter_off_gains_nothing(shop: Opens) -> None:
    lax = FILES["pyproject.toml"].replace('select = ["E", "F", "I"]', "select = []")
    async with shop(ada=[turn(UNTIDY, write={"pyproject.toml": lax})]) as app:
        task = await app.order()

        assert results(task)["lint"] is Result.FAIL


async def test_who_writes_himself_other_rules_gains_nothing_and_it_is_told(shop: Opens) -> None:
    rules = {".remit/activities.yml": LAX}
    async with shop(ada=[turn(WORSE, write=rules), turn(GOOD)]) as app:
        task = await app.order()
        assert contract_of(task).type is ContractType.VERIFIABLE
        assert "of 2 tests failed" in app.hands["ada"].told[1]
        assert results(task)["unit-test"] is Result.PASS
        noted = [
            each.note or "" for each in verdict_of(task).findings if each.result is Result.PASS
        ]
        assert all(".remit/activities.yml" in note for note in noted)


@only_in_soak
async def test_rules_that_come_with_the_work_do_not_say_what_it_must_prove(shop: Opens) -> None:
    sly = turn(WORSE, write={"README.md": README + "\nMore.\n", ".remit/activities.yml": LAX})
    async with shop(ada=[sly]) as app:
        task = await app.order("Update README", ("README.md",))

        assert results(task)["unit-test"] is Result.FAIL


async def test_the_owners_own_rules_count(shop: Opens) -> None:
    strict = 'version: 1\nfiles:\n  "*.md": {unit: all, why: they are tested}\n'
    async with shop(ada=[turn(write={"README.md": README + "\nMore.\n"})]) as app:
        commit(app.repo, {".remit/activities.yml": strict})

        task = await settle(app, await app.order("Update README", ()))

        assert results(task)["unit-test"] is Result.PASS


async def test_a_contract_that_was_changed_in_the_file_is_not_worked_to(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE)]) as app:
        task = await app.order()
        with sqlite3.connect(app.world.app.settings.database_file) as file:
            changed = file.execute(
                "UPDATE steps SET output = replace(output, 'verifiable', 'advisory') "
                "WHERE name = 'plan_step'"
            )
            assert changed.rowcount == 1
        file.close()

        task = await app.say(ReviewAnswer.ARRIVED)

        assert task.status is Status.FAILED
        assert "not the one that was agreed on" in await app.why(task)
        assert app.log == ["more"]


# Into the owner's folder --------------------------------------------------------------------------


async def test_a_folder_with_work_of_its_owner_is_left_alone_with_a_sentence(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        await app.order()
        (app.repo / "README.md").write_text("mine\n")

        await app.say(ReviewAnswer.APPROVE)
        again = await app.question()
        assert (
            "has changes that are not committed (README.md); commit them first." in again.question
        )
        assert (app.log, app.text()) == (["more"], FILES["shop/price.py"])

        commit(app.repo, {"README.md": "mine\n"}, "mine")
        task = await app.say(ReviewAnswer.APPROVE)
        assert task.status is Status.COMPLETED
        assert "was not checked together with it" in (task.result_summary or "")
        assert (app.text(), app.text("README.md")) == (GOOD, "mine\n")


async def test_work_that_no_longer_fits_is_done_anew_from_what_the_owner_has(shop: Opens) -> None:
    mine = FILES["shop/price.py"].replace("How prices are written", "How we write prices")
    async with shop(
        ada=[turn(GOOD.replace("How prices are", "Prices, as they are"))], commands=QUICK
    ) as app:
        task = await app.order()
        commit(app.repo, {"shop/price.py": mine}, "mine")

        await app.say(ReviewAnswer.APPROVE)
        assert "does not fit with what changed since (shop/price.py)" in (
            (await app.question()).question
        )
        app.hands["ada"].then(turn(GOOD.replace("How prices are written", "How we write prices")))
        task = await app.say(ReviewAnswer.BACK, "Keep my headline.")

        await settle(app, task)
        assert "How we write prices" in app.text()
        assert "currency" in app.text()
        assert app.log == [ADD, "mine", "more"]


async def test_a_project_that_is_not_there_is_said_at_once(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)]) as app:
        app.repo.rename(app.repo.with_name("elsewhere"))

        task = await app.order()

        assert task.status is Status.FAILED
        assert str(app.repo) in await app.why(task)


# Stopped in the middle ----------------------------------------------------------------------------


async def _ends_well(app: Shop) -> None:
    (task,) = {review.task_id for review in await app.world.waiting()}
    await app.world.restart()
    await settle(app, await app.world.get(task))
    assert app.text() == GOOD
    assert app.log == [ADD, "more"]


@only_in_soak
async def test_stopped_while_somebody_works_he_is_asked_once_more(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE, hang=True), turn(GOOD)]) as app:
        await app.order(rests=False)
        await app.hands["ada"].hangs()

        await app.world.restart()
        await app.world.run()

        assert len(app.hands["ada"].told) == 2
        await _ends_well(app)


async def test_stopped_while_it_is_checked_it_is_checked_again(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        task = await app.order(rests=False)

        async def checked() -> bool:
            found = (await app.world.get(task.id)).status
            return found in (Status.VERIFYING, Status.NEEDS_REVIEW)

        await until(checked)
        await app.world.restart()
        await app.world.run()

        assert len(app.hands["ada"].told) == 1
        await _ends_well(app)
