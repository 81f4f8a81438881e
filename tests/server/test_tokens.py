"""Tokens of programs: what each may do, and that an agent's never decides."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from remit.cli import log
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, stamp
from remit.model.ids import TaskId
from remit.store import callers, events
from remit.store.callers import ApiToken
from remit.store.database import Tx
from tests.server.served import Answer, Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("tokens"), works=True) as opened:
        yield opened


def _make(served: Served, name: str, *scopes: str, **more: Json) -> Answer:
    return served.post("/api/tokens", {"name": name, "scopes": list[Json](scopes), **more})


# What each may do ---------------------------------------------------------------------------------


def test_the_journal_says_which_token_decided(served: Served) -> None:
    secret = _make(served, "Hanan's phone", "approve", "read")["secret"]
    task = served.add("Renew my passport")
    served.settle()
    (review,) = served.do(_reviews(served, task))
    path = f"/api/reviews/{review}/decision"
    answer = served.ask("POST", path, {"answer": "decline"}, secret=secret)

    assert answer.is_success, answer.text
    shown = served.ask("GET", f"/api/reviews/{review}").json()
    assert shown["decision"]["by"] == "Hanan's phone"


async def _reviews(served: Served, task: str) -> list[str]:
    found = await served.app.inbox.waiting()
    return [str(review.id) for review in found if review.task_id == task]


# Agents -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["approve", "admin"])
def test_no_token_of_an_agent_is_made_that_decides(served: Served, scope: str) -> None:
    body: JsonMap = {"name": f"agent {scope}", "agent": True, "scopes": ["read", scope]}
    answer = served.ask("POST", "/api/tokens", body)

    assert answer.status_code == 422
    assert answer.json()["field"] == "scopes"
    assert answer.json()["detail"] == (
        f"An agent never decides: its token may hold read and write, not {scope}."
    )


def test_an_agent_decides_nothing_even_if_its_row_says_so(served: Served) -> None:
    def forge(tx: Tx) -> None:
        now = served.clock.now()
        every = frozenset(Scope)
        token = ApiToken(id="tok-x", name="forged", agent=True, scopes=every, created_at=now)
        callers.add_token(tx, token, hashlib.sha256(b"forged").digest())

    served.write(forge)
    for method, path in (
        ("POST", "/api/reviews/x/decision"),
        ("GET", "/api/tokens"),
        ("POST", "/api/sign-ins"),
        ("POST", "/api/contacts/permissions"),
    ):
        answer = served.ask(method, path, {}, secret="forged")
        assert answer.status_code == 403
        assert "is an agent" in answer.json()["detail"]


def test_an_agent_entrusts_in_its_own_name_and_never_in_the_owner_s_words(served: Served) -> None:
    secret = _make(served, "nina", "read", "write", agent=True)["secret"]
    made = served.ask("POST", "/api/tasks", {"text": "Look around"}, secret=secret)
    spoken = served.ask("POST", "/api/messages", {"text": "Write to Anna"}, secret=secret)

    assert (made.status_code, made.json()["createdBy"]) == (201, "agent")
    assert spoken.status_code == 403
    assert "its owner's words" in spoken.json()["detail"]
    assert served.get(f"/api/tasks/{served.add('By hand')}")["createdBy"] == "user"


def test_what_an_agent_stops_is_written_down_as_its_own_and_not_the_owner_s(served: Served) -> None:
    secret = _make(served, "stopper", "read", "write", agent=True)["secret"]
    at = stamp(served.clock.now() + timedelta(days=3))
    task, other = (served.add(each, scheduledFor=at) for each in ("Renew it", "Water it"))
    served.settle()
    held = served.ask("PATCH", f"/api/tasks/{task}", {"action": "cancel"}, secret=secret)
    served.ask("PATCH", f"/api/tasks/{other}", {"action": "cancel"})

    assert held.is_success, held.text
    assert _last(served, task) == ("agent", "stopper")
    assert _last(served, other) == ("owner", None)
    said = [log.sentence(each) for each in served.read(events.of_task, TaskId(task))]
    assert said[-1] == "Cancelled. The agent stopper ordered it."


def _last(served: Served, task: str) -> tuple[Json, Json]:
    """Who did the last thing to a task, and through whom."""
    log = served.get(f"/api/tasks/{task}/log")["log"]
    moved = [each for each in log if each.get("event") == "task.moved"]
    return moved[-1]["actor"], moved[-1]["data"].get("through")


# Making and taking back ---------------------------------------------------------------------------


def test_a_secret_is_shown_once_and_kept_nowhere(served: Served) -> None:
    body: JsonMap = {"name": "shown once", "scopes": ["read"]}
    first = served.ask("POST", "/api/tokens", body, key="a-key")
    again = served.ask("POST", "/api/tokens", body, key="a-key")
    secret = first.json()["secret"]

    assert secret.startswith("remit_")
    assert again.status_code == 409
    listed = served.ask("GET", "/api/tokens")
    assert first.json()["id"] in listed.text
    assert secret not in listed.text
    with closing(sqlite3.connect(served.home / "agent.db")) as file:
        assert secret not in "\n".join(file.iterdump())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "", "scopes": ["read"]}, "name"),
        ({"name": " x", "scopes": ["read"]}, "name"),
        ({"name": "a\nb", "scopes": ["read"]}, "name"),
        ({"name": "x" * 61, "scopes": ["read"]}, "name"),
        ({"name": "Owner", "scopes": ["read"]}, "name"),
        ({"name": "nobody", "scopes": ["read"]}, "name"),
        ({"name": "x", "scopes": []}, "scopes"),
        ({"name": "x", "scopes": ["everything"]}, "scopes[0]"),
        ({"name": "x", "scopes": ["read"], "days": 0}, "days"),
        ({"name": "x"}, "scopes"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(served: Served, body: JsonMap, field: str) -> None:
    answer = served.ask("POST", "/api/tokens", body)

    assert answer.status_code in (409, 422)
    assert answer.json()["field"].startswith(field.partition("[")[0])


def test_who_may_not_do_everything_gives_nothing_away(served: Served) -> None:
    admin = _make(served, "only admin gives", "admin", "read")["secret"]

    more = served.ask("POST", "/api/tokens", {"name": "y", "scopes": ["approve"]}, secret=admin)
    assert more.status_code == 422
    assert "may not give what it does not hold: approve." in more.json()["detail"]
    assert served.ask("POST", "/api/sign-ins", {}, secret=admin).status_code == 403
    less = served.ask("POST", "/api/tokens", {"name": "reader", "scopes": ["read"]}, secret=admin)
    assert less.status_code == 201


def test_a_name_is_free_again_once_its_token_is_revoked(served: Served) -> None:
    first = _make(served, "rotated", "read")
    taken = served.ask("POST", "/api/tokens", {"name": "rotated", "scopes": ["read"]})
    gone = served.ask("DELETE", f"/api/tokens/{first['id']}")
    second = _make(served, "rotated", "read")

    assert taken.status_code == 409
    assert gone.json()["revokedAt"] is not None
    assert served.ask("GET", "/api/tasks", secret=first["secret"]).status_code == 401
    assert served.ask("GET", "/api/tasks", secret=second["secret"]).status_code == 200
    assert served.ask("DELETE", "/api/tokens/tok-nowhere").status_code == 404


def test_a_token_runs_out(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        secret = _make(served, "a day", "read", days=1)["secret"]
        served.clock.advance(timedelta(days=1) - timedelta(seconds=1))
        before = served.ask("GET", "/api/tasks", secret=secret).status_code
        served.clock.advance(timedelta(seconds=1))
        after = served.ask("GET", "/api/tasks", secret=secret).status_code

    assert (before, after) == (200, 401)


def test_when_it_was_used_is_kept_to_the_minute(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        secret = _make(served, "used", "read")["secret"]
        seen = []
        for seconds in (0, 59, 1, 59, 1):
            served.clock.advance(timedelta(seconds=seconds))
            served.ask("GET", "/api/tasks", secret=secret)
            seen.append(served.ask("GET", "/api/tokens").json()["tokens"][0]["usedAt"])

    assert [when == seen[0] for when in seen] == [True, True, False, False, False]
    assert seen[2] == seen[3] != seen[4]
