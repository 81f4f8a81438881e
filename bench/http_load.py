"""Load through HTTP: clients that post tasks to a server in a process of its own, and its cost."""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.measure import WARM_UP, Better, Measurement, take_percentile, wait_for_count

CLIENTS: Final = 16
CREATED: Final = 201
DONE_WITHIN_SECONDS: Final = 240.0
_STOP_SECONDS: Final = 60.0
_ANSWER_SECONDS: Final = 60.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class TaskRefused(Exception):
    """The server did not take a task, so nothing can be measured."""

    def __init__(self, status: int, answer: bytes) -> None:
        super().__init__(f"POST /api/tasks was answered {status}: {answer[:300]!r}")


@dataclass(frozen=True, slots=True)
class ServerUnderLoad:
    """Where to post, whose cost is measured, and how many tasks are delivered so far."""

    url: str
    headers: Mapping[str, str]
    pid: int
    count_delivered: Callable[[], int]


def measure(server: ServerUnderLoad, size: int) -> list[Measurement]:
    """Post `size` tasks by 16 clients until all are delivered, then look at acknowledgements.

    Each acknowledgement is measured while the tasks before it are at work.
    """
    posted = WARM_UP
    post_tasks(server, CLIENTS, range(posted))
    _wait(server, posted)
    cpu, wall = read_cpu_seconds(server.pid), time.perf_counter()
    busy = post_tasks(server, CLIENTS, range(posted, posted + size))
    posted += size
    _wait(server, posted)
    cpu, wall = read_cpu_seconds(server.pid) - cpu, time.perf_counter() - wall
    alone = post_tasks(server, 1, range(posted, posted + size // 4))
    _wait(server, posted + len(alone))
    rss = _read_memory_bytes(server.pid, "VmHWM")

    def figure(name: str, value: float, unit: str) -> Measurement:
        better: Better = "more" if unit == "tasks/s" else "less"
        return Measurement(name, value, unit, size, wall, cpu, rss, better)

    return [
        figure("throughput", size / wall, "tasks/s"),
        figure("CPU of the server", cpu * 1000 / size, "ms a task"),
        figure("memory afterwards", _read_memory_bytes(server.pid, "VmRSS") / 2**20, "MB"),
        *(
            figure(f"answer p{percent}, {clients}", take_percentile(spans, percent), "ms")
            for clients, spans in (("1 client", alone), (f"{CLIENTS} clients", busy))
            for percent in (50, 99)
        ),
    ]


def post_tasks(server: ServerUnderLoad, clients: int, numbers: range) -> list[float]:
    """Post one task for each number; the milliseconds until each was acknowledged.

    All clients share one thread: threads would wait for each other's turns in this interpreter, and
    that wait would be counted as the server's.
    """

    async def post_all() -> list[float]:
        shares = [numbers[first::clients] for first in range(clients)]
        found = await asyncio.gather(*(_post_share(server, each) for each in shares))
        return [span for spans in found for span in spans]

    return asyncio.run(post_all())


async def _post_share(server: ServerUnderLoad, numbers: Sequence[int]) -> list[float]:
    host, port = urlsplit(server.url).hostname, urlsplit(server.url).port
    reader, writer = await asyncio.open_connection(host, port)
    fields = {"Host": f"{host}:{port}", "Content-Type": "application/json", **server.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    spans = []
    try:
        for number in numbers:
            body = json.dumps({"title": f"Prepare report {number}"})
            request = f"POST /api/tasks HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}"
            started = time.perf_counter()
            writer.write(request.encode())
            status, content = await asyncio.wait_for(_read_answer(reader), _ANSWER_SECONDS)
            spans.append((time.perf_counter() - started) * 1000)
            if status != CREATED:
                raise TaskRefused(status, content)
    finally:
        writer.close()
    return spans


async def _read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Read an answer whose length is given in its head."""
    lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    length = next(line for line in lines if line.startswith(b"content-length:"))
    return int(lines[0].split()[1]), await reader.readexactly(int(length.partition(b":")[2]))


def _wait(server: ServerUnderLoad, wanted: int) -> None:
    wait_for_count("delivered", server.count_delivered, wanted, DONE_WITHIN_SECONDS)


def read_cpu_seconds(pid: int) -> float:
    """User and system time of a process, all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _read_memory_bytes(pid: int, label: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{label}:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


@contextmanager
def running(command: Sequence[str], home: Path, **variables: str) -> Iterator[tuple[str, int]]:
    """Start a server that says in a line of JSON where it listens; its URL and its process."""
    said = home.parent / "server-output"
    environment = {**os.environ, **variables}
    with (
        said.open("w") as output,
        subprocess.Popen(command, env=environment, stdout=output) as process,
    ):
        try:
            yield _read_url(process, said), process.pid
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _read_url(process: "subprocess.Popen[bytes]", said: Path) -> str:
    while "\n" not in (text := said.read_text()):
        if process.poll() is not None:
            raise ChildProcessError(
                f"The server ended with {process.returncode}; it said {text!r}."
            )
        time.sleep(0.02)
    return str(json.loads(text.partition("\n")[0])["url"])
