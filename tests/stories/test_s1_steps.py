"""S1: every point of a request is worked on, in order, and ticked when it is done."""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from remit.cli import log
from remit.cli import show as card
from remit.model.codec import JsonMap
from remit.model.contract import ClauseOutcome, ItemStatus
from remit.model.ids import TaskId
from remit.model.reply import Prompt, Reply
from remit.model.review import ReviewAnswer
from remit.model.run import EventKind
from remit.model.status import Reason, Status
from remit.ports import OnText
from remit.testing import Outbox, World, script
from tests.engine.rig import everything
from tests.sample_task import contract_of, verdict_of

STEPS = ("Research Bangkok attractions for kids", "Compare prices", "Write the list")
LIST = "<deliverable>Lumphini Park, KidZania, Sea Life.</deliverable>"


async def test_each_step_is_given_to_the_brain_in_order_and_ticked(tmp_path: Path) -> None:
    brain = script([{"reply": LIST, "done": [1, 2, 3]}])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add(
            "Research Bangkok attractions for kids and send me the list", work=STEPS
        )
        assert [item.status for item in task.work] == [ItemStatus.PENDING] * 3
        await world.run()
        ended = await world.get(task.id)

    places = [brain.heard[0].index(f"{n}. {step}") for n, step in enumerate(STEPS, 1)]
    assert places == sorted(places)
    assert ended.status is Status.COMPLETED
    assert [item.status for item in ended.work] == [ItemStatus.COMPLETED] * 3
    assert len(world.outbox.sent) == 1


async def test_the_words_of_the_request_are_kept_to_the_letter(tmp_path: Path) -> None:
    words = "Research Bangkok.\n\nAnd send me the list on WhatsApp!"
    async with World(tmp_path, brain=script([{"reply": LIST}])) as world:
        task = await world.add(words)
        await world.run()
        kept = (await world.get(task.id)).request

    assert kept is not None
    assert kept.text == words
    assert "".join(words[clause.start : clause.end] for clause in kept.clauses) == words
    assert all(clause.became is not None for clause in kept.clauses)


async def test_work_that_is_sent_back_is_done_with_every_step_again(tmp_path: Path) -> None:
    brain = script([{"reply": "no tags", "done": [1], "times": 1}, {"reply": LIST, "done": [1, 2]}])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add("Bangkok", work=STEPS)
        await world.run()
        held = await world.get(task.id)
        assert [item.status for item in held.work] == ["completed", "pending", "pending"]
        review = (await world.waiting())[0]
        await world.decide(review, review.options[1], "Use the tags.")
        await world.run()
        ended = await world.get(task.id)

    assert [item.status for item in ended.work] == ["completed", "completed", "pending"]


# While it thinks ----------------------------------------------------------------------------------


class Aloud:
    """Speaks, stops in the middle of its thought until it is let go, and speaks on."""

    def __init__(self, first: str, then: str) -> None:
        self.first, self.then = first, then
        self.middle, self.go_on = asyncio.Event(), asyncio.Event()

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply(self.first + self.then)

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        await on_text(self.first)
        self.middle.set()
        await self.go_on.wait()
        await on_text(self.then)
        return await self.think(prompt, session=session)


async def said(world: World, task_id: TaskId) -> list[JsonMap]:
    return [e.data for e in await world.history(task_id) if e.kind is EventKind.RUN_SAID]


async def test_items_tick_while_it_thinks_for_everybody_to_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    brain = Aloud(f"I read a lot.\n✓ STEP 1: {STEPS[0]}\nNow", f" prices.\n✓ STEP 2: so\n{LIST}")
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    async with World(tmp_path, brain=brain) as world:
        task = await world.add("Bangkok", work=STEPS)
        world.app.engine.nudge()
        await brain.middle.wait()

        now = await world.get(task.id)
        assert now.status is Status.RUNNING
        assert [item.status for item in now.work] == ["completed", "pending", "pending"]
        (heard,) = await said(world, task.id)
        assert (heard["text"], heard["done"]) == (f"I read a lot.\n✓ STEP 1: {STEPS[0]}", [1])
        log.log(str(task.id))
        told = capsys.readouterr().out
        assert "Did work item 1." in told
        assert "I read a lot." in told
        card.show(str(task.id))
        lines = capsys.readouterr().out.splitlines()
        assert [("[done]" in line) for line in lines if any(step in line for step in STEPS)] == [
            True,
            False,
            False,
        ]

        brain.go_on.set()
        await world.run()
        ended = await world.get(task.id)

    assert ended.status is Status.COMPLETED
    assert [item.status for item in ended.work] == ["completed", "completed", "pending"]
    assert [parcel.body for parcel in world.outbox.sent] == ["Lumphini Park, KidZania, Sea Life."]


async def test_what_it_says_is_followed_live_line_by_line(tmp_path: Path) -> None:
    brain = Aloud("I read a lot.\n", f"Then I wrote.\n{LIST}")
    async with World(tmp_path, brain=brain) as world:
        task = await world.add("Bangkok", work=STEPS)
        world.app.engine.nudge()
        await brain.middle.wait()
        assert await said(world, task.id) == []
        world.clock.advance(timedelta(seconds=1))
        brain.go_on.set()
        await world.run()
        live, rest = await said(world, task.id)

    assert live["text"] == "I read a lot.\nThen I wrote."
    assert "Lumphini Park" in str(rest["text"])
    assert "<deliverable>" not in str(rest["text"])


async def test_a_marker_in_the_message_ticks_nothing_and_is_never_sent(tmp_path: Path) -> None:
    reply = "✓ STEP 1: looked\n<deliverable>\n✓ STEP 2: Compare prices\nSea Life.\n</deliverable>"
    async with World(tmp_path, brain=script([{"reply": reply}])) as world:
        task = await world.add("Bangkok", work=STEPS)
        await world.run()
        held = await world.get(task.id)
        (review,) = await world.waiting()

        assert [item.status for item in held.work] == ["completed", "pending", "pending"]
        assert (review.reason, world.outbox.tried) == (Reason.DELIVERABLE, [])
        assert "a work marker" in review.question
        await world.decide(review, ReviewAnswer.EDIT, "Sea Life.")
        await world.run()

    assert [parcel.body for parcel in world.outbox.sent] == ["Sea Life."]


class Mute:
    """A brain that is heard only when it has ended."""

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply(f"✓ STEP 1: looked\n✓ STEP 3: wrote\n{LIST}")


async def test_a_brain_that_is_not_heard_while_it_thinks_ticks_by_its_reply(tmp_path: Path) -> None:
    async with World(tmp_path, brain=Mute()) as world:
        task = await world.add("Bangkok", work=STEPS)
        await world.run()
        ended = await world.get(task.id)

    assert [item.status for item in ended.work] == ["completed", "pending", "completed"]


LIFE = """
import asyncio, os, signal, sys
from pathlib import Path
from remit.model.reply import Reply
from remit.testing import World

class Dies:
    async def think(self, prompt, *, session):
        return Reply("")

    async def think_aloud(self, prompt, *, session, on_text):
        await on_text("✓ STEP 1: looked\\n<deliverable>Half a li")
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with World(Path(sys.argv[1]), brain=Dies()) as world:
        await world.add("Bangkok", work=("Research", "Write"))
        await world.run()

asyncio.run(main())
"""


async def test_after_a_crash_in_mid_thought_ticks_stay_and_one_message_goes_out(
    tmp_path: Path,
) -> None:
    life = await asyncio.create_subprocess_exec(sys.executable, "-c", LIFE, str(tmp_path))
    assert await life.wait() == -signal.SIGKILL
    async with World(tmp_path, brain=script([{"reply": LIST}])) as world:
        (task,) = await everything(world)
        before = [item.status for item in task.work]
        heard = await said(world, task.id)
        await world.run(timedelta(hours=1))
        ended = await world.get(task.id)

    assert before == ["completed", "pending"]
    assert [each.get("done") for each in heard] == [[1]]
    assert ended.status is Status.COMPLETED
    assert [parcel.body for parcel in world.outbox.sent] == ["Lumphini Park, KidZania, Sea Life."]


# From the owner's own words -----------------------------------------------------------------------


ANSWER = (
    "Attractions: Lumphini Park (free), KidZania (dear), Sea Life. Prices: the park is cheapest."
)
ANSWERED = f"<deliverable>{ANSWER}</deliverable>"


async def test_no_part_of_a_request_is_dropped_and_one_without_an_answer_goes_back_first(
    tmp_path: Path,
) -> None:
    words = "Research Bangkok attractions for kids, compare prices and send me the list on WhatsApp"
    half: JsonMap = {"reply": "<deliverable>Lumphini Park, KidZania.</deliverable>", "times": 1}
    brain, whatsapp = script([half, {"reply": ANSWERED, "done": [1, 2]}]), Outbox("whatsapp")
    async with World(tmp_path, brain=brain, channels={"whatsapp": whatsapp}) as world:
        (task,) = (await world.hear(words)).tasks
        await world.run()
        ended = await world.get(task.id)

    assert task.request is not None
    became = {clause.became for clause in task.request.clauses}
    assert became == {ClauseOutcome.WORK, ClauseOutcome.DELIVERY}
    assert "compare prices" in brain.heard[1].split("Not proven yet")[1]
    assert [parcel.body for parcel in whatsapp.sent] == [ANSWER]
    assert ended.status is Status.COMPLETED
    assert [item.status for item in ended.work] == [ItemStatus.COMPLETED] * len(task.work)
    assert verdict_of(ended).passed


async def test_a_checklist_is_worked_through_and_what_is_ticked_is_left(tmp_path: Path) -> None:
    words = "# Bangkok\n- [ ] research attractions\n- [x] book flights\n- [ ] compare prices\n"
    brain = script([{"reply": ANSWERED, "done": [1, 2]}])
    async with World(tmp_path, brain=brain) as world:
        (task,) = (await world.hear(words)).tasks
        await world.run()
        ended = await world.get(task.id)

    assert [item.description for item in ended.work] == ["research attractions", "compare prices"]
    assert "book flights" not in brain.heard[0].split("## Work items")[1]
    assert contract_of(ended).criteria[0].pattern == "1. research attractions\n2. compare prices"
    assert ended.status is Status.COMPLETED
