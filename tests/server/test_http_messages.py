"""POST /api/messages: words become tasks, none or several, and each clause is accounted for."""

from datetime import datetime
from typing import cast

from remit.model.codec import Json, JsonMap
from tests.server.served import Served
from tests.tables import for_each


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


def test_a_message_opens_one_card_in_its_language_for_all_that_is_open(still: Served) -> None:
    text = "Erinnere mich bald an den Müll. Erinnere mich irgendwann an den Arzt."
    told = still.post("/api/messages", {"text": text})
    (question,) = maps(told, "questions")
    path = f"/api/reviews/{question['id']}/decision"
    still.post(path, {"answer": "answer", "text": "1: morgen um 9:30\n2: morgen um 18 Uhr"})
    tasks = [still.get(f"/api/tasks/{each['id']}") for each in maps(told, "tasks")]

    card = cast("JsonMap", told["card"])
    assert (card["language"], str(card["text"]).splitlines()[0]) == ("de", "Aufgabe: Den Müll")
    assert [(each["number"], each["about"]) for each in maps(question, "lines")] == [
        (1, "time"),
        (2, "time"),
    ]
    assert str(question["question"]).startswith("2 Dinge sind offen. 1: Wann soll es sein?")
    # In the zone of this machine, for the settings name none.
    at = (datetime.fromisoformat(str(each["scheduledFor"])).astimezone() for each in tasks)
    assert [each.isoformat()[:16] for each in at] == [
        "2026-03-03T09:30",
        "2026-03-03T18:00",
    ]


def test_a_standing_wish_is_no_task_and_is_proposed(still: Served) -> None:
    book = still.house.settings.home / "contacts.yaml"
    book.write_text("- name: May\n  channels: {dashboard: may}\n")
    told = still.post("/api/messages", {"text": "never message May after 10 pm"})
    (question,) = maps(told, "questions")
    still.post(f"/api/reviews/{question['id']}/decision", {"answer": "decline"})

    assert (told["tasks"], told["answer"], told["card"]) == ([], "wish", None)
    assert "May gets nothing from 22:00 to 07:00" in str(question["question"])
    assert "approve" in cast("list[str]", question["options"])


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


@for_each(
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

    assert answer.status_code in (409, 422)
    assert answer.json()["field"] == field


def test_a_reminder_is_rung_without_a_brain(working: Served) -> None:
    told = working.post("/api/messages", {"text": "Remind me now to stretch"})
    working.settle()

    task = working.stored(str(maps(told, "tasks")[0]["id"]))
    assert (task.status, task.delivery[0].body) == ("completed", "stretch")
