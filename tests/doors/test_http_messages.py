"""POST /api/messages: words become tasks, none or several, and each clause is accounted for."""

from typing import cast

import pytest

from remit.model.codec import Json, JsonMap
from tests.doors.served import Served


def maps(told: JsonMap, name: str) -> list[JsonMap]:
    return cast("list[JsonMap]", told[name])


def test_a_message_becomes_tasks_and_the_first_is_where_it_leads(still: Served) -> None:
    answer = still.ask(
        "POST",
        "/api/messages",
        {"text": "Find two parks. Remind me tomorrow at 9 to call mom.", "priority": "high"},
    )
    told = cast("JsonMap", answer.json())

    assert answer.status_code == 201
    first, second = maps(told, "tasks")
    assert answer.headers["location"] == f"/api/tasks/{first['id']}"
    assert (first["priority"], second["type"]) == ("high", "scheduled")
    assert [clause["became"] for clause in maps(told, "clauses")][:1] == ["work"]
    assert told["questions"] == []


def test_talk_is_answered_with_200_and_no_task(still: Served) -> None:
    answer = still.ask("POST", "/api/messages", {"text": "Thanks!"})

    assert answer.status_code == 200
    assert (answer.json()["tasks"], answer.json()["answer"]) == ([], "thanks")
    assert "location" not in answer.headers


def test_what_is_open_is_decided_like_any_review(still: Served) -> None:
    told = still.post("/api/messages", {"text": "Remind me soon to call mom"})
    (question,) = maps(told, "questions")
    path = f"/api/reviews/{question['id']}/decision"
    decided = still.post(path, {"answer": "answer", "text": "tomorrow at 9:30"})

    assert question["question"] == "At what time is 'soon'?"
    assert str(decided["scheduledFor"]).startswith("2026-03-03T")
    request = cast("JsonMap", decided["request"])
    assert [clause["became"] for clause in maps(request, "clauses")] == [
        "delivery",
        "time",
        "delivery",
    ]


def test_a_rehearsal_stores_nothing(still: Served) -> None:
    before = still.get("/api/tasks?limit=500")
    answer = still.ask("POST", "/api/messages", {"text": "Find two parks", "dryRun": True})

    (task,) = answer.json()["tasks"]
    assert answer.status_code == 200
    assert task["delivery"][0]["channel"] == "dashboard"
    assert still.get("/api/tasks?limit=500") == before


def test_the_same_key_is_the_same_tasks(still: Served) -> None:
    body: Json = {"text": "Remind me at 23:58 to eat and remind me at 23:59 to sleep"}
    first = still.ask("POST", "/api/messages", body, key="say")
    again = still.ask("POST", "/api/messages", body, key="say")
    other = still.ask("POST", "/api/messages", {"text": "Something else"}, key="say")

    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert (len(first.json()["tasks"]), other.status_code) == (2, 422)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": 7}, "text"),
        ({"text": " "}, "text"),
        ({"text": "x", "colour": "red"}, "colour"),
        ({"text": "Go", "scheduledFor": "tomorrow"}, "scheduledFor"),
        ({"text": "Go", "scheduledFor": "2020-01-01T00:00:00Z"}, "scheduledFor"),
        ({"text": "Go at 5pm", "scheduledFor": "2026-04-01T00:00:00Z"}, "scheduledFor"),
        ({"text": "Go", "priority": "huge"}, "priority"),
        ({"text": "Go", "dryRun": "yes"}, "dryRun"),
        ({"text": "x" * 100_001}, "text"),
    ],
)
def test_what_is_wrong_is_named(still: Served, body: Json, field: str) -> None:
    answer = still.ask("POST", "/api/messages", body)

    assert answer.status_code == 422
    assert answer.json()["field"] == field


def test_a_reminder_is_rung_without_a_brain(working: Served) -> None:
    told = working.post("/api/messages", {"text": "Remind me now to stretch"})
    working.settle()

    task = working.stored(str(maps(told, "tasks")[0]["id"]))
    assert (task.status, task.delivery[0].body) == ("completed", "stretch")
