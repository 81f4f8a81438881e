"""A command and the running Remit: broken connections, slow answers, and no task twice."""

import asyncio
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Final, cast

import pytest

from remit.cli import clock, remote
from remit.cli.request_key import key_for, new_key
from remit.intake.admit import Intake
from remit.model.codec import Json, JsonMap
from remit.model.task import Cue, Task
from remit.operations.arguments import NewTask
from tests.cli.terminal import Terminal
from tests.server.served import LIMIT, TOKEN, Served, admitting

DAY: Final = timedelta(days=1)
MINUTE: Final = timedelta(minutes=1)
SLOW_BRAIN = """\
- seconds: 6
  reply: <deliverable>Done after the server has closed an idle connection.</deliverable>
"""


@dataclass
class SlowIntake:
    """Every task waits in the server, on its way into the store, until `go_on` is set."""

    seat: Terminal
    served: Served
    begun: Event
    go_on: Event

    def titles(self) -> list[Json]:
        page = self.served.get("/api/tasks?limit=500")
        return [task["title"] for task in cast("list[JsonMap]", page["tasks"])]


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[SlowIntake]:
    begun, go_on = Event(), Event()

    async def slowly(intake: Intake, cue: Cue) -> Task:
        begun.set()
        await asyncio.to_thread(go_on.wait, LIMIT)
        return await intake.admit(cue)

    seat = Terminal(tmp_path)
    with _served(seat.home, admitting(slowly)) as served:
        yield SlowIntake(seat, served, begun, go_on)
        go_on.set()


@contextmanager
def _served(home: Path, *alter: object) -> Iterator[Served]:
    (home / "token").write_text(TOKEN)
    with Served(home, **({"alter": alter[0]} if alter else {})) as served:  # type: ignore[arg-type]
        yield served


def test_several_tasks_are_run_and_waited_for_one_after_the_other(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, script=SLOW_BRAIN)
    with seat.up():
        later = [seat.add(text, "--work", "Look", "--in", "3d") for text in ("One", "Two")]
        said = seat.run("run", *later, "--wait")

    assert said.code == 0, said.err
    assert [seat.status(task) for task in later] == ["completed", "completed"]


def test_who_waits_long_for_an_answer_is_told_that_remit_is_at_work(slow: SlowIntake) -> None:
    process = slow.seat.start("add", "Slowly", "--as-is")
    assert process.stderr is not None
    assert "still at work" in process.stderr.readline()
    slow.go_on.set()
    out, err = process.communicate(timeout=LIMIT)

    assert (process.returncode, "Slowly" in out) == (0, True), err
    assert slow.titles() == ["Slowly"]


def test_the_same_command_again_after_a_broken_wait_makes_no_second_task(slow: SlowIntake) -> None:
    process = slow.seat.start("add", "Slowly", "--as-is")
    assert slow.begun.wait(LIMIT)
    time.sleep(0.5)  # the command has sent all of its request, and waits
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(slow.seat.run, "add", "Slowly", "--as-is", "--json")
        slow.go_on.set()
        said = again.result(LIMIT)

    assert said.code == 0, said.err
    assert "it is not done twice" in said.err
    assert slow.titles() == ["Slowly"]

    third = slow.seat.run("add", "Slowly", "--as-is")
    assert third.code == 0
    assert slow.titles() == ["Slowly", "Slowly"], "what was answered may be asked for once more"


@pytest.mark.parametrize(
    ("by_clock", "passed", "known"),
    [
        (50 * MINUTE, 50 * MINUTE, True),
        (120 * MINUTE, 120 * MINUTE, False),
        (-400 * DAY, 120 * MINUTE, False),  # it was ahead at first
        (-DAY, MINUTE, True),
        (DAY, MINUTE, True),
        (50 * MINUTE, -DAY, True),  # the machine was started again
    ],
)
def test_an_unanswered_request_is_known_for_an_hour_however_the_clock_is_set(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by_clock: timedelta,
    passed: timedelta,
    *,
    known: bool,
) -> None:
    began, since_start, first, second = clock.now(), clock.seconds(), new_key(), new_key()
    with suppress(KeyboardInterrupt), key_for(tmp_path, "add milk", first):
        raise KeyboardInterrupt
    monkeypatch.setattr(clock, "now", lambda: began + by_clock)
    monkeypatch.setattr(clock, "seconds", lambda: since_start + passed.total_seconds())
    with key_for(tmp_path, "add milk", second) as used:
        assert used == (first if known else second)


def test_a_command_goes_on_with_a_remit_that_was_restarted_on_another_port(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with _served(home) as served:
        first, was = remote.reach(home), served.port
        assert isinstance(first, remote.RemoteClient)
        first.ask(NewTask("Before"), "cli:1")
    with _served(home) as served:
        assert served.port != was
        task = first.ask(NewTask("After"), "cli:2")["id"]
        found = served.get(f"/api/tasks/{task}")
    first.close()

    assert found["title"] == "After"
