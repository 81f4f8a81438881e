"""The live line with a crowd: most take nothing, a few listen, and must not notice."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bench.measure import Measurement, require_count, take_percentile
from bench.ours import up
from bench.ours.dashboard import A_SECOND, figure
from bench.ours.up import Up
from remit.model.codec import moment

LISTENERS: Final = 10
TASKS: Final = 20
EVENTS_EACH: Final = 10  # for each that stalls
# Each message carries it, so that the system's own buffers are full soon.
WORDS: Final = "All that is to be known about it. " * 60
_LAST: Final = 30.0  # seconds to hear the last one


def run(size: int, home: Path) -> list[Measurement]:
    """What so many stalled sockets cost the server, and ten that listen."""
    with Up(home, TASKS) as site, site.client() as client:
        ids = up.plan(client, TASKS, WORDS)
        return asyncio.run(_run(site, ids, size))


async def _run(site: Up, ids: list[str], stalled: int) -> list[Measurement]:
    events = stalled * EVENTS_EACH
    last = up.title((events - 1) % TASKS, events - 1)
    async with AsyncExitStack() as stack:
        deaf = [await _join(site, stack, 1) for _ in range(stalled)]
        heard = [await _join(site, stack, None) for _ in range(LISTENERS)]
        listening = [asyncio.create_task(_listen(each, last)) for each in heard]
        before, cpu, started = site.resident_bytes(), site.cpu_seconds(), time.monotonic()
        most = await _change(site, ids, events)
        async with asyncio.timeout(_LAST):
            spans = [span for found in await asyncio.gather(*listening) for span in found]
        spent, cpu = time.monotonic() - started, site.cpu_seconds() - cpu
        for each in deaf:
            each.transport.abort()  # a farewell would wait behind all that was not taken
    require_count("heard", len(spans), events * LISTENERS)
    return [
        figure("memory for all of them", (most - before) / 2**20, "MB", stalled, cpu),
        figure("to who listens, p50", take_percentile(spans, 50), "ms", len(spans), cpu),
        figure("to who listens, p99", take_percentile(spans, 99), "ms", len(spans), cpu),
        figure("server CPU", cpu / spent * 100, "%", events, cpu),
    ]


async def _join(site: Up, stack: AsyncExitStack, queue: int | None) -> ClientConnection:
    address = site.url.replace("http", "ws", 1) + "/ws"
    joined = await stack.enter_async_context(
        connect(
            address,
            additional_headers=site.headers,
            max_queue=queue,
            ping_interval=None,
            close_timeout=0.1,
            compression=None,
        )
    )
    await joined.send(json.dumps({"subscribe": ["*"]}))
    return joined


async def _listen(socket: ClientConnection, last: str) -> list[float]:
    """How late each change was, in milliseconds by the clock of this machine."""
    spans: list[float] = []
    try:
        async for text in socket:
            told = json.loads(text)
            if told["type"] != "task:updated":
                continue
            spans.append((time.time() - moment(told["at"]).timestamp()) * 1000)
            if last in str(text):
                break
    except ConnectionClosed:
        pass  # the count tells
    return spans


async def _change(site: Up, ids: list[str], events: int) -> int:
    """So many changes, so many a second; the most memory that the server held meanwhile."""
    most, start = 0, time.monotonic()
    async with httpx2.AsyncClient(
        base_url=site.url, headers=site.headers, trust_env=False
    ) as client:
        for number in range(events):
            await asyncio.sleep(max(0.0, start + number / A_SECOND - time.monotonic()))
            row = number % len(ids)
            body = {"title": up.title(row, number)}
            (await client.patch(f"/api/tasks/{ids[row]}", json=body)).raise_for_status()
            most = max(most, site.resident_bytes())
    return most
