"""What went wrong decides when it is tried again, and whether."""

import asyncio
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from remit.engine import endings
from remit.errors import Permanent, Transient
from remit.model.contract import Contract, ContractType, Criterion, Evidence, Finding, Result
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


async def test_the_attempts_are_counted_and_used_up(tmp_path: Path) -> None:
    brain = Moody(*[Transient(f"busy {n}") for n in range(1, 9)])
    async with Rig(tmp_path, brain=brain, limits=EngineSettings(attempts=3)) as rig:
        task = await rig.admit("hopeless")
        await rig.run(HOUR)

        ended = await rig.get(task.id)
        assert ended.status is Status.FAILED
        assert len(brain.heard) == 3
        assert (await rig.history(task.id))[-1].data["note"] == "busy 3"
        assert rig.outbox.tried == []


async def test_what_will_never_work_is_not_tried_again(tmp_path: Path) -> None:
    brain = Moody(Permanent("The key is wrong."))
    async with Rig(tmp_path, brain=brain) as rig:
        task = await rig.admit("no")
        await rig.run(HOUR)

        assert (await rig.get(task.id)).status is Status.FAILED
        assert len(brain.heard) == 1


async def test_an_error_without_words_is_told_by_its_name(tmp_path: Path) -> None:
    async with Rig(tmp_path, brain=Moody(Surprise())) as rig:
        task = await rig.admit("mute")
        await rig.run(timedelta(0))

        assert (await rig.history(task.id))[-1].data["note"] == "Surprise"


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


async def test_of_two_deliveries_the_one_that_went_out_is_not_sent_again(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.outbox.answers = [SendRetry("busy")]
        task = await rig.admit("both", delivery=[Delivery("outbox"), Delivery("outbox")])
        await rig.run(HOUR)

        assert (await rig.get(task.id)).status is Status.COMPLETED
        keys = [parcel.key for parcel in rig.outbox.sent]
        assert sorted(keys) == sorted(str(each.id) for each in task.delivery)


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


async def test_sent_back_after_a_broken_check_everything_is_done_anew(tmp_path: Path) -> None:
    check = BrokenCheck()
    brain = Moody()
    rig = Rig(tmp_path, brain=brain, checks={"broken": check}, limits=EngineSettings(attempts=1))
    async with rig:
        await rig.admit("unproven", contract=BROKEN)
        await rig.run(HOUR)
        await rig.decide((await rig.waiting())[0], ReviewAnswer.BACK, "use another")
        await rig.run(HOUR)

        assert len(brain.heard) == 2
        assert "use another" in brain.heard[1]
        assert len(await rig.waiting()) == 1


class Picky:
    """A check that is content with the third try."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        self.seen.append(evidence.text)
        good = len(self.seen) == 3
        error = None if good else f"not good {len(self.seen)}"
        return Finding(criterion.activity, Result.PASS if good else Result.FAIL, error)


async def test_work_that_fails_its_check_is_done_again_at_once_and_told_why(tmp_path: Path) -> None:
    brain, check = Moody(), Picky()
    contract = Contract(ContractType.VERIFIABLE, (Criterion("picky", "good"),))
    async with Rig(tmp_path, brain=brain, checks={"picky": check}) as rig:
        task = await rig.admit("prove it", contract=contract)
        await rig.run()

        ended = await rig.get(task.id)
        assert (ended.status, ended.round) == (Status.COMPLETED, 2)
        assert "Not proven yet: picky: not good 1" in brain.heard[1]
        assert "Not proven yet: picky: not good 2" in brain.heard[2]
        assert ended.verdict is not None
        assert ended.verdict.passed
        assert len(rig.outbox.sent) == 1
        moves = await rig.moves(task.id)
        assert moves.count("verifying") == 3
        assert moves[-2:] == ["delivering", "completed"]
