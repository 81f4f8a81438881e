"""Remit in a LangGraph graph: a node that entrusts a task and waits for it, and a tool for a model.

    export REMIT_URL=http://127.0.0.1:7316 REMIT_TOKEN=…
    python examples/langgraph/remit_node.py "Find a park"

The token is one of its own: `remit tokens add graph --agent --scope write`. A node may be run again
after a crash or an interrupt; the same key is the same task, so nothing is done twice.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import TypedDict, cast
from urllib.request import Request, urlopen

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph


class State(TypedDict, total=False):
    """What goes through the graph: what is asked for, and what came of it."""

    request: str
    task: str
    status: str
    result: str | None
    url: str


class Seen(TypedDict):
    """What Remit tells of a task."""

    id: str
    status: str
    says: str
    waitsForOwner: bool
    url: str
    deliverable: str | None


class Remit:
    """Speaks MCP over HTTP, as far as a task needs it."""

    def __init__(self, url: str, token: str, pause: Callable[[], None] | None = None) -> None:
        self._url = url.rstrip("/") + "/mcp"
        self._token = token
        self._pause = pause or (lambda: time.sleep(2))

    def entrust(self, text: str, key: str | None = None) -> Seen:
        """Hand work over; the same key again is the same task."""
        return self._call("create_task", {"text": text} | ({"key": key} if key else {}))

    def rested(self, task: str) -> Seen:
        """The task, once nothing more happens by itself: it ended, or it waits for its owner."""
        while True:
            seen = self._call("get_task", {"id": task})
            if seen["waitsForOwner"] or seen["status"] in ("completed", "failed", "cancelled"):
                return seen
            self._pause()

    def _call(self, name: str, arguments: dict[str, str]) -> Seen:
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        sent = Request(self._url, json.dumps(body).encode(), headers)  # noqa: S310 - given by you
        with urlopen(sent, timeout=30) as answer:  # noqa: S310
            result = json.load(answer)["result"]
        if result["isError"]:
            raise RuntimeError(result["content"][0]["text"])
        return cast("Seen", result["structuredContent"])


def node(remit: Remit) -> Callable[[State, RunnableConfig], State]:
    """A node that entrusts `request` and waits; what waits for a person ends it, with where."""

    def entrust(state: State, config: RunnableConfig) -> State:
        thread = config.get("configurable", {}).get("thread_id", "")
        same = hashlib.sha256(f"{thread}\x1f{state['request']}".encode()).hexdigest()
        seen = remit.rested(remit.entrust(state["request"], same)["id"])
        return {
            "task": seen["id"],
            "status": "waits" if seen["waitsForOwner"] else seen["status"],
            "result": seen["deliverable"],
            "url": seen["url"],
        }

    return entrust


def remit_tool(remit: Remit) -> BaseTool:
    """The same as a tool: a model hands work over and reads what came of it."""

    @tool
    def entrust_task(request: str) -> str:
        """Have Remit do a piece of work, checked, and wait for its result."""
        seen = remit.rested(remit.entrust(request)["id"])
        return seen["deliverable"] or seen["says"]

    return entrust_task


def graph(remit: Remit) -> "CompiledStateGraph[State, None, State, State]":
    """The smallest graph there is."""
    made = StateGraph(State)
    made.add_node("remit", node(remit))
    made.add_edge(START, "remit")
    made.add_edge("remit", END)
    return made.compile()


if __name__ == "__main__":
    here = Remit(os.environ["REMIT_URL"], os.environ["REMIT_TOKEN"])
    asked: State = {"request": " ".join(sys.argv[1:])}
    came = graph(here).invoke(asked, {"configurable": {"thread_id": "example"}})
    print(came["result"] or f"{came['status']}: {came['url']}")
