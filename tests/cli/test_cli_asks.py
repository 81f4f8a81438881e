"""A question about a request that has not begun is seen wherever tasks are seen."""

from pathlib import Path

from remit.cli import clock, up_process
from remit.store import reviews
from remit.store.read_only import glance
from tests.cli.terminal import Terminal

ASKS = "Send Ana the list by mail tomorrow"  # nobody here is called so


def test_what_asks_before_it_begins_is_shown_as_asking(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.run("add", ASKS)

    assert "asks you" in seat.run("ls").out
    with glance(seat.home / "agent.db") as tx:
        asked = len(reviews.waiting(tx))
        assert asked > 0
        assert f"{asked} waiting for you (remit inbox)" in up_process._tasks(
            0, up_process._task_counts(tx, clock.now())
        )


def test_what_asks_is_not_counted_among_what_is_planned(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.run("add", ASKS)
    seat.run("add", "Remind me in 2 hours: stretch")

    with glance(seat.home / "agent.db") as tx:
        said = up_process._tasks(0, up_process._task_counts(tx, clock.now()))
        assert "1 to come" in said
        assert f"{len(reviews.waiting(tx))} waiting for you" in said
