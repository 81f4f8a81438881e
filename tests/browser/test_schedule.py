"""The calendar in a browser: what comes, what came of it, one run skipped or moved."""

import re
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from playwright.sync_api import Page, expect

from remit.model.codec import JsonMap
from tests.browser.conftest import Visit
from tests.browser.site import Site, barriers
from tests.calendar.caldav_stage import event
from tests.cli import agenda

DAILY = "Every day at 10:00 check the flight prices"


def say(site: Site, text: str) -> None:
    site.post("/api/messages", {"text": text})


def series(site: Site) -> list[JsonMap]:
    return cast("list[JsonMap]", site.get("/api/series")["series"])


def runs(page: Page) -> list[str]:
    return page.locator(".runs li .num:first-child").all_inner_texts()


@pytest.fixture
def daily(site: Site) -> Site:
    """Monday, 2 March 2026, 09:00; something is due every day at ten."""
    say(site, DAILY)
    return site


def test_a_week_shows_every_run_to_come_and_what_is_planned_once(daily: Site, visit: Visit) -> None:
    say(daily, "On Wednesday at 15:00 remind me to call mom")
    page = visit("/schedule")
    marks = page.locator(".week .mark")
    expect(marks).to_have_count(8)
    assert "Call mom" in " ".join(marks.all_inner_texts())
    assert runs(page) == ["Today 10:00", "Tomorrow 10:00", "Wed 4 Mar 10:00"]
    expect(page.locator(".nowline")).to_have_count(1)
    expect(page.get_by_text("Times in").first).to_contain_text(str(daily.app.zone))
    page.keyboard.press("m")
    expect(page.locator(".month .mark").first).to_be_visible()
    assert page.locator(".month .mark").count() > 28


def test_what_was_planned_shows_how_it_ended(daily: Site, visit: Visit) -> None:
    daily.clock.advance(timedelta(hours=2))
    daily.settle()
    page = visit("/schedule")
    expect(page.locator(".week .mark.ok")).to_have_count(1)
    expect(page.locator(".week .mark.ok")).to_contain_text("10:00")


def test_one_run_is_skipped_and_the_others_stay(daily: Site, visit: Visit) -> None:
    page = visit("/schedule")
    page.get_by_label(re.compile("^Change the run of .*, Tomorrow 10:00$")).click()
    dialog = page.locator("#slot")
    expect(dialog).to_contain_text("Tomorrow 10:00")
    assert barriers(page) == []
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).to_be_hidden()
    page.get_by_label(re.compile("^Change the run of .*, Tomorrow 10:00$")).click()
    dialog.get_by_role("button", name="Skip this run").click()
    expect(page.locator("#toasts")).to_contain_text("That run is skipped.")
    expect(page.locator(".week .mark.skipped")).to_have_count(1)
    expect(page.locator(".runs .struck")).to_have_text("Tomorrow 10:00")
    assert runs(page) == ["Today 10:00", "Tomorrow 10:00", "Wed 4 Mar 10:00"]
    page.keyboard.press("z")
    expect(page.locator("#toasts")).to_contain_text("That run takes place after all.")
    expect(page.locator(".runs .struck")).to_have_count(0)
    # The next one has a task; skipped, it comes back from the list.
    page.get_by_label(re.compile("^Change the run of .*, Today 10:00$")).click()
    dialog.get_by_role("button", name="Skip this run").click()
    expect(page.locator(".runs .struck")).to_have_text("Today 10:00")
    page.get_by_label(re.compile("^Change the run of .*, Today 10:00$")).click()
    dialog.get_by_role("button", name="Run it after all").click()
    expect(page.locator(".runs .struck")).to_have_count(0)
    expect(page.locator(".week .mark")).to_have_count(7)
    assert runs(page) == ["Today 10:00", "Tomorrow 10:00", "Wed 4 Mar 10:00"]


def test_a_moved_run_that_is_skipped_comes_back_at_the_time_it_was_moved_to(
    daily: Site, visit: Visit
) -> None:
    page = visit("/schedule")
    dialog = page.locator("#slot")
    for day, to in (("Today", "2026-03-02T16:45"), ("Wed 4 Mar", "2026-03-04T18:15")):
        page.get_by_label(re.compile(f"^Change the run of .*, {day} 10:00$")).click()
        page.get_by_label("Move this run to").fill(to)
        dialog.get_by_role("button", name="Move").click()
        moved = page.locator(".runs li", has_text="moved from")
        expect(moved).to_contain_text(to[-5:])
        moved.get_by_role("link").click()
        dialog.get_by_role("button", name="Skip this run").click()
        expect(page.locator(".runs .struck")).to_have_text(f"{day} 10:00")
        page.keyboard.press("z")
        expect(moved).to_contain_text(to[-5:])
        expect(page.locator(".runs .struck")).to_have_count(0)
        moved.get_by_role("link").click()
        page.get_by_label("Move this run to").fill(f"{to[:11]}10:00")  # back to its place
        dialog.get_by_role("button", name="Move").click()
        expect(moved).to_have_count(0)
    assert runs(page) == ["Today 10:00", "Tomorrow 10:00", "Wed 4 Mar 10:00"]


def test_the_next_run_is_moved_on_the_owners_clock(daily: Site, visit: Visit) -> None:
    page = visit("/schedule")
    page.get_by_label(re.compile("^Change the run of .*, Today 10:00$")).click()
    page.get_by_label("Move this run to").fill("2026-03-02T16:45")
    page.locator("#slot").get_by_role("button", name="Move").click()
    expect(page.locator("#toasts")).to_contain_text("That run is moved.")
    expect(page.locator(".runs li").first).to_contain_text("Today 16:45")
    expect(page.locator(".runs li").first).to_contain_text("moved from today at 10:00")
    [task] = cast("list[JsonMap]", daily.get("/api/tasks")["tasks"])
    # Any other run moves too; a time that is over is refused on the form, on the owner's clock.
    page.get_by_label(re.compile("^Change the run of .*, Wed 4 Mar 10:00$")).click()
    page.get_by_label("Move this run to").evaluate("box => { box.min = ''; }")
    page.get_by_label("Move this run to").fill("2026-03-02T08:00")
    page.locator("#slot").get_by_role("button", name="Move").click()
    expect(page.get_by_role("alert")).to_contain_text(
        f"2 March 2026 08:00 is over in {daily.app.zone.key}"
    )
    expect(page.get_by_label("Move this run to")).to_have_value("2026-03-02T08:00")
    page.get_by_label("Move this run to").fill("2026-03-06T09:15")
    page.get_by_role("button", name="Move").click()
    expect(page.locator("#toasts")).to_contain_text("That run is moved.")
    expect(page.locator(".week .mark", has_text="09:15")).to_have_count(1)
    expect(page.locator(".week .mark.skipped")).to_have_count(0)
    page.locator(".week .mark", has_text="09:15").click()
    expect(page).to_have_url(re.compile("/tasks/task-"))
    planned = datetime.fromisoformat(str(task["scheduledFor"]))
    there = datetime(2026, 3, 2, 16, 45, tzinfo=daily.app.zone)
    assert planned.astimezone(UTC) == there.astimezone(UTC)


def test_a_series_runs_at_other_times(daily: Site, visit: Visit) -> None:
    page = visit("/schedule")
    page.get_by_label(re.compile("What to do with")).click()
    page.get_by_role("link", name="Change times").click()
    page.get_by_label("When it repeats").fill("now and then")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("does not say how often")
    assert barriers(page) == []
    page.get_by_label("When it repeats").fill("every Wednesday at 7:30")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("It now runs at these times.")
    expect(page.locator(".rhythm")).to_contain_text("Every Wednesday at 07:30")
    assert runs(page) == ["Wed 4 Mar 07:30", "Wed 11 Mar 07:30", "Wed 18 Mar 07:30"]
    daily.clock.jump(datetime(2026, 3, 4, 7, 31, tzinfo=daily.app.zone))
    daily.settle()
    ended = cast("list[JsonMap]", daily.get("/api/tasks?q=status%3Acompleted")["tasks"])
    assert len(ended) == 1


def test_a_series_is_paused_goes_on_and_ends(daily: Site, visit: Visit) -> None:
    page = visit("/schedule")
    page.get_by_label(re.compile("What to do with")).click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".rhythm")).to_contain_text("Paused")
    assert runs(page) == []
    page.locator(".rhythm > form").get_by_role("button", name="Resume").click()
    expect(page.locator(".runs li")).to_have_count(3)
    page.get_by_label(re.compile("What to do with")).click()
    page.get_by_role("button", name="End it…").click()
    page.get_by_role("button", name="End the series").click()
    expect(page.get_by_text("No repeating tasks yet")).to_be_visible()
    assert series(daily) == []


def test_what_a_calendar_starts_stands_there_once_and_is_changed_there(
    daily: Site, visit: Visit
) -> None:
    eleven = datetime(2026, 3, 2, 11, 0, tzinfo=UTC)
    series = event("a", eleven, "Water <the> plants", "RRULE:FREQ=DAILY;COUNT=3")
    daily.do(agenda.write(daily.app, series))
    page = visit("/schedule")
    marks = page.locator(".week .mark", has_text="Water <the> plants")
    expect(marks).to_have_count(3)
    expect(marks.locator("svg")).to_have_count(3)
    assert [mark.evaluate("each => each.tagName") for mark in marks.all()] == ["A", "SPAN", "SPAN"]
    expect(marks.nth(0)).to_have_attribute("title", re.compile("from the calendar Agenda$"))
    expect(marks.nth(1)).to_have_attribute("title", re.compile("; change it in your calendar$"))
    expect(page.get_by_label(re.compile("^Change the run of Water"))).to_have_count(0)
    assert barriers(page) == []
    marks.first.click()
    expect(page).to_have_url(re.compile("/tasks/task-"))

    phone = visit("/schedule", phone=True)
    lines = phone.locator(".agenda li", has_text="From the calendar Agenda")
    expect(lines).to_have_count(3)
    expect(lines.get_by_text("change it in your calendar")).to_have_count(2)
    assert barriers(phone) == []
    month = visit("/schedule?span=month")
    expect(month.locator(".month .mark", has_text="Water")).to_have_count(3)
