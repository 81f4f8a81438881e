"""What comes back by itself: watched by the clock, settled before the engine starts."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from random import Random
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from remit import wiring
from remit.model import rrule
from remit.model.codec import to_json
from remit.model.ids import Ids, SeriesId, SessionId
from remit.model.recurrence import Repeats, Series, SlotFate
from remit.model.status import Status
from remit.model.task import Cue, Source, SourceKind, Task
from remit.settings import Settings
from remit.store import search, series, slots
from remit.store.database import Tx
from remit.store.search import TaskFilter
from remit.testing import START, FrozenClock, Outbox, World
from remit.triggers import cue_admission
from remit.triggers.repeat import following
from tests.engine.rig import Rig, until
from tests.model.examples import NEW
from tests.soak import examples

DAY: Final = timedelta(days=1)
DAILY: Final = Repeats("FREQ=DAILY", "Europe/Berlin", START + timedelta(hours=1))


def cue(ref: str = "news", repeats: Repeats = DAILY) -> Cue:
    return replace(cue_admission.cue(ref, ref=ref, channel="outbox", content=ref), repeats=repeats)


async def occurrences(world: World, series_id: SeriesId | None) -> list[Task]:
    page = await world.app.db.read(search.page, TaskFilter(limit=500))
    found = [task for task in page.tasks if task.series_id == series_id is not None]
    return sorted(found, key=lambda task: task.slot or START)


async def test_the_watch_alone_puts_in_what_comes_next_without_anybody_asking(
    tmp_path: Path,
) -> None:
    clock, outbox = FrozenClock(), Outbox()
    settings = Settings(home=tmp_path)
    async with wiring.opened(settings, clock=clock, channels={"outbox": outbox}) as app:
        await wiring.start(app)
        await app.intake.admit(cue())

        def passed(days: int) -> bool:
            clock.advance(timedelta(hours=1))
            return len(outbox.sent) >= days

        await until(lambda: passed(4))
        await app.engine.stop()

    assert 4 <= len(outbox.sent) <= (clock.now() - START) // DAY + 1


async def test_an_occurrence_is_there_before_its_time_and_runs_at_it(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        first = await world.app.intake.admit(cue())
        await world.run(timedelta(hours=2))
        done, coming = await occurrences(world, first.series_id)

        assert (done.id, done.status) == (first.id, Status.COMPLETED)
        assert (coming.status, coming.scheduled_for) == (Status.READY, DAILY.first + DAY)
        await world.run(timedelta(hours=21))
        assert len(world.outbox.sent) == 1
        await world.run(timedelta(hours=2))
        assert len(world.outbox.sent) == 2


async def test_after_a_long_absence_the_latest_slot_is_run_once(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        first = await world.app.intake.admit(cue())
        await world.run(2 * DAY)
        await world.__aexit__(None, None, None)
        world.clock.advance(10 * DAY)
        await world.__aenter__()
        await world.run(timedelta(minutes=30))
        assert first.series_id is not None
        made = await occurrences(world, first.series_id)
        skipped, alone = await world.app.db.read(slots.list_skipped, first.series_id)

    assert len(world.outbox.sent) == 3
    assert [task.status for task in made] == [
        *(Status.COMPLETED, Status.COMPLETED),
        *(Status.CANCELLED, Status.COMPLETED, Status.READY),
    ]
    assert (skipped.slots, made[3].slot) == (8, DAILY.first + 11 * DAY)
    assert (alone.first, alone.fate, skipped.fate) == (
        made[2].slot,
        SlotFate.MISSED,
        SlotFate.MISSED,
    )
    assert {made[2].slot, *_days(skipped)} | {made[3].slot} == {
        DAILY.first + n * DAY for n in range(2, 12)
    }


async def test_what_was_missed_is_settled_before_the_engine_starts(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        first = await world.app.intake.admit(cue())
        await world.run(2 * DAY)
    world.clock.advance(10 * DAY)
    async with world._open_app() as world.app:
        await world.app.repeater.start()
        made = await occurrences(world, first.series_id)

    assert [task.status for task in made[2:]] == [Status.CANCELLED, Status.NEW, Status.NEW]


async def test_what_is_due_more_often_than_it_can_be_done_does_not_pile_up(tmp_path: Path) -> None:
    """Whoever is busy for an hour with what comes every minute has one of them to do then."""
    async with World(tmp_path) as world:
        repeats = Repeats("FREQ=MINUTELY", "UTC", START + timedelta(minutes=1))
        first = await world.app.intake.admit(cue(repeats=repeats))
        await world.app.engine.stop()
        for _ in range(60):
            world.clock.advance(timedelta(minutes=1))
            await world.app.repeater.catch_up()
        made = await occurrences(world, first.series_id)

    waiting = [task for task in made if task.status is not Status.CANCELLED]
    assert len(made) == 61
    assert [task.slot for task in waiting] == [START + timedelta(minutes=m) for m in (60, 61)]


async def test_a_series_that_cannot_be_read_any_more_keeps_no_other_waiting(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        bad = await world.app.intake.admit(cue("bad"))
        good = await world.app.intake.admit(cue("good"))
        assert bad.series_id is not None
        await world.app.db.write(_spoil, bad.series_id)
        await world.run(3 * DAY)
        ended = await world.app.db.read(series.get, bad.series_id)
        made = await occurrences(world, good.series_id)

    assert ended is not None
    assert "no time zone 'Atlantis'" in str(ended.why)
    assert len(made) == 4


async def test_a_full_disk_stops_the_watch_for_a_moment_only(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        first = await rig.app.intake.admit(cue())
        await rig.run()
        rig.db.broken = {"advance"}
        for _ in range(3):
            rig.clock.advance(timedelta(hours=1))
            await until(lambda: rig.db.writes["advance"] > 0)
        assert len(await occurrences(rig, first.series_id)) == 1
        rig.db.broken = set()
        await rig.run(timedelta(hours=1))

        assert len(await occurrences(rig, first.series_id)) == 2


async def test_nothing_is_watched_any_more_once_it_was_stopped(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        first = await world.app.intake.admit(cue())
        await world.app.repeater.stop()
        await world.app.repeater.stop()
        world.clock.advance(2 * DAY)
        world.app.engine.nudge()
        await world.app.engine.settled()

        assert len(await occurrences(world, first.series_id)) == 1


# Whatever the rule and however long the absence --------------------------------------------------

rules = st.sampled_from(
    [
        "FREQ=DAILY",
        "FREQ=HOURLY;INTERVAL=5",
        "FREQ=WEEKLY;BYDAY=MO,TH",
        "FREQ=MONTHLY;BYMONTHDAY=31",
        "FREQ=DAILY;COUNT=7",
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(rule=rules, gaps=st.lists(st.integers(1, 60 * 24 * 40), min_size=1, max_size=12))
def test_every_slot_is_put_in_or_written_down_once_and_in_order(rule: str, gaps: list[int]) -> None:
    ids = Ids(lambda: START, Random(1).getrandbits)  # noqa: S311 - ids, not secrets
    each, now = _series(rule), START
    put_in: list[datetime] = [each.last]
    missed, reached = 0, each.last
    for minutes in gaps:
        now += timedelta(minutes=minutes)
        if each.last > now:
            continue
        step = following(each, ids, now)
        slots_made = [task.slot for task in step.made if task.slot]
        assert step.latest <= now
        assert sum(slot > now for slot in slots_made) == (0 if step.over else 1)
        assert sum(slot <= now for slot in slots_made) <= 1
        missed += step.skipped.slots if step.skipped else 0
        put_in += slots_made
        reached = max(put_in[-1], step.latest)
        if step.over:
            break
        each = replace(each, last=put_in[-1])

    assert all(earlier < later for earlier, later in pairwise(put_in))
    known = rrule.slots(each.repeats, START - DAY)
    assert len(put_in) + missed == len(list(takewhile(lambda slot: slot <= reached, known)))


def _series(rule: str) -> Series:
    template = to_json(replace(NEW, source=Source(SourceKind.MANUAL, "x")))
    assert isinstance(template, dict)
    first = datetime(2026, 3, 2, 10, tzinfo=UTC)
    repeats = Repeats(rule, "Europe/Berlin", first)
    return Series(SeriesId("ser-1"), SessionId("ses-1"), "x", repeats, first, template)


def _days(skipped: slots.SkippedSlots) -> list[datetime]:
    days = (skipped.last - skipped.first) // DAY
    return [skipped.first + n * DAY for n in range(days + 1)]


def _spoil(tx: Tx, series_id: SeriesId) -> None:
    tx.ask("UPDATE series SET zone = 'Atlantis' WHERE id = ?", (series_id,))
