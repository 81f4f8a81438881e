"""A key that is sent to its vendor, and is found nowhere else."""

import logging
import pickle
import traceback

import pytest

from remit.errors import RemitError
from remit.model.reply import Prompt
from tests.live.conftest import Ear
from tests.live.faults import FAULTS, GOOD
from tests.live.place import KEY, Place, brain, choice, say
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer
from tests.soak import each_value

pytestmark = each_value

PLACES = pytest.mark.parametrize("place", Place)
TOLD = KEY[3:13]  # a piece that would be as good as the whole

# Vendors that repeat the key in their errors: whole, in part, and where no error text should be.
GOSSIPS = [
    *(Order(status=code, message=f"No {KEY} here.") for code in (400, 401, 403, 404, 409, 422)),
    *(Order(status=code, message=f"{KEY[:14]}****") for code in (402, 405, 413, 429, 500, 529)),
    Order(status=500, body=f"<html>{KEY}</html>".encode()),
    Order(status=500, headers={"x-echo": KEY}),
    Order(body=f"{{{KEY}".encode()),
    Order(body=f'{{"choices": "{KEY}", "content": "{KEY}", "output": "{KEY}"}}'.encode()),
    *(fault.order(False) for name, fault in FAULTS.items() if name != "time-out"),
    Order(Answer(GOOD)),
]


@pytest.mark.usefixtures("hurry")
@PLACES
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_the_key_is_in_no_error_no_reply_and_no_log(
    place: Place, ear: Ear, *, streams: bool
) -> None:
    said: list[str] = []

    async def hear(piece: str) -> None:
        said.append(piece)

    async with Vendor() as vendor, brain(vendor, place) as mind:
        for order in GOSSIPS:
            vendor.orders = [order]
            try:
                reply = await say(mind, Prompt("Hi"), hear if streams else None)
                said.append(repr(reply))
            except RemitError as error:
                said += [repr(error), "".join(traceback.format_exception(error))]
        said += [repr(mind), repr(vars(mind)), repr(mind._open)]

        assert all(KEY in str(heard.headers) for heard in vendor.heard)  # it was there to be told

    logging.getLogger("remit").debug("The ear hears.")
    assert "The ear hears." in ear.lines[-1]
    assert len(said) >= len(GOSSIPS)
    assert [line for line in (*said, *ear.lines) if TOLD in line] == []


@PLACES
async def test_a_choice_does_not_show_its_key(place: Place) -> None:
    async with Vendor() as vendor:
        found = choice(vendor, place)

    assert TOLD not in repr(found) + str(found) + found.sentence
    with pytest.raises(TypeError, match="not stored"):
        pickle.dumps(found)
