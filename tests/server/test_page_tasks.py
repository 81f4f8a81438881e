"""The list of tasks and the calendar, as pages: what they say without a script."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit
from zoneinfo import ZoneInfo

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.brain.scripted import parse
from remit.cli.words import relative
from remit.errors import BadInput
from remit.model.codec import JsonMap
from remit.model.ids import RunId, TaskId, WorkerId
from remit.model.run import Run
from remit.model.status import Status
from remit.model.task import Source, SourceKind, Task
from remit.server.web import calendar, listing, row
from remit.server.web.calendar import CalendarMark, CalendarSpan
from remit.server.web.words import source, wall
from remit.settings import Settings, load
from tests.browser.crowd import crowd
from tests.sample_task import sample_task
from tests.server.served import Served

BERLIN: Final = ZoneInfo("Europe/Berlin")
NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SOME: Final = "task-01CR0WD0000000000000000001"
WORDS: Final = st.sampled_from(
    ["status:failed", "is:once", "rent", '"two words"', 'channel:"my mail"', "a:b:c", "due:today"]
)


def titles(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return re.findall(r'<span class="ti clip">(.*?)</span>', answer.text)


# The list -----------------------------------------------------------------------------------------


def test_an_empty_app_says_what_will_stand_here(fresh: Served) -> None:
    assert "No tasks yet" in fresh.look("/tasks").text


def test_a_search_goes_over_everything_and_a_miss_repeats_the_words(fresh: Served) -> None:
    crowd(fresh, 300)
    assert titles(fresh.look("/tasks?q=00017")) == ["Errand 00017"]
    missed = fresh.look("/tasks?q=zebra").text
    assert "No task matches" in missed
    assert "“zebra”" in missed


def test_a_bad_filter_gets_its_sentence_and_shows_nothing(fresh: Served) -> None:
    fresh.add("Water the plants")
    answer = fresh.look("/tasks?q=status:brilliant")
    assert answer.status_code == 200
    assert "status:brilliant is not known" in answer.text
    assert titles(answer) == []


def test_what_is_ready_for_a_time_stands_under_up_next(tmp_path: Path) -> None:
    with Served(tmp_path, works=True) as served:
        crowd(served, 3)
        at = (served.clock.now() + timedelta(days=1)).isoformat()
        served.add("Water the plants", scheduledFor=at)
        served.settle()
        for path in ("/tasks", "/tasks?q=water", "/tasks?sort=due"):
            answer = served.look(path)
            assert "Up next <span" in answer.text, path
            assert "Pending <span" not in answer.text
            assert titles(answer)[0] == "Water the plants"
            assert re.search(r'>Scheduled <span class="n">1<', answer.text)


def test_what_the_menu_chooses_becomes_words_of_the_line(fresh: Served) -> None:
    answer = fresh.look("/tasks?q=rent&source=email&channel=&due=today&is=recurring")
    assert answer.status_code == 303
    said = parse_qs(urlsplit(answer.headers["location"]).query)["q"]
    assert said == ["is:recurring source:email due:today rent"]


def test_a_row_is_drawn_alike_at_load_and_after_an_event(fresh: Served) -> None:
    task = fresh.add("Water the plants")
    whole, row = fresh.look("/tasks").text, fresh.look(f"/tasks/rows?ids={task}").text
    shape = re.compile(rf'<tr id="row-{task}".*?</tr>', re.DOTALL)
    drawn = shape.search(whole)
    again = shape.search(row)
    assert drawn
    assert again
    assert drawn[0] == again[0]


def test_a_row_and_the_filters_call_a_channel_what_other_pages_call_it(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(
        '[channels.post]\nkind = "email"\nhost = "127.0.0.1"\nport = 9\nsecurity = "none"\n'
        'sender = "nina@example.org"\nowner = "hanan@example.org"\n'
    )
    settings = load({"REMIT_HOME": str(tmp_path)})
    with Served(tmp_path, settings=settings) as served:
        task = served.add("Tell me the news", delivery=[{"channel": "post"}])
        page = served.look("/tasks").text
        row = served.look(f"/tasks/rows?ids={task}").text

    for drawn in (page, row):
        assert '<use href="#i-mail"/></svg><span class="clip">Email</span>' in drawn
    assert '<option value="post">Email</option>' in page


def test_rows_come_together_and_what_is_gone_has_none(fresh: Served) -> None:
    first, second, gone = (fresh.add(title) for title in ("Water", "Weed", "Prune"))
    fresh.ask("DELETE", f"/api/tasks/{gone}", {})
    never = "task-01CR0WD0000000000000000009"
    answer = fresh.look(f"/tasks/rows?ids={second},{gone},{never},{first}", part=True)
    assert titles(answer) == ["Weed", "Water"]


@pytest.mark.parametrize(
    ("ids", "sentence"), [("", "task"), ("x", "task"), (",".join([SOME] * 101), "up to 100 rows")]
)
def test_rows_of_nothing_and_of_too_many_are_refused(
    fresh: Served, ids: str, sentence: str
) -> None:
    answer = fresh.look(f"/tasks/rows?ids={ids}", part=True)
    assert answer.status_code == 422
    assert sentence in answer.text


def test_every_icon_of_a_row_is_drawn_once_and_stands_on_the_page(fresh: Served) -> None:
    crowd(fresh, 30)
    fresh.add("Water the plants")
    text = fresh.look("/tasks").text
    drawn = re.findall(r'<symbol id="i-(\w+)"', text)
    used = set(re.findall(r'<use href="#i-(\w+)"', text))
    assert len(drawn) == len(set(drawn))
    assert {"done", "pend", "user"} <= used <= set(drawn)


def test_a_page_and_the_terminal_say_alike_how_far_away_something_is(fresh: Served) -> None:
    at = fresh.clock.now() + timedelta(hours=16, minutes=58)
    fresh.add("Water the plants", scheduledFor=at.isoformat())

    assert relative(at, fresh.clock.now()) == "in 17 h"
    assert ">in 17 h</time>" in fresh.look("/tasks").text


# The filter line ----------------------------------------------------------------------------------


@given(st.lists(WORDS), st.sampled_from(["status", "source"]), st.sampled_from(["a", "two b"]))
def test_a_changed_word_is_read_back_and_the_others_stay(
    words: list[str], key: str, text: str
) -> None:
    changed = listing.changed_line(" ".join(words), {key: text})
    assert listing.line_value(changed, key) == text
    rest = [word for word in words if not word.startswith(f"{key}:")]
    assert listing.line_words(listing.line_without(changed, key)) == rest


# The lane -----------------------------------------------------------------------------------------


def _task(status: Status, **more: object) -> Task:
    return sample_task("x", NOW, status=status, **more)


@given(st.integers(-2_000, 500), st.integers(0, 2_000), st.integers(-500, 500))
def test_no_bar_leaves_its_lane(start: int, length: int, planned: int) -> None:
    began = NOW + timedelta(minutes=start)
    leg = Run(
        RunId("run-x"), TaskId("task-x"), 1, WorkerId("w"), began, began + timedelta(minutes=length)
    )
    task = _task(Status.READY, scheduled_for=NOW + timedelta(minutes=planned))
    drawn = row.row_timeline(task, [leg], [], NOW)
    assert all(bar.x >= 0 and bar.x + bar.width <= row.WIDTH + 0.1 for bar in drawn.bars)
    hatched = [bar for bar in drawn.bars if bar.planned]
    assert bool(hatched) == (0 <= planned <= 120)


def test_a_lane_tells_in_words_what_it_shows() -> None:
    leg = Run(
        RunId("run-x"), TaskId("task-x"), 1, WorkerId("w"), NOW - timedelta(hours=1), NOW, "fail"
    )
    assert row.row_timeline(_task(Status.FAILED), [leg], [], NOW).says == "Failed"
    assert row.row_timeline(_task(Status.NEW), [], [], NOW).says == "Nothing in these hours"


# The calendar -------------------------------------------------------------------------------------


@given(st.dates(date(1971, 1, 1), date(2199, 11, 30)), st.sampled_from(CalendarSpan))
def test_a_sheet_is_whole_weeks_around_its_day(on: date, span: CalendarSpan) -> None:
    sheet = calendar.sheet(span, on)
    assert sheet.first <= on < sheet.until
    assert sheet.first.weekday() == 0 if span is CalendarSpan.MONTH else sheet.first == on
    assert (sheet.until - sheet.first).days % 7 == 0
    assert calendar.sheet(span, calendar.sheet(span, sheet.after).before).first == sheet.first


def _mark(at: datetime, series: str = "") -> CalendarMark:
    return CalendarMark(
        at=at, title="x", kind="plan", word="Planned", icon="clock", href="/", series=series
    )


def test_a_series_that_comes_every_few_minutes_is_one_mark_with_a_number() -> None:
    now = NOW.astimezone(BERLIN)
    marks = [_mark(now.replace(minute=minute), "ser-1") for minute in range(0, 60, 15)]
    hours = calendar.hours(calendar.sheet(CalendarSpan.WEEK, now.date()), marks, now)
    shown = [mark for hour in hours for day in hour.days for mark in day]
    assert [mark.times for mark in shown] == [4]


def test_a_full_day_of_a_month_says_how_many_more_there_are() -> None:
    now = NOW.astimezone(BERLIN)
    marks = [_mark(now.replace(hour=hour)) for hour in range(9)]
    weeks = calendar.weeks(calendar.sheet(CalendarSpan.MONTH, now.date()), marks, now)
    [day] = [day for week in weeks for day in week if day.is_today]
    assert (len(day.marks), day.more) == (3, 6)


def test_a_time_that_the_clocks_leave_out_is_refused() -> None:
    with pytest.raises(BadInput, match="the clocks go forward"):
        wall("2026-03-29T02:30", BERLIN)
    assert wall("2026-03-29T03:30", BERLIN).astimezone(UTC).hour == 1
    with pytest.raises(BadInput, match="is no time"):
        wall("soon", BERLIN)


def test_the_schedule_names_its_zone_and_refuses_a_day_that_is_none(fresh: Served) -> None:
    answer = fresh.look("/schedule")
    assert answer.status_code == 200
    assert "Times in" in answer.text
    assert "No repeating tasks yet" in answer.text
    assert fresh.look("/schedule?on=someday").status_code == 422


def test_a_run_after_the_clocks_are_changed_keeps_its_time_and_says_so(tmp_path: Path) -> None:
    with Served(tmp_path, settings=Settings(home=tmp_path, zone="Europe/Berlin")) as served:
        served.clock.jump(datetime(2026, 3, 27, 9, 0, tzinfo=UTC))  # a Friday
        served.post("/api/messages", {"text": "Every day at 8:30 check the flight prices"})
        text = served.look("/schedule").text
    runs = re.findall(r'<li><span class="num">(.*?)</span>(.*?)<span class="end">', text)
    assert [at for at, _ in runs] == ["Tomorrow 08:30", "Sun 29 Mar 08:30", "Mon 30 Mar 08:30"]
    assert ["UTC+02" in chips for _, chips in runs] == [False, True, True]


# Many at once -------------------------------------------------------------------------------------


def _hidden(answer: httpx2.Response) -> str:
    """What the form of a preview would send if its owner is sure."""
    form = answer.text.partition('<form class="preview"')[2].partition("</form>")[0]
    return urlencode(re.findall(r'name="(\w+)" value="([^"]*)"', form))


def test_who_is_sure_gets_what_he_was_shown_and_not_what_came_since(fresh: Served) -> None:
    first = fresh.add("Water the plants")
    shown = fresh.submit("/tasks/bulk", "action=cancel&every=yes")
    assert "Cancel 1 task?" in shown.text
    fresh.clock.advance(timedelta(seconds=5))
    second = fresh.add("Feed the cat")
    done = fresh.submit("/tasks/bulk", _hidden(shown))
    assert done.status_code == 303
    assert done.headers["location"] == "/tasks?done=cancel.1.0"
    assert "1 task cancelled." in fresh.look(done.headers["location"]).text
    assert fresh.stored(first).status is Status.CANCELLED
    assert fresh.stored(second).status is not Status.CANCELLED


def test_nothing_picked_is_nothing_done(fresh: Served) -> None:
    task = fresh.add("Water the plants")

    assert fresh.submit("/tasks/bulk", "action=delete").headers["location"] == "/tasks"
    assert fresh.stored(task).deleted_at is None


@pytest.mark.parametrize("back", ["https://evil.test/", "//evil.test", "/tasksx", "/inbox"])
def test_the_way_back_leads_nowhere_else(fresh: Served, back: str) -> None:
    said = urlencode({"action": "delete", "back": back})
    assert fresh.submit("/tasks/bulk", said).headers["location"] == "/tasks"


def test_a_task_that_asks_stands_once_and_first(fresh: Served) -> None:
    fresh.post("/api/messages", {"text": "Send Zaphod the minutes on WhatsApp"})
    fresh.add("Water the plants")
    text = fresh.look("/tasks").text
    assert len(titles(fresh.look("/tasks"))) == 2
    assert text.index("Needs you <span") < text.index("Pending <span")
    tab = fresh.look("/tasks?q=status:needs-you")
    assert len(titles(tab)) == 1


def test_a_view_with_a_filter_that_cannot_be_read_is_refused(fresh: Served) -> None:
    answer = fresh.submit("/tasks/views", urlencode({"name": "x", "filter": "stat:x"}))
    assert answer.status_code == 404
    assert "There is no filter" in answer.text


def test_a_message_that_is_being_read_has_a_receipt_that_follows_it(tmp_path: Path) -> None:
    milk: JsonMap = {"title": "My milk", "instructions": "buy milk", "work": ["buy milk"]}
    script = parse([{"when": "milk", "extract": {"tasks": [milk]}}, {"reply": "Done."}])
    with Served(tmp_path, brain=script) as served:
        early = served.submit("/new", "text=Buy+milk+and+eggs").text
        (task_id,) = re.findall(r'data-live="(task-\w+)" data-src="/new/task-\w+"', early)
        still = served.look(f"/new/{task_id}", part=True).text
        row = served.look("/tasks").text
        served.do(served.app.engine.start())
        served.get(f"/api/messages/{task_id}?wait=true")
        served.do(served.app.engine.stop())
        late = served.look(f"/new/{task_id}", part=True).text

    assert "Stored, and being read" in early
    assert "Stored, and being read" in still
    assert "Being read" in row
    assert "My milk" in late
    assert "data-live" not in late


@pytest.mark.parametrize(
    ("ref", "word"), [("reflect:nightly", "Remit itself"), ("reflected", "By hand")]
)
def test_what_remit_began_itself_does_not_come_by_hand(ref: str, word: str) -> None:
    assert source(sample_task(source=Source(SourceKind.MANUAL, ref)))[1] == word
