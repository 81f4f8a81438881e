"""The spine: what happens to a task, in which order, and what a power cut does to it."""

import asyncio

import pytest
from msgspec.structs import replace

from remit.delivery.courier import Courier
from remit.errors import LeaseLost
from remit.model.contract import ItemStatus, WorkItem
from remit.model.delivery import (
    Answer,
    Delivery,
    DeliveryStatus,
    Parcel,
    Unknown,
)
from remit.model.ids import DeliveryId
from remit.model.status import Reason
from remit.run import Done, Fail, Wait, first_line
from remit.testing import Outbox, PowerCut
from tests.stage import BOARD, ME, Stage, contract, stage

# The way of a task -------------------------------------------------------------------------------


async def test_the_steps_come_in_the_order_of_the_specification() -> None:
    trip, board = stage(ME, contract=contract()), stage(BOARD)

    assert await trip.go() == Done("Sanur.")
    assert trip.memory.trail == [
        "move:verifying",  # and the answer of the brain with it
        "move:delivering",  # and the proof with it
        "claim:dlv-me",
        "settle:dlv-me",
    ]
    # The dashboard gets it in one write.
    assert await board.go() == Done("Sanur.")
    assert board.memory.trail[-1] == "post:dlv-board"
    pigeon = await stage(Delivery("pigeon", id=DeliveryId("dlv-1"))).go()
    assert pigeon == Fail("1 of 1 refused (pigeon: there is no channel 'pigeon'); 0 sent.")


async def test_work_without_a_delivery_is_done_when_it_is_thought() -> None:
    trip = stage(replies=("Three beaches.\nAnd a bay.",))

    assert await trip.go() == Done("Three beaches.")
    assert "deliverable" not in trip.prompts[0]


@pytest.mark.parametrize(("done", "ticked"), [((2,), [False, True]), ((), [True, True])])
async def test_the_items_the_brain_ticked_are_done_and_without_ticks_all_are(
    done: tuple[int, ...], ticked: list[bool]
) -> None:
    trip = stage(replies=({"reply": "x", "done": list(done)},), work=(WorkItem("a"), WorkItem("b")))

    await trip.go()

    status = [item.status is ItemStatus.COMPLETED for item in trip.memory.task.work]
    assert status == ticked


@pytest.mark.parametrize(
    ("text", "line"),
    [("", ""), ("\n a\n b", "a"), ("x" * 200, "x" * 200), ("x" * 201, "x" * 197 + "...")],
)
def test_a_summary_is_one_line_of_200_characters(text: str, line: str) -> None:
    assert first_line(text) == line


# Power cuts ---------------------------------------------------------------------------------------


def two_deliveries() -> Stage:
    return stage(ME, replace(BOARD), Delivery("outbox", id=DeliveryId("dlv-2")))


async def trail_of(trip: Stage) -> list[str]:
    await trip.go()
    return trip.memory.trail


@pytest.mark.parametrize("when", ["cut_before", "cut_after"])
async def test_a_power_cut_around_any_step_neither_loses_nor_repeats_a_message(when: str) -> None:
    names = await trail_of(two_deliveries())
    assert len(names) == 6

    for name in names:
        trip = two_deliveries()
        setattr(trip.memory, when, name)
        with pytest.raises(PowerCut):
            await trip.go()

        outcome = await trip.go()

        cut = name if (name, when) in _WINDOW else None
        if cut is None:
            assert outcome == Done("Sanur."), name
            assert trip.said == ["Sanur.", "Sanur."], name
        else:
            # Nobody can know whether it arrived: it is asked, and not sent again.
            assert isinstance(outcome, Wait), name
            assert outcome.review.reason is Reason.AMBIGUOUS
            assert outcome.review.about == cut.partition(":")[2]
            assert len(trip.said) == (2 if when == "cut_before" else 1), name
        keys = [parcel.key for parcel in trip.outbox.tried]
        assert len(keys) == len(set(keys)), name


# Claimed and not recorded: the claim was written, or the answer was not.
_WINDOW = {(f"{verb}:{key}", when) for key in ("dlv-me", "dlv-2") for verb, when in
           (("claim", "cut_after"), ("settle", "cut_before"))}  # fmt: skip


@pytest.mark.parametrize(("when", "thoughts"), [("cut_before", 2), ("cut_after", 1)])
async def test_a_cut_between_the_brain_and_its_record_asks_the_brain_again(
    when: str, thoughts: int
) -> None:
    trip = stage(ME)
    setattr(trip.memory, when, "move:delivering")
    with pytest.raises(PowerCut):
        await trip.go()

    assert await trip.go() == Done("Sanur.")
    assert len(trip.prompts) == thoughts


async def test_a_memory_refuses_a_second_claim_as_the_store_does() -> None:
    memory = stage(ME).memory

    assert await memory.claim(ME, "x") == 1
    with pytest.raises(LeaseLost):
        await memory.claim(memory.task.delivery[0], "x")


# What the channel answers -------------------------------------------------------------------------


async def test_a_channel_that_never_answers_leaves_a_doubt_and_is_not_asked_twice() -> None:
    class Silent(Outbox):
        async def send(self, parcel: Parcel) -> Answer:
            self.tried.append(parcel)
            await asyncio.Event().wait()
            raise AssertionError

    silent, trip = Silent(), stage(ME)
    answer = await Courier({"outbox": silent}, patience=0.01).send(ME, "hi", trip.memory.ledger)

    assert answer == Unknown("no answer within 0 s")
    assert len(silent.tried) == 1
    assert trip.memory.task.delivery[0].status is DeliveryStatus.UNKNOWN


@pytest.mark.parametrize("answer", [Unknown("the line died"), RuntimeError("the line died")])
async def test_an_answer_that_never_came_is_asked_about(answer: Unknown | Exception) -> None:
    trip = stage(ME)
    trip.outbox.answers = [answer]

    review = await trip.asks(Reason.AMBIGUOUS)

    assert "the line died" in review.question
    assert review.evidence == "Sanur."
    assert len(trip.outbox.tried) == 1
