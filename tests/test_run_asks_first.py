"""What a weak model wrote goes to nobody before the owner has looked, and to him neither."""

import dataclasses

from msgspec.structs import replace

from remit.brain.scripted import ScriptedBrain
from remit.model.delivery import Delivery
from remit.model.reply import Prompt, Reply
from remit.model.review import ReviewAnswer
from remit.model.status import Reason
from remit.run import Done
from tests.stage import BOARD, ME, MUM, SANUR, Stage, contract, stage


class Weak(ScriptedBrain):
    """Says what the script says, and that it must be looked at."""

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        return replace(await super().think(prompt, session=session), asks_first=True)


def weak(*delivery: Delivery, replies: tuple[object, ...] = (SANUR,), **more: object) -> Stage:
    played = stage(*delivery, replies=replies, **more)
    assert isinstance(played.brain, ScriptedBrain)
    return dataclasses.replace(played, brain=Weak(tuple(played.brain._left)))


async def test_even_the_owner_is_asked_before_he_is_written_to() -> None:
    trip = weak(ME, BOARD)

    review = await trip.asks(Reason.APPROVAL)

    assert (review.question, review.evidence) == ("Send this to you on outbox?", "Sanur.")
    assert trip.outbox.tried == []


async def test_what_was_approved_goes_out_and_each_delivery_asks() -> None:
    trip = weak(ME, BOARD)
    trip.memory.decide(await trip.asks(Reason.APPROVAL), ReviewAnswer.APPROVE)
    second = await trip.asks(Reason.APPROVAL)
    assert trip.said == ["Sanur."]
    trip.memory.decide(second, ReviewAnswer.APPROVE)

    assert await trip.go() == Done("Sanur.")


async def test_what_the_owner_wrote_instead_goes_out_without_a_second_question() -> None:
    trip = weak(ME, replies=("no tags",))
    trip.memory.decide(await trip.asks(Reason.DELIVERABLE), ReviewAnswer.EDIT, "Kuta.")

    assert await trip.go() == Done("Kuta.")
    assert trip.said == ["Kuta."]


async def test_the_owners_own_words_do_not_ask() -> None:
    own = replace(ME, content="Buy milk.")
    trip = weak(own, MUM)

    review = await trip.asks(Reason.APPROVAL)

    assert trip.said == ["Buy milk."]  # only what the model wrote, to mum, is asked about
    assert "mum" in review.question


async def test_what_is_proven_asks_too() -> None:
    trip = weak(ME, contract=contract())

    await trip.asks(Reason.APPROVAL)

    assert trip.outbox.tried == []
