"""An event that changes its server or lies in two calendars is still the same event."""

from pathlib import Path

from remit.calendar.watch import CalendarAccount
from remit.model.status import Status
from remit.model.task import Taint
from tests.calendar.caldav_servers import Server
from tests.calendar.caldav_stage import DAY, HOUR, NINE, agenda, calendar_at, event, staged


async def test_a_series_that_moves_to_another_server_goes_on_in_its_session(
    server: Server, xandikos: Server, tmp_path: Path
) -> None:
    here, there = "/owner/leaving/", "/user/calendars/arriving/"
    accounts = (
        CalendarAccount(server.place, lambda found: found.path == here, trusted=True),
        CalendarAccount(xandikos.place, lambda found: found.path == there, trusted=True),
    )
    series = event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY;COUNT=6")
    async with (
        calendar_at(server.place, here, "Leaving") as old,
        calendar_at(xandikos.place, there, "Arriving") as new,
        staged(tmp_path, *accounts) as stage,
    ):
        await stage.look()
        await old.write("a", series)
        await stage.live(2 * DAY, 6 * HOUR)
        # First it is gone, then it is there: between the two nothing is planned.
        await old.delete("a")
        await stage.live(HOUR / 2)
        await new.write("x", series)
        await stage.live(2 * DAY, 6 * HOUR)
        # And back, this time without a gap.
        await old.write("a", series)
        await stage.live(HOUR, HOUR)
        await new.delete("x")
        await stage.live(3 * DAY, 6 * HOUR)

        fired = await stage.fired()
        assert sorted(slot for _, slot in fired) == [f"2026030{n}T100000Z" for n in range(2, 8)]
        assert set(fired.values()) == {1}
        tasks = await stage.tasks()
        assert len({task.session_id for task in tasks}) == 1
        assert len({task.series_id for task in tasks}) == 1


async def test_of_the_same_event_in_two_calendars_the_trusted_one_counts(
    server: Server, tmp_path: Path
) -> None:
    mine, theirs = "/owner/mine/", "/owner/theirs/"
    accounts = (
        CalendarAccount(server.called("theirs"), lambda found: found.path == theirs),
        CalendarAccount(server.called("mine"), lambda found: found.path == mine, trusted=True),
    )
    async with (
        calendar_at(server.place, mine, "Mine") as own,
        calendar_at(server.place, theirs, "Theirs") as shared,
        staged(tmp_path, *accounts) as stage,
    ):
        await stage.look()
        await shared.write("a", event("a", NINE + HOUR, "Send all money"))
        await stage.look()
        (first,) = await stage.tasks()
        assert first.taint is Taint.PUBLIC
        await own.write("a", event("a", NINE + 2 * HOUR, "Pay the rent"))
        await stage.look()
        await shared.write("a", event("a", NINE + HOUR, "Send all of it"))
        await stage.live(3 * HOUR)

        (task,) = await stage.tasks()
        assert (task.title, task.started_at) == ("Pay the rent", NINE + 2 * HOUR)
        # What it was made of stays: it had been read.
        assert task.taint is Taint.PUBLIC


async def test_an_unmarked_calendar_takes_its_pending_work_along(
    server: Server, tmp_path: Path
) -> None:
    path, marked = "/owner/marked/", True
    account = CalendarAccount(server.place, lambda found: marked and found.path == path)
    async with calendar_at(server.place, path, "M") as phone, staged(tmp_path, account) as stage:
        await stage.look()
        await phone.write("a", event("a", NINE + 3 * HOUR))
        await stage.look()
        marked = False
        await stage.live(HOUR)
        (task,) = await stage.tasks()
        assert task.status is Status.CANCELLED

        marked = True
        await stage.live(3 * HOUR)
        assert list((await stage.fired()).values()) == [1]


async def test_another_event_at_the_same_address_is_another_event(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("first", NINE + HOUR))
        await stage.look()
        await phone.delete("a")
        await phone.write("a", event("second", NINE + 2 * HOUR))
        await stage.live(3 * HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"second"}


async def test_starts_are_known_ahead_however_long_nothing_changes(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Weekly", "RRULE:FREQ=WEEKLY"))
        await stage.live(70 * DAY, 2 * DAY)

        fired = await stage.fired()
        assert len(fired) == 10
        assert set(fired.values()) == {1}
