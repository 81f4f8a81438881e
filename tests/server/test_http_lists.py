"""Lists over HTTP: the filter line, orders, counts, many at once, views and the search."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model.codec import JsonMap, stamp
from remit.model.ids import SeriesId
from remit.model.status import Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.operations import filters
from remit.operations.filters import FilterContext, parse_filter
from remit.store.task_filter import SortOrder, TaskFilter
from tests.server.served import Answer, Served
from tests.tables import for_each


def _ids(page: Answer) -> list[str]:
    return [str(task["id"]) for task in page["tasks"]]


def test_a_line_of_words_and_filters_finds_what_fits(fresh: Served) -> None:
    urgent = fresh.add("Pay the plumber", priority="high")
    fresh.add("Pay the baker")
    gone = fresh.add("Pay the tailor")
    fresh.patch(gone, "cancel")

    assert _ids(fresh.get("/api/tasks?q=pay priority:high")) == [urgent]
    assert _ids(fresh.get("/api/tasks?q=status:cancelled")) == [gone]
    assert _ids(fresh.get("/api/tasks?q=pay&status=cancelled")) == [gone]
    assert _ids(fresh.get('/api/tasks?q="pay the" status:pending priority:high')) == [urgent]
    assert fresh.get("/api/tasks?q=is:recurring")["tasks"] == []
    assert fresh.get("/api/tasks?q=channel:email")["tasks"] == []
    assert len(_ids(fresh.get("/api/tasks?channel=dashboard"))) == 3


@for_each(
    ("query", "sentence"),
    [
        ("q=colour:red", "There is no filter 'colour'; there is status, is, source"),
        ("q=status:ill", "status:ill is not known; there is new, ready"),
        ("q=is:blue", "is:blue is not known; there is recurring"),
        ("q=due:never", "due:never is not known; there is today"),
        ("q=since:soon", "since:soon is no time"),
        ("q=since:9999-12-31T23:59:59-14:00", "is no time"),
        ("q=sort:up sort:down", "sort:up is not known"),
        ("q=priority:high priority:low", "The filter 'priority' stands twice."),
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


@pytest.mark.parametrize("sort", ["newest", "updated", "due"])
def test_a_cursor_of_no_page_is_not_found_however_the_list_is_sorted(
    still: Served, sort: str
) -> None:
    answer = still.ask("GET", f"/api/tasks?sort={sort}&cursor=%C3%9Au")

    assert (answer.status_code, answer.json()["field"]) == (404, "cursor")


def test_a_list_can_be_counted_and_sorted(fresh: Served) -> None:
    made = [fresh.add(f"Task {n}") for n in range(3)]
    later = stamp(fresh.clock.now() + timedelta(hours=3))
    sooner = stamp(fresh.clock.now() + timedelta(hours=1))
    planned = [fresh.add("Late", scheduledFor=later), fresh.add("Soon", scheduledFor=sooner)]
    fresh.patch(made[0], "pause")

    assert _ids(fresh.get("/api/tasks?sort=due")) == planned[::-1]
    assert _ids(fresh.get("/api/tasks?sort=updated"))[0] == made[0]
    page = fresh.get("/api/tasks?sort=updated&limit=2")
    rest = fresh.get(f"/api/tasks?sort=updated&limit=9&cursor={page['next']}")
    assert len({*_ids(page), *_ids(rest)}) == 5
    counted = fresh.get("/api/tasks?count=true&limit=1")["count"]
    assert counted == {
        "total": 5,
        "more": False,
        "byState": {"new": 4, "paused": 1},
        "asks": 0,
    }
    assert _ids(fresh.get("/api/tasks?due=today&sort=due")) == planned[::-1]
    assert _ids(fresh.get("/api/tasks?q=due:overdue")) == []


def test_many_are_shown_first_and_then_done_each_for_itself(fresh: Served) -> None:
    made = [fresh.add(f"Water plant {n}") for n in range(3)]
    fresh.patch(made[0], "cancel")
    other = fresh.add("Call Ana")
    asked: JsonMap = {"action": "pause", "filter": "water plant"}

    before = fresh.post("/api/tasks/bulk", {**asked, "dryRun": True})
    assert (before["matched"], before["done"], before["refused"]) == (3, 2, 1)
    assert before["results"] == [{"id": made[0], "done": False, "why": "It is cancelled."}]
    assert [each["id"] for each in before["first"]] == made[:0:-1]
    assert fresh.stored(made[1]).status == "new"

    after = fresh.post("/api/tasks/bulk", asked)
    assert (after["matched"], after["done"], after["refused"]) == (3, 2, 1)
    assert [fresh.stored(each).status for each in made] == ["cancelled", "paused", "paused"]
    assert fresh.stored(other).status == "new"


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
    fresh: Served, action: str, was: str | None, state: str | None
) -> None:
    task = fresh.add("Water the plants")
    if was:
        fresh.patch(task, was)
    missing = "task-" + "0" * 26
    asked: JsonMap = {"action": action, "ids": [task, task, missing]}

    told = fresh.post("/api/tasks/bulk", asked)

    (mine,) = [each for each in told["results"] if each["id"] == task]
    assert mine.get("state") == state
    assert mine["done"] is (state is not None)
    assert {"id": missing, "done": False, "why": "It is not there."} in told["results"]
    if action == "retry":
        assert fresh.stored(str(mine["became"])).retry_of == task


def test_a_filter_under_a_name_that_is_taken_replaces_it(fresh: Served) -> None:
    for line in ("status:failed", "status:failed is:once"):
        fresh.post("/api/views", {"name": "Bad ones", "filter": line})

    assert [each["filter"] for each in fresh.get("/api/views")["views"]] == [line]


@for_each("nothing", ["", "?q=%20", "?q=%21"])
def test_a_search_for_nothing_finds_nothing(still: Served, nothing: str) -> None:
    assert _ids(still.get(f"/api/search{nothing}")) == []


# What is typed, read to the letter ----------------------------------------------------------------


BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
HERE = FilterContext(NOON, BERLIN, {"mail": "post", "post": "post"})
SERIES = "ser-01KJPWD6M04TFF59TDWH9EDD1R"


@for_each(
    ("line", "found"),
    [
        ("", TaskFilter()),
        ("plums", TaskFilter(text="plums")),
        ("  two   words ", TaskFilter(text="two words")),
        ('"status:failed" x', TaskFilter(text="status:failed x")),
        ("http://example.org", TaskFilter(text="http://example.org")),
        ("10:30", TaskFilter(text="10:30")),
        ("status:failed", TaskFilter(statuses=(Status.FAILED,))),
        ("STATUS:Failed,paused", TaskFilter(statuses=(Status.FAILED, Status.PAUSED))),
        ("status:failed status:paused", TaskFilter(statuses=(Status.FAILED, Status.PAUSED))),
        ("status:needs-you", TaskFilter(asks=True)),
        ("status:needs_review", TaskFilter(statuses=(Status.NEEDS_REVIEW,))),
        ("is:recurring plums", TaskFilter(recurring=True, text="plums")),
        ("is:once is:deleted", TaskFilter(recurring=False, deleted=True)),
        ("is:waiting", TaskFilter(asks=True)),
        ("is:scheduled", TaskFilter(type=TaskType.SCHEDULED)),
        ("source:mail", TaskFilter(source=SourceKind.EMAIL)),
        ("channel:Mail", TaskFilter(channel="post")),
        ("channel:gone", TaskFilter(channel="gone")),
        ("priority:high taint:public", TaskFilter(priority=Priority.HIGH, taint=Taint.PUBLIC)),
        (f"series:{SERIES}", TaskFilter(series=SeriesId(SERIES))),
        ("sort:due type:immediate", TaskFilter(sort=SortOrder.DUE, type=TaskType.IMMEDIATE)),
        ("since:7d", TaskFilter(since=NOON - timedelta(days=7))),
        ("since:2026-03-01", TaskFilter(since=datetime(2026, 3, 1, tzinfo=BERLIN))),
        ("until:2026-03-01T08:00:00Z", TaskFilter(until=datetime(2026, 3, 1, 8, tzinfo=UTC))),
        ("due:overdue", TaskFilter(planned_until=NOON)),
    ],
)
def test_a_line_is_read_to_the_letter(line: str, found: TaskFilter) -> None:
    assert parse_filter(line, HERE) == found


def test_today_is_the_owners_day() -> None:
    midnight = datetime(2026, 3, 2, tzinfo=BERLIN)
    day = timedelta(days=1)

    assert parse_filter("due:today", HERE) == TaskFilter(
        planned_since=midnight, planned_until=midnight + day
    )
    tomorrow = parse_filter("due:tomorrow", HERE)
    assert (tomorrow.planned_since, tomorrow.planned_until) == (midnight + day, midnight + 2 * day)
    assert parse_filter("due:week", HERE).planned_until == midnight + 7 * day
    assert parse_filter("since:yesterday", HERE).since == midnight - day


def test_a_day_with_another_hour_is_as_long_as_it_is() -> None:
    spring = FilterContext(datetime(2026, 3, 29, 9, tzinfo=UTC), BERLIN)
    today = parse_filter("due:today", spring)

    assert today.planned_since is not None
    assert today.planned_until is not None
    assert today.planned_until - today.planned_since == timedelta(hours=23)


def test_every_filter_is_explained() -> None:
    assert set(filters.KEYS) == set(filters._READ)


def _read(line: str) -> BadInput | None:
    """What is wrong with a line, if anything is."""
    try:
        parse_filter(line, HERE)
    except BadInput as bad:
        return bad
    return None


@given(st.text(max_size=60))
def test_whatever_is_typed_is_read_or_refused(line: str) -> None:
    assert _read(line) is None or str(_read(line)).endswith(".")


@given(
    st.sampled_from(sorted(filters.KEYS)),
    st.text(st.characters(blacklist_characters='"', blacklist_categories=("Zs", "Cc")), min_size=1),
)
def test_no_value_of_a_filter_breaks_it(key: str, value: str) -> None:
    assert _read(f"{key}:{value}") is None or str(_read(f"{key}:{value}")).endswith(".")
