"""What is put off is checked when its group ends: a document, a run of a series, a day."""

import json
from datetime import timedelta
from functools import partial
from typing import Final

import pytest
from msgspec.structs import replace

from remit.brain.think import NoBrain
from remit.cli.main import run as cli
from remit.model.codec import JsonMap
from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Finding,
    GeneratedFrom,
    Overall,
    Result,
    Timing,
)
from remit.model.deferred import UNMERGED, DueCriterion, deferred_sentence
from remit.model.proof import ProofState, proof_of
from remit.model.recurrence import Repeats
from remit.model.review import ReviewAnswer
from remit.model.run import EventKind
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.model.view import builder_state, s2_results
from remit.store import debts, deferred
from remit.store.debts import CheckedBatch
from remit.testing import START
from remit.triggers import cue_admission
from tests.engine.rig import until
from tests.sample_task import contract_of, verdict_of
from tests.soak import only_in_soak
from tests.specialist.repository import git
from tests.stories.shop.rig import QUICK, Opens, Shop, results, settle, turn

WHOLE: Final = ["sh", "-c", "grep -q bar shop/one.py && grep -q bar shop/two.py"]
LATE: Final = Contract(
    ContractType.VERIFIABLE,
    (
        Criterion("lint", "No lint errors"),
        Criterion("e2e", "It works as a whole", timing=Timing.DEFERRED),
    ),
    GeneratedFrom.PRD,
)


# With pytest, as the repository is seen to use it: every page that there is has a title.
PAGES: Final = """\
from pathlib import Path


def test_every_page_has_a_title() -> None:
    pages = [page.read_text() for page in Path("shop").glob("*.html")]
    assert len(pages) == 2
    assert all("<title>" in page for page in pages)
"""


@pytest.fixture
def late_shop(shop: Opens) -> Opens:
    """Opens an app whose project can be tried from end to end."""
    return partial(shop, commands={**QUICK, "e2e": WHOLE})


def page(name: str, text: str = "foo = bar = 1\n") -> JsonMap:
    return turn(write={f"shop/{name}.py": text})


async def story(app: Shop, name: str, prd: str = "") -> Task:
    """A story is done and merged."""
    task = await app.order(f"Build {name}", (f"shop/{name}.py",), contract=LATE, prd=prd)
    return await settle(app, task)


async def two_stories(app: Shop) -> tuple[Task, Task]:
    """The second one is there before the first one is done."""
    other = await app.order(
        "Build two", ("shop/two.py",), contract=LATE, prd="prd.md#US-2", rests=False
    )
    await app.world.app.owner.pause(other.id)
    one = await story(app, "one", prd="prd.md#US-1")
    assert (proof_of(one), await late(app)) == (ProofState.PENDING, 1)
    await app.world.app.owner.resume(other.id)
    await app.world.run()
    await settle(app, await app.world.get(other.id))
    return await app.world.get(one.id), await app.world.get(other.id)


def whole(task: Task) -> Finding:
    """What was found of the work as a whole."""
    (found,) = (each for each in verdict_of(task).findings if each.activity == "e2e")
    return found


async def late(app: Shop) -> int:
    return len(await app.world.app.db.read(deferred.list_deferred))


async def test_two_stories_of_a_document_are_proven_by_pytest_when_both_are_merged(
    shop: Opens,
) -> None:
    html = "<title>Basket</title>\n"
    turns = [turn(write={f"shop/{name}.html": html}) for name in ("basket", "till")]
    async with shop(brain=NoBrain(), ada=turns) as app:
        (app.repo / "e2e").mkdir()
        (app.repo / "e2e/test_pages.py").write_text(PAGES)
        git(app.repo, "add", "--all")
        git(app.repo, "commit", "--quiet", "-m", "end to end")
        till = await app.order(
            "Build the till", ("shop/till.html",), prd="docs/prd.md#US-2", rests=False
        )
        await app.world.app.owner.pause(till.id)

        first = await app.order("Build the basket", ("shop/basket.html",), prd="docs/prd.md")
        basket = await settle(app, first)
        times = [each.timing for each in contract_of(basket).criteria if each.activity == "e2e"]
        assert times == [Timing.DEFERRED]  # as the rules say for a page
        assert proof_of(basket) is ProofState.PENDING
        await app.world.app.owner.resume(till.id)
        await app.world.run()
        await settle(app, await app.world.get(till.id))

        for task_id in (basket.id, till.id):
            task = await app.world.get(task_id)
            assert (results(task)["e2e"], proof_of(task)) == (Result.PASS, ProofState.VERIFIED)


async def test_a_document_is_checked_once_when_its_last_story_has_ended(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one"), page("two")]) as app:
        one, two = await two_stories(app)

        for task in (one, two):
            assert set(results(task).values()) == {Result.PASS}
            assert proof_of(task) is ProofState.VERIFIED
            assert s2_results(verdict_of(task))["overall"] == "pass"
        assert whole(one) == whole(two)  # it ran once, for both
        last = (await app.history(one))[-1]
        assert (last.kind, last.data["what"]) == (EventKind.TASK_UPDATED, "checked later")
        assert (last.data["group"], last.data["overall"]) == ("prd.md", "pass")
        assert deferred_sentence(last.data) == "Checked on main, with prd.md: e2e passed."
        assert (await late(app), await app.world.waiting()) == (0, [])
        assert list((app.world.app.settings.home / "worktrees").glob("*/task-*")) == []


async def test_what_failed_is_asked_about_once_for_all(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one", "foo = 1\n"), page("two")]) as app:
        both = await two_stories(app)

        review = await app.question()
        for task in both:
            assert (whole(task).result, proof_of(task)) == (Result.FAIL, ProofState.REFUTED)
            assert task.status is Status.COMPLETED
        assert review.reason is Reason.APPROVAL
        assert review.options == (ReviewAnswer.APPROVE, ReviewAnswer.DECLINE)
        asked = "E2e failed on main of shop, with prd.md. Have it fixed, or leave it?"
        assert review.question == asked
        assert "sh ended with exit code 1" in review.evidence
        fix = await app.world.get(review.task_id)
        assert (fix.status, fix.assigned_agent) == (Status.NEW, "project:shop")
        assert "sh ended with exit code 1" in fix.instructions
        fixes = fix.context["fixes"]
        assert isinstance(fixes, list)
        assert set(fixes) == {each.id for each in both}


async def test_a_yes_has_it_mended_and_what_failed_must_pass(late_shop: Opens) -> None:
    mends = turn(write={"shop/one.py": "foo = bar = 2\n"})
    async with late_shop(ada=[page("one", "foo = 1\n"), page("two"), mends]) as app:
        await two_stories(app)

        done = await settle(app, await app.say(ReviewAnswer.APPROVE))

        assert "sh ended with exit code 1" in app.hands["ada"].told[-1]
        assert whole(done).result is Result.PASS
        times = [each.timing for each in contract_of(done).criteria if each.activity == "e2e"]
        assert times == [Timing.IMMEDIATE]
        assert app.text("shop/one.py") == "foo = bar = 2\n"
        assert await app.world.waiting() == []


async def test_who_leaves_it_is_not_asked_again(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one")]) as app:
        await story(app, "one", prd="prd.md")
        task = await app.say(ReviewAnswer.DECLINE)

        await app.world.run(timedelta(days=2))

        assert task.status is Status.CANCELLED
        assert await app.world.waiting() == []
        assert len(app.hands["ada"].told) == 1


async def test_a_restart_between_the_work_and_the_check_loses_nothing(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one"), page("two")]) as app:
        one = await story(app, "one")
        two = await story(app, "two")
        assert (await late(app), proof_of(one)) == (2, ProofState.PENDING)

        await app.world.restart()
        await app.world.run(timedelta(days=1))

        for task_id in (one.id, two.id):
            assert proof_of(await app.world.get(task_id)) is ProofState.VERIFIED
        state = builder_state([await app.world.get(one.id)], app.world.now, project="shop")
        assert '"overall": "pass"' in str(state).replace("'", '"')


async def test_a_day_is_checked_when_it_is_over_where_the_owner_is(
    late_shop: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Makassar")  # 9:00 in UTC is 17:00 there
    async with late_shop(ada=[page("one"), page("two")]) as app:
        one, two = await story(app, "one"), await story(app, "two")

        await app.world.run(timedelta(hours=6, minutes=59))
        assert proof_of(await app.world.get(one.id)) is ProofState.PENDING
        await app.world.run(timedelta(minutes=2))

        found = [await app.world.get(each.id) for each in (one, two)]
        assert [proof_of(task) for task in found] == [ProofState.VERIFIED] * 2
        last = (await app.history(found[0]))[-1]
        assert last.data["group"] == "the day 2026-03-02"


async def test_work_that_is_not_merged_waits_for_nothing(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one"), page("two"), page("two")]) as app:
        await app.order("Build one", ("shop/one.py",), contract=LATE)
        apart = await app.say(ReviewAnswer.DROP)
        await app.order("Build two", ("shop/two.py",), contract=LATE)
        declined = await app.say(ReviewAnswer.DECLINE)
        await app.order("Build three", ("shop/two.py",), contract=LATE)
        (review,) = await app.world.waiting()
        await app.world.app.owner.cancel(review.task_id)
        cancelled = await app.world.get(review.task_id)

        for task, status in (
            (apart, Status.COMPLETED),
            (declined, Status.CANCELLED),
            (cancelled, Status.CANCELLED),
        ):
            assert task.status is status
            assert verdict_of(task).overall is Overall.PASS
            assert whole(task).error == UNMERGED
        assert await late(app) == 0


async def test_without_a_tool_it_is_said_at_once_and_is_no_failure(shop: Opens) -> None:
    async with shop(ada=[page("one")], commands=QUICK) as app:
        task = await story(app, "one")

        assert proof_of(task) is ProofState.VERIFIED
        assert "nothing in shop says how to do e2e" in (whole(task).error or "")
        assert await late(app) == 0


async def test_a_branch_that_is_gone_is_said_and_held_against_nobody(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one")]) as app:
        task = await story(app, "one")
        git(app.repo, "branch", "-m", "main", "trunk")

        await app.world.run(timedelta(days=1))

        task = await app.world.get(task.id)
        assert "has no commit 'refs/heads/main'" in (whole(task).error or "")
        assert (verdict_of(task).overall, await app.world.waiting()) == (Overall.PASS, [])


async def test_the_owners_folder_is_neither_looked_at_nor_touched(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one"), page("two")]) as app:
        await story(app, "one")
        two = await story(app, "two")
        git(app.repo, "checkout", "--quiet", "-b", "mine", "HEAD~2")
        (app.repo / "shop/price.py").write_text("my own\n")

        await app.world.run(timedelta(days=1))

        assert proof_of(await app.world.get(two.id)) is ProofState.VERIFIED
        assert app.text() == "my own\n"
        assert git(app.repo, "symbolic-ref", "--short", "HEAD") == "mine"


async def test_a_terminal_says_what_is_waited_for_and_what_came_of_it(
    late_shop: Opens, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with late_shop(ada=[page("one", "foo = 1\n")]) as app:
        monkeypatch.setenv("REMIT_HOME", str(app.world.app.settings.home))
        task = await story(app, "one")
        assert cli(["show", task.id]) == 0
        before = capsys.readouterr().out
        assert "[later] e2e: It works as a whole, when the day 2026-03-02 ends\n" in before
        assert "the rest is checked when its group ends." in before
        assert cli(["show", task.id, "--json"]) == 0
        (waits,) = json.loads(capsys.readouterr().out)["task"]["waits"]
        assert waits["group"] == "day:2026-03-02"

        await app.world.run(timedelta(days=1))

        assert cli(["show", task.id]) == 0
        after = capsys.readouterr().out
        assert "[failed] e2e: It works as a whole" in after
        assert "Not verified: what was checked when its group ended failed." in after
        assert cli(["log", task.id]) == 0
        assert "Checked on main, with the day 2026-03-02: e2e failed." in capsys.readouterr().out
        review = await app.question()
        assert cli(["show", review.task_id]) == 0
        asked = capsys.readouterr().out
        assert "(fix it)" in asked
        assert "(leave it)" in asked


# Runs of a series ---------------------------------------------------------------------------------


async def test_a_series_is_answered_with_each_of_its_runs(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one"), page("two")]) as app:
        world = app.world
        cue = cue_admission.cue("Build it", ref="often", scheduled_for=START + timedelta(hours=1))
        cue = replace(cue, repeats=Repeats("FREQ=DAILY", "UTC", START + timedelta(hours=1)))
        cue = replace(cue, contract=LATE, delivery=())
        first = await world.app.intake.admit(cue_admission.on_project(cue, "shop", ("shop",)))

        await world.run(timedelta(hours=2))
        one = await settle(app, await world.get(first.id))
        assert proof_of(one) is ProofState.REFUTED  # the second page is not there yet
        await app.say(ReviewAnswer.DECLINE)
        await world.run(timedelta(days=1))
        (review,) = await world.waiting()
        two = await settle(app, await world.get(review.task_id))

        assert (two.series_id, proof_of(two)) == (one.series_id, ProofState.VERIFIED)
        assert proof_of(await world.get(one.id)) is ProofState.REFUTED  # that is how it was
        last = (await app.history(two))[-1]
        assert last.data["group"] == "this run of the series"


# Trouble ------------------------------------------------------------------------------------------


async def test_a_cut_between_the_check_and_the_write_is_checked_again_and_written_once(
    late_shop: Opens,
) -> None:
    async with late_shop(ada=[page("one", "foo = 1\n")]) as app:
        task = await story(app, "one")
        app.world.clock.advance(timedelta(days=1))
        db = app.world.app.db
        (wait,) = await db.read(deferred.list_deferred)
        found = Finding("e2e", Result.FAIL, "cut here")
        ended = CheckedBatch(wait.batch, [(DueCriterion(wait.criterion, (wait,)), found)])

        await app.world.restart()  # what was found and not written is forgotten
        await app.world.run()

        assert "sh ended with exit code 1" in (whole(await app.world.get(task.id)).error or "")
        before = len(await app.history(task))
        assert not await app.world.app.db.write(debts.close_group, ended, app.world.now)
        await app.world.restart()
        await app.world.run(timedelta(days=1))
        assert len(await app.history(task)) == before
        assert len(await app.world.waiting()) == 1


async def test_a_project_that_is_gone_from_the_settings_is_said(
    late_shop: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with late_shop(ada=[page("one")]) as app:
        task = await story(app, "one")
        monkeypatch.delitem(app.world.app.settings.projects, "shop")

        await app.world.run(timedelta(days=1))

        found = whole(await app.world.get(task.id))
        assert found.result is Result.SKIPPED
        assert found.error == "not checked: there is no project shop any more"


async def test_a_app_at_work_notices_by_itself_that_a_group_has_ended(late_shop: Opens) -> None:
    async with late_shop(ada=[page("one"), page("two")]) as app:
        one = await story(app, "one")
        await story(app, "two")
        app.world.app.deferred.start()
        await app.world.run(timedelta(hours=14, minutes=59))
        app.world.clock.advance(timedelta(hours=1))

        async def is_told() -> bool:
            app.world.clock.advance(timedelta(seconds=31))
            return proof_of(await app.world.get(one.id)) is ProofState.VERIFIED

        await until(is_told)


@only_in_soak
@only_in_soak
async def test_who_mends_it_does_not_get_by_with_another_test(shop: Opens) -> None:
    untitled = turn(write={"shop/till.html": "<h1>Till</h1>\n"})
    cheats = turn(write={"e2e/test_pages.py": "def test_every_page_has_a_title() -> None: ...\n"})
    async with shop(brain=NoBrain(), ada=[untitled, cheats]) as app:
        (app.repo / "e2e").mkdir()
        (app.repo / "e2e/test_pages.py").write_text(PAGES)
        git(app.repo, "add", "--all")
        git(app.repo, "commit", "--quiet", "-m", "end to end")
        first = await app.order("Build the till", ("shop/till.html",), prd="prd.md")
        await settle(app, first)

        fix = await app.say(ReviewAnswer.APPROVE)

        assert "e2e/test_pages.py" in fix.instructions  # named by a program, not by the owner
        assert whole(fix).result is Result.FAIL
        assert (await app.question()).about == "work"
