"""`remit schedule` tells what calendars start, too, and leaves it to them to change it."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from remit.cli import clock
from remit.model.codec import JsonMap, moment
from remit.settings import Settings
from remit.wiring import opened
from tests.calendar.caldav_stage import event
from tests.cli import agenda
from tests.cli.terminal import Terminal

HOUR = timedelta(hours=1)


def furnished(folder: Path) -> tuple[Terminal, datetime]:
    """A daily event that begins in three hours, and one of next week."""
    seat = Terminal(folder)
    seat.run("add", "Oven", "--every", "2h", "--text", "Look at it.", "--tz", "UTC")
    soon = clock.now().replace(microsecond=0) + 3 * HOUR

    async def write() -> None:
        async with opened(Settings(home=seat.home)) as house:
            daily = event("a", soon, "Report", "RRULE:FREQ=DAILY;COUNT=3")
            await agenda.write(house, daily, event("b", soon + timedelta(days=7), "Call Anna"))

    asyncio.run(write())
    return seat, soon


def test_what_a_calendar_starts_is_told_among_the_next_slots_once(tmp_path: Path) -> None:
    seat, soon = furnished(tmp_path)
    told = cast("list[JsonMap]", seat.run("schedule", "next", "400", "--json").json["slots"])

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
    events = cast("list[JsonMap]", seat.run("schedule", "ls", "--json").json["events"])
    task = str(events[0]["taskId"])

    assert [line.rpartition("  ")[2] for line in listed[-2:]] == ["Report", "Call Anna"]
    assert all("from the calendar Agenda" in line for line in listed[-2:])
    assert listed[-2].startswith(task[:10])
    assert listed[-1].startswith("- ")
    assert seat.run("cancel", task).code == 0
    again = cast("list[JsonMap]", seat.run("schedule", "ls", "--json").json["events"])
    assert [each["taskId"] for each in again] == [None, None]
    assert [each["title"] for each in again] == ["Report", "Call Anna"]


def test_what_comes_from_a_calendar_is_changed_there(tmp_path: Path) -> None:
    seat, _ = furnished(tmp_path)
    events = cast("list[JsonMap]", seat.run("schedule", "ls", "--json").json["events"])
    refused = seat.run("schedule", "skip", str(events[0]["taskId"]))

    assert refused.code == 2
    assert "in your calendar" in refused.err
