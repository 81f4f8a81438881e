"""A Remit under load that is killed again and again, judged from outside.

    lane = Lane(tmp_path, providers, seed=7)
    lane.suffer(kills=10)
    lane.settle()
    lane.judge()

A real `remit up` takes orders over HTTP and webhooks and sends by real HTTP and SMTP on loopback.
It is killed by its pid with SIGKILL at random moments, and started again. What it acknowledged,
what the channels accepted and what was decided is written down here, outside of it; its database
is not opened.
"""

import contextlib
import http.client
import itertools
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from remit.cli import clock
from remit.model.codec import Json, JsonMap
from tests.channels.telegram import bot_server
from tests.channels.webhook.calls import SECRET, standard
from tests.cli.terminal import Terminal
from tests.live.http_client import Client
from tests.live.providers import Providers

ENDED: Final = ("completed", "failed", "cancelled")
_CALLERS: Final = 3
_LONGEST_LIFE_SECONDS: Final = 1.2
_LONGEST_PAUSE_SECONDS: Final = 0.15  # of a caller: a bridge must send everything, one per second
_STALLED_SECONDS: Final = 100.0  # no change for this long; a bridge sends one per second
_ENVIRON: Final = {"HOOK_ORDERS": SECRET, "CHAT_TOKEN": bot_server.TOKEN}
_SCRIPT: Final = "- seconds: 0.1\n  reply: I thought. <deliverable>Done as asked.</deliverable>\n"
_CONTACTS: Final = f"""\
- name: Anna
  channels: {{post: anna@example.test}}
- name: you
  role: owner
  channels: {{chat: {bot_server.OWNER}@telegram}}
"""
_SETTINGS: Final = """\
zone = "UTC"
[brain]
kind = "scripted"
[engine]
stop_limit = 1
[deliver]
undo = 0
daily_cap = 0
[recall]
store = "off"
[reflect]
nightly = false
[contracts]
written = false
[hooks.orders]
secret = "hook_orders"
text = "Say in one line what was ordered."
title = "/order/name"
hourly = 0
"""


@dataclass(frozen=True)
class Sent:
    """A request that may have been handled: it is repeated until it is answered."""

    method: str
    path: str
    body: JsonMap
    key: str


@dataclass
class History:
    """What was seen from outside, over all processes."""

    tasks: dict[str, str] = field(default_factory=dict)  # acknowledged: by the key of its request
    events: dict[str, str] = field(default_factory=dict)  # acknowledged: by the id of its webhook
    decisions: dict[str, str] = field(default_factory=dict)  # acknowledged: by the review
    resends: Counter[str] = field(default_factory=Counter)  # of each delivery, ordered by the owner
    kills: int = 0
    doubts: int = 0


class Lane:
    """One home, and the processes that run and die in it."""

    def __init__(self, folder: Path, providers: Providers, seed: int) -> None:
        self.history = History()
        self._providers = providers
        self._chance = random.Random(seed)  # noqa: S311 - a seed that failed can be tried again
        self._seat = Terminal(folder, script=_SCRIPT)
        (self._seat.home / "settings.toml").write_text(_SETTINGS + providers.settings())
        (self._seat.home / "contacts.yaml").write_text(_CONTACTS)
        self._open: dict[str, Sent] = {}  # not answered yet
        self._decided: set[str] = set()  # reviews, whether the decision was answered or not
        self._calls: set[str] = set()  # webhooks that were not answered yet
        self._left: list[Sent | str] = []  # requests unanswered by the previous process
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._dying = threading.Event()
        self._trouble: list[str] = []

    # Lives ----------------------------------------------------------------------------------------

    def suffer(self, kills: int) -> None:
        """Run under load and get killed, again and again."""
        for _ in range(kills):
            self._left = [*self._open.values(), *self._calls]
            with self._seat.up(**_ENVIRON) as up:
                client = Client(self._seat, up)
                self._dying, self._trouble = threading.Event(), []
                load = [
                    threading.Thread(target=self._load, args=(client,)) for _ in range(_CALLERS)
                ]
                for each in load:
                    each.start()
                time.sleep(self._chance.uniform(0.05, _LONGEST_LIFE_SECONDS))
                self._dying.set()
                up.kill()
                self.history.kills += 1
                for each in load:
                    each.join()
                assert not self._trouble, self._trouble

    def settle(self) -> None:
        """Run without a kill until nothing is left to do; answer every question on the way."""
        with self._seat.up(**_ENVIRON) as up:
            client = Client(self._seat, up)
            self._left = [*self._open.values(), *self._calls]
            self._repeat(client)
            before: list[str] = []
            while left := self._unsettled(client):
                if left != before:
                    before, end = left, time.monotonic() + _STALLED_SECONDS
                assert time.monotonic() < end, left
                time.sleep(0.2)
            self.found = [client.task(task) for task in self._acknowledged()]
            self.listed = _all_tasks(client)
            self.reviews = [client.get(f"/api/reviews/{each}") for each in self.history.decisions]
        self.audit = self._seat.run("audit", "verify")

    def _load(self, client: Client) -> None:
        """Order, call and decide until the process is gone."""
        try:
            self._repeat(client)
            while True:
                self._chance.choice((self._order, self._order, self._call, self._decide))(client)
                time.sleep(self._chance.uniform(0, _LONGEST_PAUSE_SECONDS))
        except (OSError, http.client.HTTPException) as error:
            if not self._dying.is_set():
                self._trouble.append(repr(error))
        except AssertionError as error:
            self._trouble.append(str(error))

    # What the world does --------------------------------------------------------------------------

    def _order(self, client: Client) -> None:
        text = f"Order {next(self._numbers)}"
        to: list[Json] = [{"channel": "dashboard"}]
        channel = self._chance.choice(
            ("dashboard", "post", "anna", "phone", "phone2", "phone3", "chat")
        )
        if channel == "anna":
            to = [{"channel": "post", "recipient": "Anna", "content": text}]
        elif channel != "dashboard":
            to = [{"channel": channel, "content": text}]
        self._say(client, Sent("POST", "/api/tasks", {"text": text, "delivery": to}, text))

    def _call(self, client: Client) -> None:
        self._hook(client, f"event-{next(self._numbers)}")

    def _hook(self, client: Client, ident: str) -> None:
        self._calls.add(ident)
        body = f'{{"order": {{"name": "{ident}"}}}}'.encode()
        call = standard(body, ident=ident, at=clock.now())
        status, told = client.raw("POST", "/hooks/in/orders", call.body, call.headers)
        assert status == 202, told
        self.history.events[ident] = str(told["taskId"])
        self._calls.discard(ident)

    def _decide(self, client: Client) -> None:
        """Approve or decline sends to others; unknown ones are left to the end."""
        waiting = _maps(client.get("/api/reviews"), "reviews")
        asked = [each for each in waiting if each["reason"] == "approval"]
        if asked:
            self._answer(client, self._chance.choice(asked), ("approve", "approve", "decline"))

    def _answer(self, client: Client, review: JsonMap, words: tuple[str, ...]) -> None:
        said, key = self._chance.choice(words), f"decide {review['id']}"
        path = f"/api/reviews/{review['id']}/decision"
        sent = Sent("POST", path, {"answer": said, "text": None}, key)
        with self._lock:
            if str(review["id"]) in self._decided:
                return  # a decision is never changed here, answered or not
            self._decided.add(str(review["id"]))
            self._open[key] = sent
        if said == "resend":
            self.history.resends[str(review["about"])] += 1
        self._say(client, sent)

    def _say(self, client: Client, sent: Sent) -> None:
        self._open[sent.key] = sent
        status, told = client.ask(sent.method, sent.path, sent.body, key=sent.key)
        review = sent.path.removesuffix("/decision").rpartition("/")[2]
        if sent.path == "/api/tasks":
            assert status == 201, told
            self.history.tasks[sent.key] = str(told["id"])
        else:
            # One that was stored but not answered may be refused as decided: it must hold, too.
            assert status in (200, 409), told
            self.history.decisions[review] = str(sent.body["answer"])
        del self._open[sent.key]

    def _repeat(self, client: Client) -> None:
        """Repeat everything that was never answered, under the same keys."""
        while self._left:
            with contextlib.suppress(IndexError):
                left = self._left.pop()
                if isinstance(left, Sent):
                    self._say(client, left)
                else:
                    self._hook(client, left)

    def _unsettled(self, client: Client) -> list[str]:
        """Answer the questions; return the tasks that have not ended yet."""
        for review in _maps(client.get("/api/reviews"), "reviews"):
            doubt = review["reason"] == "ambiguous"
            self.history.doubts += doubt
            self._answer(client, review, ("arrived", "resend") if doubt else ("approve",))
        return [
            f"{told['id']} is {told['state']}: {told['delivery']}"
            for told in _all_tasks(client)
            if told["state"] not in ENDED and not _is_looked_for(told)
        ]

    def _acknowledged(self) -> list[str]:
        return [*self.history.tasks.values(), *self.history.events.values()]

    # What history says ----------------------------------------------------------------------------

    def judge(self) -> None:
        """Check: nothing lost or twice, every decision kept, every unknown send asked about."""
        seen, accepted = self.history, Counter(self._providers.accepted)
        titles = Counter(str(task["title"]) for task in self.listed)
        assert set(titles.values()) == {1}, "a request that was repeated made a second task"
        assert titles.keys() == seen.tasks.keys() | seen.events.keys()
        for review in self.reviews:
            said = seen.decisions[str(review["id"])]
            assert cast("JsonMap", review["decision"])["answer"] == said, review
        keys: set[str] = set()
        texts = Counter(self._providers.bot.texts())  # no key goes out with them
        orders = {text for text in texts if text.startswith("Order ")}
        assert orders <= titles.keys()
        for task in self.found:
            for delivery in _maps(task, "delivery"):
                if delivery["channel"] != "dashboard":
                    keys.add(str(delivery["id"]))
                    if delivery["channel"] == "chat":
                        accepted[str(delivery["id"])] = texts[str(task["title"])]
                    self._check(task, delivery, accepted[str(delivery["id"])])
        assert accepted.keys() <= keys, "something went out that nobody ordered"
        assert self.audit.code == 0, self.audit.out + self.audit.err

    def _check(self, task: JsonMap, delivery: JsonMap, times: int) -> None:
        """Check one delivery: accepted once, and once more for each resend."""
        key, state = str(delivery["id"]), delivery["state"]
        assert times <= 1 + self.history.resends[key], (task["title"], "was sent twice")
        doubted = key in {r["about"] for r in _maps(task, "reviews") if r["reason"] == "ambiguous"}
        if state == "sent":
            assert times >= 1 or doubted, (task["title"], "is said to be sent, and was not")
        elif not _is_looked_for(task) and not doubted:
            assert times == 0, (task["title"], state, "was sent, and is said not to be")
        if task["state"] == "cancelled":
            assert times == 0, (task["title"], "was declined and went out all the same")


def _is_looked_for(task: JsonMap) -> bool:
    """Whether an unknown letter is still searched in its mailbox, for 15 minutes before asking."""
    if task["state"] != "delivering":
        return False
    states = [each["state"] for each in _maps(task, "delivery") if each["channel"] == "post"]
    return bool(states) and set(states) <= {"unknown", "sending"}


def _all_tasks(client: Client) -> list[JsonMap]:
    found: list[JsonMap] = []
    cursor: Json = ""
    while cursor is not None:
        page = client.get(f"/api/tasks?limit=500{cursor and f'&cursor={cursor}'}")
        found += _maps(page, "tasks")
        cursor = page.get("next")
    return found


def _maps(told: JsonMap, name: str) -> list[JsonMap]:
    return cast("list[JsonMap]", told[name])
