"""Every route does what it says."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from remit import __version__
from remit.model.codec import JsonMap, stamp
from remit.model.status import Status
from tests.server.served import Answer, Served, problem


def _ids(page: Answer) -> list[str]:
    return [str(task["id"]) for task in page["tasks"]]


def test_health_needs_no_token(still: Served) -> None:
    answer = still.client.get(still.url + "/healthz")

    assert answer.json() == {"status": "ok", "version": __version__, "failing": {}}


def test_whoever_comes_by_is_shown_the_way_in(still: Served) -> None:
    answer = still.client.get(still.url + "/")

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/")


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


def test_an_empty_list_of_deliveries_sends_nothing_anywhere(still: Served) -> None:
    assert still.post("/api/tasks", {"title": "Just do it", "delivery": []})["delivery"] == []


def test_a_task_is_done_and_its_detail_shows_log_and_runs(working: Served) -> None:
    task = working.add("Find a park")
    working.settle()
    shown = working.get(f"/api/tasks/{task}")

    assert shown["status"] == "completed"
    assert shown["resultSummary"] == "Lumphini Park."
    assert [run["outcome"] for run in shown["runs"]] == ["done"]
    log = shown["log"]
    assert [line["turnNumber"] for line in log] == list(range(1, len(log) + 1))
    assert log[0]["type"] == "meta"
    assert log[0]["taskId"] == task


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


def test_both_views_show_the_same_task(working: Served) -> None:
    task = working.add("Find a park", work=["Look"])
    working.settle()
    shown = working.get(f"/api/tasks/{task}?view=s4")

    assert shown["task_id"] == task.removeprefix("task-")
    assert shown["status"] == "DONE"
    assert shown["subtasks"] == [{"step": "Look", "done": True}]
    assert "log" in shown


def test_a_question_waits_is_answered_and_the_task_goes_on(working: Served) -> None:
    task = working.add("Renew my passport")
    working.settle()
    waiting = working.get("/api/tasks/needs-attention")
    (review,) = [each for each in waiting["reviews"] if each["taskId"] == task]
    listed = working.get("/api/reviews")["reviews"]

    assert review["taskTitle"] == "Renew my passport"
    assert review["question"] == "Which passport do you hold?"
    assert review["options"] == ["answer", "decline"]
    assert task in _ids(waiting)
    assert review in listed
    assert working.get(f"/api/reviews/{review['id']}") == review

    path = f"/api/reviews/{review['id']}/decision"
    decided = working.post(path, {"answer": "decline", "text": None})
    again = working.ask("POST", path, {"answer": "answer", "text": "The blue one"})

    assert decided["id"] == task
    assert decided["state"] == "cancelled"
    assert problem(again) == (409, "already-decided")
    shown = working.get(f"/api/reviews/{review['id']}")
    assert shown["decision"]["answer"] == "decline"
    assert task not in _ids(working.get("/api/tasks/needs-attention"))
    assert working.get(f"/api/tasks/{task}")["reviews"] == [shown]


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


def test_an_ended_task_is_tried_again_as_a_new_one_in_the_same_session(working: Served) -> None:
    task = working.add("A hopeless thing")
    working.settle()
    failed = working.get(f"/api/tasks/{task}")
    answer = working.ask("POST", f"/api/tasks/{task}/retry", {})
    again = answer.json()

    assert failed["status"] == "failed"
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/api/tasks/{again['id']}"
    assert again["id"] != task
    assert (again["retryOf"], again["sessionId"]) == (task, failed["sessionId"])


def test_the_journal_is_read_page_by_page_without_a_gap(working: Served) -> None:
    working.add("Find a park")
    working.settle()
    first = working.get("/api/events?limit=3")
    rest = working.get(f"/api/events?since={first['next']}&limit=1000")
    seqs = [event["seq"] for event in first["events"] + rest["events"]]

    assert first["next"] == 3
    assert rest["next"] is None
    assert seqs == list(range(1, cast("int", rest["last"]) + 1))


@pytest.mark.parametrize(
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
def test_a_list_can_be_narrowed(still: Served, query: str, found: bool) -> None:
    later = stamp(still.clock.now() + timedelta(days=3))
    task = still.add("Draw a quokka", scheduledFor=later, priority="critical")

    assert (task in _ids(still.get(f"/api/tasks?{query}&limit=500"))) is found


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


def test_debug_routes_answer_when_asked_for(tmp_path: Path) -> None:
    with Served(tmp_path, debug=True) as served:
        task = str(served.post("/api/debug/tasks", {"text": "Look"})["id"])
        shown = served.get(f"/api/debug/tasks/{task}")
        paused = served.ask("PATCH", f"/api/debug/tasks/{task}", {"action": "pause"}).json()
        listed = served.get("/api/debug/tasks?status=paused")
        log = served.get(f"/api/debug/tasks/{task}/log")
        gone = served.ask("DELETE", f"/api/debug/tasks/{task}").json()

        assert shown["internal"]["lease"] == 0
        assert paused["state"] == "paused"
        assert _ids(listed) == [task]
        assert [line["turnNumber"] for line in log["log"]] == [1, 2]
        assert gone["status"] == "deleted"
