"""`remit edit`: what has not begun is changed, by either door; what has begun is not."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, task_of


@pytest.mark.parametrize("runs", [True, False])
def test_what_has_not_begun_is_changed_and_the_rest_stays(tmp_path: Path, *, runs: bool) -> None:
    seat = Terminal(tmp_path)
    with seat.up() if runs else nullcontext():
        task = seat.add("Find two parks", "--in", "2d")
        words = ("--title", "Parks", "--text", "Find three", "--priority", "high", "--in", "1d")
        said = seat.run("edit", task[5:15], *words, "--json")
        kept = task_of(said)

        assert said.code == 0
        assert (kept["title"], kept["priority"]) == ("Parks", "high")
        assert kept["instructions"] == "Find three"
        one = seat.run("edit", task, "--priority", "low", "--json")
        assert task_of(one)["title"] == "Parks"
        assert task_of(one)["priority"] == "low"
        assert "low by the rule 'owner'" in seat.run("why", task).out


def test_what_has_ended_and_what_says_nothing_changes_nothing(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (task,) = seat.given("Greet me", content="Hello!")
    assert seat.run("run", task).code == 0

    late = seat.run("edit", task, "--title", "Other")
    empty = seat.run("edit", task)
    both = seat.run("edit", task, "--at", "2099-01-01T00:00:00Z", "--in", "1d")
    nobody = seat.run("edit", "zzzz", "--title", "Other")

    assert [each.code for each in (late, empty, both, nobody)] == [5, 2, 2, 3]
    assert "completed" in late.err
    assert "Nothing is to be changed" in empty.err
    assert "either --at or --in" in both.err
    assert task_of(seat.run("show", task, "--json"))["title"] == "Greet me"
