"""Runs that were missed and events that start nothing: told, once as they are, and seen to."""

from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.model.conversation import NoticeKind, NoticeState
from remit.model.ids import SeriesId
from remit.model.recurrence import Repeats
from remit.settings import NoticeSettings
from remit.store import calendars, inbox, occurrences, series, slots
from remit.store.calendars import StoredCalendar, StoredResource
from remit.store.database import Tx
from remit.store.occurrences import ReadResource, StoredOccurrence
from remit.testing import World
from remit.triggers import cue_admission
from tests.notify.town import OUT, kept, planned, told, town

WISHES: Final = NoticeSettings(missed=("conversation", OUT), refused=("conversation", OUT))
WORK: Final = StoredCalendar("work", "/team/", "Team", marked=True)
WHY: Final = "It repeats every second."


def refused(world: World, etag: str = "1", uid: str = "a", why: str | None = WHY) -> ReadResource:
    body = f"BEGIN:VEVENT\nUID:{uid}\nSUMMARY:Water {uid}\nEND:VEVENT"
    held = StoredResource(WORK.account, WORK.path, f"/{uid}.ics", etag, uid, body, world.now, why)
    held = replace(held, title=f"Water {uid}")
    return ReadResource(held, (), frozenset(), world.now, world.now)


async def reads(world: World, *found: ReadResource) -> None:
    await world.app.db.write(calendars.note, WORK)
    for each in found:
        await world.app.db.write(occurrences.follow, each, world.now)


# Events that could not be read -------------------------------------------------------------------


async def test_an_event_that_is_refused_is_told_once_as_it_is(tmp_path: Path) -> None:
    async with town(tmp_path, WISHES) as world:
        await reads(world, refused(world), refused(world))
        bodies = await told(world)
        assert bodies == [f"“Water a” in your calendar could not be read: {WHY}"]
        assert await planned(world) == [f"“Water a” in your calendar work could not be read. {WHY}"]
        # It was taken out of sight and came back as it was, and was read again in other words.
        await world.app.db.write(calendars.delete, refused(world).resource)
        await reads(world, refused(world), refused(world, why="It cannot be read."))
        assert len(await told(world)) == 1
        assert len(await planned(world)) == 1
        await reads(world, refused(world, "2"))

        assert len(await told(world)) == 2
        assert len(await planned(world)) == 2


async def test_an_event_that_was_mended_or_seen_before_it_was_told_is_not_told(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, WISHES) as world:
        await reads(world, refused(world), refused(world, uid="b"))
        await world.app.talk.settled()
        await reads(world, refused(world, "2", why=None))
        await world.app.db.write(calendars.see, "work", "/team/", "/b.ics")

        assert await told(world) == []
        dropped = [each.why for each in await kept(world) if each.state is NoticeState.DROPPED]
        assert dropped == ["It was fixed, or is gone.", "You have seen it."]


async def test_a_refused_event_needs_attention_until_it_is_seen_and_again_if_it_changes(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, WISHES) as world:

        async def fix() -> int:
            return (await world.app.db.read(inbox.needs, world.now)).fix

        await reads(world, refused(world))
        assert await fix() == 1
        assert await world.app.db.write(calendars.see, "work", "/team/", "/a.ics")
        assert await fix() == 0
        await reads(world, refused(world, "2"))
        assert await fix() == 1
        await reads(world, refused(world, "3", why=None))
        assert await fix() == 0
        assert not await world.app.db.write(calendars.see, "work", "/team/", "/a.ics")


async def test_many_refused_events_are_one_turn_and_one_line(tmp_path: Path) -> None:
    async with town(tmp_path, WISHES) as world:
        await reads(world, *(refused(world, uid=f"u{n}") for n in range(9)))
        bodies = await told(world)

        assert bodies == ["9 calendar events could not be read."]
        (turn,) = await planned(world)
        assert turn.splitlines()[0] == "9 calendar events could not be read:"
        assert turn.splitlines()[-1] == "- and 4 more"
        await reads(world, refused(world, uid="u5", why="In other words."))
        assert len(await told(world)) == 1
        assert len(await planned(world)) == 1


# Runs that were missed ----------------------------------------------------------------------------


async def daily(world: World, rule: str = "FREQ=DAILY") -> None:
    first = world.now + timedelta(hours=1)
    cue = cue_admission.cue("Brief me", ref="brief", channel="dashboard")
    often = Repeats(rule, "Europe/Berlin", first)
    await world.app.intake.admit(replace(cue, repeats=often, scheduled_for=first))


async def test_runs_that_were_missed_are_told_with_how_many_and_why(tmp_path: Path) -> None:
    async with town(tmp_path, replace(WISHES, done=())) as world:
        await daily(world)
        await world.run(timedelta(hours=2))
        world.clock.jump(world.now + timedelta(days=4))  # nobody was there
        await world.run()

        missed = [each for each in await kept(world) if each.news is NoticeKind.MISSED]
        assert {each.way for each in missed} == {"conversation", OUT}
        lines = {each.telling.line for each in missed}
        assert any("runs were left out: Remit was not running" in line for line in lines), lines


async def test_a_series_that_ended_while_nobody_was_there_is_told_too(tmp_path: Path) -> None:
    async with town(tmp_path, replace(WISHES, done=())) as world:
        await daily(world, "FREQ=DAILY;COUNT=3")
        world.clock.jump(world.now + timedelta(days=30))
        await world.run()

        missed = [each.telling for each in await kept(world) if each.news is NoticeKind.MISSED]
        assert {each.title for each in missed} == {"Brief me"}


async def test_what_the_owner_skipped_himself_is_not_told(tmp_path: Path) -> None:
    async with town(tmp_path, replace(WISHES, done=())) as world:
        await daily(world)
        found = await world.app.db.read(_series)
        await world.app.owner.skip_slot(found, None)
        await world.app.owner.pause_series(found)
        await world.run(timedelta(days=3))
        await world.app.owner.resume_series(found)
        await world.run()

        assert [each for each in await kept(world) if each.news is NoticeKind.MISSED] == []


def _series(tx: Tx) -> SeriesId:
    return series.list_series(tx)[0].id


@pytest.mark.parametrize("given", [True, False])
async def test_a_start_that_was_missed_is_told_once_with_its_task_or_without(
    tmp_path: Path, *, given: bool
) -> None:
    async with town(tmp_path, WISHES) as world:
        at = world.now + timedelta(hours=1)
        start = StoredOccurrence(uid="a", key="", start=at, title="Water them", text="")
        held = refused(world, why=None).resource
        await world.app.db.write(calendars.note, WORK)
        read = ReadResource(held, (start,), frozenset(), world.now, world.now)
        await world.app.db.write(occurrences.follow, read, world.now)
        if given:
            cue = cue_admission.cue(
                "Water them", ref="water", channel="dashboard", scheduled_for=at
            )
            task = await world.app.intake.admit(cue)
            await world.app.db.write(occurrences.give, start, task.id, world.now)
        (each,) = await world.app.db.read(occurrences.of_event, "a")
        await world.app.db.write(occurrences.skip, each, slots.ASLEEP, world.now)

        assert len(await told(world)) == 1
        assert len(await planned(world)) == 1


async def test_starts_that_were_dropped_long_ago_are_forgotten(tmp_path: Path) -> None:
    async with town(tmp_path, WISHES) as world:
        starts = tuple(
            StoredOccurrence(
                uid="a", key=f"{n}", start=world.now + n * timedelta(days=1), title="x", text=""
            )
            for n in (1, 50)
        )
        held = refused(world, why=None).resource
        await world.app.db.write(calendars.note, WORK)
        read = ReadResource(held, starts, frozenset(), world.now, world.now)
        await world.app.db.write(occurrences.follow, read, world.now)
        for each in await world.app.db.read(occurrences.of_event, "a"):
            await world.app.db.write(occurrences.drop, each, slots.ASLEEP, world.now)
        before = world.now + timedelta(days=10)

        assert await world.app.db.write(occurrences.prune, before) == 1
        assert [each.key for each in await world.app.db.read(occurrences.of_event, "a")] == ["50"]
