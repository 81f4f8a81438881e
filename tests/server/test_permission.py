"""Who may do what, and be told what: every route, every set of scopes, own and foreign work.

A caller without `read` acts on what it created and is told of nothing else.
"""

from itertools import product
from typing import Final, cast

import httpx2
import pytest

from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.operations.operation import AgentRule
from remit.operations.table import OPERATIONS
from remit.server.routes import Route
from tests.peer.peers import Peers
from tests.server.besieged import LATER, OFTEN, SECRET, bearer, named, rows
from tests.server.served import Answer
from tests.soak import one_in

ACTIONS: Final = ("pause", "resume", "run", "cancel", "retry", "delete")
READ, WRITE, APPROVE, ADMIN = Scope
CALLERS: Final[dict[str, tuple[Scope, ...]]] = {
    "reader": (READ,),
    "writer": (WRITE,),
    "decider": (APPROVE,),
    "admin": (ADMIN,),
    "blind": (WRITE, APPROVE, ADMIN),
    "hand": (READ, WRITE),
    "all": (READ, WRITE, APPROVE, ADMIN),
}
AGENTS: Final = {"nina": (WRITE,), "otto": (READ, WRITE), "pia": (READ,)}
FOR_PEOPLE: Final = {
    f"{each.arguments.http_method()} {each.arguments.http_path()}"
    for each in OPERATIONS
    if each.agents is AgentRule.NEVER and each.arguments.__struct_config__.tag is None
}
# What ends the caller, or the app, or asks the machine for something: tried elsewhere.
UNTRIED: Final = ("DELETE /api/tokens/{id}",)


def _furnish(app: Peers) -> dict[str, str]:
    """Work of the owner's: planned, coming back, asked about, ended. All of it holds the word."""
    made = {
        "planned": app.add(f"My {SECRET}", scheduledFor=LATER),
        "asked": app.add(f"Renew my passport, {SECRET}"),
        "done": app.add(f"Find a park with {SECRET}"),
        "series": app.add(f"More {SECRET}", repeats=OFTEN),
    }
    talk = app.post("/api/conversations", {"title": f"About {SECRET}"})
    app.post("/api/views", {"name": "plain", "filter": SECRET})
    app.settle()
    review = app.review_of(made["asked"])
    app.ids |= {"review": review, "conversation": str(talk["id"])}
    return made


def _own(app: Peers, secret: str) -> dict[str, str]:
    """The same of the caller's own, if it may."""
    bodies: dict[str, JsonMap] = {
        "planned": {"text": "Buy bread", "scheduledFor": LATER},
        "series": {"text": "Buy bread again", "repeats": OFTEN},
    }
    made: dict[str, str] = {}
    for name, body in bodies.items():
        answer = app.ask("POST", "/api/tasks", body, secret=secret)
        if answer.is_success:
            made[name] = str(answer.json()["id"])
    app.settle()
    return made


def _send(app: Peers, secret: str, route: Route, task: str) -> httpx2.Response:
    app.ids |= {"task": task, "series": "ser-" + task.removeprefix("task-")}
    return app.send(route, bearer(secret))


def _is_of_a_task(route: Route) -> bool:
    return route.path.startswith(("/api/tasks/{id}", "/api/series/{id}"))


@one_in(3, start=1)  # an agent that only writes is always one of them
@pytest.mark.parametrize("name", [*CALLERS, *AGENTS])
def test_every_route_does_and_tells_what_the_caller_s_scopes_open(app: Peers, name: str) -> None:
    scopes = CALLERS.get(name) or AGENTS[name]
    secret = app.secret(name, *scopes, agent=name in AGENTS)
    foreign = _furnish(app)
    own = _own(app, secret)
    targets = [*product(foreign.values(), [False]), *product(own.values(), [True])]
    reached = 0
    # What only looks comes first, what removes something last.
    order = {"GET": 0, "POST": 1, "PATCH": 2, "DELETE": 3}
    for route in sorted(rows(page=False), key=lambda each: order[each.method]):
        if route.public or named(route) in UNTRIED:
            continue
        for task, mine in targets if _is_of_a_task(route) else targets[:1]:
            answer = _send(app, secret, route, task)
            said = (named(route), task, answer.status_code, answer.text[:300])
            hidden = READ not in scopes and _is_of_a_task(route) and route.needs is WRITE
            if set(route.scopes) - {*scopes} or (name in AGENTS and named(route) in FOR_PEOPLE):
                assert answer.status_code == 403, said
            elif hidden and not mine:
                assert answer.status_code == 404, said
            else:
                assert answer.status_code < 500, said
                reached += answer.is_success
            if READ not in scopes:
                assert SECRET not in answer.text, said

    assert reached


@pytest.mark.parametrize("agent", [False, True])
def test_many_at_once_tell_a_caller_without_read_nothing_foreign(app: Peers, agent: bool) -> None:
    secret = app.secret("writer", "write", agent=agent)
    foreign = _furnish(app)
    _own(app, secret)
    stored = {task: app.stored(task) for task in foreign.values()}
    whom: list[JsonMap] = [
        {"ids": list[Json](foreign.values())},
        {"filter": ""},
        {"filter": SECRET},
    ]
    for action, dry, said in product(ACTIONS, (True, False), whom):
        body: JsonMap = {"action": action, "dryRun": dry, **said}
        answer = app.ask("POST", "/api/tasks/bulk", body, secret=secret)
        assert answer.status_code == 200, answer.text
        assert SECRET not in answer.text, body
        if said.get("filter") == SECRET:
            assert (answer.json()["matched"], answer.json()["more"]) == (0, False), body

    assert {task: app.stored(task) for task in foreign.values()} == stored


def test_what_came_of_a_program_s_own_task_takes_read_to_be_told(app: Peers) -> None:
    """Its work is done with the owner's trust, so what comes of it may hold all that he knows."""
    secret = app.secret("writer", "write")
    body: JsonMap = {"text": "Find a park", "delivery": [{"channel": "dashboard"}]}
    made = app.ask("POST", "/api/tasks", body, secret=secret).json()
    app.settle()
    whole = app.get(f"/api/tasks/{made['id']}")
    told = app.ask("DELETE", f"/api/tasks/{made['id']}", secret=secret).json()

    assert whole["resultSummary"]
    assert (told["title"], told["state"]) == ("Find a park", whole["state"])
    assert (told["resultSummary"], told["toolOutput"]) == (None, None)


def test_a_receipt_for_who_may_decide_and_not_read_says_how_it_stands(app: Peers) -> None:
    secret, made = app.secret("decider", "approve"), _furnish(app)
    review = app.ids["review"]
    later = app.ask("POST", f"/api/reviews/{review}/later", {"hours": 1}, secret=secret).json()
    decided = app.ask(
        "POST", f"/api/reviews/{review}/decision", {"answer": "decline"}, secret=secret
    )

    assert (later["id"], later["question"], later["evidence"]) == (review, "", "")
    assert decided.status_code == 200, decided.text
    assert (decided.json()["id"], decided.json()["title"]) == (made["asked"], "")


def test_a_page_offers_what_the_api_would_do(app: Peers) -> None:
    """The buttons of a task's page, and what the API says beforehand and then does."""
    made = _furnish(app)
    made["paused"] = app.add("Wait a while", scheduledFor=LATER)
    app.patch(made["paused"], "pause")
    cookie = {"Cookie": app.cookie(), "Accept": "text/html"}
    offered = set[str]()
    for task, action in product(made.values(), ("run", "resume", "cancel", "retry")):
        page = app.client.get(f"{app.pages}/tasks/{task}", headers=cookie).text
        asked: JsonMap = {"action": action, "dryRun": True, "ids": [task]}
        fits = app.post("/api/tasks/bulk", asked)["done"] == 1

        assert (f'action="/tasks/{task}/{action}"' in page) is fits, (task, action)
        offered |= {action} if fits else set()
    done = {
        name: app.ask("PATCH", f"/api/tasks/{task}", {"action": "run"}).status_code
        for name, task in made.items()
    }

    assert offered == {"run", "resume", "cancel", "retry"}
    assert done == {"planned": 200, "series": 200, "asked": 409, "done": 409, "paused": 409}


@pytest.mark.parametrize("agent", [False, True])
def test_a_run_of_a_series_belongs_to_who_created_the_series_by_every_door(
    app: Peers, agent: bool
) -> None:
    owner = app.secret("mine", "write", agent=agent)
    other = app.secret("other", "write", agent=agent)
    first = _own(app, owner)["series"]
    series = "ser-" + first.removeprefix("task-")
    ran = app.ask("PATCH", f"/api/tasks/{first}", {"action": "run"}, secret=owner)
    assert ran.status_code == 200, ran.text
    run = str(ran.json()["id"])
    assert run != first
    for secret, mine in ((owner, True), (other, False)):
        found = app.tool(secret, "get_task", id=run)
        listed = cast("Answer", app.tool(secret, "list_tasks"))["structuredContent"]
        ids = {each["id"] for each in listed["tasks"]}
        asked: JsonMap = {"id": run}
        headers = {"A2A-Version": "1.0"}
        a2a = app.call(secret, "GetTask", asked, path="/a2a", headers=headers).json()
        bulk: JsonMap = {"action": "cancel", "dryRun": True, "ids": [run]}
        many = app.ask("POST", "/api/tasks/bulk", bulk, secret=secret).json()
        ended = app.ask("POST", f"/api/series/{series}/pause", secret=secret)

        assert found["isError"] is not mine
        assert (run in ids) is mine
        assert ("error" not in a2a) is mine
        assert (many["results"] == [] or many["results"][0]["why"] != "It is not there.") is mine
        assert ended.status_code == (200 if mine else 404), ended.text


def test_an_answer_that_is_kept_is_told_again_to_the_same_token_alone(app: Peers) -> None:
    """A token may be called as one was that is gone; what that one was told stays its own."""
    body: JsonMap = {"text": f"Buy {SECRET}", "scheduledFor": LATER}
    kept = {"Idempotency-Key": "one"}
    first = app.secret("desk", "read", "write")
    made = app.ask("POST", "/api/tasks", body, headers=bearer(first) | kept)
    again = app.ask("POST", "/api/tasks", body, headers=bearer(first) | kept)
    tokens = app.get("/api/tokens")["tokens"]
    gone = next(each["id"] for each in tokens if each["name"] == "desk")
    app.ask("DELETE", f"/api/tokens/{gone}")
    other = app.secret("desk", "write")
    new = app.ask("POST", "/api/tasks", body, headers=bearer(other) | kept)

    assert again.json()["id"] == made.json()["id"]
    assert new.status_code == 201, new.text
    assert new.json()["id"] != made.json()["id"]
