"""An app behind its door, in a process of its own, over a store with many tasks.

The engine does not work: what is measured is the door and the pages, not what runs behind them.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import httpx2
import psutil

from bench.ours import lives
from bench.ours.million import with_tasks
from bench.ours.throughput import InstantBrain
from remit.operations.callers import CallerRegistry
from remit.server.serve import serve, token_of
from remit.settings import Settings
from remit.wiring import opened

_PATIENCE: Final = 60.0


class Up:
    """Its addresses, its key, and what it costs."""

    def __init__(self, home: Path, size: int) -> None:
        self._home, self._size = home, size
        self.url = self.sign_in = ""
        self.headers: Mapping[str, str] = {}
        self.process: psutil.Process
        self._running: subprocess.Popen[str]

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "bench.ours.up", "serve", str(self._home), str(self._size)]
        self._running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._running.stdout is not None
        told = json.loads(self._running.stdout.readline())
        self.url, self.sign_in = told["url"], told["signIn"]
        self.headers = {"Authorization": f"Bearer {token_of(self._home)}"}
        self.process = psutil.Process(self._running.pid)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.terminate()
        try:
            self._running.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()

    def client(self) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.url, headers=self.headers, timeout=_PATIENCE, trust_env=False
        )

    def resident_bytes(self) -> int:
        return int(self.process.memory_info().rss)

    def cpu_seconds(self) -> float:
        spent = self.process.cpu_times()
        return float(spent.user + spent.system)


def plan(client: httpx2.Client, count: int, words: str = "") -> list[str]:
    """Tasks for tomorrow, by their ids: they stand in the list and can be changed."""
    tomorrow = (lives.now() + timedelta(days=1)).isoformat()
    made = []
    for number in range(count):
        body = {"title": title(number, 0), "instructions": f"Wait. {words}"}
        answer = client.post("/api/tasks", json={**body, "scheduledFor": tomorrow})
        made.append(str(answer.raise_for_status().json()["id"]))
    return made


def title(row: int, number: int) -> str:
    """Says which row it is, and the how-manieth change."""
    return f"Live {row:03} {number:06}"


async def _serve(home: Path, size: int) -> None:
    async with opened(Settings(home=home), brain=InstantBrain()) as app:
        # After the start, which would ask the journal about tasks that never lived; and in another
        # process, whose memory is gone before anything is measured.
        await asyncio.to_thread(_have_filled, home, size)
        callers = CallerRegistry(app.db, app.clock, app.ids, token_of(home))
        code = await callers.code()

        def tell(url: str) -> None:
            link = f"{url}/sign-in?code={code}"
            print(json.dumps({"url": url, "signIn": link}), flush=True)

        await serve(app, port=0, debug=False, token=token_of(home), ready=tell)


def _have_filled(home: Path, size: int) -> None:
    command = [sys.executable, "-m", "bench.ours.up", "fill", str(home), str(size)]
    subprocess.run(command, check=True)


def main(act: str, home: str, size: str) -> None:
    if act == "fill":
        with_tasks(Path(home) / "agent.db", int(size))
    else:
        asyncio.run(_serve(Path(home), int(size)))


if __name__ == "__main__":
    main(*sys.argv[1:])
