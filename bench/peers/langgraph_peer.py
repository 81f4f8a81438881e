"""LangGraph: a graph of four nodes, every step written by AsyncSqliteSaver before the next."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TypeAlias, TypedDict

import httpx2
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from bench.http_load import ServerUnderLoad, measure, running
from bench.measure import WARM_UP, Fact, Measurement, Stopwatch, require_count, require_durable
from tests.store.postgres import postgres

IN_FLIGHT = 50
NODES = ("ready", "running", "delivering", "done")


class State(TypedDict):
    """What a task carries from node to node."""

    number: int
    steps: int


Graph: TypeAlias = CompiledStateGraph[State, None, State, State]


def run(size: int, home: Path) -> Measurement:
    """Take `size` threads through the graph, fifty at a time."""
    os.environ["LANGSMITH_TRACING"] = "false"  # a benchmark calls nobody
    return asyncio.run(_run_threads(size, home))


async def _run_threads(size: int, home: Path) -> Measurement:
    async with AsyncSqliteSaver.from_conn_string(str(home / "langgraph.db")) as saver:
        facts = await prepare_store(saver)
        graph = _build_graph(saver)
        gate = asyncio.Semaphore(IN_FLIGHT)
        watch = Stopwatch()
        await _push(graph, gate, range(WARM_UP))
        total = WARM_UP + size
        with watch:
            await _push(graph, gate, range(WARM_UP, total))
        await _require_checkpoints(saver, total)
    return watch.rate(size, {**facts, "in_flight": IN_FLIGHT, "durability": "sync"})


async def prepare_store(saver: AsyncSqliteSaver) -> dict[str, Fact]:
    """Make its tables, and every commit durable."""
    await saver.setup()
    await saver.conn.execute("PRAGMA synchronous = FULL")
    mode = await _ask(saver, "PRAGMA journal_mode")
    return require_durable(mode, await _ask(saver, "PRAGMA synchronous"))


async def _ask(saver: AsyncSqliteSaver, sql: str, *values: int) -> object:
    async with saver.conn.execute(sql, values) as cursor:
        row = await cursor.fetchone()
    return None if row is None else row[0]


def _build_graph(saver: BaseCheckpointSaver[str]) -> Graph:
    builder = StateGraph(State)
    before = START
    for node in NODES:
        builder.add_node(node, _advance)
        builder.add_edge(before, node)
        before = node
    builder.add_edge(before, END)
    return builder.compile(checkpointer=saver)


async def _advance(state: State) -> dict[str, int]:
    return {"steps": state["steps"] + 1}


async def _push(graph: Graph, gate: asyncio.Semaphore, numbers: range) -> None:
    steps = await asyncio.gather(*(_run_one(graph, gate, number) for number in numbers))
    require_count("steps taken", sum(steps), len(numbers) * len(NODES))


async def _run_one(graph: Graph, gate: asyncio.Semaphore, number: int) -> int:
    async with gate:
        end = await graph.ainvoke(
            {"number": number, "steps": 0},
            {"configurable": {"thread_id": f"task-{number}"}},
            durability="sync",
        )
    return int(end["steps"])


async def _require_checkpoints(saver: AsyncSqliteSaver, size: int) -> None:
    # One checkpoint for the input, one for the start, one a node.
    each = 2 + len(NODES)
    found = await _ask(
        saver,
        "SELECT count(*) FROM (SELECT thread_id FROM checkpoints "
        "GROUP BY thread_id HAVING count(*) = ?)",
        each,
    )
    require_count("threads with every checkpoint", int(str(found)), size)


def run_postgres(size: int, home: Path) -> Measurement:
    """The same with PostgresSaver, on a Postgres with fsync."""
    del home
    os.environ["LANGSMITH_TRACING"] = "false"
    with postgres("-c fsync=on") as server:
        return asyncio.run(_run_on_postgres(size, server.create("langgraph")))


async def _run_on_postgres(size: int, url: str) -> Measurement:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415 - its own package
    from psycopg.rows import dict_row  # noqa: PLC0415 - as above
    from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415 - as above

    how = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, kwargs=how, min_size=1, max_size=10, timeout=120) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        graph, gate, watch = _build_graph(saver), asyncio.Semaphore(IN_FLIGHT), Stopwatch()
        await _push(graph, gate, range(WARM_UP))
        with watch:
            await _push(graph, gate, range(WARM_UP, WARM_UP + size))
    return watch.rate(size, {"in_flight": IN_FLIGHT, "durability": "sync", "pool": 10})


def run_server(size: int, home: Path) -> list[Measurement]:
    """The same work behind a Starlette app: tasks come through HTTP, as Remit gets them."""
    command = [sys.executable, "-m", "bench.peers.langgraph_server", str(home)]
    with running(command, home) as (url, pid), httpx2.Client(base_url=url) as client:
        server = ServerUnderLoad(
            url, {}, pid, lambda: int(client.get("/delivered").json()["delivered"])
        )
        return measure(server, size)
