"""S1, from the owner's own words: each part of a request is read, worked on and accounted for."""

from pathlib import Path

from remit.model.codec import JsonMap
from remit.model.contract import ClauseOutcome, ItemStatus
from remit.model.status import Status
from remit.testing import Outbox, World, script

SAID = "Attractions: Lumphini Park (free), KidZania (dear), Sea Life. Prices: the park is cheapest."
LIST = f"<deliverable>{SAID}</deliverable>"


async def test_no_part_of_a_request_is_dropped_and_one_without_an_answer_goes_back_first(
    tmp_path: Path,
) -> None:
    words = "Research Bangkok attractions for kids, compare prices and send me the list on WhatsApp"
    half: JsonMap = {"reply": "<deliverable>Lumphini Park, KidZania.</deliverable>", "times": 1}
    brain, whatsapp = script([half, {"reply": LIST, "done": [1, 2]}]), Outbox("whatsapp")
    async with World(tmp_path, brain=brain, channels={"whatsapp": whatsapp}) as world:
        (task,) = (await world.hear(words)).tasks
        await world.run()
        ended = await world.get(task.id)

    assert task.request is not None
    became = {clause.became for clause in task.request.clauses}
    assert became == {ClauseOutcome.WORK, ClauseOutcome.DELIVERY}
    assert "compare prices" in brain.heard[1].split("Not proven yet")[1]
    assert [parcel.body for parcel in whatsapp.sent] == [SAID]
    assert ended.status is Status.COMPLETED
    assert [item.status for item in ended.work] == [ItemStatus.COMPLETED] * len(task.work)
    assert ended.verdict is not None
    assert ended.verdict.passed


async def test_a_checklist_is_worked_through_and_what_is_ticked_is_left(tmp_path: Path) -> None:
    words = "# Bangkok\n- [ ] research attractions\n- [x] book flights\n- [ ] compare prices\n"
    brain = script([{"reply": LIST, "done": [1, 2]}])
    async with World(tmp_path, brain=brain) as world:
        (task,) = (await world.hear(words)).tasks
        await world.run()
        ended = await world.get(task.id)

    assert [item.description for item in ended.work] == ["research attractions", "compare prices"]
    assert "book flights" not in brain.heard[0].split("## Work items")[1]
    assert ended.contract is not None
    assert ended.contract.criteria[0].pattern == "1. research attractions\n2. compare prices"
    assert ended.status is Status.COMPLETED
