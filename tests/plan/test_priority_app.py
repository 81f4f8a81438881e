"""Rules in an app at work: read anew when they change, kept when they are wrong, never unfair."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit import wiring
from remit.model.contract import RankingRule
from remit.model.run import EventKind
from remit.model.task import Priority
from remit.plan import priority
from remit.plan.priority_when import _Group
from remit.settings import Settings, parts
from remit.store import queue
from remit.store.queue import ClaimFilter
from remit.testing import FrozenClock, World, script
from remit.triggers import cue_admission
from remit.wiring.reflection import PriorityFile

SAYS: Final = """\
version: 1
rules:
  - name: mine
    when: objective matches /beach/
    priority: {level}
    because: I like it
"""
WRONG: Final = SAYS.format(level="urgent")


def write(home: Path, text: str) -> None:
    """Put the rules in place as an editor does: another file under the same name."""
    path = home / parts.PRIORITY
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(path)


async def test_rules_are_read_anew_and_a_bad_file_leaves_the_last_good_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="remit.priority")
    brain = script([{"reply": "<deliverable>Done.</deliverable>"}])
    found: list[tuple[Priority, str]] = []
    texts = (None, SAYS.format(level="critical"), WRONG, WRONG + "\n", SAYS.format(level="med"))
    async with World(tmp_path, brain=brain) as world:
        for n, text in enumerate(texts):
            if text is not None:
                write(tmp_path, text)
            task = await world.add(f"Find a beach {n}")
            await world.run()
            done = await world.get(task.id)
            assert done.rule is not None
            found.append((done.priority, done.rule.because))
        moved = [e for e in await world.history(task.id) if e.kind is EventKind.TASK_MOVED]

    where = "I like it (rules/priority.yml, line 3)"
    critical = (Priority.CRITICAL, where)
    assert found == [
        (Priority.LOW, "no rule matched"),
        critical,
        critical,
        critical,
        (Priority.MED, where),
    ]
    assert (moved[0].data["priority"], moved[0].data["rule"]) == ("med", "mine")
    (complaint,) = caplog.messages
    assert complaint == (
        "rules/priority.yml, line 5: it has the priority 'urgent'; it may be low, med, high, "
        "critical. The rules from before hold."
    )


def test_a_file_that_never_was_good_leaves_the_rules_that_come_with_remit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / parts.PRIORITY
    write(tmp_path, "rules: [")
    file = PriorityFile(tmp_path)

    assert file() is priority.default_rules()
    assert str(file.complaint).startswith("rules/priority.yml, line 1: it is no YAML")
    assert caplog.messages == [f"{file.complaint} The rules that come with Remit hold."]
    path.write_bytes(b"version: \xff")
    assert "cannot be read" in str(file.complaint)

    write(tmp_path, SAYS.format(level="high"))
    assert (len(file().rules), file.complaint) == (1, None)
    parts.furnish(tmp_path)  # it never touches the owner's
    assert path.read_text() == SAYS.format(level="high")
    path.unlink()
    assert (file(), file.complaint) == (priority.default_rules(), None)
    parts.furnish(tmp_path)
    assert path.read_text() == priority.packaged_text()
    path.unlink()
    path.mkdir()
    assert "cannot be read" in str(file.complaint)


async def test_under_a_flood_of_urgent_work_what_can_wait_gets_its_turn(tmp_path: Path) -> None:
    """Two urgent tasks a minute, one place: a low one waits three levels, no longer."""
    write(tmp_path, SAYS.format(level="critical"))
    clock, ageing = FrozenClock(), timedelta(minutes=15)
    async with wiring.opened(Settings(home=tmp_path), clock=clock) as app:
        planner = app.engine._rooms.planner

        async def admitted(text: str) -> str:
            task = await app.intake.admit(cue_admission.cue(text, ref=text, content=text))
            found = planner.rank(task)
            assert await app.db.write(queue.rank, task.id, found.priority, found.rule, clock.now())
            return task.id

        low = await admitted("Can wait")
        wanted = ClaimFilter(1, {}, suspects=True, ageing=ageing)
        waited = timedelta(0)
        for n in range(240):
            await admitted(f"beach {n}")
            await admitted(f"beach {n} too")
            (claim,) = await app.db.write(
                queue.claim, app.engine.worker, wanted, app.ids.run, clock.now()
            )
            if claim.task.id == low:
                break
            clock.advance(timedelta(minutes=1))
            waited += timedelta(minutes=1)

    # Those that came in its first 45 minutes may go first, two a minute at one a minute.
    assert ageing * 3 <= waited <= 2 * 3 * ageing + timedelta(minutes=2)


async def test_a_thousand_patterns_are_tried_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(
        f"  - {{name: r{n}, when: 'objective matches /beach number {n}$/', priority: med,"
        " because: x}\n"
        for n in range(1000)
    )
    write(tmp_path, f"version: 1\nrules:\n{lines}")

    def slow(_: object, raw: bytes) -> Iterator[int]:
        raise AssertionError(raw)

    monkeypatch.setattr(_Group, "_one_by_one", slow)
    async with World(tmp_path, brain=script([{"reply": "<deliverable>x</deliverable>"}])) as world:
        task = await world.add("Find beach number 998")
        await world.run()
        done = await world.get(task.id)

    assert done.rule == RankingRule("r998", "x (rules/priority.yml, line 1001)")
