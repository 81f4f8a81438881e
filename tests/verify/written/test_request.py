"""A text keeps to the request: what contradicts it is caught, what nobody can decide is said."""

import json
import re
from pathlib import Path

import pytest

from remit.model.contract import NOT_DECIDED, Result
from remit.model.proof import ProofState, proof_of
from remit.model.status import Status
from remit.testing import World, script
from tests.live.place import Place, brain
from tests.live.vendor import Heard, Order, Vendor
from tests.live.wire import Answer
from tests.tables import for_each, table
from tests.verify.written.cases import Claim, claims, findings, task_for
from tests.verify.written.desk import look, page

HALVES = ("claims", "claims_held")


async def _failed(claim: Claim) -> str:
    found = await findings(claim.case)
    failed = [f"{each.activity}: {each.error}" for each in found if each.result is Result.FAIL]
    return "; ".join(failed)


@for_each("half", HALVES)
async def test_texts_that_keep_to_the_request_pass_and_others_are_caught(half: str) -> None:
    told = [(each, await _failed(each)) for each in claims(half)]

    assert len(told) == 36
    assert [f"{each.case.id}: {why}" for each, why in told if why and not each.lie] == []
    assert [each.case.id for each, why in told if each.lie and not why] == []


INVITE = "Write an invitation to the party on 12 May at 7 pm in Lisbon, entry is 15 euros"


@for_each(("text", "found"), table(__file__, "compared"))
async def test_a_message_is_compared_with_what_its_owner_dictated(
    text: str, found: str | None
) -> None:
    finding = await look("request", text, ask=INVITE)

    assert (found or "") in (finding.error or "")
    undecided = (found or "").startswith(NOT_DECIDED)
    expected = Result.SKIPPED if undecided else Result.FAIL if found else Result.PASS
    assert finding.result is expected


COUNTED = [
    ("6 items", "- a\n- b\n- c", Result.FAIL),
    ("6 items", "Paris, Rome and Oslo.", Result.FAIL),
    ("3 items", "Paris, Rome and Oslo.", Result.PASS),
    ("3 items", "## Paris\nLarge.\n\n## Rome\n- old\n- warm\n\n## Oslo\nCold.", Result.PASS),
    ("2 items", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", Result.PASS),
    ("3 items", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", Result.FAIL),
    ("perhaps 3 items", "- a\n- b", Result.SKIPPED),
    ("3 items", "Go to Rome, it is old. Then, if you can, to Oslo, and rest.", Result.SKIPPED),
]


@for_each(("pattern", "text", "result"), COUNTED)
async def test_things_are_counted_by_the_structure_of_the_text(
    pattern: str, text: str, result: Result
) -> None:
    assert (await look("length", text, pattern=pattern)).result is result


@for_each(
    ("told", "stands"),
    [("4 times as much", True), ("in a ratio of 2:8", True), ("in a ratio of 2:7", False)],
)
async def test_a_ratio_is_worked_out_again(told: str, stands: bool) -> None:
    read = page("Travel 1,200 euros. Rent 4,800 euros.")
    text = f"Travel is 1,200 euros and rent 4,800 euros: they stand {told}."

    found = await look("grounded", text, read, ask="Compare travel with rent")

    assert (found.result is Result.PASS) is stands, found.error


async def test_a_lie_is_not_sent_and_its_owner_is_told_what_it_contradicts(tmp_path: Path) -> None:
    lie = "The party in Lisbon is on 13 May at 7 pm. Entry is 15 euros."
    brain = script([{"reply": f"<deliverable>{lie}</deliverable>"} for _ in range(4)])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add(INVITE)
        await world.run()

        (review,) = await world.waiting()
        assert "the request says “12 May”, the text “13 May”" in review.question
        assert (await world.get(task.id)).status is Status.NEEDS_REVIEW
        assert world.outbox.sent == []


HAIKU = "Red leaves on the pond,\na heron waits in the mist;\nfar away, a bell."


def _critic(heard: Heard, *, holds: bool | None) -> Order:
    """The model writes a haiku, and judges one; without `holds` it says nothing of use."""
    fence = re.search(r"the two lines with (\w+)", heard.text)
    if fence is None:
        return Order(Answer(f"<deliverable>{HAIKU}</deliverable>"))
    rules = re.findall(r"\\n- ([\w-]+): ", heard.text)
    shown = {"holds": holds, "line": 1, "quote": "Red leaves", "says": "autumn, or not"}
    points = [{"rule": each, **shown} for each in rules]
    judged = {"fence": fence[1], "pass": holds, "rules": points}
    return Order(Answer("Well." if holds is None else json.dumps(judged)))


@pytest.mark.parametrize(
    ("holds", "proof"),
    [(True, ProofState.VERIFIED), (None, ProofState.PARTLY), (False, ProofState.OPEN)],
)
async def test_a_model_judges_what_code_cannot_decide(
    tmp_path: Path, holds: bool | None, proof: ProofState
) -> None:
    async with Vendor() as vendor, brain(vendor, Place.CHAT) as mind:
        vendor.decide = lambda heard: _critic(heard, holds=holds)
        async with World(tmp_path, brain=mind) as world:
            task = await world.add("Write a haiku about autumn")
            await world.run()

            assert proof_of(await world.get(task.id)) is proof
            assert len(world.outbox.sent) == (0 if proof is ProofState.OPEN else 1)


async def test_without_a_model_it_is_sent_and_said_to_be_not_verified(tmp_path: Path) -> None:
    brain = script([{"reply": f"<deliverable>{HAIKU}</deliverable>"}])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add("Write a haiku about autumn")
        await world.run()

        done = await world.get(task.id)
        assert done.status is Status.COMPLETED
        assert proof_of(done) is ProofState.PARTLY
        assert done.verdict is not None
        notes = [each.error or "" for each in done.verdict.findings]
        assert [each for each in notes if each.startswith(NOT_DECIDED)]


async def test_when_and_where_to_send_is_no_part_of_the_text() -> None:
    ask = "Write a note about the garden and send it on 12 May at 7 am"
    found = await look("request", "The garden is in bloom, and the bees are back.", ask=ask)

    assert task_for(ask).request is not None
    assert found.result is Result.PASS, found.error
