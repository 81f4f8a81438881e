"""The whole, put together: what waited for a brain goes on by itself once there is one."""

from pathlib import Path

from remit import wiring
from remit.model.codec import Json
from remit.model.event import Kind
from remit.model.status import Reason, Status
from remit.settings import Settings
from remit.store import tasks
from remit.testing import script
from remit.trigger import command
from remit.wiring.keys import secrets_in

SANUR: Json = [{"reply": "I looked. <deliverable>Sanur.</deliverable>"}]


async def test_what_waited_for_a_brain_goes_on_once_there_is_one(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with wiring.opened(settings) as house:
        await wiring.start(house)
        task = await house.intake.admit(command.cue("Find a beach", ref="1"))
        await house.engine.settled()
        (asked,) = await house.inbox.waiting()
        await house.engine.stop()
    assert (asked.reason, house.thinks) == (Reason.AUTH, False)
    assert "ANTHROPIC_API_KEY" in asked.question

    async with wiring.opened(settings, brain=script(SANUR)) as house:
        await wiring.start(house)
        await house.engine.settled()
        done, told = await house.db.read(tasks.get, task.id), await house.journal.of_task(task.id)
        await house.engine.stop()
    assert (done.status, done.delivery[0].body) == (Status.COMPLETED, "Sanur.")
    (decided,) = [event for event in told if event.kind is Kind.REVIEW_DECIDED]
    assert decided.data["by"] == "owner: a brain is there now"


def test_every_key_that_this_process_has_is_known_to_the_gate() -> None:
    known = secrets_in({"SOME_API_KEY": "k-1234567890", "HOME": "/home", "EMPTY_TOKEN": ""})

    assert known == frozenset({"k-1234567890"})
