"""What comes in by a channel: about that channel alone, kept for a while, and found quickly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.channels.buttons import LABELS
from remit.channels.registry import MIN_KEPT_DAYS, InboundCleanup
from remit.model.delivery import DeliveryReport, ProviderReport, Unknown
from remit.model.reply import Policy
from remit.model.review import Decision, ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.store import audit, cues, deliveries, events
from remit.store.cues import InboundMessage
from remit.store.database import Tx, statement
from remit.testing import Outbox, World, script


class Line(Outbox):
    """A channel whose doubts may clear up by a report."""

    grace: Final = 900.0

    async def find(self, parcel: object) -> None:
        """Nobody can say."""


@asynccontextmanager
async def two(home: Path) -> AsyncIterator[World]:
    lines = {name: Line(name, answers=[Unknown("no answer")]) for name in ("first", "second")}
    async with World(home, channels=lines) as world:
        yield world
        assert await world.app.db.read(lambda tx: list(audit.complaints(tx))) == []


@pytest.mark.parametrize("by", ["key", "receipt"])
async def test_a_report_on_one_channel_never_settles_a_delivery_of_another(
    tmp_path: Path, by: str
) -> None:
    async with two(tmp_path) as world:
        task = await world.add("Tell me", channel="second", content="Hi")
        await world.run(timedelta(seconds=5))
        delivery = (await world.get(task.id)).delivery[0]
        if by == "receipt":
            named = "UPDATE deliveries SET receipt = 'wamid-1'"
            await world.app.db.write(lambda tx: tx.ask(named))
        key = str(delivery.id) if by == "key" else None
        for channel, status in (("first", Status.DELIVERING), ("second", Status.COMPLETED)):
            told = DeliveryReport(ProviderReport("wamid-1", arrived=True), channel, key)
            await world.app.db.write(deliveries.report, told, world.now)
            await world.run(timedelta(seconds=5))
            assert (await world.get(task.id)).status is status, channel


async def test_what_came_in_is_forgotten_after_its_days_and_not_before(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        db, loops = world.app.db, world.app.background
        keeps = InboundCleanup(90, db, world.clock, loops)
        for day in range(3):
            said = InboundMessage(f"line message {day}", "line", {"text": "Hi"}, "4915", world.now)
            await db.write(cues.take_inbound, [said], world.now)
            world.clock.advance(timedelta(days=1))
        world.clock.advance(timedelta(days=88))
        assert await keeps.look() == 1
        assert len(await db.read(cues.beginning, "line message")) == 2
        assert await InboundCleanup(0, db, world.clock, loops).look() == 0, "0 is for ever"
        world.clock.advance(timedelta(days=2))
        assert await InboundCleanup(1, db, world.clock, loops).look() == 2
    assert MIN_KEPT_DAYS > 7, "a provider says the same for a week, and it must be known again"


async def test_who_wrote_is_found_by_an_index_whether_by_number_or_by_user_id(
    tmp_path: Path,
) -> None:
    def plans(tx: Tx) -> list[str]:
        asked = {"channel": "line", "address": "IL.1"}
        return [
            " ".join(str(row["detail"]) for row in tx.ask(f"EXPLAIN QUERY PLAN {sql}", asked))
            for sql in (statement("last_inbound_from"), statement("last_inbound_of_user_id"))
        ]

    async with World(tmp_path) as world:
        number, user = await world.app.db.read(plans)

    assert "inbound_by_sender" in number
    assert "inbound_by_user" in user


async def test_a_word_about_writing_to_someone_is_in_the_journal(tmp_path: Path) -> None:
    brain = script([{"reply": "<deliverable>Hello Anna.</deliverable>"}])
    (tmp_path / "contacts.yaml").write_text("- name: Anna\n  channels:\n    line: anna-1\n")
    async with World(tmp_path, brain=brain, channels={"line": Outbox("line")}) as world:
        await world.app.permits.permit("Anna", "line", Policy.DENY)
        await world.app.permits.permit("Anna", "line", Policy.ASK)
        await world.add("Greet Anna", channel="line", recipient="Anna")
        await world.run()
        (review,) = await world.waiting()
        assert review.id is not None
        await world.app.inbox.decide(review.id, Decision(ReviewAnswer.APPROVE, always=True))
        told = [each for each in await _journal(world) if each.kind is EventKind.PERMISSION_GIVEN]

        assert [each.data["policy"] for each in told] == ["deny", "ask", "allow"]
        assert {each.data["address"] for each in told} == {"anna-1"}
        assert {each.task_id for each in told} == {None}
        assert await world.app.db.read(lambda tx: list(audit.complaints(tx))) == []


async def _journal(world: World) -> list[Event]:
    return await world.app.db.read(events.list_after, 0, 1000)


# Buttons ------------------------------------------------------------------------------------------


def test_a_press_that_comes_late_can_name_every_answer_that_was_given() -> None:
    assert set(LABELS) == set(ReviewAnswer)
