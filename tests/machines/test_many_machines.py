"""One Remit on several processes: stories, and kills of every part, judged from outside.

`REMIT_KILLS=60 REMIT_SEED=7 make soak ARGS=tests/machines` chooses how many, and in which order.
"""

import base64
import json
import os
import random
import shutil
import time
from collections import Counter
from typing import Final, cast

import pytest

from remit.model.codec import JsonMap
from tests.live.providers import Providers
from tests.machines import history
from tests.machines.faults import FAULTS, Scene
from tests.machines.fleet import Fleet
from tests.machines.load import Load, journal, parts, wait_for_rest
from tests.machines.temporal import TemporalServer
from tests.soak import SOAK
from tests.store.postgres import Postgres

KILLS: Final = int(os.environ.get("REMIT_KILLS", "600" if SOAK else "6"))
SEED: Final = int(os.environ.get("REMIT_SEED", "18"))
pytestmark = pytest.mark.timeout(1800 + 100 * KILLS)


# Stories ------------------------------------------------------------------------------------------


def what_one_process_takes_another_does_and_a_third_shows(
    fleet: Fleet, providers: Providers
) -> None:
    here, there = fleet.client(0), fleet.client(1)
    thought = here.add("Think of something")
    sent = there.send("Greetings from afar", "phone")
    letters = [here.send(f"Dear Anna {n}", "post", to="anna@example.test") for n in range(2)]
    hopeless, asked = here.add("something hopeless"), there.add("Renew my passport")
    for task in (thought, sent):
        here.until(task, "completed")
    for task, answer, status in (
        (letters[0], "approve", "completed"),
        (letters[1], "decline", "cancelled"),
    ):
        here.until(task, "needs_review")
        there.decide(task, answer)
        here.until(task, status)
    there.until(hopeless, "failed")
    here.until(asked, "needs_review")
    there.decide(asked, "answer", "The red one")
    here.until(asked, "completed")

    (delivery,) = parts(here, sent, "delivery")
    assert providers.accepted.count(str(delivery["id"])) == 1
    assert [mail.to for mail in providers.office.accepted] == [("anna@example.test",)]
    assert journal(here) == journal(there)


def a_wish_reaches_the_worker_wherever_it_is_said(fleet: Fleet, _: Providers) -> None:
    here, there = fleet.client(0), fleet.client(1)
    first, second = here.add("something slow"), here.add("another slow thing")
    for task in (first, second):
        here.until(task, "running")
    there.patch(first, action="pause")
    there.patch(second, action="cancel")
    here.until(first, "paused")
    here.until(second, "cancelled")
    there.patch(first, action="cancel")
    here.until(first, "cancelled")


def what_is_to_come_waits_as_a_row_and_a_repeated_request_makes_one_task(
    fleet: Fleet, _: Providers
) -> None:
    here, there = fleet.client(0), fleet.client(1)
    later = here.add("Later", scheduledFor="2031-01-01T09:00:00Z")
    again = {each.add("Only once", key="one-key-for-both") for each in (here, there)}
    (once,) = again
    here.until(once, "completed")

    assert here.task(later)["state"] in ("new", "ready")
    there.patch(later, action="run")
    here.until(later, "completed")


def a_conversation_is_answered_and_told_what_became_of_its_task(fleet: Fleet, _: Providers) -> None:
    here, there = fleet.client(0), fleet.client(1)
    talk = str(here.post("/api/conversations", {})["id"])
    here.post(f"/api/conversations/{talk}/turns", {"text": "Water the plants"})

    def told() -> bool:
        turns = cast("list[JsonMap]", there.get(f"/api/conversations/{talk}")["turns"])
        return sum(each["role"] == "assistant" for each in turns) >= 2

    here.wait(told, "an answer, and later the result")


def a_worker_that_is_stopped_leaves_its_work_to_the_others(fleet: Fleet, _: Providers) -> None:
    fleet.start("worker")
    client = fleet.client(0)
    tasks = [client.add(f"Something to hand over {n}") for n in range(6)]
    assert fleet.stop("worker", 0) == 0
    for task in tasks:
        client.until(task, "completed")


def a_file_given_to_one_machine_is_sent_by_another_and_shown_by_a_third(
    fleet: Fleet, providers: Providers
) -> None:
    here, there = fleet.client(0), fleet.client(1)
    content = b"apples,3\npears,4\n"
    given: JsonMap = {"name": "prices.csv", "content": base64.b64encode(content).decode()}
    digest = here.post("/api/files", given)["sha256"]
    task = here.add(
        "The price list", attachments={"prices.csv": digest}, delivery=[{"channel": "post"}]
    )
    here.until(task, "completed")

    (mail,) = (each for each in providers.office.accepted if b"prices.csv" in each.content)
    (part,) = (each for each in mail.parsed.walk() if each.get_filename() == "prices.csv")
    assert part.get_payload(decode=True) == content
    assert there.bytes(f"/api/tasks/{task}/files/{digest}") == content
    for member in (each for some in fleet.running.values() for each in some):
        shutil.rmtree(member.home / "tasks" / "files", ignore_errors=True)
    assert here.bytes(f"/api/tasks/{task}/files/{digest}") == content


def a_change_on_one_machine_reaches_the_workers_while_they_run(
    fleet: Fleet, providers: Providers
) -> None:
    here, there = fleet.client(0), fleet.client(1)
    home = fleet.running["serve"][0].home
    book = "- name: Bea\n  channels: {post: bea@example.test}\n  policy: {post: allow}\n"
    (home / "contacts.yaml").write_text(book)
    settings = (home / "settings.toml").read_text()
    (home / "settings.toml").write_text(settings.replace("nina@example", "nora@example"))

    def sender() -> str:
        task = there.add("Hello", delivery=[{"channel": "post", "content": "Hello"}])
        there.until(task, "completed")
        return providers.office.accepted[-1].sender

    here.wait(lambda: sender() == "nora@example.test", "a worker uses the new settings")
    for each in fleet.running["worker"]:
        here.wait(lambda at=each.home: "Bea" in (at / "contacts.yaml").read_text(), "contacts")  # type: ignore[misc]
    there.until(there.send("Hello Bea", "post", to="Bea"), "completed")
    assert providers.office.accepted[-1].to == ("bea@example.test",)


def a_machine_with_another_secret_is_named(fleet: Fleet, _: Providers) -> None:
    fleet.start("worker", CHAT_TOKEN="123456:a-token-that-only-one-machine-has")
    client = fleet.client(0)

    def named() -> str:
        said = json.loads(fleet.seat.run("doctor", "--json").out)
        return " ".join(each["said"] for each in said["checks"] if each["part"] == "secrets")

    client.wait(lambda: "chat_token has no value on" in named(), "the doctor says so", named)
    checks = json.loads(fleet.seat.run("doctor", "--json").out)["checks"]
    (workers,) = (each for each in checks if each["part"] == "workers")
    assert "at work" in workers["said"], workers
    assert "a-token-that-only" not in fleet.seat.run("doctor", "--json").out
    assert "chat_token has no value on" in fleet.log.read_text()
    fleet.stop("worker")


STORIES: Final = (
    what_one_process_takes_another_does_and_a_third_shows,
    a_wish_reaches_the_worker_wherever_it_is_said,
    what_is_to_come_waits_as_a_row_and_a_repeated_request_makes_one_task,
    a_conversation_is_answered_and_told_what_became_of_its_task,
    a_worker_that_is_stopped_leaves_its_work_to_the_others,
    a_file_given_to_one_machine_is_sent_by_another_and_shown_by_a_third,
    a_change_on_one_machine_reaches_the_workers_while_they_run,
    a_machine_with_another_secret_is_named,
)

# Kills --------------------------------------------------------------------------------------------


def test_stories_pass_and_whatever_dies_nothing_is_lost_and_nothing_is_sent_twice(
    fleet: Fleet, temporal: TemporalServer, own_postgres: Postgres, providers: Providers
) -> None:
    """One test, because its processes and servers are started once."""
    for story in STORIES:
        story(fleet, providers)
    chance = random.Random(SEED)  # noqa: S311 - as above
    scene = Scene(fleet, temporal, own_postgres, chance)
    order = [FAULTS[n % len(FAULTS)] for n in range(KILLS)]
    if SOAK:
        chance.shuffle(order)
    with Load(fleet, SEED) as load:
        for fault in order:
            time.sleep(chance.uniform(0.5, 2.0))
            fault(scene)
        time.sleep(1)
    client = fleet.client(-1)
    print("faults:", dict(Counter(fault.__name__ for fault in order)))  # noqa: T201 - shown by -rP

    events = wait_for_rest(client)
    print(history.summary(events, providers.accepted))  # noqa: T201 - as above

    wrong = list(history.complaints(events, providers.accepted, over=SOAK))
    assert not wrong, history.about(events, " ".join(wrong))
    created = {each.data["title"] for each in events if each.kind == "task.created"}
    assert set(load.titles) <= created
    assert fleet.seat.run("audit", "verify").code == 0
