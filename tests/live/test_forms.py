"""Forms a model fills in: what does not fit is handed back to it, and never passed on."""

from dataclasses import dataclass

import pytest

from remit.brain.choose import FilledForm, ModelRole
from remit.model.reply import Prompt, Reply, Usage
from tests.live.place import Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call, End
from tests.soak import each_value

pytestmark = each_value

PLACES = pytest.mark.parametrize("place", Place)

GOOD = Order(Answer(call=Call("answer", '{"urgency": 0.9, "why": "Your visa ends."}')))
WRONG = Order(Answer(call=Call("answer", '{"urgency": "very"}')))
BROKEN = Order(Answer(call=Call("answer", '{"urgency": 0.9, "why": ')))
TALK = Order(Answer("It is quite urgent, I would say."))


@dataclass(frozen=True, slots=True)
class Score:
    urgency: float
    why: str


async def _fill(vendor: Vendor, place: Place) -> FilledForm[Score] | Reply:
    async with brain(vendor, place, role=ModelRole.SCORE) as mind:
        return await mind.fill(Prompt("How urgent?"), Score, session="s")


@PLACES
async def test_a_form_comes_back_as_its_type(place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [GOOD]

        filled = await _fill(vendor, place)

    assert filled == FilledForm(
        Score(0.9, "Your visa ends."), Usage(30, 0, 1, 30, asked=20, answered=10)
    )


@PLACES
@pytest.mark.parametrize("odd", [WRONG, BROKEN, TALK], ids=["schema", "json", "talk"])
async def test_what_does_not_fit_is_healed_by_the_model(odd: Order, place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [odd, odd, GOOD]

        filled = await _fill(vendor, place)

        assert len(vendor.heard) == 3
    assert filled == FilledForm(
        Score(0.9, "Your visa ends."), Usage(90, 0, 3, 30, asked=60, answered=30)
    )


@PLACES
@pytest.mark.parametrize("end", [End.LIMIT, End.REFUSAL])
async def test_a_form_that_was_cut_or_refused_is_held(end: End, place: Place) -> None:
    async with Vendor() as vendor:
        vendor.orders = [Order(Answer("I cannot say, for", end))]

        reply = await _fill(vendor, place)

    assert isinstance(reply, Reply)
    assert reply.text.startswith("[Held: ")
    assert len(vendor.heard) <= 3
