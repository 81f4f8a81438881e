"""What can go wrong with several processes: each is a function of the fleet and its servers."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from tests import faked_clocks
from tests.machines.fleet import HEARTBEAT, Fleet
from tests.machines.temporal import TemporalServer
from tests.store.postgres import Postgres

TOO_LONG: Final = HEARTBEAT + 3  # seconds, longer than a worker may be silent


class Scene(NamedTuple):
    fleet: Fleet
    temporal: TemporalServer
    postgres: Postgres
    chance: random.Random


def kill_worker(scene: Scene) -> None:
    scene.fleet.kill("worker")
    scene.fleet.start("worker")


def kill_serve(scene: Scene) -> None:
    scene.fleet.kill("serve")
    scene.fleet.start("serve")


def restart_temporal(scene: Scene) -> None:
    scene.temporal.kill()
    scene.temporal.start()


def wipe_temporal(scene: Scene) -> None:
    """Start it again without anything that it knew: rows are the only authority."""
    scene.temporal.kill()
    scene.temporal.forget()
    scene.temporal.start()


def replace_worker(scene: Scene) -> None:
    """End a worker in good order, as an upgrade does, and start another."""
    scene.fleet.stop("worker")
    scene.fleet.start("worker")


def restart_postgres(scene: Scene) -> None:
    scene.postgres.stop()
    scene.postgres.start()


def freeze_worker(scene: Scene) -> None:
    """Stop a worker for longer than its heartbeat; then it wakes up, as a zombie."""
    pid = scene.fleet.running["worker"][0].process.pid
    os.kill(pid, signal.SIGSTOP)
    time.sleep(TOO_LONG)
    os.kill(pid, signal.SIGCONT)


def cut_a_wire(scene: Scene) -> None:
    """Cut one pair apart, without notice, for longer than a heartbeat.

    A process and Postgres, a process and Temporal, or all of them and a receiver.
    """
    members = [each for some in scene.fleet.running.values() for each in some]
    wires = [*scene.chance.choice(members).wires, scene.chance.choice(scene.fleet.receivers)]
    wire = scene.chance.choice(wires)
    wire.cut()
    time.sleep(TOO_LONG)
    wire.mend()


def skew_a_clock(scene: Scene) -> None:
    """Replace a worker by one whose clock is minutes off."""
    library = next(Path("/").glob(faked_clocks.LIBRARIES), None)
    if library is None:
        kill_worker(scene)
        return
    scene.fleet.kill("worker")
    scene.fleet.start(
        "worker",
        LD_PRELOAD=str(library),
        FAKETIME=scene.chance.choice(("-420", "+300")),
        FAKETIME_DONT_FAKE_MONOTONIC="1",
        PYTHONPATH=str(Path(faked_clocks.__file__).parent / "faked_sleep"),
    )


FAULTS: Final[tuple[Callable[[Scene], None], ...]] = (
    kill_worker,
    kill_serve,
    restart_temporal,
    freeze_worker,
    restart_postgres,
    cut_a_wire,
    skew_a_clock,
    wipe_temporal,
    replace_worker,
)
