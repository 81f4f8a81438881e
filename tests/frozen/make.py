"""Make a frozen store of this version: a home whose process was killed in the middle of everything.

    .venv/bin/python -m tests.frozen.make

Drives a real `remit up` over HTTP, kills it with SIGKILL at chosen moments, and writes
home.tar.gz and manifest.json to tests/data/frozen/VERSION: how each task stood, and what must
become of it. Run it once, when a version is released, and commit what it made; what was frozen
once stays as it is.
A state that is new in a version gets a line in `Maker` and one in `fates`.
"""

import gzip
import io
import json
import shutil
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from remit import __version__
from remit.cli import clock
from remit.model.codec import Json, JsonMap
from tests.channels.webhook.calls import standard
from tests.channels.whatsapp.whatsapp import Order
from tests.cli.terminal import Terminal
from tests.frozen import scene
from tests.frozen.fates import fate_of
from tests.live.http_client import Client
from tests.live.providers import Providers

FAR: Final = "2099-01-01T09:00:00+00:00"
FRIDAY: Final[JsonMap] = {
    "type": "verifiable",
    "criteria": [{"activity": "mentions", "description": "says the day", "pattern": "Friday"}],
}
WHOLE: Final[JsonMap] = {
    "type": "verifiable",
    "criteria": [
        {"activity": "lint", "description": "No lint errors"},
        {"activity": "e2e", "description": "It works as a whole", "timing": "deferred"},
    ],
}
ROOT: Final = Path("/tmp/remit-frozen")  # noqa: S108 - says nothing about who made the store
# Of this machine alone, or made anew: the index of recall.
_LEFT_OUT: Final = {
    *("lock", "server.json", "token", "settings.toml", "brain.yml", "agent.db-shm", "recall"),
}
_RUNS: Final = 2  # of the series that comes back every minute, before the last kill


class Maker:
    """Brings one home into every state of unfinished work."""

    def __init__(self, root: Path, providers: Providers) -> None:
        self.seat = Terminal(root, script=None)
        self.providers = providers
        self.tasks: dict[str, str] = {}  # by its name in the manifest
        scene.make_project(self.seat)
        scene.furnish(self.seat, providers, slow=True)

    def make(self) -> None:
        with self._life() as client:
            self._ordinary(client)
            self._questions(client)
            self._schedule(client)
            self._others(client)
            self._code(client)
        self._poison()
        self._doubts()
        with self._life() as client:
            self._in_flight(client)

    @contextmanager
    def _life(self) -> Iterator[Client]:
        """Run a Remit that is killed at the end of the block."""
        with self.seat.up(**scene.ENVIRON) as up:
            yield Client(self.seat, up)
            up.kill()

    # Each state -----------------------------------------------------------------------------------

    def _ordinary(self, client: Client) -> None:
        made = self.tasks
        made["completed"] = client.add("Find two parks", key="the-first-key")
        made["sent by phone"] = client.send("Good morning.", "phone")
        made["sent by mail"] = client.send("Good evening.", "post")
        client.post("/api/rules", {"kind": "permission", "contact": "Ben", "channel": "phone"})
        made["allowed once and for all"] = client.send("Lunch at noon?", "phone", to="Ben")
        made["failed"] = client.add("This is hopeless")
        made["cancelled"] = client.add("Not wanted after all", scheduledFor=FAR)
        client.patch(made["cancelled"], action="cancel")
        for name in ("completed", "sent by phone", "sent by mail", "allowed once and for all"):
            client.until(made[name], "completed")
        client.until(made["failed"], "failed")
        made["retried"] = str(client.post(f"/api/tasks/{made['failed']}/retry", {})["id"])
        client.until(made["retried"], "failed")

    def _questions(self, client: Client) -> None:
        made = self.tasks
        made["approval"] = client.send("See you on Friday.", "phone", to="Anna Weber")
        made["input"] = client.add("It asks about the passport")
        made["deliverable"] = client.add("It forgets the tags")
        made["verification"] = client.add("Say which day the practice is closed", contract=FRIDAY)
        made["tool call"] = client.add("It writes a note")
        said: JsonMap = {"text": "Send the report to Bob by phone"}
        (asked,) = _maps(client.post("/api/messages", said), "tasks")
        made["question about the request"] = str(asked["id"])
        for name in ("approval", "input", "deliverable", "verification", "tool call"):
            client.until(made[name], "needs_review")
        self.providers.phones[1].orders = [Order(status=401)]
        made["auth"] = client.send("It waits for a token.", "phone2")
        client.until(made["auth"], "needs_review")

    def _schedule(self, client: Client) -> None:
        made = self.tasks
        soon = (clock.now() + timedelta(seconds=2)).isoformat(timespec="seconds")
        rule: JsonMap = {"rule": "FREQ=MINUTELY;COUNT=6", "zone": "UTC", "first": soon}
        made["recurring"] = client.add("Look at the oven", repeats=rule)
        weekly: JsonMap = {"rule": "FREQ=WEEKLY", "zone": "UTC", "first": _next_week()}
        made["weekly"] = client.add("Water the plants", repeats=weekly)
        made["skipped"] = client.add("Take the bins out", repeats=weekly)
        series = _series(client, "Take the bins out")
        client.post(f"/api/series/{series}/skip", {})
        made["scheduled"] = client.add("Find two parks then", scheduledFor=FAR)
        made["paused before it began"] = client.add("Find two parks later", scheduledFor=FAR)
        client.patch(made["paused before it began"], action="pause")
        made["paused after it began"] = client.add("It takes a while")
        client.until(made["paused after it began"], "running")
        client.patch(made["paused after it began"], action="pause")
        client.until(made["paused after it began"], "paused")

    def _others(self, client: Client) -> None:
        made = self.tasks
        call = standard(b'{"order": {"name": "Two lamps"}}', at=clock.now())
        status, told = client.raw("POST", "/hooks/in/orders", call.body, call.headers)
        assert status == 202, told
        made["webhook"] = str(told["taskId"])
        talk = client.post("/api/conversations", {})["id"]
        turns = f"/api/conversations/{talk}/turns"
        client.post(turns, {"text": "Find two parks for me"})
        client.post(turns, {"text": "Remind me on 1 January 2099 at 9 to call mom"})
        client.wait(lambda: len(_spoken(client, str(talk))) == 2, "two tasks of a conversation")
        made["said"], made["said for later"] = _spoken(client, str(talk))
        client.until(made["webhook"], "completed")
        client.until(made["said"], "completed")
        made["looked back"] = str(client.post("/api/reflections", {})["id"])
        client.until(made["looked back"], "completed", "needs_review")

    def _code(self, client: Client) -> None:
        made = self.tasks
        made["second story"] = self._story(client, "US-2", scheduledFor=FAR)
        client.patch(made["second story"], action="pause")
        made["first story"] = self._story(client, "US-1")
        client.until(made["first story"], "needs_review")
        client.decide(made["first story"], "approve")
        client.until(made["first story"], "completed")

    def _story(self, client: Client, name: str, **more: str) -> str:
        text, prd = f"Add a total to the cart, {name}", f"plan.md#{name}"
        return client.add(text, project="store", contract=WHOLE, prd=prd, **more)

    def _poison(self) -> None:
        """Kill three processes while one task is thinking."""
        for n in range(3):
            with self._life() as client:
                if n == 0:
                    self.tasks["poison"] = client.add("This never ends, and kills")
                client.until(self.tasks["poison"], "running")

    def _doubts(self) -> None:
        """Leave sends claimed and on their way when the process dies: the next one asks."""
        phone = self.providers.phones[0]
        for name in ("in doubt, arrived", "in doubt, sent again", "in doubt, dropped"):
            phone.orders, heard = [Order(silent=True, accept=True)], len(phone.heard)
            with self._life() as client:
                self.tasks[name] = client.send(f"This is {name}.", "phone")
                client.wait(lambda n=heard: len(phone.heard) > n, name)  # type: ignore[misc]

    def _in_flight(self, client: Client) -> None:
        """Have everything in progress at once when the last process dies."""
        made = self.tasks
        for name in ("in doubt, arrived", "in doubt, sent again", "in doubt, dropped"):
            client.until(made[name], "needs_review")
        client.until(made["poison"], "needs_review")
        oven = _series(client, "Look at the oven")
        client.wait(lambda: _ran(client, oven) >= _RUNS, "several runs of a series")
        made["parent"] = client.add("It hands it on")
        client.until(made["parent"], "completed")
        titles = {str(t["title"]): str(t["id"]) for t in _maps(client.get("/api/tasks"), "tasks")}
        made["child"], made["second child"] = titles["First child"], titles["Second child"]
        client.until(made["child"], "running")
        made["thinking"] = client.add("This never ends")
        made["waits for its next try"] = client.add("The model is out of order")
        self.providers.phones[1].orders = [Order(status=429)]
        made["one of two sent"] = client.send("To two places.", "post", "phone2")
        client.until(made["one of two sent"], "delivering")
        client.wait(lambda: len(self.providers.office.accepted) == 2, "the first of two")
        phone, heard = self.providers.phones[0], len(self.providers.phones[0].heard)
        made["in doubt, not asked yet"] = client.send("Nobody knows about this.", "phone")
        client.wait(lambda: len(phone.heard) > heard, "the last send")
        time.sleep(2)  # a second attempt of the task whose model fails
        made["verifying"] = self._story(client, "US-3")
        client.until(made["verifying"], "verifying")

    # What is kept ---------------------------------------------------------------------------------

    def manifest(self) -> JsonMap:
        """Return the state of everything when the last process died."""
        from remit.model.ids import TaskId  # noqa: PLC0415
        from remit.store import reviews, search, tasks  # noqa: PLC0415
        from remit.store.read_only import open_read_only  # noqa: PLC0415

        names = {task: name for name, task in self.tasks.items()}
        found: JsonMap = {}
        with open_read_only(self.seat.home / "agent.db") as tx:
            for each in search.page(tx, search.TaskFilter(limit=500)).tasks:
                task = tasks.get(tx, TaskId(each.id))
                asks = [r.reason.value for r in reviews.of_task(tx, task.id) if r.decision is None]
                name = names.get(task.id, f"{task.title} ({task.id})")
                found[name] = {
                    "id": task.id,
                    "status": task.status.value,
                    "asks": asks[0] if asks else None,
                    "deliveries": {str(d.id): d.status.value for d in task.delivery},
                    **fate_of(name, task.status.value),
                }
        return {"version": __version__, "root": str(ROOT), "tasks": found}


def _next_week() -> str:
    return (clock.now() + timedelta(days=7)).isoformat(timespec="seconds")


def _maps(told: JsonMap, name: str) -> list[JsonMap]:
    return [each for each in _list(told[name]) if isinstance(each, dict)]


def _list(told: Json) -> list[Json]:
    assert isinstance(told, list), told
    return told


def _series(client: Client, title: str) -> str:
    (found,) = (s for s in _maps(client.get("/api/series"), "series") if s["title"] == title)
    return str(found["id"])


def _ran(client: Client, series: str) -> int:
    fates = [slot["fate"] for slot in _maps(client.get(f"/api/series/{series}"), "slots")]
    return sum(fate in ("ran", "late") for fate in fates)


def _spoken(client: Client, talk: str) -> list[str]:
    turns = _maps(client.get(f"/api/conversations/{talk}"), "turns")
    refs = [ref for turn in turns for ref in _maps(turn, "taskRefs")]
    return list(dict.fromkeys(str(ref["taskId"]) for ref in refs))


def pack(root: Path) -> bytes:
    """Return home and project as one archive, without what belongs to this machine."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root)
            if _LEFT_OUT.isdisjoint(name.parts[1:2]):
                archive.add(path, str(name), recursive=False, filter=_nobodys)
    return gzip.compress(raw.getvalue(), mtime=0)


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def main() -> None:
    folder = scene.FROZEN / __version__
    if folder.exists():
        sys.exit(f"{folder} is there already: what was frozen stays as it is.")
    ROOT.mkdir(mode=0o700)
    try:
        with Providers() as providers:
            maker = Maker(ROOT, providers)
            maker.make()
            told = maker.manifest() | {"accepted": list[Json](providers.accepted)}
        folder.mkdir(parents=True)
        (folder / "home.tar.gz").write_bytes(pack(ROOT))
        (folder / "manifest.json").write_text(json.dumps(told, indent=1) + "\n")
    finally:
        shutil.rmtree(ROOT)


if __name__ == "__main__":
    main()
