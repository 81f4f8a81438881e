"""Lists over HTTP: the filter line, orders, counts, many at once, views and the search."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from remit.model.codec import Json, JsonMap, stamp
from tests.server.served import Served
from tests.tables import for_each


@pytest.fixture
def own(tmp_path: Path) -> Served:
    """A Remit of one's own, at rest."""
    return Served(tmp_path / "home")


def _ids(page: JsonMap) -> list[str]:
    return [str(task["id"]) for task in cast("list[JsonMap]", page["tasks"])]


def _maps(value: Json) -> list[JsonMap]:
    return cast("list[JsonMap]", value)


def test_a_line_of_words_and_filters_finds_what_fits(own: Served) -> None:
    with own:
        urgent = own.add("Pay the plumber", priority="high")
        own.add("Pay the baker")
        gone = own.add("Pay the tailor")
        own.patch(gone, "cancel")

        assert _ids(own.get("/api/tasks?q=pay priority:high")) == [urgent]
        assert _ids(own.get("/api/tasks?q=status:cancelled")) == [gone]
        assert _ids(own.get("/api/tasks?q=pay&status=cancelled")) == [gone]
        assert _ids(own.get('/api/tasks?q="pay the" status:pending priority:high')) == [urgent]
        assert own.get("/api/tasks?q=is:recurring")["tasks"] == []
        assert own.get("/api/tasks?q=channel:email")["tasks"] == []
        assert len(_ids(own.get("/api/tasks?channel=dashboard"))) == 3


@for_each(
    ("query", "sentence"),
    [
        ("q=colour:red", "There is no filter 'colour'"),
        ("q=status:ill", "status:ill is not known"),
        ("q=due:never", "due:never is not known"),
        ("q=since:soon", "since:soon is no time"),
        ("q=sort:up sort:down", "sort:up is not known"),
        ("q=type:scheduled type:scheduled", "stands twice"),
        ("q=series:x", "is not a series id"),
        ("series=x", "is not a series id"),
        ("since=soon", "since:"),
        ("sort=up", "sort is 'up'"),
        ("sort=due&cursor=x", "no cursor"),
        ("q=", "at least one word"),
        ("q=" + "x" * 3000, "3000 characters"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_with_a_sentence(
    still: Served, query: str, sentence: str
) -> None:
    answer = still.ask("GET", f"/api/tasks?{query}")

    assert answer.status_code in (404, 422)
    assert sentence in answer.json()["detail"]


def test_a_list_can_be_counted_and_sorted(own: Served) -> None:
    with own:
        made = [own.add(f"Task {n}") for n in range(3)]
        later = stamp(own.clock.now() + timedelta(hours=3))
        sooner = stamp(own.clock.now() + timedelta(hours=1))
        planned = [own.add("Late", scheduledFor=later), own.add("Soon", scheduledFor=sooner)]
        own.patch(made[0], "pause")

        assert _ids(own.get("/api/tasks?sort=due")) == planned[::-1]
        assert _ids(own.get("/api/tasks?sort=updated"))[0] == made[0]
        page = own.get("/api/tasks?sort=updated&limit=2")
        rest = own.get(f"/api/tasks?sort=updated&limit=9&cursor={page['next']}")
        assert len({*_ids(page), *_ids(rest)}) == 5
        counted = cast("JsonMap", own.get("/api/tasks?count=true&limit=1")["count"])
        assert counted == {
            "total": 5,
            "more": False,
            "byState": {"new": 4, "paused": 1},
            "asks": 0,
        }
        assert _ids(own.get("/api/tasks?due=today&sort=due")) == planned[::-1]
        assert _ids(own.get("/api/tasks?q=due:overdue")) == []


def test_many_are_shown_first_and_then_done_each_for_itself(own: Served) -> None:
    with own:
        made = [own.add(f"Water plant {n}") for n in range(3)]
        own.patch(made[0], "cancel")
        other = own.add("Call Ana")
        asked: JsonMap = {"action": "pause", "filter": "water plant"}

        before = own.post("/api/tasks/bulk", {**asked, "dryRun": True})
        assert (before["matched"], before["done"], before["refused"]) == (3, 2, 1)
        assert _maps(before["results"]) == [
            {"id": made[0], "done": False, "why": "It is cancelled."}
        ]
        assert [each["id"] for each in _maps(before["first"])] == made[:0:-1]
        assert own.stored(made[1]).status == "new"

        after = own.post("/api/tasks/bulk", asked)
        assert (after["matched"], after["done"], after["refused"]) == (3, 2, 1)
        assert [own.stored(each).status for each in made] == ["cancelled", "paused", "paused"]
        assert own.stored(other).status == "new"


@pytest.mark.parametrize(
    ("action", "was", "state"),
    [
        ("resume", "pause", "new"),
        ("cancel", None, "cancelled"),
        ("delete", None, "cancelled"),
        ("retry", "cancel", "new"),
        ("run", None, None),
    ],
)
def test_every_action_for_many_does_what_it_does_for_one(
    own: Served, action: str, was: str | None, state: str | None
) -> None:
    with own:
        task = own.add("Water the plants")
        if was:
            own.patch(task, was)
        missing = "task-" + "0" * 26
        asked: JsonMap = {"action": action, "ids": [task, task, missing]}

        told = own.post("/api/tasks/bulk", asked)

        (mine,) = [each for each in _maps(told["results"]) if each["id"] == task]
        assert mine.get("state") == state
        assert mine["done"] is (state is not None)
        assert {"id": missing, "done": False, "why": "It is not there."} in _maps(told["results"])
        if action == "retry":
            assert own.stored(str(mine["became"])).retry_of == task


@for_each(
    "body",
    [
        {"action": "pause"},
        {"action": "pause", "ids": [], "filter": "x"},
        {"action": "explode", "ids": []},
        {"action": "pause", "ids": ["x"]},
        {"action": "pause", "filter": "colour:red"},
    ],
)
def test_what_is_meant_for_many_must_be_clear(still: Served, body: JsonMap) -> None:
    assert still.ask("POST", "/api/tasks/bulk", body).status_code in (404, 422)


def test_a_filter_is_kept_under_a_name(own: Served) -> None:
    with own:
        own.post("/api/views", {"name": "Bad ones", "filter": "status:failed"})
        kept = own.post("/api/views", {"name": "Bad ones", "filter": "status:failed is:once"})

        assert kept["filter"] == "status:failed is:once"
        assert [each["name"] for each in _maps(own.get("/api/views")["views"])] == ["Bad ones"]
        bad = own.ask("POST", "/api/views", {"name": "x", "filter": "colour:red"})
        assert bad.status_code == 404
        assert own.ask("POST", "/api/views", {"name": "a/b", "filter": ""}).status_code == 422
        assert own.ask("DELETE", "/api/views/Bad%20ones").json() == {"views": []}
        assert own.ask("DELETE", "/api/views/Bad%20ones").status_code == 404


def test_one_search_looks_everywhere(own: Served) -> None:
    with own:
        task = own.add("Renew the passport in Lisbon")
        told = own.get("/api/search?q=lisbon")

        assert _ids(told) == [task]
        assert (told["more"], told["reviews"], told["series"]) == (False, [], [])
        for nothing in ("", "?q=%20", "?q=%21"):
            assert _ids(own.get(f"/api/search{nothing}")) == []
