"""From words to a message, with a model over real HTTP at every step that asks one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.brain.choose import ModelRole
from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.extract import extract
from remit.intake.message import MessageResult, OwnerMessage
from remit.intake.model_reader import RULES
from remit.model.contract import ItemStatus
from remit.model.run import EventKind
from remit.model.status import Status
from remit.model.task import Source, SourceKind
from remit.system.owner_zone import find_owner_zone
from remit.testing import START, Outbox, World
from tests.intake.readings import faithful, qualify
from tests.live import vendor as wires
from tests.live.place import Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call
from tests.soak import one_of

pytestmark = one_of("place")

PLACES = pytest.mark.parametrize("place", Place)
READS: Final = RULES.splitlines()[0]
JUDGES: Final = "Judge it by these rules and no others"
WAYS: Final = ("whatsapp", "email")
BOOK: Final = ContactBook(
    Contact("you"), tuple(ChannelName(name, name) for name in ("dashboard", *WAYS))
)

BALI: Final = "Research the best beaches in Bali for families. Send me the list on WhatsApp."
LIST: Final = "*Best beaches in Bali for families*\n• Sanur: calm water\n• Nusa Dua: clean sand"
LETTER: Final = "# Oslo in March\n\n- **Bring** wool\n- Book the ferry early\n\nAll the best"


class Agent(Vendor):
    """A vendor whose model reads faithfully, and thinks as it is told."""

    def __init__(self, text: str, *thoughts: Order) -> None:
        super().__init__()
        self.thoughts = [*thoughts]
        self.thought: list[wires.Heard] = []
        found = extract(text, now=START, zone=find_owner_zone("UTC", {}).zone, book=BOOK)
        plan = faithful(found).model_dump_json()
        self.reads: Callable[[], Order] = lambda: Order(Answer(call=Call("answer", plan)))
        self.decide = self._decide

    def _decide(self, heard: wires.Heard) -> Order:
        if READS in heard.text:
            return self.reads()
        if JUDGES in heard.text:  # what no check could decide: it cannot say, either
            return _said("Hard to tell.")
        self.thought.append(heard)
        return self.thoughts.pop(0)


@asynccontextmanager
async def _app(home: Path, vendor: Vendor, place: Place) -> AsyncIterator[World]:
    ways = {name: Outbox(name) for name in WAYS}
    async with brain(vendor, place) as mind:
        qualify(home, mind.as_role(ModelRole.EXTRACT).label)
        async with World(home, brain=mind, channels=ways) as world:
            yield world


async def _say(world: World, text: str) -> MessageResult:
    source = Source(SourceKind.CONVERSATION, text)
    return await world.app.intake.hear(OwnerMessage(text=text, source=source))


def _sent(world: World, way: str) -> list[str]:
    found = world._channels[way]
    assert isinstance(found, Outbox)
    return [parcel.body for parcel in found.sent]


def _said(text: str) -> Order:
    return Order(Answer(text))


@PLACES
async def test_a_text_of_the_owners_goes_out_in_two_minutes_and_no_model_works_on_it(
    place: Place, tmp_path: Path
) -> None:
    text = 'In two minutes send me on WhatsApp "Take the cake out, *now*"'
    async with Agent(text) as vendor, _app(tmp_path, vendor, place) as world:
        (task,) = (await _say(world, text)).tasks
        await world.run(timedelta(seconds=119))
        assert _sent(world, "whatsapp") == []
        await world.run(timedelta(seconds=1))

        assert _sent(world, "whatsapp") == ["Take the cake out, *now*"]
        assert (await world.get(task.id)).status is Status.COMPLETED
        assert vendor.thought == []


@PLACES
async def test_steps_are_ticked_by_a_tool_and_by_a_line_and_never_sent(
    place: Place, tmp_path: Path
) -> None:
    text = "- [ ] compare three hotels in Rome\n- [ ] find a train\n- [ ] draft a plan"
    first = Order(Answer("The hotels first.", call=Call("tick_item", '{"n": 1}')))
    last = "✓ STEP 2: the 9:10 train\n<deliverable>\nHotel Roma, then the 9:10.\n</deliverable>"
    async with Agent(text, first, _said(last)) as vendor, _app(tmp_path, vendor, place) as world:
        (task,) = (await _say(world, text)).tasks
        await world.run()
        ended = await world.get(task.id)

        assert [item.status for item in ended.work] == [
            ItemStatus.COMPLETED,
            ItemStatus.COMPLETED,
            ItemStatus.PENDING,
        ]
        assert ended.delivery[0].body == "Hotel Roma, then the 9:10."
        assert len(vendor.thought) == 2
        events = await world.history(task.id)
        told = [e.data["done"] for e in events if e.kind is EventKind.RUN_SAID and "done" in e.data]
        assert told == [[1], [2]]


@PLACES
async def test_a_model_that_leaves_the_channel_out_is_corrected(
    place: Place, tmp_path: Path
) -> None:
    async with Agent(BALI, _said(f"<deliverable>{LIST}</deliverable>")) as vendor:
        mute = '{"tasks": [{"title": "Bali", "instructions": "Research the best beaches in Bali'
        mute += ' for families", "work": ["Research the best beaches in Bali for families"]}]}'
        vendor.reads = lambda: Order(Answer(call=Call("answer", mute)))
        async with _app(tmp_path, vendor, place) as world:
            (task,) = (await _say(world, BALI)).tasks
            await world.run()

            assert (await world.get(task.id)).status is Status.COMPLETED
            assert _sent(world, "whatsapp") == [LIST]
