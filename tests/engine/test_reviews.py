"""A question waits for days and over restarts, and the decision is acted on once."""

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.brain.think import NoBrain
from remit.errors import AlreadyDecided
from remit.model.delivery import Accepted, Answer, Delivery, Locked, Parcel, Unknown
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.store import permissions
from remit.testing import Outbox, World
from remit.wiring import App
from tests.engine.rig import HI, Moody, Rig

DAYS = timedelta(days=5)
MUM = Delivery("outbox", "mum")


async def waiting(rig: World, reason: Reason) -> Review:
    """Let days and a restart go by; the question must still be there, and nothing else."""
    await rig.run()
    await rig.restart()
    await rig.run(DAYS)
    (review,) = await rig.waiting()
    assert review.reason is reason
    task = await rig.get(review.task_id)
    assert (task.status, task.reason) == (Status.NEEDS_REVIEW, reason)
    return review


async def decided(
    rig: World, review: Review, answer: ReviewAnswer, text: str | None = None
) -> Task:
    """Decide, go dark before the engine can act on it, and let it go on."""
    await rig.decide(review, answer, text)
    await rig.restart()
    await rig.run(timedelta(hours=1))
    with pytest.raises(AlreadyDecided):
        await rig.decide(review, answer, text)
    return await rig.get(review.task_id)


async def test_an_edit_passes_the_gate_like_anything_else(tmp_path: Path) -> None:
    async with Rig(tmp_path, brain=Moody("no tags at all")) as rig:
        await rig.admit("held")
        review = await waiting(rig, Reason.DELIVERABLE)
        await decided(rig, review, ReviewAnswer.EDIT, "\u200bNONE")

        second = await waiting(rig, Reason.DELIVERABLE)
        assert second.id != review.id
        assert rig.outbox.tried == []
        assert (await decided(rig, second, ReviewAnswer.DECLINE)).status is Status.CANCELLED
        assert rig.outbox.tried == []


async def test_an_approval_sends_the_bytes_that_were_shown(tmp_path: Path) -> None:
    brain = Moody(HI, "<deliverable>Other</deliverable>")
    async with Rig(tmp_path, brain=brain) as rig:
        await rig.admit("to mum", delivery=[MUM])
        review = await waiting(rig, Reason.APPROVAL)
        assert rig.outbox.tried == []
        task = await decided(rig, review, ReviewAnswer.APPROVE)

        assert task.status is Status.COMPLETED
        assert [(p.recipient, p.body) for p in rig.outbox.sent] == [("mum", review.evidence)]
        assert len(brain.heard) == 1


async def test_each_recipient_is_asked_about_alone(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        both = [MUM, replace(MUM, recipient="dad"), Delivery("outbox")]
        task = await rig.admit("family", delivery=both)
        await decided(rig, await waiting(rig, Reason.APPROVAL), ReviewAnswer.APPROVE)
        second = await waiting(rig, Reason.APPROVAL)
        assert second.question == "Send this to dad on outbox?"
        assert [parcel.recipient for parcel in rig.outbox.sent] == ["mum"]
        await decided(rig, second, ReviewAnswer.EDIT, "Hi, dad")

        assert (await rig.get(task.id)).status is Status.COMPLETED
        said = [(parcel.recipient, parcel.body) for parcel in rig.outbox.sent]
        assert said == [("mum", "Hi"), ("dad", "Hi, dad"), (None, "Hi")]


@pytest.mark.parametrize(
    ("answer", "status", "sends"),
    [
        (ReviewAnswer.ARRIVED, Status.COMPLETED, 1),
        (ReviewAnswer.RESEND, Status.COMPLETED, 2),
        (ReviewAnswer.DROP, Status.FAILED, 1),
        (ReviewAnswer.DECLINE, Status.CANCELLED, 1),
    ],
)
async def test_a_doubt_is_settled_by_the_owner_alone(
    tmp_path: Path, answer: ReviewAnswer, status: Status, sends: int
) -> None:
    async with Rig(tmp_path) as rig:
        rig.outbox.answers = [Unknown("no answer within 30 s"), Accepted("second")]
        await rig.admit("doubt")
        review = await waiting(rig, Reason.AMBIGUOUS)
        assert "no answer within 30 s" in review.question
        assert len(rig.outbox.tried) == 1
        task = await decided(rig, review, answer)

        assert task.status is status
        assert len(rig.outbox.tried) == sends
        assert await rig.waiting() == []


async def test_without_a_brain_it_waits_until_there_is_one(tmp_path: Path) -> None:
    async with Rig(tmp_path, brain=NoBrain()) as rig:
        await rig.admit("think")
        review = await waiting(rig, Reason.AUTH)
        assert "remit setup brain" in review.question
        rig.brain = Moody()
        await rig.restart()
        task = await decided(rig, review, ReviewAnswer.APPROVE)

        assert task.status is Status.COMPLETED
        assert len(rig.outbox.sent) == 1


class SwitchedOnMeanwhile(Outbox):
    """A channel that switches itself off; the owner switches it on before the leg has ended."""

    app: App

    async def send(self, parcel: Parcel) -> Answer:
        if not self.tried:
            self.tried.append(parcel)
            db, now = self.app.db, self.app.clock.now()
            await db.write(permissions.turn_off, self.name, "410 Gone", now)
            told = await self.app.permits.switch_on(self.name)
            assert told == {"channel": self.name, "wasOff": True, "released": 0}
            return Locked("410 Gone")
        return await super().send(parcel)


async def test_a_task_does_not_wait_for_a_channel_that_was_switched_on_while_it_ended(
    tmp_path: Path,
) -> None:
    channel = SwitchedOnMeanwhile("hook")
    async with World(tmp_path, channels={"hook": channel}) as world:
        channel.app = world.app
        task = await world.add("news", content="News.", channel="hook")
        await world.run()

        assert (await world.get(task.id)).status is Status.COMPLETED
        assert [parcel.body for parcel in channel.sent] == ["News."]
        assert await world.waiting() == []
