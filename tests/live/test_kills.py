"""Kills in public: a real Remit over real sockets, killed at random moments under load.

`make test` kills three times, `make kills` forty times and prints what each lane saw. A seed
that failed: make kills ARGS="-k 'lane and 3'".
"""

import os
from pathlib import Path
from typing import Final

import pytest

from tests.live.kills import Lane
from tests.live.providers import Providers
from tests.soak import SOAK

AT_LENGTH: Final = "60" if SOAK else os.environ.get("REMIT_KILLS")
LANES: Final = 4 if AT_LENGTH else 1
KILLS: Final = int(AT_LENGTH or 3)  # of each lane

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("seed", range(LANES), ids=lambda seed: f"lane-{seed}")
def test_what_was_acknowledged_survives_every_kill_and_nothing_is_sent_twice(
    tmp_path: Path, seed: int
) -> None:
    with Providers(phones=3) as providers:
        lane = Lane(tmp_path, providers, seed)
        lane.suffer(KILLS)
        lane.settle()
        seen, sent = lane.history, len(providers.accepted)
        print(  # noqa: T201 - the public part of it
            f"seed {seed}: {seen.kills} kills, {len(seen.tasks) + len(seen.events)} tasks,"
            f" {sent} messages, {len(seen.decisions)} decisions, {seen.doubts} doubts asked"
        )
        lane.judge()

    assert seen.kills == KILLS
    assert seen.tasks
    assert seen.events or not AT_LENGTH  # in a few short lives a call may find nobody at home
