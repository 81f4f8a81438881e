"""Every store that a version left with work in flight is taken over by this one, and finished.

How a store is made: tests/frozen/make.py. What is in one: its manifest.json.
"""

import json
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, cast

import pytest

from remit.brain import scripted
from remit.cli import clock
from remit.model.codec import Json, JsonMap
from remit.settings import load
from remit.store import series, series_orders
from remit.store.database import Tx
from remit.testing import World
from tests.channels.webhook.calls import standard
from tests.cli.terminal import Terminal
from tests.frozen import scene
from tests.live.http_client import Client
from tests.live.providers import Providers

ACTIONS: Final = ("resume", "run", "cancel")
LATER: Final = datetime(2031, 3, 2, 9, 0, tzinfo=UTC)
OVEN_SLOTS: Final = 6  # COUNT=6
FATES: Final = {"ran", "late", "caught_up", "skipped", "missed"}


@dataclass(frozen=True)
class Frozen:
    """One task of a manifest."""

    name: str
    id: str
    status: str
    asks: str | None
    deliveries: dict[str, str]
    owner: list[str]
    becomes: list[str]
    sends: int


@dataclass
class Store:
    """A frozen home that is unpacked, with channels to send by."""

    seat: Terminal
    tasks: list[Frozen]
    providers: Providers

    def __getitem__(self, name: str) -> Frozen:
        return next(task for task in self.tasks if task.name == name)


@pytest.fixture(params=sorted(folder.name for folder in scene.FROZEN.iterdir()))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    folder = scene.FROZEN / request.param
    with tarfile.open(folder / "home.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    told = json.loads((folder / "manifest.json").read_text())
    scene.relocate(tmp_path, told["root"])
    tasks = [Frozen(name, **each) for name, each in told["tasks"].items()]
    with Providers() as providers:
        seat = Terminal(tmp_path, script=None)
        scene.furnish(seat, providers, slow=False)
        yield Store(seat, tasks, providers)


def test_all_work_of_a_frozen_store_is_taken_over_and_finished(store: Store) -> None:
    with store.seat.up(**scene.ENVIRON) as up:
        client = Client(store.seat, up)
        _is_all_there(client, store)
        _is_asked_and_not_sent(client, store)
        for task in store.tasks:
            _say(client, task)
        for task in store.tasks:
            client.until(task.id, *task.becomes)
        client.wait(lambda: _proof(client, store["first story"]) == "pass", "the deferred check")

    accepted = Counter(store.providers.accepted)
    for task in store.tasks:
        assert sum(accepted[each] for each in task.deliveries) <= task.sends, task.name
        already = [key for key, status in task.deliveries.items() if status == "sent"]
        assert not any(accepted[key] for key in already), f"{task.name} was sent twice"
    assert accepted.total() == sum(task.sends for task in store.tasks), "none lost, none twice"
    assert set(accepted.values()) <= {1}
    audit = store.seat.run("audit", "verify")
    assert audit.code == 0, audit.out + audit.err


def _is_all_there(client: Client, store: Store) -> None:
    """Everything that was stored can be read: tasks, logs, proofs, talk, rules, notices."""
    for task in store.tasks:
        found = client.task(task.id)
        assert found["id"] == task.id
        assert _maps(client.get(f"/api/tasks/{task.id}/log"), "log")
        client.get(f"/api/tasks/{task.id}/builder-state")
    talks = _maps(client.get("/api/conversations"), "conversations")
    turns = [t for c in talks for t in _maps(client.get(f"/api/conversations/{c['id']}"), "turns")]
    spoken = {ref["taskId"] for turn in turns for ref in _maps(turn, "taskRefs")}
    assert {store["said"].id, store["said for later"].id} <= spoken
    assert "Ben" in str(client.get("/api/rules"))
    assert "Anna Weber" in str(client.get("/api/contacts"))
    assert _maps(client.get("/api/notices"), "notices")
    call = standard(b'{"order": {"name": "Two lamps"}}', at=clock.now())
    _, told = client.raw("POST", "/hooks/in/orders", call.body, call.headers)
    assert told["taskId"] == store["webhook"].id, "an event that came before is known again"


def _is_asked_and_not_sent(client: Client, store: Store) -> None:
    """What was on its way when the process died is asked about, and sent by nobody."""
    doubt = store["in doubt, not asked yet"]
    client.until(doubt.id, "needs_review")
    assert client.question(doubt.id)["reason"] == "ambiguous"
    for task in store.tasks:
        if task.asks is not None and task.asks != "auth":  # a restart looks anew what is locked
            assert client.question(task.id)["reason"] == task.asks, task.name


def _say(client: Client, task: Frozen) -> None:
    for said in task.owner:
        word, _, text = said.partition(":")
        if word in ACTIONS:
            client.patch(task.id, action=word)
            continue
        client.wait(lambda word=word: _may(client, task.id, word), f"{task.name} may be {word}")  # type: ignore[misc]
        client.decide(task.id, word, text or None)


def _may(client: Client, task: str, word: str) -> bool:
    reviews = _maps(client.task(task), "reviews")
    return any(each["decision"] is None and word in str(each["options"]) for each in reviews)


def _proof(client: Client, task: Frozen) -> Json:
    (told,) = _maps(client.get(f"/api/tasks/{task.id}/builder-state"), "tasks")
    return cast("JsonMap", told["verificationResults"])["overall"]


async def test_a_frozen_store_that_is_opened_years_later_accounts_for_every_slot(
    store: Store,
) -> None:
    """Nobody was there for years: each slot was run, caught up, skipped or missed."""
    settings = load({"REMIT_HOME": str(store.seat.home), **scene.ENVIRON})
    brain = scripted.load(store.seat.home / "brain.yml")
    async with World(store.seat.home, brain=brain, start=LATER, settings=settings) as world:
        await world.run(timedelta(days=1))
        fates = await world.app.db.read(_fates, world.now)

    assert len(fates["Look at the oven"]) == OVEN_SLOTS
    for title, found in fates.items():
        assert found, title
        assert set(found) <= FATES, title
    accepted = Counter(store.providers.accepted)
    assert set(accepted.values()) <= {1}
    assert not set(accepted) & {
        key for task in store.tasks for key, state in task.deliveries.items() if state == "sent"
    }


def _fates(tx: Tx, now: datetime) -> dict[str, list[str | None]]:
    """What became of the latest slots of each series, those of the last day left out."""
    old = now - timedelta(days=1)
    return {
        each.title: [
            slot.fate and slot.fate.value for slot in series_orders.latest(tx, each.id, old, 50)
        ]
        for each in series.list_series(tx, ended=True)
    }


def _maps(told: JsonMap, name: str) -> list[JsonMap]:
    return cast("list[JsonMap]", told[name])
