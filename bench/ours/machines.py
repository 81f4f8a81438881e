"""Remit on several processes: one `serve` and 1, 2 or 4 `worker` on Postgres and Temporal.

Both servers keep what they say is kept: Postgres with fsync, Temporal in its file. The latency of a
decision is read from the journal: from the owner's answer until the next leg has its lease.
"""

import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import cast

import psutil
import psycopg

from bench.http_load import CLIENTS, ServerUnderLoad, post_tasks
from bench.measure import WARM_UP, Better, Measurement, take_percentile, wait_for_count
from remit.model.codec import Json, JsonMap
from remit.store import tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only
from tests.live.http_client import Client
from tests.machines.fleet import Fleet
from tests.machines.temporal import TemporalServer
from tests.store.postgres import postgres

DURABLE = "-c fsync=on"
SECONDS = 280
LOOK_SECONDS = 0.1
_AGES = (
    "SELECT seq, CAST(extract(EPOCH FROM clock_timestamp()) * 1000 - at AS FLOAT) FROM events"
    " WHERE seq > %s"
)
SCRIPT = """\
- when: The red one
  reply: <deliverable>It is renewed.</deliverable>
- when: passport
  ask: Which passport do you hold?
- reply: I looked. <deliverable>All is well.</deliverable>
"""


def run_1(size: int, home: Path) -> list[Measurement]:
    return _run(size, home, 1)


def run_2(size: int, home: Path) -> list[Measurement]:
    return _run(size, home, 2)


def run_4(size: int, home: Path) -> list[Measurement]:
    return _run(size, home, 4)


def _run(size: int, home: Path, workers: int) -> list[Measurement]:
    with _fleet(home, workers) as (fleet, pids):
        token = (fleet.seat.home / "token").read_text().strip()
        url = str(fleet.running["serve"][0].told["url"])
        headers = {"Authorization": f"Bearer {token}"}
        with open_read_only(fleet.seat.store) as tx:
            server = ServerUnderLoad(url, headers, 0, lambda: _completed(tx))
            follower = Follower(fleet.seat.store)
            post_tasks(server, CLIENTS, range(WARM_UP))
            wait_for_count("completed", server.count_delivered, WARM_UP, SECONDS)
            before, started = _cpu(pids), time.perf_counter()
            total = WARM_UP + size
            post_tasks(server, CLIENTS, range(WARM_UP, total))
            wait_for_count("completed", server.count_delivered, total, SECONDS)
            wall = time.perf_counter() - started
            spent = {part: each - before[part] for part, each in _cpu(pids).items()}
            heard = follower.stop()
        latencies = _decisions(fleet.client(), min(size, 50))
    facts = {f"{part}_cpu_ms": each * 1000 / size for part, each in spent.items()}
    cpu = spent["workers"] + spent["serve"]

    def figure(name: str, value: float, unit: str) -> Measurement:
        better: Better = "more" if unit == "tasks/s" else "less"
        return Measurement(name, value, unit, size, wall, cpu, 0, better, facts)

    return [
        figure("throughput", size / wall, "tasks/s"),
        figure("CPU, ours", cpu * 1000 / size, "ms a task"),
        figure("CPU, with servers", sum(spent.values()) * 1000 / size, "ms a task"),
        figure("decision to next leg p50", take_percentile(latencies, 50), "ms"),
        figure("decision to next leg p99", take_percentile(latencies, 99), "ms"),
        figure("event written to heard p99", take_percentile(heard, 99), "ms"),
    ]


class Follower:
    """Hears of each sealed event, as who follows the journal does; measures how old it is.

    A process of its own: here it would wait for the clients.
    """

    def __init__(self, url: str | Path) -> None:
        command = [sys.executable, "-m", __name__, str(url)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def stop(self) -> list[float]:
        ages, _ = self._process.communicate()  # closes its input
        return cast("list[float]", json.loads(ages))


def follow(url: str) -> list[float]:
    """Return the ages of all events that are sealed until the standard input ends."""
    seq, ages = 0, list[float]()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("LISTEN remit_journal")
        while not select.select([sys.stdin], [], [], 0)[0]:
            # Told first: while it waits for them, a connection takes no query.
            for notice in list(connection.notifies(timeout=1, stop_after=1)):
                found = connection.execute(_AGES, [seq]).fetchall()
                ages += [age for _, age in found] if seq else []
                seq = int(notice.payload)
    return ages


@contextmanager
def _fleet(home: Path, workers: int) -> Iterator[tuple[Fleet, Mapping[str, list[int]]]]:
    temporal = TemporalServer(home)
    with postgres(DURABLE) as server:
        temporal.start()
        try:
            fleet = Fleet(home, server, temporal, script=SCRIPT)
            with fleet.closing():
                fleet.start("serve", *["worker"] * workers)
                running = {
                    kind: [each.process.pid for each in some]
                    for kind, some in fleet.running.items()
                }
                pids = {"workers": running["worker"], "serve": running["serve"]}
                yield fleet, {**pids, "temporal": [temporal.pid], "postgres": [server.pid]}
        finally:
            temporal.kill()


def _completed(tx: Tx) -> int:
    time.sleep(LOOK_SECONDS)  # the server's cost is measured, too
    return tasks.counts(tx).get("completed", 0)


def _cpu(pids: Mapping[str, list[int]]) -> dict[str, float]:
    """CPU seconds of each part, with the processes of each."""
    return {part: sum(map(_tree_cpu, each)) for part, each in pids.items()}


def _tree_cpu(pid: int) -> float:
    process = psutil.Process(pid)
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    ended = times[0].children_user + times[0].children_system
    return float(ended + sum(each.user + each.system for each in times))


def _decisions(client: Client, count: int) -> list[float]:
    """Milliseconds from each of some decisions until its task is at work again."""
    asked = [client.add(f"Renew passport {n}") for n in range(count)]
    for each in asked:  # first, or the decided ones wait for the slots of the others
        client.until(each, "needs_review")
    for each in asked:
        client.decide(each, "answer", "The red one")
        client.until(each, "completed")
    happened: dict[str, list[JsonMap]] = {each: [] for each in asked}
    for event in _journal(client):
        happened.get(str(event["taskId"]), []).append(event)
    return [_latency(each) for each in happened.values()]


def _journal(client: Client) -> Iterator[JsonMap]:
    since: Json = 0
    while since is not None:
        page = client.get(f"/api/events?limit=1000&since={since}")
        yield from cast("list[JsonMap]", page["events"])
        since = page["next"]


def _latency(happened: Sequence[JsonMap]) -> float:
    kinds = [each["kind"] for each in happened]
    decided = kinds.index("review.decided")
    leg = next(each for each in happened[decided:] if "lease" in cast("JsonMap", each["data"]))
    begun, before = (str(each["at"]) for each in (leg, happened[decided]))
    span = datetime.fromisoformat(begun) - datetime.fromisoformat(before)
    return span.total_seconds() * 1000


if __name__ == "__main__":
    sys.stdout.write(json.dumps(follow(sys.argv[1])))
