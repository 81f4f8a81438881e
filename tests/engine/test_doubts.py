"""A message that may be out: the owner is asked about each one, once, and before anything else."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from remit.model.delivery import Accepted, Answer, Delivery, Found, Parcel, Refused, Unknown
from remit.model.review import Review, ReviewAnswer
from remit.model.status import TERMINAL, Reason, Status
from remit.model.task import Cue, Source, SourceKind, Task
from remit.settings import DeliverSettings, EngineSettings, Settings
from remit.store import backup, reviews
from remit.testing import Outbox, World
from tests.engine.rig import SlowBrain, SlowOutbox, until

HOUR = timedelta(hours=1)
KINDS = ("goes out", "in doubt", "refused", "asks first")


class Doubtful(Outbox):
    """What becomes of a message is said by its text."""

    async def send(self, parcel: Parcel) -> Answer:
        await super().send(parcel)
        if "in doubt" in parcel.body:
            return Unknown("the line broke")
        return Refused("no such chat") if "refused" in parcel.body else Accepted(parcel.key)


@dataclass
class Patient(Doubtful):
    """News about a doubt are waited for."""

    grace: float = 60.0

    async def find(self, parcel: Parcel) -> Found | None:
        del parcel
        return None


async def tell(world: World, *kinds: str, ref: str = "") -> Task:
    to = {"asks first": "mum"}
    sends = tuple(Delivery("post", to.get(kind), f"This {kind}, number {n}.")
                  for n, kind in enumerate(kinds))  # fmt: skip
    source = Source(SourceKind.MANUAL, ref or "/".join(kinds))
    return await world.app.intake.admit(
        Cue(source=source, title="Tell", text="Tell", delivery=sends)
    )


async def decide_all(world: World, says: ReviewAnswer) -> None:
    """Answer whatever is asked until nothing is; each task has at most one question at a time."""
    while asked := await world.waiting():
        for review in asked:
            await no_doubt_hides(world, review)
            about_doubt = review.reason is Reason.AMBIGUOUS
            yes = ReviewAnswer.ARRIVED if about_doubt else ReviewAnswer.APPROVE
            drop = ReviewAnswer.DROP if about_doubt else ReviewAnswer.DECLINE
            await world.decide(
                review, {ReviewAnswer.APPROVE: yes, ReviewAnswer.DROP: drop}.get(says, says)
            )
        await world.run(HOUR)


async def no_doubt_hides(world: World, review: Review) -> None:
    if review.reason is not Reason.AMBIGUOUS:
        task = await world.get(review.task_id)
        assert not task.in_doubt, (review.question, task.delivery)


@pytest.mark.parametrize("says", [ReviewAnswer.APPROVE, ReviewAnswer.DROP, ReviewAnswer.DECLINE])
@pytest.mark.parametrize("channel", [Doubtful, Patient])
async def test_every_doubt_of_a_task_is_asked_about_once_and_first_whatever_is_answered(
    tmp_path: Path, channel: type[Doubtful], says: ReviewAnswer
) -> None:
    async with World(tmp_path, channels={"post": channel(name="post")}) as world:
        told = [await tell(world, *kinds) for kinds in product(KINDS, repeat=3)]
        await world.run(HOUR)
        await decide_all(world, says)

        for task in told:
            ended = await world.get(task.id)
            asked = await world.app.db.read(reviews.of_task, task.id)
            abouts = [each.about for each in asked if each.reason is Reason.AMBIGUOUS]
            events = [each.data for each in await world.history(task.id)]
            in_doubt = [e["delivery"] for e in events if e.get("answer") == "unknown"]
            assert ended.status in TERMINAL
            assert sorted(map(str, abouts)) == sorted(map(str, in_doubt)), ended.delivery
            if says is not ReviewAnswer.DECLINE:
                assert not ended.in_doubt


@pytest.mark.parametrize("hide", [False, True])
@pytest.mark.parametrize("when", ["asked", "waited for", "paused"])
async def test_who_cancels_is_asked_about_what_may_be_out_before_the_task_ends(
    tmp_path: Path, when: str, hide: bool
) -> None:
    kind = Patient if when != "asked" else Doubtful
    async with World(tmp_path, channels={"post": (post := kind(name="post"))}) as world:
        task = await tell(world, "in doubt", "in doubt", "goes out")
        await world.run()
        owner = world.app.owner
        if when == "paused":
            await owner.pause(task.id)
            await world.run()
            assert (await world.get(task.id)).status is Status.PAUSED
        await (owner.delete(task.id) if hide else owner.cancel(task.id))
        await world.run()
        tried, asked = len(post.tried), 0
        while found := await world.waiting():
            (review,) = found
            assert (review.reason, review.task_id) == (Reason.AMBIGUOUS, task.id)
            await world.decide(review, ReviewAnswer.ARRIVED)
            await world.run()
            asked += 1

        ended = await world.get(task.id)
        assert asked == (1 if when == "asked" else 2)  # he cancelled what asked about the other
        assert ended.status in (Status.CANCELLED, Status.COMPLETED)
        assert (ended.deleted_at is not None) is hide
        assert len(post.tried) == tried  # whom it was cancelled for is sent nothing more


async def test_a_doubt_is_asked_about_at_once_while_other_suspects_hang_in_thought(
    tmp_path: Path,
) -> None:
    """As after a kill: two tasks were thinking and one was sending; there is room for one leg."""
    slow, first = SlowOutbox(), SlowBrain()
    async with World(tmp_path / "one", brain=first, channels={"slow": slow}) as world:
        thinking = [await world.add("Think"), await world.add("Think again")]
        sending = await world.add("Send", content="Hello!", channel="slow")
        await slow.gate.reached()
        await first.reached(2)
        saved = backup.save(
            world.app.settings.database_file, tmp_path / "saved", world.now, lambda _: None
        )
        slow.gate.open.set()
        first.open.set()
    (tmp_path / "two").mkdir(mode=0o700)
    saved.rename(tmp_path / "two" / "agent.db")
    hangs = SlowBrain()
    settings = Settings(
        home=tmp_path / "two",
        deliver=DeliverSettings(undo=0),
        engine=EngineSettings(parallel=1, stop_limit=0),
    )
    async with World(tmp_path, brain=hangs, settings=settings, channels={"slow": slow}) as world:
        await hangs.reached()
        await until(lambda: _asks(world))

        (review,) = await world.waiting()
        assert (review.reason, review.task_id) == (Reason.AMBIGUOUS, sending.id)
        assert (hangs.inside, hangs.most) == (1, 1)  # suspects think one at a time
        hangs.open.set()
        await until(lambda: _ended(world, thinking))


async def _asks(world: World) -> bool:
    return bool(await world.waiting())


async def _ended(world: World, tasks: list[Task]) -> bool:
    return all([(await world.get(task.id)).ended for task in tasks])
