"""What else can be asked over HTTP: the inbox, series, versions, contacts, rules, numbers."""

from concurrent.futures import ThreadPoolExecutor

from remit.contacts import edit
from remit.contacts.book import ContactEntry
from remit.model.codec import Json, JsonMap
from tests.server.served import TOKEN, Served

# The inbox ----------------------------------------------------------------------------------------


def test_a_failure_that_is_tried_again_needs_no_look(busy: Served) -> None:
    failed = busy.add("A hopeless thing")
    busy.settle()

    busy.post(f"/api/tasks/{failed}/retry")

    busy.settle()
    (again,) = busy.get("/api/inbox")["fix"]
    assert again["retryOf"] == failed


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


# The rest -----------------------------------------------------------------------------------------


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
