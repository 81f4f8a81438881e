"""What else can be asked over HTTP: the inbox, series, versions, contacts, rules, numbers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from remit.contacts import edit
from remit.contacts.book import ContactEntry
from remit.model.codec import Json, JsonMap, stamp
from tests.server.served import TOKEN, Served


def _asking(served: Served) -> tuple[str, str]:
    """A task that asks which passport, and its question."""
    task = served.add("Renew my passport")
    served.settle()
    (review,) = served.get("/api/reviews")["reviews"]
    return task, str(review["id"])


# The inbox ----------------------------------------------------------------------------------------


def test_a_question_says_all_that_is_needed_to_decide_it(busy: Served) -> None:
    task, review = _asking(busy)

    told = busy.get(f"/api/reviews/{review}")

    assert (told["taskId"], told["group"], told["reason"]) == (task, "decide", "input")
    assert told["rule"]["name"] == "question"
    assert told["options"] == ["answer", "decline"]
    assert told["undoSeconds"] == 10
    assert told["laterUntil"] is None
    assert told["cost"] == {"cents": 0, "tokens": 0}


def test_what_waits_is_told_by_what_the_owner_must_do(busy: Served) -> None:
    _, review = _asking(busy)
    shown = busy.add("Find a park")
    failed = busy.add("A hopeless thing")
    busy.settle()

    told = busy.get("/api/inbox")

    assert [each["id"] for each in told["reviews"]] == [review]
    assert [each["id"] for each in told["look"]] == [shown]
    assert [each["id"] for each in told["fix"]] == [failed]
    assert told["needs"] == {
        "total": 3,
        "decide": 1,
        "look": 1,
        "fix": 1,
        "later": 0,
        "decisions": 1,
    }
    for task in (shown, failed):
        busy.post(f"/api/tasks/{task}/seen")
    assert busy.get("/api/inbox")["needs"]["total"] == 1


def test_a_failure_that_is_tried_again_needs_no_look(busy: Served) -> None:
    failed = busy.add("A hopeless thing")
    busy.settle()

    busy.post(f"/api/tasks/{failed}/retry")

    busy.settle()
    (again,) = busy.get("/api/inbox")["fix"]
    assert again["retryOf"] == failed


def test_a_question_can_be_put_off_and_is_back_in_time(busy: Served) -> None:
    _, review = _asking(busy)

    told = busy.post(f"/api/reviews/{review}/later", {"hours": 2})

    assert told["laterUntil"] == stamp(busy.clock.now() + timedelta(hours=2))
    assert busy.get("/api/reviews")["reviews"] == []
    assert len(busy.get("/api/reviews?later=true")["reviews"]) == 1
    busy.clock.advance(timedelta(hours=2))
    assert [each["id"] for each in busy.get("/api/reviews")["reviews"]] == [review]


@pytest.mark.parametrize(
    "body", [{}, {"hours": 0}, {"hours": 1, "until": "2026-03-02T10:00:00Z"}, {"until": "soon"}]
)
def test_a_question_is_put_off_to_a_time_that_can_be_read(busy: Served, body: JsonMap) -> None:
    _, review = _asking(busy)

    assert busy.ask("POST", f"/api/reviews/{review}/later", body).status_code == 422
    past: JsonMap = {"until": stamp(busy.clock.now() - timedelta(hours=1))}
    assert busy.ask("POST", f"/api/reviews/{review}/later", past).status_code == 409


def test_questions_come_a_page_at_a_time(busy: Served) -> None:
    for _ in range(3):
        busy.add("Renew my passport")
    busy.settle()

    first = busy.get("/api/reviews?limit=2&group=decide")
    rest = busy.get(f"/api/reviews?limit=2&cursor={first['next']}")

    seen = [str(each["id"]) for each in first["reviews"] + rest["reviews"]]
    assert (len(seen), len(set(seen)), rest["next"]) == (3, 3, None)
    assert busy.ask("GET", "/api/reviews?cursor=x").status_code == 404
    assert busy.ask("GET", f"/api/reviews?cursor=rev-{'0' * 26}").status_code == 404
    assert busy.get("/api/reviews?group=fix")["reviews"] == []


# Versions -----------------------------------------------------------------------------------------


def test_who_holds_the_newest_version_is_not_sent_it_again(still: Served) -> None:
    task = still.add("Water the plants")
    path = f"{still.url}/api/tasks/{task}"
    token = {"Authorization": f"Bearer {TOKEN}"}

    tag = still.ask("GET", f"/api/tasks/{task}").headers["ETag"]

    for held in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        same = still.client.get(path, headers={**token, "If-None-Match": held})
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    still.patch(task, "pause")
    newer = still.client.get(path, headers={**token, "If-None-Match": tag})
    assert newer.status_code == 200
    assert newer.headers["ETag"] != tag


def test_who_decides_by_what_is_out_of_date_is_told_so(still: Served) -> None:
    task = still.add("Water the plants")
    tag = still.ask("GET", f"/api/tasks/{task}").headers["ETag"]
    still.patch(task, "pause")

    orders: list[tuple[str, Json]] = [
        ("PATCH", {"action": "resume"}),
        ("PATCH", {"title": "Water the trees"}),
        ("DELETE", None),
    ]
    for method, body in orders:
        late = still.ask(method, f"/api/tasks/{task}", body, headers={"If-Match": tag})
        assert late.status_code == 412
        assert "look again" in late.json()["detail"]
    assert still.stored(task).status == "paused"
    bad = still.ask("PATCH", f"/api/tasks/{task}", {"action": "resume"}, headers={"If-Match": "x"})
    assert bad.status_code == 412
    now = still.ask("GET", f"/api/tasks/{task}").headers["ETag"]
    fresh = {"If-Match": now}
    done = still.ask("PATCH", f"/api/tasks/{task}", {"action": "resume"}, headers=fresh)
    assert done.status_code == 200
    assert done.headers["ETag"] == still.ask("GET", f"/api/tasks/{task}").headers["ETag"]


def test_what_has_not_begun_can_be_changed(still: Served) -> None:
    task = still.add("Water the plants")
    at = stamp(still.clock.now() + timedelta(days=1))
    change: JsonMap = {
        "title": " Water the trees ",
        "instructions": "All of them.",
        "scheduledFor": at,
        "priority": "high",
        "delivery": [{"channel": "outbox"}],
    }

    told = still.ask("PATCH", f"/api/tasks/{task}", change).json()

    assert (told["title"], told["instructions"]) == ("Water the trees", "All of them.")
    assert (told["scheduledFor"], told["priority"], told["type"]) == (at, "high", "scheduled")
    assert [part["channel"] for part in told["delivery"]] == ["outbox"]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"title": " "},
        {"title": "a\nb"},
        {"scheduledFor": "2001-01-01T00:00:00Z"},
        {"delivery": [{"channel": "pigeon"}]},
        {"delivery": [{"channel": "outbox", "content": " "}]},
        {"action": "pause", "title": "x"},
        {"colour": "red"},
    ],
)
def test_a_change_is_read_as_strictly_as_a_new_task(still: Served, change: JsonMap) -> None:
    task = still.add("Water the plants")
    before = still.stored(task)

    assert still.ask("PATCH", f"/api/tasks/{task}", change).status_code in (404, 409, 422)
    assert still.stored(task) == before


# Series -------------------------------------------------------------------------------------------


@pytest.fixture
def daily(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    with Served(tmp_path / "daily") as served:
        answer = served.post("/api/messages", {"text": "Remind me every day at 08:30 to stretch"})
        (task,) = answer["tasks"]
        yield served, str(task["recurrenceId"])


def test_a_series_tells_when_it_comes_back(daily: tuple[Served, str]) -> None:
    served, series = daily
    told = served.get(f"/api/series/{series}?coming=3")
    (listed,) = served.get("/api/series")["series"]

    assert listed["id"] == series
    assert "08:30" in str(told["rhythm"])
    coming = told["coming"]
    assert len(coming) == 3
    assert all("T08:30:00" in str(each["local"]) for each in coming)
    assert coming[0]["taskId"] is not None
    assert served.ask("GET", "/api/series/ser-x").status_code == 404
    assert served.ask("GET", f"/api/series/ser-{'0' * 26}").status_code == 404
    assert served.ask("GET", "/api/series?cursor=x").status_code == 404


def test_a_series_is_paused_resumed_and_ended(daily: tuple[Served, str]) -> None:
    served, series = daily
    path = f"/api/series/{series}"

    assert served.post(f"{path}/pause")["pausedAt"] is not None
    assert served.ask("POST", f"{path}/pause").status_code == 409
    assert served.post(f"{path}/resume")["pausedAt"] is None
    assert served.post(f"{path}/end")["endedAt"] is not None
    assert served.get("/api/series")["series"] == []
    assert len(served.get("/api/series?ended=true")["series"]) == 1


def test_one_slot_is_skipped_and_one_is_moved(daily: tuple[Served, str]) -> None:
    served, series = daily
    path = f"/api/series/{series}"
    coming = served.get(f"{path}?coming=3")["coming"]
    to = stamp(served.clock.now() + timedelta(minutes=30))

    moved = served.post(f"{path}/move", {"to": to})
    assert (moved["id"], moved["scheduledFor"]) == (coming[0]["taskId"], to)
    skipped = served.post(f"{path}/skip", {"slot": coming[2]["slot"]})
    assert [each["fate"] for each in skipped["coming"]][:4] == [None, None, "skipped", None]
    assert served.ask("POST", f"{path}/skip", {"slot": to}).status_code == 409
    late: JsonMap = {"to": stamp(served.clock.now())}
    assert served.ask("POST", f"{path}/move", late).status_code == 409


# The rest -----------------------------------------------------------------------------------------


def test_the_book_is_changed_one_entry_at_a_time(busy: Served) -> None:
    busy.post("/api/contacts", {"name": "Anna Weber", "channels": {"outbox": "anna@example.org"}})
    told = busy.ask("PATCH", "/api/contacts/Anna%20Weber", {"aliases": ["my sister"]}).json()

    (anna,) = told["contacts"]
    assert (anna["name"], anna["aliases"]) == ("Anna Weber", ["my sister"])
    assert anna["channels"][0]["address"] == "anna@example.org"
    assert busy.ask("PATCH", "/api/contacts/Bob", {"aliases": ["b"]}).status_code == 404
    assert busy.ask("POST", "/api/contacts", {"name": "a\tb"}).status_code == 422
    assert busy.ask("DELETE", "/api/contacts/Anna%20Weber").json()["contacts"] == []
    assert busy.ask("DELETE", "/api/contacts/Anna%20Weber").status_code == 404


def test_edits_of_the_book_from_many_places_at_once_are_all_kept(busy: Served) -> None:
    path = busy.home / "contacts.yaml"
    path.write_text("# mine\n- name: Zoe\n")

    def by_page(n: int) -> None:
        fields = {"section": "contacts", "name": f"Page {n}", "aliases": f"p{n}"}
        assert busy.submit("/settings/edit", fields).status_code == 303

    def by_api(n: int) -> None:
        assert busy.ask("POST", "/api/contacts", {"name": f"Api {n}"}).is_success

    def by_command(n: int) -> None:
        edit.put(path, ContactEntry(f"Command {n}"))

    def same(n: int) -> None:
        edit.put(path, ContactEntry("Zoe", aliases=(f"z{n}",)))

    with ThreadPoolExecutor(12) as pool:
        done = [
            pool.submit(way, n) for n in range(6) for way in (by_page, by_api, by_command, same)
        ]
    for each in done:
        each.result()

    told = busy.get("/api/contacts")
    people = {str(each["name"]): each for each in told["contacts"]}
    assert sorted(people) == sorted(
        ["Zoe", *(f"{way} {n}" for way in ("Page", "Api", "Command") for n in range(6))]
    )
    assert sorted(people["Zoe"]["aliases"]) == [f"z{n}" for n in range(6)]
    assert path.read_text().startswith("# mine\n")


def test_who_saw_an_older_book_overwrites_nothing(busy: Served) -> None:
    busy.post("/api/contacts", {"name": "Anna", "aliases": ["A"]})
    seen = {"If-Match": busy.ask("GET", "/api/contacts").headers["ETag"]}

    first = busy.ask("PATCH", "/api/contacts/Anna", {"aliases": ["A", "B"]}, headers=seen)
    second = busy.ask("PATCH", "/api/contacts/Anna", {"aliases": ["A", "C"]}, headers=seen)
    gone = busy.ask("DELETE", "/api/contacts/Anna", headers=seen)

    assert (first.status_code, second.status_code, gone.status_code) == (200, 412, 412)
    (anna,) = busy.get("/api/contacts")["contacts"]
    assert anna["aliases"] == ["A", "B"]
    again = {"If-Match": first.headers["ETag"]}
    assert busy.ask("DELETE", "/api/contacts/Anna", headers=again).status_code == 200


def test_a_book_that_only_nests_is_refused_at_once_with_its_line(busy: Served) -> None:
    (busy.home / "contacts.yaml").write_text("\n" + "[" * 5_000)

    added = busy.ask("POST", "/api/contacts", {"name": "Anna"})

    assert added.status_code == 422
    assert "contacts.yaml, line 2: it is nested too deep" in added.text
    assert busy.ask("GET", "/api/tasks").status_code == 200


def test_an_address_that_cannot_be_one_of_a_mail_is_refused_before_mail_is_set_up(
    busy: Served,
) -> None:
    wrong = busy.ask("POST", "/api/contacts", {"name": "Otto", "channels": {"email": "otto"}})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "address")
    assert "Write it like anna@example.org" in wrong.json()["detail"]


def test_what_is_null_goes_out_of_the_book_and_what_is_left_out_stays(busy: Served) -> None:
    ways: JsonMap = {"outbox": "anna@example.org", "email": "weber@example.org"}
    busy.post("/api/contacts", {"name": "Anna", "channels": ways, "aliases": ["A"], "role": "boss"})
    gone: JsonMap = {"channels": {"email": None}, "role": None, "name": "Anna Weber"}
    (anna,) = busy.ask("PATCH", "/api/contacts/Anna", gone).json()["contacts"]

    assert (anna["name"], anna["aliases"], anna["role"]) == ("Anna Weber", ["A"], None)
    assert [each["channel"] for each in anna["channels"]] == ["outbox"]
    (anna,) = busy.ask("PATCH", "/api/contacts/Anna%20Weber", {"aliases": []}).json()["contacts"]
    assert (anna["aliases"], len(anna["channels"])) == ([], 1)
    twice = busy.ask("PATCH", "/api/contacts/Anna%20Weber", {"channels": {"email": None}})
    assert (twice.status_code, twice.json()["field"]) == (404, "channels")
    busy.post("/api/contacts", {"name": "Bob"})
    taken = busy.ask("PATCH", "/api/contacts/Bob", {"name": "anna weber"})
    assert (taken.status_code, taken.json()["field"]) == (409, "name")
    for name in ("Anna%20Weber", "Bob"):
        busy.ask("DELETE", f"/api/contacts/{name}")


def test_a_standing_word_is_given_and_taken_back(busy: Served) -> None:
    busy.post("/api/contacts", {"name": "Anna Weber", "channels": {"outbox": "anna@example.org"}})
    rule: JsonMap = {"kind": "permission", "contact": "Anna Weber", "channel": "outbox"}

    (kept,) = busy.post("/api/rules", rule)["rules"]

    assert (kept["contact"], kept["policy"], kept["address"]) == (
        "Anna Weber",
        "allow",
        "anna@example.org",
    )
    assert busy.get("/api/rules")["rules"] == [kept]
    assert busy.ask("DELETE", f"/api/rules/{kept['id']}").json() == {"rules": []}
    assert busy.ask("DELETE", f"/api/rules/{kept['id']}").status_code == 404


def test_numbers_tell_how_things_stand(busy: Served) -> None:
    busy.add("Find a park")
    busy.add("A hopeless thing")
    busy.settle()

    told = busy.get("/api/stats")

    assert told["counts"] == {"completed": 1, "failed": 1}
    last = told["hours"][-1]
    assert (last["completed"], last["failed"]) == (1, 1)
    assert (len(told["hours"]), len(told["days"])) == (24, 7)
    assert told["slots"] == {"busy": 0, "all": 64}
    assert told["today"]["tokensLimit"] == 2_000_000


def test_the_dashboard_is_a_channel_that_needs_no_test(busy: Served) -> None:
    (board,) = busy.get("/api/channels")["channels"]

    assert (board["name"], board["ready"], board["lastError"]) == ("dashboard", True, None)
    assert "Exactly once" in str(board["guarantee"])
    assert busy.ask("POST", "/api/channels/dashboard/test", {}).status_code == 409
    assert busy.ask("POST", "/api/channels/pigeon/test", {}).status_code == 404
