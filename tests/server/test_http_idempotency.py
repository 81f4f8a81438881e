"""The same request twice is done once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Event

import httpx2
import pytest

from remit.errors import StoreBusy
from remit.intake.admit import Intake
from remit.model.codec import Json, stamp
from remit.model.task import Cue, Task
from remit.store import callers
from remit.store.callers import RequestKey
from tests.server.served import LIMIT, TOKEN, Served, admitting, problem
from tests.tables import for_each

CREATE = RequestKey("owner POST /api/tasks", "k-1")


def _titles(served: Served) -> list[Json]:
    page = served.get("/api/tasks?limit=500")
    return [task["title"] for task in page["tasks"]]


def _keys(served: Served) -> int:
    return len(served.read(lambda tx: tx.ask("SELECT * FROM idempotency")))


def test_the_same_key_and_body_give_the_same_answer_to_the_letter(still: Served) -> None:
    still.post("/api/tasks", {"text": "Only once"})  # without a key it is another one
    first = still.ask("POST", "/api/tasks", {"text": "Only once"}, key="same")
    again = still.ask("POST", "/api/tasks", {"text": "Only once"}, key="same")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert _titles(still).count("Only once") == 2


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/tasks", {"text": "Another one"}),
        ("/api/tasks", {"text": "Mine", "priority": "high"}),
        ("/api/tasks?view=s4", {"text": "Mine"}),
    ],
)
def test_the_same_key_with_another_request_is_refused(still: Served, path: str, body: Json) -> None:
    still.ask("POST", "/api/tasks", {"text": "Mine"}, key="mine")
    other = still.ask("POST", path, body, key="mine")

    assert problem(other) == (422, "idempotency-mismatch")
    assert "Another one" not in _titles(still)


def test_a_key_belongs_to_one_route_and_one_task(still: Served) -> None:
    task, other = still.add("Pause me"), still.add("Leave me")
    paused = still.ask("PATCH", f"/api/tasks/{task}", {"action": "pause"}, key="shared")
    wrong = still.ask("PATCH", f"/api/tasks/{other}", {"action": "pause"}, key="shared")
    made = still.ask("POST", "/api/tasks", {"text": "Pause me too"}, key="shared")
    deleted = still.ask("DELETE", f"/api/tasks/{task}", key="shared")

    assert (paused.status_code, made.status_code, deleted.status_code) == (200, 201, 200)
    assert (wrong.status_code, still.stored(other).status.value) == (422, "new")


def test_what_is_ordered_again_is_told_what_came_of_it_and_is_not_done_again(
    working: Served,
) -> None:
    """By then it would no longer be possible: it is paused, tried again, decided."""
    at: Json = stamp(working.clock.now() + timedelta(days=1))
    task, failed = working.add("Pause me", scheduledFor=at), working.add("A hopeless case")
    asks = working.add("Renew the passport once")
    working.settle()
    review = working.get(f"/api/tasks/{asks}")["reviews"][0]["id"]
    orders: list[tuple[str, str, Json]] = [
        ("PATCH", f"/api/tasks/{task}", {"action": "pause"}),
        ("POST", f"/api/tasks/{failed}/retry", None),
        ("POST", f"/api/reviews/{review}/decision", {"answer": "decline"}),
    ]
    for n, (method, path, body) in enumerate(orders):
        first, again = (working.ask(method, path, body, key=f"once-{n}") for _ in range(2))
        assert first.is_success, first.text
        assert again.content == first.content
        assert "Idempotency-Replayed" in again.headers

    assert working.ask("PATCH", f"/api/tasks/{task}", {"action": "pause"}).status_code == 409


def test_what_was_refused_leaves_its_key_free(still: Served) -> None:
    wrong = still.ask("POST", "/api/tasks", {"text": "Go", "colour": "red"}, key="typo")
    right = still.ask("POST", "/api/tasks", {"text": "Go"}, key="typo")

    assert (wrong.status_code, right.status_code) == (422, 201)


def test_twenty_at_once_with_one_key_make_one_task(still: Served) -> None:
    everyone = Barrier(20)

    def post(_: int) -> httpx2.Response:
        with httpx2.Client(timeout=LIMIT, trust_env=False, verify=False) as client:
            everyone.wait(LIMIT)
            return client.post(
                still.url + "/api/tasks",
                json={"text": "Twenty voices"},
                headers={"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": "twenty"},
            )

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(post, range(20)))

    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    busy = [answer.json()["type"] for answer in answers if answer.status_code != 201]
    assert len(made) == 1
    assert set(busy) <= {"urn:remit:problem:idempotency-in-flight"}
    assert _titles(still).count("Twenty voices") == 1


def test_a_request_that_is_being_done_is_not_begun_again(tmp_path: Path) -> None:
    begun, go_on = Event(), Event()

    async def slowly(intake: Intake, cue: Cue) -> Task:
        begun.set()
        await asyncio.to_thread(go_on.wait, LIMIT)
        return await intake.admit(cue)

    body: Json = {"text": "Slowly"}
    with Served(tmp_path, alter=admitting(slowly)) as served, ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.ask, "POST", "/api/tasks", body, key="slow")
        assert begun.wait(LIMIT)
        same = served.ask("POST", "/api/tasks", body, key="slow")
        other = served.ask("POST", "/api/tasks", {"text": "Else"}, key="slow")
        go_on.set()
        assert first.result(LIMIT).status_code == 201
        again = served.ask("POST", "/api/tasks", body, key="slow")

        assert problem(same) == (409, "idempotency-in-flight")
        assert other.status_code == 422
        assert again.json()["id"] == first.result().json()["id"]


def test_what_was_done_before_a_crash_is_found_and_not_done_again(tmp_path: Path) -> None:
    """The task was stored, its answer was not: as if the process had died in between."""
    failures = [StoreBusy("the file", 1)]

    async def cut_short(intake: Intake, cue: Cue) -> Task:
        task = await intake.admit(cue)
        if failures:
            raise failures.pop()
        return task

    with Served(tmp_path, alter=admitting(cut_short)) as served:
        lost = served.ask("POST", "/api/tasks", {"text": "Survive"}, key="crash")
        other = served.ask("POST", "/api/tasks", {"text": "Else"}, key="crash")
        found = served.ask("POST", "/api/tasks", {"text": "Survive"}, key="crash")

        assert (lost.status_code, other.status_code, found.status_code) == (503, 422, 201)
        assert _titles(served) == ["Survive"]
        assert served.get(f"/api/tasks/{found.json()['id']}")["title"] == "Survive"


def test_a_key_outlives_the_process(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        first = served.ask("POST", "/api/tasks", {"text": "Still here"}, key="lasting")
    with Served(tmp_path) as served:
        again = served.ask("POST", "/api/tasks", {"text": "Still here"}, key="lasting")

    assert again.content == first.content


def test_after_a_day_a_key_may_be_used_for_another_request(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        body: Json = {"text": "Daily"}
        first = served.ask("POST", "/api/tasks", body, key="daily").json()["id"]
        served.clock.advance(timedelta(hours=23, minutes=59))
        same = served.ask("POST", "/api/tasks", body, key="daily").json()["id"]
        served.clock.advance(timedelta(minutes=1))
        fresh = served.ask("POST", "/api/tasks", {"text": "Daily, new"}, key="daily")

        assert same == first
        assert fresh.status_code == 201
        assert fresh.json()["id"] != first
        assert _keys(served) == 1


@pytest.mark.parametrize("key", ["once", "another"])
def test_a_clock_that_is_ahead_for_one_request_makes_no_second_task(
    tmp_path: Path, key: str
) -> None:
    with Served(tmp_path) as served:
        began = served.clock.now()
        body: Json = {"text": "Only once"}
        first = served.ask("POST", "/api/tasks", body, key="once").json()["id"]
        served.clock.jump(began + timedelta(days=400))
        beside: Json = body if key == "once" else {"text": "Another"}
        served.ask("POST", "/api/tasks", beside, key=key)
        served.clock.jump(began + timedelta(minutes=1))
        again = served.ask("POST", "/api/tasks", body, key="once").json()["id"]

        assert again == first
        assert _titles(served).count("Only once") == 1


def test_old_keys_beyond_the_last_ones_of_a_caller_are_swept(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        start = served.clock.now()
        for n in range(callers.KEPT_KEYS + 3):
            for caller in ("busy", "calm") if n < 2 else ("busy",):
                at = start + timedelta(seconds=n)
                served.write(callers.reserve, RequestKey(caller, f"{n}"), "x", "ref", at)
        later = start + timedelta(days=2)

        assert served.write(callers.sweep, later) == 3
        assert (
            served.write(callers.reserve, RequestKey("busy", "3"), "x", "new", later).body == "ref"
        )
        assert (
            served.write(callers.reserve, RequestKey("busy", "2"), "x", "new", later).body == "new"
        )
        assert served.write(callers.sweep, later) == 1


def test_an_expired_reservation_is_taken_anew_even_unswept(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        start = served.clock.now()

        def reserve(digest: str, ref: str, hours: int) -> callers.StoredReply:
            at = start + timedelta(hours=hours)
            return served.write(callers.reserve, CREATE, digest, ref, at)

        first = reserve("one", "ref-1", 0)
        held = reserve("two", "ref-2", 23)
        fresh = reserve("two", "ref-3", 24)

    assert (first.digest, first.body, first.answered) == ("one", "ref-1", False)
    assert held == first
    assert (fresh.digest, fresh.body) == ("two", "ref-3")


@for_each("keys", [[""], ["x" * 256], ["tab\there"], ["caf\u00e9"], ["a", "b"]])
def test_a_key_that_cannot_be_one_and_two_keys_are_refused(still: Served, keys: list[str]) -> None:
    sent = [(b"idempotency-key", key.encode("latin-1")) for key in keys]
    headers = [(b"authorization", f"Bearer {TOKEN}".encode()), *sent]
    answer = still.client.post(still.url + "/api/tasks", json={"text": "Go"}, headers=headers)

    assert answer.status_code == 422
    assert answer.json()["field"] == "Idempotency-Key"
