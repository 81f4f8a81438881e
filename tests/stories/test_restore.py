"""After a restore nothing goes out by itself that may be out already, and nothing is lost."""

from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.model.recurrence import OnMissed, Repeats
from remit.model.review import ReviewAnswer
from remit.model.status import Status
from remit.settings import DeliverSettings, ScheduleSettings, Settings, load
from remit.store.secrets import Secrets
from remit.testing import START, World, script
from remit.wiring.app_context import WallClock
from tests.channels.webhook.calls import SECRET, bearer
from tests.engine.rig import HI, everything
from tests.restoring import asked, restore, save

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
DAILY: Final = Repeats("FREQ=DAILY", "UTC", START + HOUR)
DOORS: Final = """\
[folders.scans]
path = "{path}"
text = "File this."
[hooks.shop]
secret = "hook_shop"
"""


async def repeating(world: World) -> None:
    await world.add("news", content="News.", repeats=DAILY)
    await world.run(2 * HOUR)
    assert len(world.outbox.sent) == 1


@pytest.mark.parametrize("missed", OnMissed)
@pytest.mark.parametrize("days", [1, 3])
async def test_a_series_asks_once_about_the_slots_that_may_have_run(
    tmp_path: Path, days: int, missed: OnMissed
) -> None:
    settings = Settings(
        home=tmp_path, deliver=DeliverSettings(undo=0), schedule=ScheduleSettings(missed=missed)
    )
    async with World(tmp_path, settings=settings) as world:
        await repeating(world)
        saved = save(world, tmp_path / "saved")
        await world.run(days * DAY)
        assert len(world.outbox.sent) == 1 + days

        held = await restore(world, saved)
        await world.run(HOUR)

        assert (held.paused, held.asked) == (0, 1)
        assert len(world.outbox.sent) == 1 + days  # nobody was asked yet
        (review,) = await asked(world)
        assert "2026-03-03 10:00 UTC" in review.question
        # Who wants no slot that was missed is asked about the one that was there alone.
        assert ("3 times since" in review.question) is (days == 3 and missed is not OnMissed.SKIP)
        await world.decide(review, ReviewAnswer.APPROVE)
        await world.run(HOUR)
        assert len(world.outbox.sent) == 2 + days  # once

        await world.run(DAY)
        assert len(world.outbox.sent) == 3 + days  # and it goes on by itself
        assert await world.waiting() == []


async def test_who_declines_or_runs_now_what_was_held_settles_it(tmp_path: Path) -> None:
    async with World(tmp_path) as world:
        await repeating(world)
        saved = save(world, tmp_path / "saved")
        for way in ("decline", "run now", "pause and resume"):
            await world.run(DAY)
            before = len(world.outbox.sent)
            await restore(world, saved)
            (review,) = await asked(world)
            if way == "decline":
                await world.decide(review, ReviewAnswer.DECLINE)
            elif way == "run now":
                await world.app.owner.run_now(review.task_id)
            else:
                await world.app.owner.pause(review.task_id)
                await world.app.owner.resume(review.task_id)
            await world.run(HOUR)
            assert len(world.outbox.sent) == before + (way == "run now")
            assert bool(await asked(world)) is (way == "pause and resume")


def with_doors(tmp_path: Path) -> World:
    home, folder = tmp_path / "home", tmp_path / "scans"
    home.mkdir(mode=0o700)
    folder.mkdir()
    (home / "settings.toml").write_text(DOORS.format(path=folder))
    Secrets(home).put("hook_shop", SECRET)
    brain = script([{"reply": HI}])
    return World(home, settings=load({"REMIT_HOME": str(home)}), brain=brain)


async def come(world: World) -> list[Status]:
    entrance = world.app.doors.entrance
    watch = entrance.folder("scans")
    assert [await watch.look(), await watch.look()] == [0, 1]
    await entrance.called("shop", bearer(b'{"order": 7}', **{"webhook-id": "msg_7"}))
    await world.run(timedelta(minutes=1))
    return [task.status for task in await everything(world)]


async def test_what_comes_by_a_door_again_is_asked_about_before_it_runs(tmp_path: Path) -> None:
    """A file that lies there still, and a call that its sender makes once more."""
    async with with_doors(tmp_path) as world:
        world.clock.jump(WallClock().now())  # files know no other time
        await world.run()
        saved = save(world, tmp_path / "saved")
        (tmp_path / "scans" / "bill.txt").write_text("To pay.")

        assert await come(world) == [Status.COMPLETED] * 2
        world.clock.advance(timedelta(minutes=1))
        await restore(world, saved)
        assert await come(world) == [Status.NEW] * 2

        for review in await asked(world):
            assert review.question.startswith("This may have come in between the backup of")
            await world.decide(review, ReviewAnswer.APPROVE)
        await world.run(HOUR)
        assert [task.status for task in await everything(world)] == [Status.COMPLETED] * 2

        await world.run(2 * DAY)
        call = bearer(b'{"order": 8}', **{"webhook-id": "msg_8"})
        await world.app.doors.entrance.called("shop", call)
        await world.run(HOUR)
        assert (await everything(world))[-1].status is Status.COMPLETED  # what comes later is new
