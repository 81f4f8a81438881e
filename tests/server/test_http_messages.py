"""Words over HTTP: a message becomes tasks; conversations are begun, spoken in and put away."""

from datetime import datetime

from remit.model.codec import Json, JsonMap
from tests.server.served import Served
from tests.tables import for_each


def test_a_message_becomes_tasks_and_the_first_is_where_it_leads(still: Served) -> None:
    answer = still.ask(
        "POST",
        "/api/messages",
        {"text": "Find two parks. Remind me tomorrow at 9 to call mom.", "priority": "high"},
    )
    told = answer.json()

    assert answer.status_code == 201
    first, second = told["tasks"]
    assert answer.headers["location"] == f"/api/tasks/{first['id']}"
    assert (first["priority"], second["type"]) == ("high", "scheduled")
    assert [clause["became"] for clause in told["clauses"]][:1] == ["work"]
    assert told["questions"] == []


def test_talk_is_answered_with_200_and_no_task(still: Served) -> None:
    answer = still.ask("POST", "/api/messages", {"text": "Thanks!"})

    assert answer.status_code == 200
    assert (answer.json()["tasks"], answer.json()["answer"]) == ([], "thanks")
    assert "location" not in answer.headers


def test_what_is_open_is_decided_like_any_review(still: Served) -> None:
    told = still.post("/api/messages", {"text": "Remind me soon to call mom"})
    (question,) = told["questions"]
    path = f"/api/reviews/{question['id']}/decision"
    decided = still.post(path, {"answer": "answer", "text": "tomorrow at 9:30"})

    assert question["question"] == "At what time is 'soon'?"
    assert str(decided["scheduledFor"]).startswith("2026-03-03T")
    request = decided["request"]
    assert [clause["became"] for clause in request["clauses"]] == [
        "delivery",
        "time",
        "delivery",
    ]


def test_a_message_opens_one_card_in_its_language_for_all_that_is_open(still: Served) -> None:
    text = "Erinnere mich bald an den Müll. Erinnere mich irgendwann an den Arzt."
    told = still.post("/api/messages", {"text": text})
    (question,) = told["questions"]
    path = f"/api/reviews/{question['id']}/decision"
    still.post(path, {"answer": "answer", "text": "1: morgen um 9:30\n2: morgen um 18 Uhr"})
    tasks = [still.get(f"/api/tasks/{each['id']}") for each in told["tasks"]]

    card = told["card"]
    assert (card["language"], str(card["text"]).splitlines()[0]) == ("de", "Aufgabe: Den Müll")
    assert [(each["number"], each["about"]) for each in question["lines"]] == [
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
    book = still.app.settings.home / "contacts.yaml"
    book.write_text("- name: May\n  channels: {dashboard: may}\n")
    told = still.post("/api/messages", {"text": "never message May after 10 pm"})
    (question,) = told["questions"]
    still.post(f"/api/reviews/{question['id']}/decision", {"answer": "decline"})

    assert (told["tasks"], told["answer"], told["card"]) == ([], "wish", None)
    assert "May gets nothing from 22:00 to 07:00" in str(question["question"])
    assert "approve" in question["options"]


def test_a_rehearsal_stores_nothing(still: Served) -> None:
    before = still.get("/api/tasks?limit=500")
    answer = still.ask("POST", "/api/messages", {"text": "Find two parks", "dryRun": True})

    (task,) = answer.json()["tasks"]
    assert answer.status_code == 200
    assert task["delivery"][0]["channel"] == "dashboard"
    assert still.get("/api/tasks?limit=500") == before


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

    task = working.stored(str(told["tasks"][0]["id"]))
    assert (task.status, task.delivery[0].body) == ("completed", "stretch")


# Conversations ------------------------------------------------------------------------------------


def began(served: Served, title: str = "") -> str:
    return str(served.post("/api/conversations", {"title": title} if title else {})["id"])


def test_what_is_said_is_kept_and_answered_with_a_receipt(still: Served) -> None:
    talk = began(still)
    said = still.post(f"/api/conversations/{talk}/turns", {"text": "Find two parks"})
    turn, answer = said["turn"], said["answer"]

    assert (turn["turnNumber"], turn["role"], turn["content"]) == (1, "user", "Find two parks")
    assert (answer["turnNumber"], answer["answers"], answer["owed"]) == (2, 1, False)
    (ref,) = answer["taskRefs"]
    assert ref["action"] == "created"
    assert answer["taskRef"] == ref
    assert [c["became"] for c in answer["receipt"]["clauses"]] == ["work"]
    task = still.get(f"/api/tasks/{ref['taskId']}")
    assert (task["sourceType"], task["sourceRef"]) == ("conversation", f"{talk}:1")


def test_turns_are_paged_from_the_end(still: Served) -> None:
    talk = began(still, "Pages")
    for _ in range(3):
        still.post(f"/api/conversations/{talk}/turns", {"text": "what is running?"})

    last = still.get(f"/api/conversations/{talk}?limit=4")
    first = still.get(f"/api/conversations/{talk}?limit=4&before={last['before']}")

    assert [turn["turnNumber"] for turn in first["turns"]] == [1, 2]
    assert [turn["turnNumber"] for turn in last["turns"]] == [3, 4, 5, 6]
    assert first["before"] is None
    assert first["title"] == "Pages"


def test_the_list_is_paged_and_the_last_spoken_in_comes_first(still: Served) -> None:
    talks = [began(still, f"List {n}") for n in range(3)]
    page = still.get("/api/conversations?limit=2")
    rest = still.get(f"/api/conversations?limit=200&before={page['next']}")

    assert len(page["conversations"]) == 2
    assert {*talks} <= {each["id"] for each in (*page["conversations"], *rest["conversations"])}
    assert still.ask("GET", "/api/conversations?before=conv-none").status_code == 404


def test_a_conversation_is_renamed_and_put_away(still: Served) -> None:
    talk = began(still)
    path = f"/api/conversations/{talk}"
    renamed = still.ask("PATCH", path, {"title": "Bangkok trip"})
    assert renamed.json()["title"] == "Bangkok trip"

    assert still.ask("DELETE", path).status_code == 200
    assert still.ask("GET", path).status_code == 404
    assert still.ask("DELETE", path).status_code == 404
    assert still.ask("POST", f"{path}/turns", {"text": "hello"}).status_code == 404


def test_a_task_leads_back_to_its_conversation_or_to_a_new_one(still: Served) -> None:
    talk = began(still)
    said = still.post(f"/api/conversations/{talk}/turns", {"text": "Find two parks"})
    (ref,) = said["answer"]["taskRefs"]
    path = f"/api/tasks/{ref['taskId']}/conversation"
    assert still.ask("POST", path, {}).json()["id"] == talk

    still.ask("DELETE", f"/api/conversations/{talk}")
    fresh = still.ask("POST", path, {}).json()["id"]

    (first,) = still.get(f"/api/conversations/{fresh}")["turns"]
    assert (first["role"], first["taskRef"]) == (
        "system",
        {"taskId": ref["taskId"], "action": "discussed"},
    )


def test_a_message_may_be_said_in_a_conversation(still: Served) -> None:
    talk = began(still)
    answer = still.ask("POST", "/api/messages", {"text": "Find two parks", "conversationId": talk})
    other = still.ask("POST", "/api/messages", {"text": "cancel it", "conversationId": talk})

    assert answer.status_code == 201
    assert len(answer.json()["tasks"]) == 1
    assert answer.headers["location"] == f"/api/conversations/{talk}"
    assert other.json()["answer"] == "control"
    turns = still.get(f"/api/conversations/{talk}")["turns"]
    assert [turn["content"] for turn in turns][-1] == "“Find two parks” is cancelled."


@for_each("more", [{"priority": "high"}, {"scheduledFor": "2027-01-01T00:00:00Z"}])
def test_in_a_conversation_time_and_urgency_are_said_in_words(still: Served, more: JsonMap) -> None:
    body: JsonMap = {"text": "Find two parks", "conversationId": began(still), **more}
    answer = still.ask("POST", "/api/messages", body)

    assert answer.status_code == 422
    assert answer.json()["field"] in more


@for_each(
    "body", [{"text": ""}, {"text": "   "}, {}, {"text": "x", "about": "nonsense"}, {"txt": "x"}]
)
def test_what_cannot_be_said_is_refused_by_name(still: Served, body: JsonMap) -> None:
    answer = still.ask("POST", f"/api/conversations/{began(still)}/turns", body)

    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_no_agent_speaks_for_the_owner(still: Served) -> None:
    made = still.post(
        "/api/tokens", {"name": "a helper", "scopes": ["read", "write"], "agent": True}
    )
    talk, bearer = began(still), {"Authorization": f"Bearer {made['secret']}"}

    said = still.ask(
        "POST", f"/api/conversations/{talk}/turns", {"text": "cancel it"}, headers=bearer
    )
    message: JsonMap = {"text": "cancel it", "conversationId": talk}
    told = still.ask("POST", "/api/messages", message, headers=bearer)

    assert (said.status_code, told.status_code) == (403, 403)
    assert still.get(f"/api/conversations/{talk}")["turns"] == []
