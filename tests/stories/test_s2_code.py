"""S2 on a real repository: what would prove it is agreed on, then it is done, proven and merged."""

from remit.model import view
from remit.model.codec import Json, text_of
from remit.model.contract import Contract, ContractType, Criterion, Result
from remit.model.delivery import Delivery
from remit.model.review import ReviewAnswer
from remit.model.run import EventKind
from remit.model.status import Reason, Status
from remit.model.task import Creator
from tests.sample_task import contract_of, verdict_of
from tests.soak import only_in_soak
from tests.stories.shop.rig import ADD, QUICK, Opens, results, settle, turn
from tests.stories.shop.sample import FILES, GOOD, NEW_TEST, README, WORSE

SLOW = "Investigate why checkout is slow"
NO_TYPES = (
    "nothing in shop says how to do typecheck; "
    'set commands.typecheck = ["program", "word"] for this project'
)


def _list(found: Json) -> list[Json]:
    assert isinstance(found, list)
    return found


async def test_a_change_is_agreed_on_before_it_is_done_then_proven_and_merged(
    typed_shop: Opens,
) -> None:
    does = turn(GOOD, write={"tests/test_price.py": NEW_TEST}, say="DONE: prices have a currency")
    async with typed_shop(ada=[does]) as shop:
        task = await shop.order()
        assert contract_of(task).type is ContractType.VERIFIABLE
        assert [each.activity for each in contract_of(task).criteria] == [
            "typecheck",
            "lint",
            "unit-test",
        ]
        assert contract_of(task).criteria[2].pattern == "price"
        steps = await shop.steps(task)
        assert steps.index("plan_step") < steps.index("agreed") < steps.index("execute_tool")
        assert steps.index("execute_tool") < steps.index("verify:0")
        (agreed,) = [e for e in await shop.history(task) if e.data.get("step") == "agreed"]
        assert contract_of(task).digest in str(agreed.data["text"])
        assert shop.text() == FILES["shop/price.py"]

        done = await settle(shop, task)

        assert set(results(done).values()) == {Result.PASS}
        assert done.result_summary == "2 files changed, 3 of 3 checks passed. Merged into main."
        assert (shop.text(), shop.text("tests/test_price.py")) == (GOOD, NEW_TEST)
        assert shop.log == [ADD, "more"]
        assert "It changes tests that were there before: tests/test_price.py." in (
            shop.asked[0].question
        )
        assert not list((shop.world.app.settings.home / "worktrees").glob("*/task-*"))


async def test_who_does_it_is_told_how_it_will_be_checked(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        await app.order()

        (told,) = app.hands["ada"].told
        assert told.startswith(f"## Task\n\n{ADD}\n\n## Verification Contract\n")
        assert (
            "Your work will be verified by:\n1. **Typecheck** — No type errors\n2. **Lint**" in told
        )
        assert "3. **Unit tests** — Tests for price.py (pattern `price`)" in told
        assert "{" not in told.partition("## Rules")[0]


async def test_the_results_say_how_often_and_when(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE), turn(GOOD)]) as app:
        task = await settle(app, await app.order())
        assert view.s2_results(verdict_of(task)) == {
            "overall": "pass",
            "criteria": [
                {"activity": "typecheck", "status": "skipped", "error": NO_TYPES, "attempts": 2},
                {"activity": "lint", "status": "pass", "attempts": 2},
                {"activity": "unit-test", "status": "pass", "attempts": 2},
            ],
            "completedAt": "2026-03-02T09:00:00.000Z",
        }
        state = view.builder_state([task], app.world.now, project="shop")
        assert state["tasks"] == [view.s2_task(task)]
        told = view.s2_task(task)
        assert told["attempts"] == 2
        assert told["verificationContract"] == view.s2_contract(contract_of(task))
        assert told["verificationResults"] == view.s2_results(verdict_of(task), contract_of(task))
        assert all(each.started_at and each.ended_at for each in verdict_of(task).findings)


# Advice, and what needs no proof ------------------------------------------------------------------


async def test_advice_goes_on_with_a_notice_is_logged_and_never_called_verified(
    shop: Opens,
) -> None:
    report = "The total is added up twice.\n\nOnce for the page, once for the mail."
    async with shop(ada=[turn(say=report)]) as app:
        task = await app.order(SLOW, (), to=[Delivery("outbox")])

        assert task.status is Status.COMPLETED
        assert (contract_of(task).type, task.verdict) == (ContractType.ADVISORY, None)
        events = await app.history(task)
        told = [str(e.data["text"]) for e in events if e.kind is EventKind.RUN_SAID]
        assert told[0].startswith(f"Advisory task detected: “{SLOW}”. No automated verification")
        assert not [step for step in await app.steps(task) if step.startswith("verify")]
        assert "No check decides about this work" in app.hands["ada"].told[0]
        (sent,) = app.world.outbox.sent
        assert sent.body == task.tool_output == report
        state = view.builder_state([task], app.world.now)
        (advice,) = _list(state["advisoryTasks"])
        assert f'"taskId":"{task.id}"' in text_of(advice)


@only_in_soak
async def test_who_was_asked_for_advice_and_changes_code_is_held_to_the_code(shop: Opens) -> None:
    async with shop(ada=[turn(WORSE), turn(GOOD)]) as app:
        task = await app.order(SLOW, ())
        assert contract_of(task).type is ContractType.VERIFIABLE
        assert len(app.hands["ada"].told) == 2
        done = await settle(app, task)
        assert results(done)["unit-test"] is Result.PASS


async def test_a_change_to_the_readme_is_looked_at_by_the_cheapest_checks_alone(
    typed_shop: Opens,
) -> None:
    better = README + "\nPay in any currency.\n"
    async with typed_shop(ada=[turn(write={"README.md": better})]) as shop:
        done = await settle(shop, await shop.order("Update README", ()))
        assert contract_of(done).type is ContractType.SKIP
        assert results(done) == {"typecheck": Result.PASS, "lint": Result.PASS}
        assert shop.text("README.md") == better


@only_in_soak
async def test_a_readme_task_that_touches_code_is_held_to_the_code(shop: Opens) -> None:
    sly = turn(WORSE, write={"README.md": README + "\nMore.\n"})
    async with shop(ada=[sly]) as app:
        task = await app.order("Update README", ())

        assert task.reason is Reason.VERIFICATION
        assert results(task)["unit-test"] is Result.FAIL


async def test_a_story_of_a_prd_that_asks_for_advice_is_asked_about(shop: Opens) -> None:
    async with shop(ada=[turn(say="It is the database.")]) as app:
        waits = await app.order(SLOW, (), prd=True)
        assert waits.reason is Reason.INPUT
        assert app.hands["ada"].told == []

        task = await app.say(ReviewAnswer.ANSWER, "advice is fine")

        assert task.status is Status.COMPLETED
        assert contract_of(task).type is ContractType.ADVISORY


async def test_a_project_may_ask_before_any_advice(shop: Opens) -> None:
    async with shop(prompts=True, ada=[turn(say="It is the database.")]) as app:
        waits = await app.order(SLOW, ())

        assert waits.reason is Reason.INPUT
        assert app.hands["ada"].told == []


# Who may order ------------------------------------------------------------------------------------


async def test_what_an_agent_orders_never_reaches_a_specialist(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)]) as app:
        task = await app.order(by=Creator.AGENT)

        assert app.hands["ada"].told == []
        assert not (app.world.app.settings.home / "worktrees").exists()
        assert task.status is not Status.COMPLETED


async def test_a_contract_that_the_owner_gives_stands(shop: Opens) -> None:
    async with shop(ada=[turn(GOOD)], commands=QUICK) as app:
        given = Contract(ContractType.VERIFIABLE, (Criterion("lint", "tidy"),))
        task = await settle(app, await app.order(contract=given))
        assert Criterion("lint", "tidy") in contract_of(task).criteria


async def test_what_tools_install_is_not_the_work(shop: Opens) -> None:
    installed = {".venv/lib/x.py": "x = 1\n", "web/node_modules/a/index.js": "a\n"}
    async with shop(ada=[turn(GOOD, write=installed)], commands=QUICK) as app:
        task = await app.order()
        assert "node_modules" not in (await app.question()).evidence

        done = await settle(app, task)

        assert (done.result_summary or "").startswith("1 file changed")
        assert not (app.repo / "web").exists()
