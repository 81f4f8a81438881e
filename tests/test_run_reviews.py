"""The spine stops to ask, and goes on from there: questions, permissions, proof."""

import dataclasses

from msgspec.structs import replace

from remit.brain.scripted import ScriptedBrain
from remit.model.contract import ContractType
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.reply import Prompt, Reply
from remit.model.review import ReviewAnswer
from remit.model.status import Reason, Status
from remit.run import MOST_FIXES, Done
from remit.run import Retry as Again
from tests.stage import BOARD, ME, MUM, SANUR, Stage, contract, stage
from tests.tables import for_each

# Questions ----------------------------------------------------------------------------------------


async def test_an_answer_reaches_the_next_prompt_and_a_second_question_is_another() -> None:
    trip = stage(ME, replies=({"ask": "Which island?"}, {"ask": "Which coast?"}, SANUR))
    first = await trip.asks(Reason.INPUT)
    trip.memory.decide(first, ReviewAnswer.ANSWER, "Bali")
    second = await trip.asks(Reason.INPUT)
    assert (first.question, second.question) == ("Which island?", "Which coast?")
    trip.memory.decide(second, ReviewAnswer.ANSWER, "East")

    assert await trip.go() == Done("Sanur.")
    assert "- Bali\n- East" in trip.prompts[2]


# Permission ---------------------------------------------------------------------------------------


@for_each(
    "other",
    [
        replace(MUM, content="Kuta."),
        replace(MUM, content="Sanur.", recipient="dad"),
        replace(MUM, content="Sanur.", channel="dashboard"),
    ],
)
async def test_an_approval_is_for_these_bytes_this_channel_and_this_person(other: Delivery) -> None:
    trip = stage(replace(MUM, content="Sanur."))
    review = await trip.asks(Reason.APPROVAL)
    trip.memory.decide(review, ReviewAnswer.APPROVE)
    trip.memory.task = replace(trip.memory.task, delivery=(other,))

    assert (await trip.asks(Reason.APPROVAL)).digest != review.digest
    assert trip.outbox.tried == []


async def test_an_edited_message_is_approved_by_its_writer_but_not_by_the_gate() -> None:
    trip = stage(MUM)
    trip.memory.decide(await trip.asks(Reason.APPROVAL), ReviewAnswer.EDIT, "NONE")
    held = await trip.asks(Reason.DELIVERABLE)
    trip.memory.decide(held, ReviewAnswer.EDIT, "Dear mum: Sanur.")

    assert await trip.go() == Done("Dear mum: Sanur.")


async def test_what_fits_no_channel_is_held_for_that_delivery_alone() -> None:
    trip = stage(ME, replace(BOARD, content="x" * 101_000))
    review = await trip.asks(Reason.DELIVERABLE)
    assert "101000 characters" in review.question
    assert trip.said == ["Sanur."]

    # One that is longer than the smallest channel takes is held before anything is sent.
    trip = stage(BOARD, ME, replies=(f"<deliverable>{'x' * 5000}</deliverable>",))
    assert "the channel takes 4096" in (await trip.asks(Reason.DELIVERABLE)).question
    assert trip.memory.task.delivery[0].status is DeliveryStatus.PENDING


# Proof --------------------------------------------------------------------------------------------


async def test_work_that_is_not_proven_is_done_again_with_the_complaint_then_asked_about() -> None:
    trip = stage(ME, replies=("<deliverable>Kuta.</deliverable>",), contract=contract())
    complaint = "mentions: 'Sanur' does not occur"
    for n in range(MOST_FIXES):
        assert await trip.go() == Again(complaint, anew=True), n
        trip.memory.again(complaint)

    review = await trip.asks(Reason.VERIFICATION)

    assert complaint in review.question
    assert len(trip.prompts) == MOST_FIXES + 1
    assert trip.prompts[-1].count(complaint) == MOST_FIXES
    assert trip.outbox.tried == []

    trip.memory.decide(review, ReviewAnswer.APPROVE)
    assert await trip.go() == Done("Kuta.")
    assert trip.said == ["Kuta."]


async def test_a_contract_binds_work_that_is_not_delivered_too() -> None:
    trip = stage(replies=("Kuta",), contract=contract(), round=MOST_FIXES)

    review = await trip.asks(Reason.VERIFICATION)

    assert review.resume_to is Status.RUNNING
    trip.memory.decide(review, ReviewAnswer.APPROVE)
    assert await trip.go() == Done("Kuta")


async def test_advice_is_not_checked() -> None:
    trip = stage(ME, replies=(SANUR,), contract=contract(kind=ContractType.ADVISORY))

    assert await trip.go() == Done("Sanur.")
    assert trip.memory.task.verdict is None


async def test_what_the_owner_writes_instead_is_proven_too_but_is_his_to_change() -> None:
    trip = stage(ME, replies=("no tags",), contract=contract())
    trip.memory.decide(await trip.asks(Reason.DELIVERABLE), ReviewAnswer.EDIT, "Kuta.")

    review = await trip.asks(Reason.VERIFICATION)

    assert "'Sanur' does not occur" in review.question
    assert review.evidence == "Kuta."
    assert len(trip.prompts) == 1
    trip.memory.decide(review, ReviewAnswer.APPROVE)
    assert await trip.go() == Done("Kuta.")


# What a weak model wrote --------------------------------------------------------------------------


class Weak(ScriptedBrain):
    """Says what the script says, and that it must be looked at."""

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        return replace(await super().think(prompt, session=session), asks_first=True)


def weak(*delivery: Delivery, replies: tuple[object, ...] = (SANUR,), **more: object) -> Stage:
    played = stage(*delivery, replies=replies, **more)
    assert isinstance(played.brain, ScriptedBrain)
    return dataclasses.replace(played, brain=Weak(tuple(played.brain._left)))


@for_each("proven", [False, True])
async def test_even_the_owner_is_asked_before_he_is_written_to_for_each_delivery(
    proven: bool,
) -> None:
    trip = weak(ME, BOARD, contract=contract()) if proven else weak(ME, BOARD)
    first = await trip.asks(Reason.APPROVAL)
    assert (first.question, first.evidence) == ("Send this to you on outbox?", "Sanur.")
    assert trip.outbox.tried == []

    trip.memory.decide(first, ReviewAnswer.APPROVE)
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
