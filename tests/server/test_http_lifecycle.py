"""No illegal move can be made from outside: every pair of statuses, by every verb there is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from remit.model.codec import Json
from remit.model.status import ALLOWED, PAUSABLE, TERMINAL, Actor, Status
from tests.server.served import Served
from tests.store.scene import Scene

PAIRS = [(was, to) for was in Status for to in Status if was is not to]
ILLEGAL = [(was, to) for was, to in PAIRS if to not in ALLOWED[was]]


@dataclass(frozen=True)
class Zoo:
    """A server with one task in each place of its life, none of which moves by itself."""

    served: Served
    tasks: dict[Status, str]
    review: str

    def state(self, was: Status) -> str:
        return str(self.served.get(f"/api/tasks/{self.tasks[was]}")["state"])


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    home = tmp_path_factory.mktemp("zoo")
    tasks, review = _tasks(home / "agent.db")
    with Served(home) as served:
        yield Zoo(served, tasks, review)


def _tasks(path: Path) -> tuple[dict[Status, str], str]:
    scene = Scene(path)
    found: dict[Status, str] = {}
    for to, by in ((Status.VERIFYING, Actor.EXECUTOR), (Status.DELIVERING, Actor.EXECUTOR)):
        claim = scene.running()
        scene.move(claim, to, by)
        found[to] = claim.task.id
    for to, outcome in ((Status.COMPLETED, "done"), (Status.FAILED, "fail")):
        claim = scene.running()
        scene.finish(claim, outcome, to)
        found[to] = claim.task.id
    asking, review = scene.asking()
    found |= {
        Status.NEEDS_REVIEW: asking.id,
        Status.RUNNING: scene.running().task.id,
        Status.NEW: scene.admit().id,
        Status.READY: scene.ready().id,
        Status.PAUSED: scene.admit().id,
        Status.CANCELLED: scene.admit().id,
    }
    scene.close()
    return found, review


@pytest.fixture(scope="module", autouse=True)
def two_are_moved_by_the_owner(zoo: Zoo) -> None:
    zoo.served.patch(zoo.tasks[Status.PAUSED], "pause")
    zoo.served.patch(zoo.tasks[Status.CANCELLED], "cancel")
    assert {was: zoo.state(was) for was in Status} == {was: was.value for was in Status}


@pytest.mark.parametrize(("was", "to"), ILLEGAL)
def test_an_illegal_move_cannot_be_ordered(zoo: Zoo, was: Status, to: Status) -> None:
    """By the verb that would make it, where there is one; by naming the status, in any case."""
    path = f"/api/tasks/{zoo.tasks[was]}"
    for body in ({"action": to.value}, {"status": to.value}, {"action": "cancel", "to": to.value}):
        assert zoo.served.ask("PATCH", path, dict[str, Json](body)).status_code == 422
    for verb in _verbs(was, to):
        answer = zoo.served.ask("PATCH", path, {"action": verb})
        told = answer.json()
        assert answer.status_code == 409
        assert told["type"] == "urn:remit:problem:illegal-transition"
        assert told["allowed"] == sorted(_allowed(was))
        for status in _allowed(was):
            assert status in told["detail"]

    assert zoo.state(was) == was.value


def _verbs(was: Status, to: Status) -> list[str]:
    """What an owner could try to get there."""
    if to is Status.PAUSED:
        return ["pause"]
    if to is Status.CANCELLED:
        return ["cancel"]
    if was is Status.PAUSED:
        return []  # to resume it is legal; it goes where it was and nowhere else
    if to is Status.RUNNING:
        return ["resume", "run"]
    return ["resume"] if to in PAUSABLE else []


def _allowed(was: Status) -> set[str]:
    if was is Status.PAUSED:
        return {"new", "cancelled"}  # this one was paused when it was new
    return {status.value for status in ALLOWED[was]}


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        *((status.value, {status}) for status in Status if status is not Status.RUNNING),
        ("pending", {Status.NEW, Status.READY}),
        ("running", {Status.RUNNING, Status.VERIFYING, Status.DELIVERING}),
        ("deleted", {Status.CANCELLED}),
    ],
)
def test_a_word_finds_all_that_it_stands_for(zoo: Zoo, word: str, ours: set[Status]) -> None:
    page = zoo.served.get(f"/api/tasks?status={word}")
    found = {task["id"] for task in page["tasks"]}

    assert found == {zoo.tasks[status] for status in ours}


def test_the_words_of_a_filter_are_the_words_of_the_view(zoo: Zoo) -> None:
    everything = zoo.served.get("/api/tasks?limit=500")["tasks"]
    for word in {task["status"] for task in everything}:
        found = zoo.served.get(f"/api/tasks?status={word}&limit=500")["tasks"]
        assert found == [task for task in everything if task["status"] == word]


def test_only_a_decision_leads_out_of_a_review(zoo: Zoo) -> None:
    path = f"/api/tasks/{zoo.tasks[Status.NEEDS_REVIEW]}"
    for action in ("pause", "resume", "run"):
        assert zoo.served.ask("PATCH", path, {"action": action}).status_code == 409
    wrong = zoo.served.ask("POST", f"/api/reviews/{zoo.review}/decision", {"answer": "approve"})

    assert wrong.status_code == 409
    assert zoo.state(Status.NEEDS_REVIEW) == "needs_review"


@pytest.mark.parametrize("was", [status for status in Status if status not in TERMINAL])
def test_only_what_has_ended_is_tried_again(zoo: Zoo, was: Status) -> None:
    assert zoo.served.ask("POST", f"/api/tasks/{zoo.tasks[was]}/retry").status_code == 409
