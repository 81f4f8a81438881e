"""Real calendar servers: what is written, moved and deleted there starts once, or not at all."""

from datetime import timedelta
from pathlib import Path

import pytest

from remit.calendar.client import WriteConflict
from remit.calendar.watch import CalendarAccount
from remit.model.status import Status
from remit.model.task import Taint
from tests.calendar.caldav_servers import KINDS, Server
from tests.calendar.caldav_stage import DAY, HOUR, NINE, agenda, calendar_at, event, staged, todo
from tests.soak import first_of


@pytest.fixture(params=first_of(KINDS))
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


async def test_an_event_has_its_task_a_day_before_and_runs_at_its_time_once(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Call Anna", "DESCRIPTION:About the garden"))
        assert await stage.look() == {server.kind: None}

        (planned,) = await stage.tasks()
        assert (planned.title, planned.instructions) == ("Call Anna", "About the garden")
        assert (planned.scheduled_for, planned.started_at) == (NINE + HOUR, None)
        assert planned.taint is Taint.OWNER

        await stage.live(2 * HOUR)
        (done,) = await stage.tasks()
        assert done.status is Status.COMPLETED
        assert done.started_at == NINE + HOUR
        assert await stage.fired() == {("a", "2026-03-02T10:00:00.000Z"): 1}


async def test_what_is_renamed_and_moved_before_it_begins_is_followed(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Call Anna"))
        await stage.look()
        await phone.write("a", event("a", NINE + 3 * HOUR, "Call Anna Weber"))
        await stage.look()

        (task,) = await stage.tasks()
        assert (task.title, task.scheduled_for) == ("Call Anna Weber", NINE + 3 * HOUR)
        await stage.live(2 * HOUR)
        assert not await stage.fired()
        await stage.live(2 * HOUR)
        assert list((await stage.fired()).values()) == [1]


async def test_a_rename_after_it_ran_never_starts_it_again(server: Server, tmp_path: Path) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        daily = ("RRULE:FREQ=DAILY;COUNT=3",)
        await stage.look()
        await phone.write("a", event("a", NINE + HOUR, "Stretch", *daily))
        await phone.write("b", event("b", NINE + HOUR, "Breathe"))
        await stage.live(2 * HOUR)
        before = await stage.fired()
        assert list(before.values()) == [1, 1]

        await phone.write("a", event("a", NINE + HOUR, "Stretch well", *daily))
        await phone.write("b", event("b", NINE + HOUR, "Breathe deeply"))
        await stage.live(2 * HOUR)
        assert await stage.fired() == before


async def test_a_series_runs_every_slot_once_in_one_session(server: Server, tmp_path: Path) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY"))
        for _ in range(5):
            await stage.live(DAY, 6 * HOUR)
            await stage.restart()

        fired = await stage.fired()
        assert len(fired) == 5
        assert set(fired.values()) == {1}
        tasks = await stage.tasks()
        assert len({task.session_id for task in tasks}) == 1
        assert len({task.series_id for task in tasks}) == 1
        assert len({task.slot for task in tasks}) == len(tasks)


async def test_what_is_deleted_before_it_begins_is_cancelled_with_the_reason(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR))
        await stage.look()
        await phone.delete("a")
        await stage.live(2 * HOUR)

        (task,) = await stage.tasks()
        assert task.status is Status.CANCELLED
        assert task.result_summary == "Skipped: it was taken out of the calendar."
        assert not await stage.fired()


async def test_what_has_begun_is_never_touched_by_a_deletion(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR))
        await stage.live(HOUR + timedelta(minutes=1))
        await phone.delete("a")
        await stage.live(HOUR)

        (task,) = await stage.tasks()
        assert task.status is Status.COMPLETED


async def test_one_occurrence_that_is_moved_keeps_its_slot(server: Server, tmp_path: Path) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        series = event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY;COUNT=2")
        await stage.look()
        await phone.write("a", series)
        await stage.look()
        moved = event("a", NINE + 4 * HOUR, "Report", "RECURRENCE-ID:20260302T100000Z")
        inner = moved[moved.index("BEGIN:VEVENT") : moved.index("END:VCALENDAR")]
        await phone.write("a", series.replace("END:VCALENDAR", inner + "END:VCALENDAR"))
        await stage.live(2 * DAY, 6 * HOUR)

        fired = await stage.fired()
        assert fired == {("a", "20260302T100000Z"): 1, ("a", "20260303T100000Z"): 1}
        first = (await stage.tasks("a"))[0]
        assert first.started_at == NINE + 4 * HOUR


async def test_a_lost_token_loses_nothing_and_starts_nothing_twice(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("ran", event("ran", NINE + HOUR))
        await phone.write("gone", event("gone", NINE + 5 * HOUR))
        await stage.live(2 * HOUR)

        lost = "http://radicale.org/ns/sync/" + "0" * 64
        await stage.sql(f"UPDATE calendars SET token = '{lost}'")  # noqa: S608 - our own words
        await phone.delete("gone")
        await phone.write("new", event("new", NINE + 5 * HOUR))
        assert await stage.look() == {server.kind: None}
        await stage.live(4 * HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"ran", "new"}
        assert set((await stage.fired()).values()) == {1}
        (gone,) = await stage.tasks("gone")
        assert gone.status is Status.CANCELLED


async def test_a_server_that_is_down_for_an_hour_loses_no_slot(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("known", event("known", NINE + timedelta(minutes=30)))
        await stage.look()
        server.stop()
        try:
            await stage.live(HOUR)
            assert {uid for uid, _ in await stage.fired()} == {"known"}
            assert (await stage.calendar(server.kind, phone.path)).why is not None
        finally:
            server.start()
        # Somebody had written it meanwhile; we hear of it after its time.
        await phone.write("late", event("late", NINE + timedelta(minutes=40)))
        await stage.live(HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"known", "late"}
        assert set((await stage.fired()).values()) == {1}
        assert (await stage.calendar(server.kind, phone.path)).why is None


async def test_a_deleted_calendar_starts_nothing_and_comes_back_where_it_was(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        series = event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY;COUNT=2")
        await phone.write("a", series)
        await phone.write("b", event("b", NINE + 20 * HOUR))
        await stage.live(2 * HOUR)
        await phone.delete_calendar()
        await stage.live(HOUR)
        assert {task.status for task in await stage.tasks("b")} == {Status.CANCELLED}

        await phone.dav.make(phone.path, "Agenda", "VEVENT")
        await phone.write("a", series)
        await phone.write("b", event("b", NINE + 20 * HOUR))
        await stage.live(2 * DAY, 6 * HOUR)

        fired = await stage.fired()
        assert sorted(uid for uid, _ in fired) == ["a", "a", "b"]
        assert set(fired.values()) == {1}


async def test_of_two_clients_that_write_at_once_one_is_told(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        etag = await phone.write("a", event("a", NINE + HOUR, "First"))
        await stage.look()
        await phone.dav.put(phone.at("a"), event("a", NINE + 2 * HOUR, "Second"), etag)
        with pytest.raises(WriteConflict):
            await phone.dav.put(phone.at("a"), event("a", NINE + 3 * HOUR, "Third"), etag)
        with pytest.raises(WriteConflict):
            await phone.dav.put(phone.at("a"), event("a", NINE + 3 * HOUR, "Third"), None)
        await stage.live(4 * HOUR)

        (task,) = await stage.tasks()
        assert (task.title, task.started_at) == ("Second", NINE + 2 * HOUR)


async def test_what_was_over_when_it_was_written_starts_nothing(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("before", event("before", NINE - HOUR, "Old", "RRULE:FREQ=WEEKLY"))
        await stage.live(HOUR)
        await phone.write("diary", event("diary", NINE - HOUR))
        await phone.write("just", event("just", stage.now - timedelta(minutes=2)))
        await stage.live(HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"just"}


async def test_an_event_that_cannot_be_read_is_told_and_the_others_go_on(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("bad", event("bad", NINE + HOUR, "Bad", "RRULE:FREQ=DAILY;INTERVAL=0"))
        await phone.write("good", event("good", NINE + HOUR))
        await stage.live(2 * HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"good"}
        told = await stage.sql("SELECT data FROM events WHERE kind = 'calendar.noted'")
        assert len(told) == 1
        assert '"uid":"bad"' in str(told[0]["data"])
        assert (await stage.calendar(server.kind, phone.path)).refused == 1


async def test_an_event_that_cannot_be_read_any_more_does_not_start_at_its_old_time(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR))
        await stage.look()
        await phone.write("a", event("a", NINE + HOUR, "Bad", "RRULE:FREQ=DAILY;INTERVAL=0"))
        await stage.live(2 * HOUR)
        assert not await stage.fired()

        await phone.write("a", event("a", NINE + 3 * HOUR))
        await stage.live(2 * HOUR)
        assert list((await stage.fired()).values()) == [1]


async def test_a_to_do_with_a_time_starts_then_and_one_without_starts_nothing(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path, kind="VTODO") as (stage, phone):
        await phone.write("due", todo("due", "DUE:20260302T100000Z"))
        await phone.write("some-day", todo("some-day"))
        await phone.write("done", todo("done", "DUE:20260302T100000Z", "STATUS:COMPLETED"))
        await stage.live(2 * HOUR)

        assert {uid for uid, _ in await stage.fired()} == {"due"}


async def test_what_we_wrote_ourselves_is_never_taken_for_a_wish(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path, kind="VTODO") as (stage, phone):
        await phone.write("ours", todo("ours", "DUE:20260302T100000Z", "X-REMIT-TASK:task-1"))
        await stage.live(2 * HOUR)

        assert await stage.tasks() == []


async def test_what_others_organise_is_not_the_owners_word(server: Server, tmp_path: Path) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write(
            "mine", event("mine", NINE + HOUR, "A", "ORGANIZER:mailto:Me@example.org")
        )
        others = 'ORGANIZER;CN="Bob: the boss":mailto:bob@example.org'
        await phone.write("his", event("his", NINE + HOUR, "B", others))
        await stage.look()

        assert {task.context["uid"]: task.taint for task in await stage.tasks()} == {
            "mine": Taint.OWNER,
            "his": Taint.PUBLIC,
        }


async def test_what_was_missed_while_nothing_ran_is_run_once_and_the_rest_is_written_down(
    server: Server, tmp_path: Path
) -> None:
    async with agenda(server, tmp_path) as (stage, phone):
        await phone.write("a", event("a", NINE + HOUR, "Report", "RRULE:FREQ=DAILY"))
        await stage.look()
        await stage.watch.close()
        stage.world.clock.advance(5 * DAY + 2 * HOUR)
        await stage.restart()
        await stage.live(HOUR)

        fired = await stage.fired()
        assert set(fired.values()) == {1}
        assert ("a", "20260307T100000Z") in fired
        dropped = await stage.sql("SELECT key FROM occurrences WHERE state = 'dropped'")
        keys = {slot for _, slot in fired} | {str(row["key"]) for row in dropped}
        assert keys >= {f"2026030{day}T100000Z" for day in range(2, 8)}


async def test_calendars_that_are_not_marked_start_nothing(server: Server, tmp_path: Path) -> None:
    path = f"{server.home}other-{tmp_path.name}/"
    account = CalendarAccount(server.place, lambda _: False)
    async with (
        calendar_at(server.place, path, "Other") as phone,
        staged(tmp_path, account) as stage,
    ):
        await stage.look()
        await phone.write("a", event("a", NINE + HOUR))
        await stage.live(2 * HOUR)

        assert await stage.tasks() == []
        assert not (await stage.calendar(server.kind, path)).marked
