"""A Starlette app that takes tasks and runs each on LangGraph with its SQLite saver.

The input is checkpointed before a task is acknowledged; the graph runs behind the answer.
"""

import asyncio
import json
import os
import re
import socket
import sys
from pathlib import Path
from typing import TypedDict

import uvicorn
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bench.peers.langgraph_peer import prepare_store

IN_FLIGHT = 64
_MARKED = re.compile(r"<deliverable>(.*?)</deliverable>", re.DOTALL)


class State(TypedDict, total=False):
    """What a task carries from node to node."""

    title: str
    plan: str
    reply: str
    deliverable: str
    delivered: bool


Graph = CompiledStateGraph[State, None, State, State]


async def _plan(state: State) -> State:
    return {"plan": f"Answer: {state['title']}"}


async def _think(state: State) -> State:
    del state
    return {"reply": "I looked. <deliverable>All is well.</deliverable>"}


async def _gate(state: State) -> State:
    found = _MARKED.search(state["reply"])
    return {"deliverable": found[1] if found else ""}


async def _deliver(state: State) -> State:
    return {"delivered": bool(state["deliverable"])}


class TaskApp:
    """Acknowledges, works off, and counts what is delivered."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._room = asyncio.Semaphore(IN_FLIGHT)
        self._running: set[asyncio.Task[None]] = set()
        self._delivered = self._taken = 0
        self.app = Starlette(
            routes=[
                Route("/api/tasks", self._create, methods=["POST"]),
                Route("/delivered", self._count),
            ]
        )

    async def _create(self, request: Request) -> Response:
        body = await request.json()
        self._taken += 1
        task_id = f"task-{self._taken}"
        config: RunnableConfig = {"configurable": {"thread_id": task_id}}
        await self._graph.aupdate_state(config, {"title": body["title"]}, as_node=START)
        running = asyncio.create_task(self._work(config))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return JSONResponse({"id": task_id, "title": body["title"]}, 201)

    async def _work(self, config: RunnableConfig) -> None:
        async with self._room:
            end = await self._graph.ainvoke(None, config, durability="sync")
        self._delivered += bool(end["delivered"])

    async def _count(self, request: Request) -> Response:
        del request
        return JSONResponse({"delivered": self._delivered})


def _build_graph(saver: AsyncSqliteSaver) -> Graph:
    builder = StateGraph(State)
    before = START
    for name, node in (("plan", _plan), ("think", _think), ("gate", _gate), ("deliver", _deliver)):
        builder.add_node(f"do_{name}", node)
        builder.add_edge(before, f"do_{name}")
        before = f"do_{name}"
    builder.add_edge(before, END)
    return builder.compile(checkpointer=saver)


async def _serve(home: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(home / "langgraph.db")) as saver:
        await prepare_store(saver)
        app = TaskApp(_build_graph(saver)).app
        # With the protocol named, as in uvicorn's own socket; otherwise each answer waits 40 ms.
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            config = uvicorn.Config(app, access_log=False, log_config=None)
            port = listener.getsockname()[1]
            print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
            await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    os.environ["LANGSMITH_TRACING"] = "false"  # a benchmark calls nobody
    asyncio.run(_serve(Path(sys.argv[1])))
