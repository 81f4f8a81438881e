"""The spine and what the brain has done: in order, once, and through any cut of the power."""

from dataclasses import dataclass, field

import pytest

from remit.brain.think import Thinker
from remit.brain.tools import Toolbox
from remit.delivery.courier import Courier
from remit.model.codec import Json
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Taint, Task
from remit.plan import Planner
from remit.run import MOST_CALLS, MOST_TURNS, Done, Outcome, RunPorts, Wait, run
from remit.testing import MemorySteps, Outbox, PowerCut, ScriptedBrain, script
from remit.verify import Verifier
from remit.verify.written import CHECKS
from tests.brain.tooling import SENDS, once, task, use
from tests.stage import ME, NoRecall

TAKES: dict[str, Json] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}


@dataclass
class Deed:
    """Something that is done, and counted."""

    name: str
    set_to: Policy = Policy.ALLOW
    may_repeat: bool = False
    warning: str = ""
    taint: Taint = Taint.OWNER
    results: list[ToolResult] = field(default_factory=list)  # then: it went well
    done: list[Json] = field(default_factory=list)

    @property
    def tool(self) -> Tool:
        return Tool(self.name, "Does it.", TAKES)

    def policy(self, task: Task) -> Policy:
        del task
        return self.set_to

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        del task
        self.done.append(call.args["n"])
        well = ToolResult(call.id, f"deed {call.args['n']} is done", taint=self.taint)
        return self.results.pop(0) if self.results else well


@dataclass
class Stage:
    memory: MemorySteps
    brain: ScriptedBrain
    deeds: tuple[Deed, ...]
    outbox: Outbox = field(default_factory=Outbox)

    async def go(self) -> Outcome:
        channels = {"outbox": self.outbox}
        box = Toolbox(self.deeds)
        rooms = RunPorts(
            Planner(),
            NoRecall(),
            Thinker(self.brain, channels, tools=box),
            Verifier(CHECKS),
            Courier(channels),
            tools=box,
        )
        return await run(rooms, self.memory)

    async def review(self) -> Review:
        outcome = await self.go()
        assert isinstance(outcome, Wait)
        return outcome.review


def stage(*deeds: Deed, entries: tuple[Json, ...] = ()) -> Stage:
    calls = [use(deed.name, n=n) for n, deed in enumerate(deeds)]
    brain = script([*(entries or (once(*calls),)), SENDS])
    running = task(status=Status.RUNNING, delivery=(ME,), lease=1)
    return Stage(MemorySteps(running), brain, deeds)


async def test_calls_are_done_in_order_and_their_results_are_the_next_prompt() -> None:
    there = stage(Deed("a"), Deed("b", may_repeat=True))

    assert isinstance(await there.go(), Done)
    assert [deed.done for deed in there.deeds] == [[0], [1]]
    assert there.brain.heard[-1].endswith("deed 0 is done\n\ndeed 1 is done")
    steps = [name for name in there.memory.trail if name.startswith(("use", "execute"))]
    assert steps == ["execute_tool", "use:0:0:begin:0", "use:0:0:0", "use:0:1"]


async def test_an_asked_call_holds_those_after_it_and_those_before_it_stay_done() -> None:
    there = stage(Deed("a"), Deed("b", Policy.ASK), Deed("c"))
    review = await there.review()

    assert [deed.done for deed in there.deeds] == [[0], [], []]
    assert review.reason is Reason.APPROVAL
    assert review.digest == ToolCall("x", "b", {"n": 1}).digest

    there.memory.decide(review, ReviewAnswer.APPROVE)

    assert isinstance(await there.go(), Done)
    assert [deed.done for deed in there.deeds] == [[0], [1], [2]]


async def test_edited_arguments_are_the_ones_that_are_used_even_after_a_doubt() -> None:
    doubt = ToolResult("x", "It broke off.", failed=True, doubt=True)
    there = stage(Deed("a", Policy.ASK, results=[doubt]))
    there.memory.decide(await there.review(), ReviewAnswer.EDIT, '{"n": 7}')
    review = await there.review()

    assert review.reason is Reason.AMBIGUOUS
    assert "whether a was done. It broke off. Was it?" in review.question

    there.memory.decide(review, ReviewAnswer.RESEND)

    assert isinstance(await there.go(), Done)
    assert there.deeds[0].done == [7, 7]


async def test_an_approval_is_for_one_call_in_one_place() -> None:
    calls = (once(use("a", n=1)), once(use("a", n=1)))
    there = stage(Deed("a", Policy.ASK), entries=calls)
    first = await there.review()
    there.memory.decide(first, ReviewAnswer.APPROVE)
    second = await there.review()

    assert first.key != second.key
    assert first.digest == second.digest
    assert there.deeds[0].done == [1]


async def test_a_warning_stands_in_the_question() -> None:
    review = await stage(Deed("a", Policy.ASK, warning="It has changed. ")).review()

    assert review.question.startswith("It has changed. May it use a")


CALLS = [use("a", n=0), use("b", n=1), use("c", n=2)]
LAST = ("use:0:0:0", "use:0:2:0")  # what is done once, and written down
STEPS = (
    "execute_tool",
    "use:0:0:begin:0",
    "use:0:0:0",
    "use:0:1",
    "use:0:2:begin:0",
    "use:0:2:0",
    "move:delivering",
)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", STEPS)
async def test_no_cut_of_the_power_makes_anything_happen_twice(when: str, name: str) -> None:
    deeds = (Deed("a"), Deed("b", may_repeat=True), Deed("c"))
    there = stage(*deeds, entries=({"when": "deed ", **SENDS}, {"use": list(CALLS)}))
    setattr(there.memory, f"cut_{when}", name)
    with pytest.raises(PowerCut):
        await there.go()
    outcome = await there.go()

    # Only where a call was begun and its end is not on record does the owner have to say.
    begun = name in LAST if when == "before" else "begin" in name
    assert isinstance(outcome, Wait) == begun
    if isinstance(outcome, Wait):
        assert outcome.review.reason is Reason.AMBIGUOUS
        there.memory.decide(outcome.review, ReviewAnswer.ARRIVED)
        assert isinstance(await there.go(), Done)
    a, b, c = (len(deed.done) for deed in deeds)
    assert max(a, c) <= 1
    assert b == 1 + ((when, name) == ("before", "use:0:1"))
    assert [parcel.body for parcel in there.outbox.sent] == ["Done."]


async def test_a_brain_that_comes_to_no_end_is_stopped_by_a_question_now_and_then() -> None:
    there = stage(Deed("a", may_repeat=True), entries=({"use": use("a", n=1)},))
    first = await there.review()

    assert first.reason is Reason.INPUT
    assert first.question.startswith(f"It has used tools in {MOST_TURNS} turns")
    assert len(there.deeds[0].done) == MOST_TURNS

    there.memory.decide(first, ReviewAnswer.ANSWER, "Go on")
    second = await there.review()

    assert second.key != first.key
    assert len(there.deeds[0].done) == 2 * MOST_TURNS


async def test_of_many_calls_at_once_the_first_are_done_and_the_others_told_so() -> None:
    calls = once(*(use("a", n=n) for n in range(MOST_CALLS + 2)))
    there = stage(Deed("a", may_repeat=True), entries=(calls,))

    assert isinstance(await there.go(), Done)
    assert there.deeds[0].done == list(range(MOST_CALLS))
    assert there.brain.heard[-1].count("Not done: at most") == 2
