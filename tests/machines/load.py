"""What keeps several processes busy, and what they did: orders from outside, and the journal."""

import random
import threading
import time
from collections.abc import Callable
from typing import Final, Self, cast

from remit.model.codec import Json, JsonMap
from tests.live.http_client import Client
from tests.machines import history
from tests.machines.fleet import Fleet
from tests.machines.history import Record
from tests.soak import SOAK

# Longer than a send that was cut is left alone.
STALLED_SECONDS: Final = 300


class Load:
    """Orders that keep coming, whoever dies; a request without an answer is repeated."""

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self._fleet = fleet
        self._chance = random.Random(seed)  # noqa: S311 - a seed that failed can be tried again
        self._over = threading.Event()
        self.titles: dict[str, str] = {}
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        n = 0
        while not self._over.is_set():
            n += 1
            if n % 10 == 0:
                self._repeat(lambda client, n=n: self._talk(client, n))  # type: ignore[misc]
                continue
            title = f"Order {n}"
            # A phone gets a message each six seconds, so it gets few of them.
            channel = self._chance.choices(("dashboard", "post", "phone"), (5, 10, 1))[0]
            to: JsonMap = {"channel": channel}
            to |= {} if channel == "dashboard" else {"content": title}
            deliveries: list[Json] = [to]
            began = time.monotonic()
            self.titles[title] = self._repeat(
                lambda client: client.add(title, key=title, delivery=deliveries)  # noqa: B023
            )
            # A machine with other work gets fewer orders: a long queue tells nothing new.
            time.sleep(max(self._chance.uniform(0.1, 0.6), 4 * (time.monotonic() - began)))

    def _talk(self, client: Client, n: int) -> str:
        """Say something in a conversation: one watcher answers, and tells the result later."""
        talk = str(client.post("/api/conversations", {}, key=f"Talk {n}")["id"])
        client.post(
            f"/api/conversations/{talk}/turns", {"text": f"Water plant {n}"}, key=f"Turn {n}"
        )
        return talk

    def _repeat(self, work: Callable[[Client], str]) -> str:
        while True:
            try:
                return work(self._fleet.client(self._chance.randrange(2)))
            except (OSError, IndexError, AssertionError, ValueError):
                time.sleep(0.2)  # nobody is at home, or the database is away


def journal(client: Client) -> list[Record]:
    found: list[Record] = []
    while True:
        page = client.get(f"/api/events?limit=1000&since={len(found)}")
        found += history.read_journal(page["events"])
        if page["next"] is None:
            return found


def parts(client: Client, task: str, name: str) -> list[JsonMap]:
    return cast("list[JsonMap]", client.task(task)[name])


def wait_for_rest(client: Client) -> list[Record]:
    """Return the journal when nothing is left to do; a busy machine is slow, not wrong."""
    events, changed = journal(client), time.monotonic()
    while left := _left(client, events):
        assert time.monotonic() < changed + STALLED_SECONDS, f"nothing happens any more: {left}"
        time.sleep(0.5)
        found = journal(client)
        events, changed = found, changed if len(found) == len(events) else time.monotonic()
    return events


def _left(client: Client, events: list[Record]) -> set[str]:
    found = history.unsettled(events)
    found = found if SOAK else {each for each in found if not _is_cut(client, each, events)}
    return found | history.unanswered(events)


def _is_cut(client: Client, task: str, events: list[Record]) -> bool:
    """Whether its send was cut: that is left alone for 150 seconds, and then the owner is asked.

    One whose claim is not in the journal yet has only begun.
    """
    claimed = {each.data["delivery"] for each in events if each.kind == "delivery.claimed"}
    deliveries = parts(client, task, "delivery")
    return any(
        each["state"] in ("sending", "unknown") and each["id"] in claimed for each in deliveries
    )
