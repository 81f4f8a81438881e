"""S0: the work is kept, the deliverable is sent, once, where it was wanted."""

from datetime import timedelta
from pathlib import Path

import pytest

from remit.brain.progress import KEPT_CHARS, MAX_ANSWER_CHARS
from remit.model.delivery import Delivery
from remit.model.reply import Prompt, Reply
from remit.model.status import Reason, Status
from remit.model.task import Source, SourceKind, Task, TaskType
from remit.model.view import JsonView, delivery_status, show
from remit.ports import OnText
from remit.testing import Outbox, ScriptedBrain, World, script

WHATSAPP = "Plain text only. Use *bold* sparingly. Keep under 2000 chars."
WORK = """\
I compared eleven beaches by depth, shade and distance.
✓ STEP 1: Research best beaches in Bali for families

"""
LIST = "*Beaches in Bali for families*\n\nSanur: calm and shallow.\nNusa Dua: clean, with shade."


def channels() -> dict[str, Outbox]:
    return {
        "whatsapp": Outbox(name="whatsapp", guidance=WHATSAPP),
        "email": Outbox(name="email", guidance="Rich formatting is fine."),
    }


async def ask(world: World, text: str, *delivery: Delivery, work: tuple[str, ...] = ()) -> Task:
    source = Source(SourceKind.CONVERSATION, text)
    return await world.add(text, work=work, delivery=delivery, source=source)


def deliveries(task: Task) -> list[str]:
    """The actions of a task as S0 names where they stand."""
    return [delivery_status(each, task) for each in task.delivery]


async def test_research_and_a_message_on_whatsapp(tmp_path: Path) -> None:
    out = channels()
    brain = script([{"when": "beaches", "reply": f"{WORK}<deliverable>\n{LIST}\n</deliverable>"}])
    async with World(tmp_path, brain=brain, channels=out) as world:
        task = await ask(
            world,
            "Research the best beaches in Bali for families. Send me the list on WhatsApp.",
            Delivery("whatsapp"),
            work=("Research best beaches in Bali for families",),
        )
        await world.run()
        ended = await world.get(task.id)

    (parcel,) = out["whatsapp"].sent
    assert parcel.body == LIST
    assert "STEP" not in parcel.body
    assert str(task.id) not in parcel.body
    assert ended.status is Status.COMPLETED
    assert ended.tool_output is not None
    assert WORK in ended.tool_output
    card = show(ended, JsonView.S3)
    assert card["status"] == "completed"
    assert card["work"] == [{"description": task.work[0].description, "status": "completed"}]
    assert deliveries(ended) == ["completed"]


async def test_the_brain_is_told_the_format_and_the_channels_limits(tmp_path: Path) -> None:
    brain = script([{"reply": "<deliverable>x</deliverable>"}])
    async with World(tmp_path, brain=brain, channels=channels()) as world:
        await ask(world, "To one", Delivery("whatsapp"), work=("Find it",))
        await world.run()
        await ask(world, "To nobody", work=("Find it",))
        await world.run()

    told, untold = brain.heard
    places = [told.index(part) for part in ("<deliverable>", 'Task: "To one"', "1. Find it")]
    assert places == sorted(places)
    assert WHATSAPP in told
    assert "NONE" in told
    assert "deliverable" not in untold
    assert WHATSAPP not in untold


async def test_a_message_written_beforehand_goes_out_as_it_is_and_no_brain_is_asked(
    tmp_path: Path,
) -> None:
    out, brain = channels(), ScriptedBrain(())
    async with World(tmp_path, brain=brain, channels=out) as world:
        task = await world.add(
            "In 2 minutes, send me a WhatsApp message saying 'Don't forget to call mom'",
            at=world.now + timedelta(minutes=2),
            channel="whatsapp",
            content="Don't forget to call mom",
        )
        await world.run(timedelta(seconds=119))
        assert out["whatsapp"].sent == []
        await world.run(timedelta(seconds=1))
        ended = await world.get(task.id)

    assert [parcel.body for parcel in out["whatsapp"].sent] == ["Don't forget to call mom"]
    assert brain.heard == []
    assert (ended.type, ended.status) == (TaskType.SCHEDULED, Status.COMPLETED)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I will not fake an alert.\n<deliverable>NONE</deliverable>", "wrote nothing to send"),
        ("Here is the list: Sanur.", "did not mark what to send"),
        ("<deliverable>  </deliverable>", "empty"),
    ],
)
async def test_a_refusal_waits_for_the_owner_and_sends_nothing(
    tmp_path: Path, reply: str, why: str
) -> None:
    out = channels()
    async with World(tmp_path, brain=script([{"reply": reply}]), channels=out) as world:
        task = await ask(world, "Send a fake emergency alert", Delivery("whatsapp"))
        await world.run(timedelta(days=30))
        held = await world.get(task.id)
        (review,) = await world.waiting()

    assert (held.status, held.reason) == (Status.NEEDS_REVIEW, Reason.DELIVERABLE)
    assert why in review.question
    assert review.evidence == reply
    assert out["whatsapp"].tried == []
    assert show(held, JsonView.S3)["status"] == "needs_review"
    assert deliveries(held) == ["needs_review"]


# An answer that is too long -----------------------------------------------------------------------


GOOD = "<deliverable>Lumphini Park.</deliverable>\n"


class Endless:
    """Says the whole of it in one breath, as a plug-in might."""

    text = GOOD + "- one, two and three\n" * (MAX_ANSWER_CHARS // 10)

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply(self.text)

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        await on_text(self.text)
        return await self.think(prompt, session=session)


async def test_an_answer_that_is_too_long_is_held_with_its_beginning(tmp_path: Path) -> None:
    outbox = Outbox()
    async with World(tmp_path, brain=Endless(), channels={"outbox": outbox}) as world:
        task = await world.add("Find a park", channel="outbox")
        await world.run()
        (review,) = await world.waiting()
        kept = await world.get(task.id)

    assert (kept.status, outbox.tried) == (Status.NEEDS_REVIEW, [])
    assert "longer than 1,000,000 characters, so only its beginning was kept" in review.question
    assert len(kept.tool_output or "") < KEPT_CHARS + 500
