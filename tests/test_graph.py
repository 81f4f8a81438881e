"""S4's graph, read back from the journal alone: which node read and wrote what."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import pytest

from remit.brain.scripted import parse
from remit.model.codec import Json, JsonMap
from remit.model.ids import ReviewId
from remit.model.review import Decision, ReviewAnswer
from remit.model.status import Status
from tests.server.served import Served
from tests.test_docs import DOCS, _table

# S4, section 5; what a list of messages becomes is a task.
S4: Final = {
    "plan_step": ({"state.messages"}, {"state.tasks"}),
    "prioritise": ({"task.priority"}, {"task.priority", "task.status READY"}),
    "retrieve_context": ({"task.context"}, {"state.context_docs"}),
    "execute_tool": ({"task.subtasks"}, {"task.subtasks[x].done", "task.status"}),
    "generate_response": (
        {"task.result_summary", "state.tool_output"},
        {"task.status DONE"},
    ),
}
SCRIPT: Final[list[Json]] = [
    {"when": "visa", "ask": "Single or multiple entry?", "times": 1},
    {"reply": "✓ STEP 1: looked\n✓ STEP 2: wrote\n<deliverable>Lumphini Park.</deliverable>"},
]
_BEGUN: Final = {Status.RUNNING, Status.NEEDS_REVIEW, Status.VERIFYING, Status.DELIVERING}
_NODES_STATUS: Final = {"ready": "task.status READY", "completed": "task.status DONE"}


@dataclass
class Trace:
    """What the journal has told so far, and which node was told to write what."""

    known: set[str] = field(default_factory=set)
    reads: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    writes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    order: list[str] = field(default_factory=list)

    def visit(self, node: str, written: Iterator[str]) -> None:
        """A node was here: what S4 has it read must have been told before, or with it."""
        wrote = set(written)
        self.known |= wrote
        self.writes[node] |= wrote
        self.reads[node] |= S4[node][0] & self.known


def traced(log: list[JsonMap]) -> Trace:
    """Follow a task's journal; nothing else is looked at."""
    trace = Trace()
    for line in log:
        if line["type"] == "meta":
            trace.known |= set(_first(line))
            trace.visit("plan_step", iter(("state.tasks",)))
            trace.order.append("plan_step")
            continue
        data = cast("JsonMap", line["data"])
        if line.get("content"):
            trace.known.add("state.tool_output")
        if "summary" in data:
            trace.known.add("task.result_summary")
        node = _node(line, data)
        if node is not None:
            trace.visit(node, _written(node, data))
        # A claim is made for the node that works, before the others have had their turn.
        if node not in (None, *trace.order) and line["actor"] != "engine":
            trace.order.append(str(node))
    return trace


def _first(line: JsonMap) -> Iterator[str]:
    found = {
        "instructions": "state.messages",
        "priority": "task.priority",
        "context": "task.context",
        "work": "task.subtasks",
    }
    return (name for part, name in found.items() if line.get(part))


def _node(line: JsonMap, data: JsonMap) -> str | None:
    step = str(data.get("step", "")).partition(":")[0]
    if step in S4:
        return step
    if line["actor"] == "prioritise":
        return "prioritise"
    # Whoever takes it up or asks acts for the node that works: S4 has no other name for them.
    begins = line["actor"] in ("engine", "executor") and data.get("to") in _BEGUN
    return "execute_tool" if begins else None


def _written(node: str, data: JsonMap) -> Iterator[str]:
    if "priority" in data:
        yield "task.priority"
    if "recalled" in data:
        yield "state.context_docs"
    if data.get("done"):
        yield "task.subtasks[x].done"
    if "to" in data:
        yield "task.status" if node == "execute_tool" else _NODES_STATUS[str(data["to"])]


@pytest.fixture
def log(tmp_path: Path) -> list[JsonMap]:
    """A task that is ranked, asks, is answered, and is done: by the real engine."""
    with Served(tmp_path, works=True, brain=parse(SCRIPT)) as app:
        more: JsonMap = {"work": ["look", "write"], "context": {"person": "Anna"}}
        task = app.add("Find a park and a visa", priority="high", **more)
        app.settle()
        (asked,) = app.do(app.app.inbox.waiting())
        answer = Decision(ReviewAnswer.ANSWER, "Single")
        app.do(app.app.inbox.decide(ReviewId(str(asked.id)), answer))
        app.settle()
        assert app.stored(task).status is Status.COMPLETED
        return cast("list[JsonMap]", app.get(f"/api/tasks/{task}/log?limit=1000")["log"])


def test_each_node_wrote_what_s4_has_it_write_and_nothing_else(log: list[JsonMap]) -> None:
    trace = traced(log)

    assert dict(trace.writes) == {node: writes for node, (_, writes) in S4.items()}


def test_what_each_node_reads_was_in_the_journal_before_it(log: list[JsonMap]) -> None:
    trace = traced(log)

    assert dict(trace.reads) == {node: reads for node, (reads, _) in S4.items()}


def test_the_nodes_come_in_the_order_of_s4(log: list[JsonMap]) -> None:
    assert traced(log).order == list(S4)


@pytest.mark.parametrize("lost", ["recalled", "done", "priority", "context", "summary"])
def test_a_journal_that_left_something_out_would_be_seen(log: list[JsonMap], lost: str) -> None:
    """The trace is of the journal and not of the table it is compared with."""
    for line in log:
        line.pop(lost, None)
        cast("JsonMap", line.get("data", {})).pop(lost, None)
    trace = traced(log)

    whole = {node: (trace.reads[node], trace.writes[node]) for node in S4}
    assert whole != S4


def test_the_table_of_the_graph_in_the_docs_is_s4_s() -> None:
    told = {
        row[0].strip("`"): (_names(row[1]), _names(row[2]))
        for row in _table(DOCS / "architecture.md", "node")
    }

    assert told == S4


def _names(cell: str) -> set[str]:
    return {name.strip().strip("`") for name in cell.split(",")}
