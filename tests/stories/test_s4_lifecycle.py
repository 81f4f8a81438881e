"""S4: NEW, READY, IN_PROGRESS, WAITING_HITL, IN_PROGRESS, DONE; each set by whom the table says."""

from datetime import timedelta
from pathlib import Path

from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.review import ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.view import JsonView, show
from tests.engine.rig import Rig, SlowBrain, SlowOutbox

NODES = ["plan_step", "prioritise", "retrieve_context", "execute_tool", "generate_response"]


async def s4(rig: Rig, task_id: TaskId) -> str:
    return str(show(await rig.get(task_id), JsonView.S4)["status"])


async def test_the_lifecycle_of_the_specification_through_its_own_view(tmp_path: Path) -> None:
    brain, outbox = SlowBrain(), SlowOutbox()
    async with Rig(tmp_path, brain=brain, channels={"outbox": outbox}) as rig:
        task = await rig.admit("Write to Dr. Smith", delivery=[Delivery("outbox", "Dr. Smith")])
        seen = [str(show(task, JsonView.S4)["status"])]
        await brain.reached()
        seen.append(await s4(rig, task.id))
        brain.open.set()
        await rig.run(timedelta(days=2))
        seen.append(await s4(rig, task.id))
        await rig.decide((await rig.waiting())[0], ReviewAnswer.APPROVE)
        await outbox.gate.reached()
        seen.append(await s4(rig, task.id))
        outbox.gate.open.set()
        await rig.run()
        seen.append(await s4(rig, task.id))
        history = await rig.history(task.id)

    assert seen == ["NEW", "IN_PROGRESS", "WAITING_HITL", "IN_PROGRESS", "DONE"]
    by = {str(e.data["to"]): e.actor.value for e in history if e.kind is EventKind.TASK_MOVED}
    assert by["ready"] == "prioritise"
    assert by["needs_review"] == "courier"
    assert by["completed"] == "courier"
    back = [e.actor.value for e in history if e.data.get("was") == "needs_review"]
    assert back == ["owner"]


async def test_a_scheduled_task_is_ready_until_its_time(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        task = await rig.add("later", content="x", at=rig.now + timedelta(days=1))
        await rig.run()
        assert await s4(rig, task.id) == "READY"
        await rig.app.owner.pause(task.id)
        assert await s4(rig, task.id) == "READY"  # nobody waits for a human yet
        await rig.app.owner.resume(task.id)
        await rig.run(timedelta(days=1))
        assert await s4(rig, task.id) == "DONE"


def nodes(history: list[Event]) -> list[str]:
    """The nodes of the graph, in the order in which the journal tells of them."""
    told = []
    for event in history:
        if event.actor == "prioritise":
            told.append("prioritise")
        elif "step" in event.data:
            told.append(str(event.data["step"]))
    return told


async def test_every_node_of_the_graph_is_in_the_journal_and_costs_no_write_of_its_own(
    tmp_path: Path,
) -> None:
    async with Rig(tmp_path) as rig:
        task = await rig.admit("Think")
        await rig.run()
        history = await rig.history(task.id)

        # What S4 does not know is the proof, which comes between the work and the response.
        assert sorted(nodes(history)) == sorted([*NODES, "verify"])
        assert nodes(history)[-1] == "generate_response"
        assert nodes(history).index("execute_tool") == 3
        done = history[-1]
        assert (done.data["to"], done.data["summary"]) == ("completed", "Hi")
        kept = show(await rig.get(task.id), JsonView.S4)
        assert kept["result_summary"] == "Hi"
        assert kept["tool_output"] == "Thought about it. <deliverable>Hi</deliverable>"
        assert rig.db.writes["record_steps"] == 0  # the work and its proof go with the moves
        assert rig.db.writes["finish"] == 1
