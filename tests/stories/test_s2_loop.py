"""What fails goes back, then to somebody else, then to the owner: with real programs and checks."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.errors import Permanent
from remit.model.codec import Json
from remit.model.contract import Finding, Result
from remit.model.delivery import Delivery
from remit.model.proof import ProofState, proof_of, why_unverified
from remit.model.review import ReviewAnswer
from remit.model.run import EventKind
from remit.model.status import Reason, Status
from remit.settings import BudgetSettings
from remit.settings.projects import SpecialistKind, SpecialistSettings
from remit.specialist import find_saved_work
from remit.store import search
from remit.testing import script
from remit.verify import command
from tests.brain.metered import MeteredBrain
from tests.brain.tooling import use
from tests.engine.rig import until
from tests.soak import first_of
from tests.specialist.repository import git
from tests.stories.shop.rig import QUICK, Opens, Shop, results, settle, turn
from tests.stories.shop.sample import GOOD, README, UNTIDY, WORSE

FAKE_AGENT = Path(__file__).parents[1] / "specialist" / "fake_agent.py"


async def test_what_fails_goes_back_with_the_error_and_comes_back_mended(shop: Opens) -> None:
    async with shop(ada=[turn(UNTIDY), turn(GOOD)]) as app:
        task = await settle(app, await app.order())

        first, second = app.hands["ada"].told
        assert "What failed last time" not in first
        assert "## What failed last time" in second
        assert "F401" in second
        assert app.text() == GOOD
        moves = [e.data for e in await app.history(task) if e.kind is EventKind.TASK_MOVED]
        assert [move["to"] for move in moves].count("verifying") == 2


async def test_work_whose_folder_is_gone_is_done_again_and_asked_about_again(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD), turn(GOOD)], commands=QUICK) as app:
        task = await app.order()
        shutil.rmtree(app.folder(task))
        again = await app.say(ReviewAnswer.APPROVE)

        assert (again.status, app.log) == (Status.NEEDS_REVIEW, app.log[-1:])
        await settle(app, again)
        assert app.text() == GOOD
        assert "is gone, or on another machine" in app.hands["ada"].told[1]


async def test_a_kind_of_work_has_a_chain_of_its_own(shop: Opens) -> None:
    chains: dict[str, Json] = {"advice": ["ben"]}
    async with shop(
        ada=[turn(GOOD)], ben=[turn(say="It is.")], chains=chains, commands=QUICK
    ) as app:
        await settle(app, await app.order())
        done = await app.order("Investigate why checkout is slow", ())

        assert done.tool_output == "It is."
        assert [len(hand.told) for hand in app.hands.values()] == [1, 1]


async def test_who_is_not_for_a_kind_of_work_is_not_asked_for_it(shop: Opens) -> None:
    async with shop(ada=[turn(say="I draw.")], ben=[turn(say="I think.")]) as app:
        people = app.world.app.settings.specialists
        assert isinstance(people, dict)
        people["ada"] = replace(people["ada"], capabilities=("frontend",))
        await app.world.restart()

        done = await app.order("Investigate why checkout is slow", ())

        assert done.tool_output == "I think."


async def test_where_nobody_is_for_a_kind_of_work_the_owner_is_told_what_is_missing(
    shop: Opens,
) -> None:
    async with shop(ada=[turn(say="I draw.")]) as app:
        people = app.world.app.settings.specialists
        assert isinstance(people, dict)
        people["ada"] = replace(people["ada"], capabilities=("frontend",))
        await app.world.restart()

        await app.order("Investigate why checkout is slow", ())

        assert (await app.question()).question.startswith("Nobody is set up who does advice")


# Everybody has tried ------------------------------------------------------------------------------


async def _exhausted(app: Shop, failed: str = "lint") -> None:
    task = await app.order()
    review = await app.question()

    assert task.status is Status.NEEDS_REVIEW
    assert review.reason is Reason.VERIFICATION
    assert review.options == (
        ReviewAnswer.BACK,
        ReviewAnswer.ARRIVED,
        ReviewAnswer.DROP,
        ReviewAnswer.DECLINE,
    )
    assert f"ada tried 2 times; last: verification failed: {failed}" in review.evidence
    assert str(app.folder(task)) in review.evidence


async def test_it_is_tried_again_with_the_owners_word(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE)]) as app:
        await _exhausted(app, "unit-test")
        app.hands["ada"].then(turn(GOOD))

        task = await app.say(ReviewAnswer.BACK, "Cents are hundredths.")

        await settle(app, task)
        assert "The owner adds: Cents are hundredths." in app.hands["ada"].told[-1]
        assert app.text() == GOOD


async def test_what_is_taken_unproven_says_so(shop: Opens) -> None:
    async with shop(ada=[turn(UNTIDY)]) as app:
        await _exhausted(app)

        task = await app.say(ReviewAnswer.DROP, "good enough for today")
        assert "not verified" in (await app.question()).question
        task = await settle(app, task)

        assert task.result_summary == "1 file changed, not verified. Merged into main."
        assert task.tool_output == "Taken unproven: good enough for today"
        listed = await app.world.app.db.read(search.ids, search.TaskFilter(unverified=True))
        assert listed == [task.id]
        assert why_unverified(task) == "lint failed; you said: good enough for today"
        assert results(task)["lint"] is Result.FAIL


def _breaks(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """From now on no check of a project can be run at all."""

    async def broken(*_: object) -> Finding:
        raise error

    monkeypatch.setattr(command.CommandCheck, "check", broken)


@pytest.mark.parametrize("to", first_of([(), (Delivery("outbox"),)]))
@pytest.mark.parametrize("again", first_of([True, False]))
async def test_work_whose_check_breaks_is_kept_when_its_owner_accepts_it(
    shop: Opens, monkeypatch: pytest.MonkeyPatch, to: Sequence[Delivery], *, again: bool
) -> None:
    _breaks(monkeypatch, Permanent("The step verify:0 took longer than 600 s."))
    async with shop(ada=[turn(GOOD), turn(GOOD)]) as app:
        task = await app.order(to=to)
        if again:
            await app.say(ReviewAnswer.BACK, "try once more")
        assert "took longer than 600 s" in (await app.question()).question

        task = await app.say(ReviewAnswer.APPROVE)
        task = await settle(app, task)

        assert (app.text(), proof_of(task)) == (GOOD, ProofState.UNPROVEN)
        assert task.result_summary == "1 file changed, not verified. Merged into main."
        assert len(app.world.outbox.sent) == len(to)


# Others who can do it -----------------------------------------------------------------------------


async def test_the_brain_works_on_the_files_and_is_told_all_again_when_it_failed(
    shop: Opens,
) -> None:
    def writes(text: str) -> Json:
        call = use("write_file", path="shop/price.py", text=text)
        return {"use": call, "times": 1}

    brain = script(
        [
            writes(WORSE),
            {"reply": "DONE: it", "times": 1},
            writes(GOOD),
            {"reply": "DONE: it, rightly"},
        ]
    )
    own = {"brain": SpecialistSettings(kind=SpecialistKind.BRAIN)}
    async with shop(brain=brain, more=own) as app:
        await settle(app, await app.order())

        assert app.text() == GOOD
        again = brain.heard[2]
        assert "Add a currency option" in again
        assert "## Verification Contract" in again
        assert "of 2 tests failed" in again


async def test_what_the_brain_thinks_as_a_specialist_is_paid_for_by_its_task(shop: Opens) -> None:
    own = {"brain": SpecialistSettings(kind=SpecialistKind.BRAIN)}
    limits = BudgetSettings(run_tokens=600, run_requests=0, day_tokens=0)
    async with shop(brain=MeteredBrain(turns=5), more=own, budget=limits) as app:
        task = await app.order("Investigate why checkout is slow", ())
        review = await app.question()
        assert "This run may use 600 tokens; used or set aside: 300" in review.question
        assert review.options == (ReviewAnswer.APPROVE, ReviewAnswer.DECLINE)
        assert task.spent.tokens == 300

        done = await app.say(ReviewAnswer.APPROVE)

        assert (done.status, done.spent.tokens) == (Status.COMPLETED, 800)


async def test_an_agent_over_the_protocol_asks_the_owner_and_goes_on_in_its_session(
    shop: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").mkdir()
    monkeypatch.setenv("FAKE_STATE", str(tmp_path / "state"))
    argv = (sys.executable, str(FAKE_AGENT))
    fake = {
        "fake": SpecialistSettings(
            kind=SpecialistKind.ACP,
            argv=argv,
            env=("FAKE_STATE",),
            writes=(str(tmp_path / "state"),),
        )
    }
    async with shop(more=fake) as app:
        task = await app.order("Update README\nrun cp README.md NOTES.md\nsay DONE: noted", ())
        review = await app.question()
        assert review.reason is Reason.APPROVAL
        assert "cp README.md NOTES.md" in review.evidence

        await app.world.restart()
        task = await app.say(ReviewAnswer.APPROVE)

        await settle(app, task)
        assert app.text("NOTES.md") == README
        assert len(list((tmp_path / "state").iterdir())) == 1  # one session


# What is left of it -------------------------------------------------------------------------------


async def test_declined_work_leaves_no_folder_and_is_not_lost(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        task = await app.order()
        folder = app.folder(task)
        assert folder.is_dir()

        task = await app.say(ReviewAnswer.DECLINE)

        assert task.status is Status.CANCELLED
        assert (app.log, folder.exists()) == (["more"], False)
        kept = find_saved_work(app.world.app.settings.home / "worktrees", task.id)
        assert kept is not None
        git(app.repo, *kept.command.split()[1:])
        assert git(app.repo, "show", f"{kept.branch}:shop/price.py") == GOOD.strip()


async def test_advice_leaves_no_folder(shop: Opens) -> None:
    async with shop(ada=[turn(say="It is.")]) as app:
        task = await app.order("Investigate why checkout is slow", ())

        assert task.status is Status.COMPLETED
        assert list((app.world.app.settings.home / "worktrees").glob("*/task-*")) == []


async def test_what_a_dead_process_left_standing_is_put_away_at_the_next_start(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        task = await app.order()
        folder = app.folder(task)
        review = await app.question()
        await app.world.decide(review, ReviewAnswer.DECLINE)
        unknown = folder.with_name(f"task-{'0' * 26}")
        unknown.mkdir()
        assert folder.exists()

        await app.world.restart()
        await app.world.app.leftovers.start(app.world.app.journal)

        assert not folder.exists()
        assert not unknown.exists()


async def test_work_that_ends_while_the_app_is_up_is_put_away_by_itself(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        task = await app.order()
        folder = app.folder(task)
        await app.world.app.leftovers.start(app.world.app.journal)
        assert folder.exists()

        await app.world.decide(await app.question(), ReviewAnswer.DECLINE)

        await until(lambda: not folder.exists())
