"""Whatever happens, in whatever order, with however many ends and starts: no notice goes twice."""

import asyncio
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.model.conversation import NoticeState
from remit.model.delivery import (
    Accepted,
    Answer,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.store import backup
from remit.testing import Outbox, World
from tests.notify.town import BY_OUTBOX, OUT, herald, kept, told, town
from tests.soak import examples
from tests.store.scene import AT

Step: TypeAlias = tuple[str, int]

ANSWERS: tuple[Answer | Exception, ...] = (
    Accepted("ref"),
    SendRetry("busy", 30.0),
    SendRetry("not your turn", 10.0, spends=False),
    Unknown("the line broke"),
    Refused("no"),
    RuntimeError("a broken adapter"),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["asks", "fails", "ends", "tells", "waits", "restarts", "decides"]),
        st.integers(0, 90),
    ),
    min_size=1,
    max_size=14,
)


class Witness(Outbox):
    """Counts what may have arrived: all but what it said never left."""

    async def send(self, parcel: Parcel) -> Answer:
        self.tried.append(parcel)
        answer = self.answers.pop(0) if self.answers else Accepted("ref")
        if not isinstance(answer, SendRetry | Refused):
            self.sent.append(parcel)
        if isinstance(answer, Exception):
            raise answer
        return answer


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, answers=st.lists(st.sampled_from(ANSWERS), max_size=12))
def test_no_notice_goes_out_twice(steps: list[Step], answers: list[Answer | Exception]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(_lived(Path(folder), steps, answers))


async def _lived(home: Path, steps: list[Step], answers: list[Answer | Exception]) -> None:
    line = Witness(name=OUT, keeps=SendGuarantee.NOTHING, answers=list(answers))
    async with town(home, BY_OUTBOX, channels={OUT: line}) as world:
        for step, number in steps:
            await _step(world, step, number)
        await told(world)

        for notice, times in Counter(await _arrived(world, line)).items():
            assert times == 1, notice
        for each in await kept(world):
            arrived = each.parcel in {parcel.key for parcel in line.sent}
            assert each.state is not NoticeState.SENT or arrived


async def _step(world: World, step: str, number: int) -> None:
    match step:
        case "asks" | "fails" | "ends":
            text = {"asks": "Renew passport", "fails": "hopeless", "ends": "Find a park"}[step]
            for n in range(1 + number % 7):
                await world.add(f"{text} {n}", channel="dashboard")
            await world.run()
        case "tells":
            await told(world)
        case "waits":
            await world.run(timedelta(seconds=number * 10))
        case "restarts":
            herald(world).start()
            await asyncio.sleep(0)  # cut off wherever it stands by then
            await world.restart()
        case _:
            for review in (await world.waiting())[:1]:
                await world.decide(review, review.options[-1], "no")


async def test_beside_other_processes_a_notice_leaves_soon_after_its_claim_or_later_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.clock_gettime
    async with town(tmp_path) as world:
        monkeypatch.setattr(world.app.db, "shared", True, raising=False)
        # It is stopped between its claim and the first byte.
        jumps = iter((0.0, 11.0))
        monkeypatch.setattr(time, "clock_gettime", lambda clock: real(clock) + next(jumps, 11.0))
        await world.add("Find a park", channel="dashboard")
        await world.run()
        assert await told(world) == []

        monkeypatch.setattr(time, "clock_gettime", real)
        await world.run(timedelta(minutes=2))
        assert len(await told(world)) == 1


async def test_after_a_restore_nothing_is_told_that_may_be_told_already(tmp_path: Path) -> None:
    home, now = tmp_path / "home", AT + timedelta(days=1)
    home.mkdir()
    async with town(home, BY_OUTBOX) as world:
        for text in ("Something hopeless", "Renew my passport"):
            await world.add(text, channel="dashboard")
            await world.run()
    saved = backup.save(home / "agent.db", tmp_path / "backups", now, lambda _: None)
    backup.restore(saved, home / "agent.db", now)
    async with town(home, BY_OUTBOX) as world:
        assert await told(world) == []
        assert {each.why for each in await kept(world)} == {
            "Restored from a backup; it may be told already."
        }


async def _arrived(world: World, line: Witness) -> list[str]:
    """Every notice that may have arrived, as often as it may have."""
    inside: dict[str, list[str]] = {}
    for each in await kept(world):
        inside.setdefault(each.parcel or "", []).append(each.telling.about)
    return [about for parcel in line.sent for about in inside.get(parcel.key, [parcel.key])]
