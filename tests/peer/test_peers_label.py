"""What no check stands for is labelled for other agents, too; why its owner took it is his."""

from msgspec.structs import replace

from remit.a2a import shapes as a2a
from remit.mcp import shapes as mcp
from remit.model.contract import Contract, ContractType, Criterion, Finding, Result, Verdict
from remit.model.proof import TAKEN
from remit.model.task import Task
from remit.peer.agent_operations import AgentTaskView
from tests.model.examples import COMPLETED
from tests.tables import for_each

ADVICE = replace(COMPLETED, contract=Contract(ContractType.ADVISORY), verdict=None)
CODE = Contract(ContractType.VERIFIABLE, (Criterion("lint", "clean"),))
UNPROVEN = replace(
    COMPLETED,
    contract=CODE,
    verdict=Verdict((Finding("lint", Result.FAIL, "no"),)),
    assigned_agent="project:shop",
    tool_output=f"{TAKEN}between us: nobody will look",
)
PROVEN = replace(UNPROVEN, verdict=Verdict((Finding("lint", Result.PASS),)))


@for_each(
    ("task", "why"),
    [
        (ADVICE, "Not verified: it is advice, which no check can prove."),
        (UNPROVEN, "Not verified: its owner took it although its checks did not pass."),
    ],
)
def test_a_result_that_no_check_stands_for_is_labelled(task: Task, why: str) -> None:
    seen = AgentTaskView(task, None, "http://127.0.0.1/")
    made = a2a.artifact(seen)

    assert made is not None
    assert isinstance(made["metadata"], dict)
    assert made["metadata"]["notVerified"] == why
    assert mcp.task(seen)["notVerified"] == why
    assert why in mcp.text(seen)
    assert why in str(a2a.status(seen))
    assert "between us" not in f"{made['metadata']}{mcp.task(seen)}{a2a.status(seen)}"


def test_a_result_that_is_proven_has_no_label() -> None:
    seen = AgentTaskView(PROVEN, None, "http://127.0.0.1/")
    made = a2a.artifact(seen)

    assert made is not None
    assert isinstance(made["metadata"], dict)
    assert (made["metadata"]["notVerified"], mcp.task(seen)["notVerified"]) == (None, None)
    assert "Not verified" not in mcp.text(seen)
