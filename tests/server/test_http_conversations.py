"""Conversations over HTTP: begun, spoken in, paged, put away; and only their owner speaks."""

from typing import cast

from remit.model.codec import JsonMap
from tests.server.served import Served
from tests.tables import for_each


def maps(told: JsonMap, name: str) -> list[JsonMap]:
    return cast("list[JsonMap]", told[name])


def began(served: Served, title: str = "") -> str:
    return str(served.post("/api/conversations", {"title": title} if title else {})["id"])


def test_what_is_said_is_kept_and_answered_with_a_receipt(still: Served) -> None:
    talk = began(still)
    said = still.post(f"/api/conversations/{talk}/turns", {"text": "Find two parks"})
    turn, answer = cast("JsonMap", said["turn"]), cast("JsonMap", said["answer"])

    assert (turn["turnNumber"], turn["role"], turn["content"]) == (1, "user", "Find two parks")
    assert (answer["turnNumber"], answer["answers"], answer["owed"]) == (2, 1, False)
    (ref,) = maps(answer, "taskRefs")
    assert ref["action"] == "created"
    assert answer["taskRef"] == ref
    assert [c["became"] for c in maps(cast("JsonMap", answer["receipt"]), "clauses")] == ["work"]
    task = still.get(f"/api/tasks/{ref['taskId']}")
    assert (task["sourceType"], task["sourceRef"]) == ("conversation", f"{talk}:1")


def test_turns_are_paged_from_the_end(still: Served) -> None:
    talk = began(still, "Pages")
    for _ in range(3):
        still.post(f"/api/conversations/{talk}/turns", {"text": "what is running?"})

    last = still.get(f"/api/conversations/{talk}?limit=4")
    first = still.get(f"/api/conversations/{talk}?limit=4&before={last['before']}")

    assert [turn["turnNumber"] for turn in maps(first, "turns")] == [1, 2]
    assert [turn["turnNumber"] for turn in maps(last, "turns")] == [3, 4, 5, 6]
    assert first["before"] is None
    assert first["title"] == "Pages"


def test_the_list_is_paged_and_the_last_spoken_in_comes_first(still: Served) -> None:
    talks = [began(still, f"List {n}") for n in range(3)]
    page = still.get("/api/conversations?limit=2")
    rest = still.get(f"/api/conversations?limit=200&before={page['next']}")

    assert len(maps(page, "conversations")) == 2
    assert {*talks} <= {
        each["id"] for each in (*maps(page, "conversations"), *maps(rest, "conversations"))
    }
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
    (ref,) = maps(cast("JsonMap", said["answer"]), "taskRefs")
    path = f"/api/tasks/{ref['taskId']}/conversation"
    assert still.ask("POST", path, {}).json()["id"] == talk

    still.ask("DELETE", f"/api/conversations/{talk}")
    fresh = still.ask("POST", path, {}).json()["id"]

    (first,) = maps(still.get(f"/api/conversations/{fresh}"), "turns")
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
    turns = maps(still.get(f"/api/conversations/{talk}"), "turns")
    assert [turn["content"] for turn in turns][-1] == "“Find two parks” is cancelled."


@for_each("more", [{"priority": "high"}, {"scheduledFor": "2027-01-01T00:00:00Z"}])
def test_in_a_conversation_time_and_urgency_are_said_in_words(still: Served, more: JsonMap) -> None:
    body: JsonMap = {"text": "Find two parks", "conversationId": began(still), **more}
    answer = still.ask("POST", "/api/messages", body)

    assert answer.status_code == 422
    assert answer.json()["field"] in more


def test_the_same_key_says_it_once(still: Served) -> None:
    talk = began(still)
    path, key = f"/api/conversations/{talk}/turns", {"Idempotency-Key": f"once-{talk}"}
    first = still.ask("POST", path, {"text": "what is running?"}, headers=key)
    again = still.ask("POST", path, {"text": "what is running?"}, headers=key)

    assert first.json() == again.json()
    assert len(maps(still.get(f"/api/conversations/{talk}"), "turns")) == 2


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
    assert maps(still.get(f"/api/conversations/{talk}"), "turns") == []
