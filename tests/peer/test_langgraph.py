"""The example for LangGraph: it runs, entrusts once, and leaves to the owner what is his."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from remit.model.codec import JsonMap
from remit.model.status import Status
from remit.model.task import Creator, Taint
from tests.peer.peers import Peers

EXAMPLE: Final = Path(__file__).parents[2] / "examples/langgraph/remit_node.py"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peers]:
    with Peers(tmp_path_factory.mktemp("graph")) as opened:
        yield opened


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = spec_from_file_location("remit_node", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["remit_node"] = module  # its annotations are read by name
    spec.loader.exec_module(module)
    return module


def _remit(app: Peers, example: ModuleType) -> object:
    return example.Remit(app.url, app.agent("graph", "write"), app.settle)


def _invoke(app: Peers, example: ModuleType, words: str, thread: str) -> JsonMap:
    graph = example.graph(_remit(app, example))
    found: JsonMap = graph.invoke({"request": words}, {"configurable": {"thread_id": thread}})
    return found


def test_a_node_entrusts_and_goes_on_with_the_deliverable(app: Peers, example: ModuleType) -> None:
    came = _invoke(app, example, "Find a park", "one")
    task = app.stored(str(came["task"]))

    assert (came["status"], came["result"]) == ("completed", "Lumphini Park.")
    assert (task.created_by, task.taint) == (Creator.AGENT, Taint.CONTACT)


def test_a_node_that_is_run_again_entrusts_nothing_twice(app: Peers, example: ModuleType) -> None:
    first, again = (_invoke(app, example, "Find a lake", "two")["task"] for _ in range(2))
    other = _invoke(app, example, "Find a lake", "three")["task"]

    assert first == again
    assert other != first


def test_what_waits_for_the_owner_ends_the_node_with_its_address(
    app: Peers, example: ModuleType
) -> None:
    came = _invoke(app, example, "Renew my passport", "four")

    assert (came["status"], came["result"]) == ("waits", None)
    assert came["url"] == f"{app.url}/tasks/{came['task']}"
    assert app.stored(str(came["task"])).status is Status.NEEDS_REVIEW


def test_the_tool_gives_a_model_what_was_delivered(app: Peers, example: ModuleType) -> None:
    tool = example.remit_tool(_remit(app, example))

    assert tool.name == "entrust_task"
    assert tool.invoke({"request": "Find a hill"}) == "Lumphini Park."
    assert "failed" in tool.invoke({"request": "A hopeless thing"})


def test_a_refusal_is_a_sentence(app: Peers, example: ModuleType) -> None:
    remit = example.Remit(app.url, app.agent("graph reader", "read"), app.settle)

    with pytest.raises(RuntimeError, match="needs the scope `write`"):
        remit.entrust("Find a park", "k")


def test_the_example_runs_as_a_program(app: Peers) -> None:
    env = os.environ | {"REMIT_URL": app.url, "REMIT_TOKEN": app.agent("graph", "write")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "Find", "a", "meadow"],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.stdout.strip() == "Lumphini Park.", done.stderr
