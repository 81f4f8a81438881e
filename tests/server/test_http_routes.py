"""Every route does what it says."""

from datetime import timedelta
from typing import cast

from remit import __version__
from remit.model.codec import JsonMap, stamp
from remit.model.status import Status
from tests.server.served import Answer, Served, problem
from tests.tables import for_each


def _ids(page: Answer) -> list[str]:
    return [str(task["id"]) for task in page["tasks"]]


def test_health_needs_no_token(still: Served) -> None:
    answer = still.client.get(still.url + "/healthz")

    assert answer.json() == {"status": "ok", "version": __version__, "failing": {}}


def test_a_sentence_is_enough_for_a_task_and_its_result_goes_to_the_dashboard(
    still: Served,
) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": "Find a park in Bangkok\nwith a lake"})
    task = answer.json()

    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/api/tasks/{task['id']}"
    assert task["title"] == "Find a park in Bangkok"
    assert task["instructions"] == "Find a park in Bangkok\nwith a lake"
    assert task["request"]["text"] == "Find a park in Bangkok\nwith a lake"
    assert [part["channel"] for part in task["delivery"]] == ["dashboard"]
    assert task["status"] == "pending"
    assert still.stored(task["id"]).status is Status.NEW


def test_all_that_can_be_said_about_a_task_is_kept(still: Served) -> None:
    later = stamp(still.clock.now() + timedelta(days=3))
    task = still.post(
        "/api/tasks",
        {
            "title": "Parks",
            "instructions": "Compare the parks.",
            "work": ["Read about them", {"description": "Compare them"}],
            "delivery": [
                {"channel": "outbox", "recipient": "Mia"},
                {"channel": "dashboard", "content": "Done."},
            ],
            "scheduledFor": later,
            "priority": "high",
            "context": {"person": {"name": "Mia"}, "threads": [1, 2.5, None, True]},
            "contract": {
                "type": "verifiable",
                "criteria": [
                    {"activity": "length", "description": "Short", "pattern": "1-900"},
                    {"activity": "mentions", "description": "A lake", "timing": "deferred"},
                ],
                "generatedAt": "2026-02-28T10:00:00Z",
            },
        },
    )

    assert task["type"] == "scheduled"
    assert task["scheduledFor"] == later
    assert task["priority"] == "high"
    assert task["instructions"] == "Compare the parks."
    assert [item["description"] for item in task["work"]] == [
        "Read about them",
        "Compare them",
    ]
    assert [part["recipient"] for part in task["delivery"]] == ["Mia", None]
    assert [part["content"] for part in task["delivery"]] == [None, "Done."]
    assert task["context"] == {"person": {"name": "Mia"}, "threads": [1, 2.5, None, True]}
    contract = task["verificationContract"]
    assert contract["generatedFrom"] == "user"
    assert contract["generatedAt"] == "2026-02-28T10:00:00.000Z"
    assert [each["timing"] for each in contract["criteria"]] == ["immediate", "deferred"]


def test_an_id_may_be_written_as_people_write_it(still: Served) -> None:
    task = still.add("Find me")
    for name in (task, task.lower(), task.removeprefix("task-"), task.upper()):
        assert still.get(f"/api/tasks/{name}")["id"] == task


def test_the_log_can_be_read_piece_by_piece(working: Served) -> None:
    task = working.add("Find a park")
    working.settle()
    whole = working.get(f"/api/tasks/{task}/log")
    pieces: list[JsonMap] = []
    after: object = 0
    while after is not None:
        page = working.get(f"/api/tasks/{task}/log?after={after}&limit=2")
        assert len(page["log"]) <= 2
        pieces += page["log"]
        after = page["next"]

    assert whole["next"] is None
    assert len(pieces) > 4
    assert pieces == whole["log"]


def test_an_answer_reaches_the_task_that_asked(working: Served) -> None:
    task = working.add("Get me a visa")
    working.settle()
    review = working.get(f"/api/tasks/{task}")["reviews"][0]
    body: JsonMap = {"answer": "answer", "text": "Multiple, please"}
    going_on = working.post(f"/api/reviews/{review['id']}/decision", body)
    working.settle()
    shown = working.get(f"/api/tasks/{task}")
    decided = shown["reviews"][0]["decision"]

    assert going_on["id"] == task
    assert (decided["answer"], decided["text"]) == ("answer", "Multiple, please")
    assert shown["status"] == "completed"


def test_a_decision_must_be_one_of_the_options_and_have_its_text(working: Served) -> None:
    task = working.add("Renew my passport, please")
    working.settle()
    review = working.get(f"/api/tasks/{task}")["reviews"][0]
    path = f"/api/reviews/{review['id']}/decision"
    wrong = working.ask("POST", path, {"answer": "approve"})
    mute = working.ask("POST", path, {"answer": "answer", "text": " "})

    assert (wrong.status_code, wrong.json()["field"]) == (409, "answer")
    assert "answer, decline, not approve" in wrong.json()["detail"]
    assert (mute.status_code, mute.json()["field"]) == (409, "text")
    assert working.get(f"/api/reviews/{review['id']}")["decision"] is None


def test_a_task_is_paused_resumed_hastened_and_cancelled(working: Served) -> None:
    later = stamp(working.clock.now() + timedelta(days=3))
    task = working.add("Find a park", scheduledFor=later)
    working.settle()

    assert working.patch(task, "pause")["state"] == "paused"
    assert working.patch(task, "resume")["state"] == "ready"
    working.patch(task, "run")
    working.settle()
    assert working.get(f"/api/tasks/{task}")["state"] == "completed"
    other = working.add("Find a park", scheduledFor=later)
    assert working.patch(other, "cancel")["status"] == "deleted"


def test_a_running_step_is_not_waited_for_when_the_owner_cancels(working: Served) -> None:
    task = working.add("A slow walk")
    while working.get(f"/api/tasks/{task}")["state"] != "running":
        pass
    cancelled = working.patch(task, "cancel")
    working.settle()

    assert cancelled["cancelRequested"] is True or cancelled["state"] == "cancelled"
    assert working.get(f"/api/tasks/{task}")["state"] == "cancelled"


def test_a_deleted_task_leaves_the_list_but_not_the_app(still: Served) -> None:
    task = still.add("Forget me")
    gone = still.ask("DELETE", f"/api/tasks/{task}").json()

    assert gone["status"] == "deleted"
    assert gone["deletedAt"] is not None
    assert task not in _ids(still.get("/api/tasks?q=forget"))
    assert task in _ids(still.get("/api/tasks?q=forget&deleted=true"))
    assert task in _ids(still.get("/api/tasks?status=deleted&deleted=true"))
    assert still.get(f"/api/tasks/{task}")["status"] == "deleted"


def test_the_journal_is_read_page_by_page_without_a_gap(working: Served) -> None:
    working.add("Find a park")
    working.settle()
    first = working.get("/api/events?limit=3")
    rest = working.get(f"/api/events?since={first['next']}&limit=1000")
    seqs = [event["seq"] for event in first["events"] + rest["events"]]

    assert first["next"] == 3
    assert rest["next"] is None
    assert seqs == list(range(1, cast("int", rest["last"]) + 1))


@for_each(
    ("query", "found"),
    [
        ("status=new", True),
        ("status=pending", True),
        ("status=failed&status=pending", True),
        ("status=running", False),
        ("type=scheduled", True),
        ("type=immediate", False),
        ("source=manual", True),
        ("source=email", False),
        ("priority=critical", True),
        ("priority=low", False),
        ("q=quokka", True),
        ("q=quokk", True),
        ("q=wombat", False),
        ("deleted=true", False),
    ],
)
def test_a_list_can_be_narrowed(fresh: Served, query: str, found: bool) -> None:
    later = stamp(fresh.clock.now() + timedelta(days=3))
    task = fresh.add("Draw a quokka", scheduledFor=later, priority="critical")

    assert (task in _ids(fresh.get(f"/api/tasks?{query}"))) is found


def test_debug_routes_are_not_there_unless_asked_for(still: Served) -> None:
    task = still.add("Look")
    for method, path in (
        ("GET", "/api/debug/tasks"),
        ("POST", "/api/debug/tasks"),
        ("GET", f"/api/debug/tasks/{task}"),
        ("PATCH", f"/api/debug/tasks/{task}"),
        ("DELETE", f"/api/debug/tasks/{task}"),
        ("GET", f"/api/debug/tasks/{task}/log"),
    ):
        answer = still.ask(method, path)
        assert problem(answer) == (404, "not-found")
