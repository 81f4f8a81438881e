"""Words over HTTP: a message becomes tasks; conversations are begun, spoken in and put away."""

from datetime import datetime

from remit.model.codec import JsonMap
from tests.server.served import Served


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


# Conversations ------------------------------------------------------------------------------------


def began(served: Served, title: str = "") -> str:
    return str(served.post("/api/conversations", {"title": title} if title else {})["id"])


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
