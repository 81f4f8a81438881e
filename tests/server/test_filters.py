"""The filter line: what people type, read to the letter or refused with what would do."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model.ids import SeriesId
from remit.model.status import Status
from remit.model.task import Priority, SourceKind, Taint, TaskType
from remit.operations import filters
from remit.operations.filters import FilterContext, typed
from remit.store.task_filter import SortOrder, TaskFilter
from tests.tables import for_each

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
    assert typed(line, HERE) == found


def test_today_is_the_owners_day() -> None:
    midnight = datetime(2026, 3, 2, tzinfo=BERLIN)
    day = timedelta(days=1)

    assert typed("due:today", HERE) == TaskFilter(
        planned_since=midnight, planned_until=midnight + day
    )
    tomorrow = typed("due:tomorrow", HERE)
    assert (tomorrow.planned_since, tomorrow.planned_until) == (midnight + day, midnight + 2 * day)
    assert typed("due:week", HERE).planned_until == midnight + 7 * day
    assert typed("since:yesterday", HERE).since == midnight - day


def test_a_day_with_another_hour_is_as_long_as_it_is() -> None:
    spring = FilterContext(datetime(2026, 3, 29, 9, tzinfo=UTC), BERLIN)
    today = typed("due:today", spring)

    assert today.planned_since is not None
    assert today.planned_until is not None
    assert today.planned_until - today.planned_since == timedelta(hours=23)


@for_each(
    ("line", "sentence"),
    [
        ("colour:red", "There is no filter 'colour'; there is status, is, source"),
        ("status:ill", "status:ill is not known; there is new, ready"),
        ("is:blue", "is:blue is not known; there is recurring"),
        ("due:never", "due:never is not known; there is today"),
        ("since:soon", "since:soon is no time"),
        ("since:9999-12-31T23:59:59-14:00", "is no time"),
        ("priority:high priority:low", "The filter 'priority' stands twice."),
        ("x" * 2001, "2001 characters"),
    ],
)
def test_what_is_no_filter_is_refused_with_what_would_be(line: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        typed(line, HERE)
    assert sentence in str(refused.value)
    assert refused.value.field == "q"


def test_every_filter_is_explained() -> None:
    assert set(filters.KEYS) == set(filters._READ)


def _read(line: str) -> BadInput | None:
    """What is wrong with a line, if anything is."""
    try:
        typed(line, HERE)
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
