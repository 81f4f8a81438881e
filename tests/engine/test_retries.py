"""What went wrong decides when it is tried again, and whether."""

import asyncio
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from remit.engine import endings
from remit.errors import Permanent, Transient
from remit.model.contract import Contract, ContractType, Criterion, Evidence, Finding
from remit.model.delivery import Delivery, Refused, SendRetry
from remit.model.review import ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.settings import EngineSettings
from tests.engine.rig import HI, Moody, Rig, SlowBrain, until
from tests.tables import for_each

HOUR = timedelta(hours=1)


class Surprise(Exception):
    """Something nobody thought of."""


def waits(history: list[Event]) -> list[float]:
    """Seconds between the end of a failed try and the next."""
    ends = [e for e in history if e.kind is EventKind.RUN_ENDED and e.data["outcome"] == "retry"]
    starts = [e for e in history if e.kind is EventKind.RUN_STARTED]
    return [(start.at - end.at).total_seconds() for end, start in zip(ends, starts, strict=True)]


@pytest.mark.parametrize(
    ("error", "least"),
    [
        (Transient("busy"), [2, 6, 18]),
        (Transient("slow down", after=90), [90, 90, 90]),
        (Surprise("what?"), [5, 20, 80]),
    ],
)
async def test_each_kind_of_failure_waits_in_its_own_way_with_a_little_chance(
    tmp_path: Path, error: Exception, least: list[float]
) -> None:
    async with Rig(tmp_path, brain=Moody(error, error, error)) as rig:
        task = await rig.admit("flaky")
        await rig.run(HOUR)

        history = await rig.history(task.id)
        assert (await rig.get(task.id)).status is Status.COMPLETED
        for waited, plain in zip(waits(history), least, strict=True):
            assert plain <= waited <= plain * 1.2 + 0.001
        assert len(rig.outbox.sent) == 1


@for_each("kind", [endings.TRANSIENT, endings.RATE_LIMIT, endings.SURPRISE])
def test_a_wait_grows_up_to_its_limit_and_never_two_alike(kind: endings.Backoff) -> None:
    chance = Random(1)  # noqa: S311 - jitter, not a secret
    waited = [kind.after(attempt, chance) for attempt in range(1, 12)]
    plain = [min(kind.first * kind.factor**n, kind.most) for n in range(11)]

    assert plain[-1] == kind.most
    assert all(low <= now <= low * 1.2 for low, now in zip(plain, waited, strict=True))
    assert len(set(waited)) == len(waited)


@pytest.mark.parametrize(
    ("errors", "note"),
    [
        ([Transient("busy 1"), Surprise("what?"), Transient("busy 3"), Transient("4")], "busy 3"),
        ([Transient("busy"), Transient("busy"), Surprise(), Surprise()], "Surprise"),
        ([Permanent("The key is wrong."), Surprise()], "The key is wrong."),
    ],
    ids=["used up", "an error without words", "never to work"],
)
async def test_attempts_are_counted_and_used_up_or_spared_if_it_will_never_work(
    tmp_path: Path, errors: list[Exception], note: str
) -> None:
    brain = Moody(*errors)
    async with Rig(tmp_path, brain=brain, limits=EngineSettings(attempts=3)) as rig:
        task = await rig.admit("hopeless")
        await rig.run(HOUR)
        assert (await rig.get(task.id)).status is Status.FAILED
        assert (await rig.history(task.id))[-1].data["note"] == note
        assert len(brain.moods) == 1, "as many tries as it has, or one"
        assert rig.outbox.tried == []


async def test_waiting_for_a_human_gives_the_attempts_back(tmp_path: Path) -> None:
    brain = Moody(Transient("a"), "no tags", Transient("b"), Transient("c"))
    async with Rig(tmp_path, brain=brain, limits=EngineSettings(attempts=3)) as rig:
        task = await rig.admit("patience")
        await rig.run(HOUR)
        await rig.decide((await rig.waiting())[0], ReviewAnswer.BACK, "again")
        await rig.run(HOUR)

        assert (await rig.get(task.id)).status is Status.COMPLETED


async def test_a_step_that_takes_too_long_is_cut_and_tried_again(tmp_path: Path) -> None:
    brain = SlowBrain()
    async with Rig(tmp_path, brain=brain, limits=EngineSettings(step_limit=1)) as rig:
        task = await rig.admit("slow")
        await until(lambda: brain.cancelled == 1)
        brain.open.set()
        await rig.run(HOUR)

        ended = await rig.get(task.id)
        assert ended.status is Status.COMPLETED
        notes = [event.data.get("note") for event in await rig.history(task.id)]
        assert "The step execute_tool took longer than 1 s." in notes


async def test_a_timeout_of_the_brains_own_is_told_in_its_own_words(tmp_path: Path) -> None:
    async with Rig(tmp_path, brain=Moody(TimeoutError("the line is silent"))) as rig:
        task = await rig.admit("silent")
        await rig.run(HOUR)

        notes = [event.data.get("note") for event in await rig.history(task.id)]
        assert "the line is silent" in notes
        assert (await rig.get(task.id)).status is Status.COMPLETED


async def test_a_brain_that_cancels_itself_is_tried_again_later_not_at_once(
    tmp_path: Path,
) -> None:
    brain = Moody(asyncio.CancelledError())
    async with Rig(tmp_path, brain=brain) as rig:
        task = await rig.admit("odd")
        await rig.run(timedelta(seconds=1))
        assert len(brain.heard) == 1
        await rig.run(HOUR)

        assert (await rig.get(task.id)).status is Status.COMPLETED


async def test_a_channel_that_is_busy_is_tried_again_with_growing_waits(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.outbox.answers = [SendRetry("busy"), SendRetry("busy"), SendRetry("too fast", after=60)]
        task = await rig.admit("knock", delivery=[Delivery("outbox", content="Knock")])
        await rig.run(HOUR)

        history = await rig.history(task.id)
        bounds = [(2, 2.4), (6, 7.2), (60, 72)]
        assert all(a <= w <= b for (a, b), w in zip(bounds, waits(history), strict=True))
        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert len(rig.outbox.tried) == 4
        assert len(rig.outbox.sent) == 1


async def test_a_channel_that_stays_busy_fails_the_task_in_the_end(tmp_path: Path) -> None:
    async with Rig(tmp_path, limits=EngineSettings(attempts=4)) as rig:
        rig.outbox.answers = [SendRetry("busy")] * 50
        task = await rig.admit("knock", delivery=[Delivery("outbox", content="Knock")])
        await rig.run(24 * HOUR)

        assert (await rig.get(task.id)).status is Status.FAILED
        assert len(rig.outbox.tried) == 4


async def test_one_refusal_fails_the_task_and_lists_what_was_sent(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.outbox.answers = [Refused("unknown number")]
        task = await rig.admit("both", delivery=[Delivery("outbox"), Delivery("dashboard")])
        await rig.run()

        ended = await rig.get(task.id)
        assert ended.status is Status.FAILED
        assert [each.status for each in ended.delivery] == ["refused", "sent"]
        note = (await rig.history(task.id))[-1].data["note"]
        assert note == "1 of 2 refused (outbox: unknown number); 1 sent."


class BrokenCheck:
    """A check that cannot look."""

    def __init__(self) -> None:
        self.tries = 0

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, criterion, evidence
        self.tries += 1
        raise Surprise("no sandbox here")


BROKEN = Contract(ContractType.VERIFIABLE, (Criterion("broken", "cannot be checked"),))


@pytest.mark.parametrize("delivery", [[Delivery("outbox")], []])
async def test_a_check_that_breaks_is_asked_about_and_the_owners_word_is_enough(
    tmp_path: Path, delivery: list[Delivery]
) -> None:
    check = BrokenCheck()
    limits = EngineSettings(attempts=2)
    async with Rig(tmp_path, checks={"broken": check}, limits=limits) as rig:
        task = await rig.admit("unproven", contract=BROKEN, delivery=delivery)
        await rig.run(HOUR)

        waiting = await rig.get(task.id)
        assert (waiting.status, waiting.reason) == (Status.NEEDS_REVIEW, Reason.VERIFICATION)
        assert check.tries == 2
        review = (await rig.waiting())[0]
        assert "no sandbox here" in review.question
        assert review.evidence == HI

        await rig.decide(review, ReviewAnswer.APPROVE)
        await rig.run(HOUR)
        assert (await rig.get(task.id)).status is Status.COMPLETED
        assert check.tries == 2
        assert len(rig.outbox.sent) == len(delivery)
