"""What real channels do to a send: parts, doubts that clear up, reports, locked accounts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.model.delivery import (
    Accepted,
    DeliveryReport,
    DeliveryStatus,
    Locked,
    Parcel,
    ProviderReport,
    Refused,
    SendRetry,
    Unknown,
)
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task
from remit.store import audit, deliveries
from remit.testing import Outbox, World, script

GRACE: Final = 900.0
HOUR: Final = timedelta(hours=1)
LONG: Final = "# One\nfirst words\n%\nsecond words\n%\nthird words"


@dataclass
class Line(Outbox):
    """A channel with a form of its own, which can be asked what became of a message."""

    grace: float = GRACE
    found: Accepted | Refused | None = None
    asked: list[Parcel] = field(default_factory=list)

    def shape(self, text: str) -> str:
        return text.replace("# ", "*").strip()

    def parts(self, shaped: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in shaped.split("%"))

    async def find(self, parcel: Parcel) -> Accepted | Refused | None:
        self.asked.append(parcel)
        return self.found


@asynccontextmanager
async def app(home: Path, line: Line) -> AsyncIterator[World]:
    brain = script([{"reply": f"<deliverable>{LONG}</deliverable>"}])
    async with World(home, brain=brain, channels={"line": line}) as world:
        yield world
        wrong = await world.app.db.read(lambda tx: list(audit.complaints(tx)))
        assert wrong == []


def bodies(line: Outbox) -> list[str]:
    return [parcel.body for parcel in line.sent]


async def statuses(world: World, task: Task) -> list[DeliveryStatus]:
    return [each.status for each in (await world.get(task.id)).delivery]


async def test_a_long_text_goes_out_in_parts_in_order_each_on_its_own_row(tmp_path: Path) -> None:
    line = Line("line")
    async with app(tmp_path, line) as world:
        task = await world.add("Tell me", channel="line")
        await world.run()
        ended = await world.get(task.id)

        assert ended.status is Status.COMPLETED
        assert bodies(line) == ["*One\nfirst words", "second words", "third words"]
        first = ended.delivery[0].id
        assert [parcel.key for parcel in line.sent] == [first, f"{first}.1", f"{first}.2"]
        assert [(each.part, each.parts) for each in ended.delivery] == [(0, 3), (1, 3), (2, 3)]


async def test_a_text_of_the_owners_in_parts_is_not_thought_about_after_a_restart(
    tmp_path: Path,
) -> None:
    line = Line("line", answers=[Accepted("1"), SendRetry("busy", 60)])
    async with app(tmp_path, line) as world:
        task = await world.add("Tell me", channel="line", content=LONG)
        await world.run()
        assert bodies(line) == ["*One\nfirst words"], "a part that waits is not overtaken"
        await world.restart()
        await world.run(HOUR)

        assert (await world.get(task.id)).status is Status.COMPLETED
        assert bodies(line) == ["*One\nfirst words", "second words", "third words"]


@pytest.mark.parametrize("answer", [Unknown("no answer"), Refused("no")])
async def test_nothing_goes_out_behind_a_part_that_did_not(
    answer: Unknown | Refused, tmp_path: Path
) -> None:
    line = Line("line", answers=[Accepted("1"), answer])
    async with app(tmp_path, line) as world:
        task = await world.add("Tell me", channel="line")
        await world.run(HOUR)
        for review in await world.waiting():
            await world.decide(review, ReviewAnswer.DROP)
        await world.run(HOUR)

        assert (await world.get(task.id)).status is Status.FAILED
        assert bodies(line) == ["*One\nfirst words"]
        assert len(line.tried) == 2


async def test_what_is_approved_is_what_its_reader_will_see(tmp_path: Path) -> None:
    line = Line("line")
    async with app(tmp_path, line) as world:
        await world.add("Tell Anna", channel="line", recipient="Anna")
        await world.run()
        (review,) = await world.waiting()
        assert review.evidence.startswith("*One\nfirst words")
        assert line.tried == []
        await world.decide(review, ReviewAnswer.APPROVE)
        await world.run(HOUR)

        assert line.sent[0].body == "*One\nfirst words"
        assert {parcel.recipient for parcel in line.sent} <= {"Anna"}


async def test_an_account_that_stays_locked_asks_again(tmp_path: Path) -> None:
    line = Line("line", answers=[Locked("no"), Locked("still no")])
    async with app(tmp_path, line) as world:
        await world.add("Tell me", channel="line", content="Hi")
        await world.run()
        (first,) = await world.waiting()
        await world.decide(first, ReviewAnswer.APPROVE)
        await world.run()
        (second,) = await world.waiting()

        assert "still no" in second.question
        assert line.sent == []


async def report(world: World, task: Task, said: ProviderReport) -> None:
    key = str((await world.get(task.id)).delivery[0].id)
    await world.app.db.write(deliveries.report, DeliveryReport(said, "line", key), world.now)


async def test_a_report_that_comes_after_the_question_is_shown_and_answers_nothing(
    tmp_path: Path,
) -> None:
    line = Line("line", answers=[Unknown("no answer")])
    async with app(tmp_path, line) as world:
        task = await world.add("Tell me", channel="line", content="Hi")
        await world.run(HOUR)
        await report(world, task, ProviderReport("wamid-1", arrived=True))
        await world.run(HOUR)
        (review,) = await world.waiting()

        assert "it arrived (wamid-1)" in review.evidence
        assert (await world.get(task.id)).status is Status.NEEDS_REVIEW
        await world.decide(review, ReviewAnswer.ARRIVED)
        await world.run()
        assert (await world.get(task.id)).status is Status.COMPLETED
        assert len(line.tried) == 1


async def test_what_was_refused_for_now_and_reported_as_arrived_is_not_sent_again(
    tmp_path: Path,
) -> None:
    line = Line("line", answers=[SendRetry("busy", 60)])
    async with app(tmp_path, line) as world:
        task = await world.add("Tell me", channel="line", content="Hi")
        await world.run(timedelta(seconds=5))
        await report(world, task, ProviderReport("wamid-1", arrived=True))
        await world.run(HOUR)

        assert (await world.get(task.id)).status is Status.COMPLETED
        assert len(line.tried) == 1


async def test_a_report_about_nothing_of_ours_is_left_alone(tmp_path: Path) -> None:
    async with app(tmp_path, Line("line")) as world:
        said = ProviderReport("wamid-1", arrived=True)
        for key in ("dlv-unknown", None):
            told = DeliveryReport(said, "line", key)
            woken = await world.app.db.write(deliveries.report, told, world.now)
            assert woken is None
