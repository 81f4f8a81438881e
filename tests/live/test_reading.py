"""A model reads the owner's message over HTTP: healed, checked, and never needed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

import pytest

from remit.brain.choose import FilledForm, ModelRole
from remit.brain.models import ModelBrain
from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.extraction import Extraction, QuestionTopic
from remit.intake.model_reader import ModelReader
from remit.intake.plain_reader import read_plainly
from remit.intake.reading_form import Reading, ReadSend, ReadTask
from remit.intake.veto import held_back
from remit.model.reply import Prompt
from tests.live.faults import FAULTS, Fault
from tests.live.place import Place, brain, warm
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call
from tests.soak import each_value

pytestmark = each_value

T = TypeVar("T")

PLACES = pytest.mark.parametrize("place", Place)
NOW: Final = datetime(2026, 3, 4, 9, tzinfo=UTC)
ZONE: Final = ZoneInfo("Europe/Berlin")
BOOK: Final = ContactBook(
    Contact("Hanan"),
    (ChannelName("whatsapp", "whatsapp"), ChannelName("email", "email")),
    (Contact("Bob", channels=("whatsapp",)),),
)
SAY: Final = "Research beaches in Bali and send Bob the list on WhatsApp"
PLAN: Final = Reading(
    tasks=(
        ReadTask(
            title="Bali beaches for Bob",
            instructions=SAY,
            work=("Research beaches in Bali",),
            sends=(ReadSend(to="Bob", to_words="Bob", channel="whatsapp"),),
        ),
    ),
)


def order(plan: Reading) -> Order:
    return Order(Answer(call=Call("answer", plan.model_dump_json())))


WRONG: Final = Order(Answer(call=Call("answer", '{"tasks": [{"title": 7}]}')))
BROKEN: Final = Order(Answer(call=Call("answer", '{"tasks": [{"title": "Bali')))
TALK: Final = Order(Answer("Sure, I will research that for you!"))
HUGE: Final = order(
    PLAN.model_copy(
        update={"tasks": (PLAN.tasks[0].model_copy(update={"title": "So it goes on. " * 2_000}),)}
    )
)
ODD = pytest.mark.parametrize(
    "odd", [WRONG, BROKEN, TALK, HUGE], ids=["schema", "json", "talk", "huge"]
)


@asynccontextmanager
async def reader(
    vendor: Vendor, place: Place, *, time_limit: int = 100
) -> AsyncIterator[ModelReader]:
    async with brain(vendor, place, role=ModelRole.EXTRACT, time_limit=time_limit) as mind:
        yield ModelReader(Filling(mind))


class Filling:
    """The brain's way to fill in a form, as intake asks for it."""

    def __init__(self, mind: ModelBrain) -> None:
        self._mind = mind

    async def __call__(self, prompt: str, form: type[T], /) -> T | None:
        filled = await self._mind.fill(Prompt(prompt), form, session="extract")
        return filled.form if isinstance(filled, FilledForm) else None


async def hear(vendor: Vendor, place: Place, *, time_limit: int = 100) -> Extraction:
    async with reader(vendor, place, time_limit=time_limit) as ear:
        return await ear.read(SAY, NOW, ZONE, BOOK)


def plain() -> Extraction:
    return read_plainly(SAY, now=NOW, zone=ZONE, book=BOOK)


@PLACES
async def test_a_faithful_model_gives_the_task_its_title(place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [order(PLAN)]

        found = await hear(vendor, place)

        assert len(vendor.heard) == 1
        assert "The message: " in vendor.heard[0].text
    assert found.questions == ()
    assert found.tasks[0].title == "Bali beaches for Bob"
    assert found.tasks[0].deliveries == plain().tasks[0].deliveries


@PLACES
@ODD
async def test_a_form_that_never_fits_leaves_the_reading_of_code(odd: Order, place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [odd]

        found = await hear(vendor, place)

        assert len(vendor.heard) == 3
    assert found == plain()


@PLACES
async def test_what_is_not_in_the_message_reaches_nobody(place: Place) -> None:
    forged = ReadSend(to="Bob", to_words="Bob", text="Send me your password, it is urgent.")
    task = PLAN.tasks[0].model_copy(update={"sends": (forged,), "work": ()})
    async with Vendor() as vendor:
        vendor.orders = [order(Reading(tasks=(task,)))]

        found = held_back(await hear(vendor, place), SAY, BOOK)

        assert len(vendor.heard) == 1
    assert [each.about for each in found.questions] == [QuestionTopic.CONFIRM]
    assert "The wording is not yours." in found.questions[0].sentence
    assert [each.content for each in found.tasks[0].deliveries] == [None]


@pytest.mark.usefixtures("hurry")
@PLACES
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_no_fault_of_a_vendor_costs_the_owner_a_message(fault: Fault, place: Place) -> None:
    await warm(place)
    async with Vendor() as vendor:
        vendor.orders = [fault.order(False)]

        found = await hear(vendor, place, time_limit=fault.time_limit)

        assert 1 <= len(vendor.heard) <= 3
    assert found == plain()
