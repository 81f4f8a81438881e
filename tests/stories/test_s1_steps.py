"""S1: every point of a request is worked on, in order, and ticked when it is done."""

from pathlib import Path

from remit.model.plan import ItemStatus
from remit.model.status import Status
from remit.model.view import View, show
from remit.testing import World, script

STEPS = ("Research Bangkok attractions for kids", "Compare prices", "Write the list")
LIST = "<deliverable>Lumphini Park, KidZania, Sea Life.</deliverable>"


async def test_each_step_is_given_to_the_brain_in_order_and_ticked(tmp_path: Path) -> None:
    brain = script([{"reply": LIST, "done": [1, 2, 3]}])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add(
            "Research Bangkok attractions for kids and send me the list", work=STEPS
        )
        assert [item.status for item in task.work] == [ItemStatus.PENDING] * 3
        await world.run()
        ended = await world.get(task.id)

    places = [brain.heard[0].index(f"- {step}") for step in STEPS]
    assert places == sorted(places)
    assert ended.status is Status.COMPLETED
    assert [item.status for item in ended.work] == [ItemStatus.COMPLETED] * 3
    assert len(world.outbox.sent) == 1


async def test_what_was_not_ticked_is_not_done(tmp_path: Path) -> None:
    brain = script([{"reply": LIST, "done": [1, 3]}])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add("Bangkok", work=STEPS)
        await world.run()
        ended = await world.get(task.id)

    ticked = [subtask["done"] for subtask in show(ended, View.S4)["subtasks"]]  # type: ignore[union-attr,index,call-overload]
    assert ticked == [True, False, True]


async def test_the_words_of_the_request_are_kept_to_the_letter(tmp_path: Path) -> None:
    words = "Research Bangkok.\n\nAnd send me the list on WhatsApp!"
    async with World(tmp_path, brain=script([{"reply": LIST}])) as world:
        task = await world.add(words)
        await world.run()
        kept = (await world.get(task.id)).request

    assert kept is not None
    assert kept.text == words
    assert "".join(words[clause.start : clause.end] for clause in kept.clauses) == words
    assert all(clause.became is not None for clause in kept.clauses)


async def test_work_that_is_sent_back_is_done_with_every_step_again(tmp_path: Path) -> None:
    brain = script([{"reply": "no tags", "done": [1], "times": 1}, {"reply": LIST, "done": [1, 2]}])
    async with World(tmp_path, brain=brain) as world:
        task = await world.add("Bangkok", work=STEPS)
        await world.run()
        held = await world.get(task.id)
        assert [item.status for item in held.work] == ["completed", "pending", "pending"]
        review = (await world.waiting())[0]
        await world.decide(review, review.options[1], "Use the tags.")
        await world.run()
        ended = await world.get(task.id)

    assert [item.status for item in ended.work] == ["completed", "completed", "pending"]
