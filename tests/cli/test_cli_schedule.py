"""`remit schedule` and `remit add --every`: what comes back, looked at and told otherwise."""

import asyncio
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, cast

from remit.cli import clock
from remit.model.codec import JsonMap, moment
from remit.settings import Settings
from remit.wiring import opened
from tests.calendar.caldav_stage import event
from tests.cli import agenda
from tests.cli.terminal import Terminal

NEWS: Final = ("add", "Tell me the news", "--every", "weekday at 8:30", "--tz", "Europe/Berlin")


def only(seat: Terminal) -> JsonMap:
    (found,) = seat.run("schedule", "ls", "--json").maps("series")
    return found


def next_slot(told: JsonMap) -> JsonMap:
    return cast("list[JsonMap]", told["coming"])[0]


def test_a_series_is_found_by_any_task_of_it_and_a_skipped_run_is_not_listed_as_the_next(
    tmp_path: Path,
) -> None:
    seat = Terminal(tmp_path)
    seat.run(*NEWS)
    ref, before = str(only(seat)["id"]), seat.run("schedule").out
    shown = seat.run("schedule", "show", str(next_slot(only(seat))["taskId"])).out.casefold()
    single = seat.run("add", "Water the plants", "--json").maps("tasks")[0]
    left_out, following = re.findall(r"\d{4}-\d\d-\d\d", seat.run("schedule", "next", "2").out)

    skipped = seat.run("schedule", "skip", ref)

    assert shown.startswith("the news\nevery weekday at 08:30")
    for other in (str(single["id"]), "ser-0000"):
        assert seat.run("schedule", "show", other).code == 3
    assert (left_out in before, left_out in skipped.out) == (True, False)
    assert following in skipped.out
    assert following in seat.run("schedule").out


def test_a_preview_says_what_the_clocks_do_and_stores_nothing(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    words = ("every day at 02:30 am", "--tz", "Europe/Berlin", "--count", "400", "--json")
    told = seat.run("schedule", "preview", *words)
    flagged = [
        (str(each["local"])[5:16], each["flags"]) for each in told.maps("slots") if each["flags"]
    ]

    assert {flags[0] for _, flags in cast("list[tuple[str, list[str]]]", flagged)} == {
        *("gap", "fold")
    }
    assert all("T03:30" in local for local, flags in flagged if flags == ["gap"])
    plain = seat.run("schedule", "preview", *words[:-1])
    assert "the clocks go forward" in plain.out
    assert "comes twice" in plain.out
    assert not (tmp_path / "agent.db").exists()


def test_a_task_comes_back_as_the_flags_say(own_seat: Terminal) -> None:
    seat = own_seat
    seat.run("add", "Oven", "--every", "2h", "--text", "Look at it.", "--tz", "UTC")
    seat.run("add", "Report", "--cron", "0 9 1 * *", "--tz", "Asia/Tokyo")
    seat.run("add", "Water the plants", "--every", "1d", "--at", "2090-01-01T09:00:00+09:00")
    found = seat.run("schedule", "ls", "--json").maps("series")
    made = [f"{each['rule']} {each['zone']} {each['firstAt']}" for each in found]

    assert made[0].startswith("FREQ=HOURLY;INTERVAL=2 UTC ")
    assert made[1].startswith("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYMONTHDAY=1 Asia/Tokyo ")
    assert made[1].endswith("-01T00:00:00.000Z")
    assert made[2].startswith("FREQ=DAILY;INTERVAL=1 ")
    assert made[2].endswith(" 2090-01-01T00:00:00.000Z")


def test_the_next_slots_of_all_that_comes_back_are_told_soonest_first(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.run("add", "Often", "--every", "2h", "--text", "x")
    often = next_slot(only(seat))["taskId"]
    seat.run("add", "Rarely", "--every", "3h", "--text", "y")
    told = seat.run("schedule", "next", "5", "--json").maps("slots")

    # At two, three, four, six and six hours from now.
    assert [each["title"] for each in told][:3] == ["Often", "Rarely", "Often"]
    assert {str(each["title"]) for each in told[3:]} == {"Often", "Rarely"}
    assert seat.run("schedule", "next", "0").code == 2
    # A run by hand is another task.
    assert seat.run("run", str(often), "--json").code == 0
    assert seat.run("schedule", "next", "1", "--json").maps("slots")[0]["taskId"] == often
    assert seat.status(str(often)) != "completed"


HOUR = timedelta(hours=1)


def furnished(folder: Path) -> tuple[Terminal, datetime]:
    """A daily event that begins in three hours, and one of next week."""
    seat = Terminal(folder)
    seat.run("add", "Oven", "--every", "2h", "--text", "Look at it.", "--tz", "UTC")
    soon = clock.now().replace(microsecond=0) + 3 * HOUR

    async def write() -> None:
        async with opened(Settings(home=seat.home)) as app:
            daily = event("a", soon, "Report", "RRULE:FREQ=DAILY;COUNT=3")
            await agenda.write(app, daily, event("b", soon + timedelta(days=7), "Call Anna"))

    asyncio.run(write())
    return seat, soon


def test_what_a_calendar_starts_is_told_among_the_next_slots_once(tmp_path: Path) -> None:
    seat, soon = furnished(tmp_path)
    told = seat.run("schedule", "next", "400", "--json").maps("slots")

    times = [moment(str(each["slot"])) for each in told]
    assert times == sorted(times)
    events = [each for each in told if each["calendar"]]
    assert [(each["title"], moment(str(each["slot"])) - soon) for each in events] == [
        ("Report", timedelta(0)),
        ("Report", timedelta(days=1)),
        ("Report", timedelta(days=2)),
        ("Call Anna", timedelta(days=7)),
    ]
    assert {each["calendar"] for each in events} == {"Agenda"}
    assert [each["taskId"] is not None for each in events] == [True, False, False, False]
    assert {frozenset(each) for each in told} == {frozenset(told[0])}
    few = seat.run("schedule", "next", "2").out.splitlines()
    assert len(few) == 2
    assert few[1].endswith("from the calendar Agenda")


def test_each_event_is_listed_with_its_next_start_that_has_not_begun(tmp_path: Path) -> None:
    seat, _ = furnished(tmp_path)
    listed = seat.run("schedule").out.splitlines()
    events = seat.run("schedule", "ls", "--json").maps("events")
    task = str(events[0]["taskId"])

    assert [line.rpartition("  ")[2] for line in listed[-2:]] == ["Report", "Call Anna"]
    assert all("from the calendar Agenda" in line for line in listed[-2:])
    assert listed[-2].startswith(task[:10])
    assert listed[-1].startswith("- ")
    assert seat.run("cancel", task).code == 0
    again = seat.run("schedule", "ls", "--json").maps("events")
    assert [each["taskId"] for each in again] == [None, None]
    assert [each["title"] for each in again] == ["Report", "Call Anna"]
    refused = seat.run("schedule", "skip", task)
    assert (refused.code, "in your calendar" in refused.err) == (2, True)
