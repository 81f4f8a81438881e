"""What one does with tasks in the terminal, with a Remit running and without."""

import re
import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from remit.cli import clock, up_process
from remit.store import reviews
from remit.store.read_only import open_read_only
from tests.cli.terminal import LIMIT, Terminal, task_of
from tests.soak import one_of

pytestmark = one_of("seat")

FULL_ID = re.compile(r"task-[0-7][0-9A-HJKMNP-TV-Z]{25}")


def test_a_task_that_is_waited_for_shows_its_steps_and_gives_its_result(seat: Terminal) -> None:
    said = seat.run("add", "Find two parks", "--work", "Look around", "--wait")
    later = seat.add("Find two parks", "--in", "3d")
    early, now = seat.run("vouch", later), seat.run("run", later, "--wait")
    vouched = seat.run("vouch", later)

    assert (said.code, said.out) == (0, "Lumphini Park and Benjakitti Park.\n")
    assert "Thought it through." in said.err
    assert (early.code, "vouch for it when it has ended" in early.err) == (5, True)
    assert (now.code, now.out) == (0, said.out)
    assert vouched.code == 0
    assert "You vouched for what its session remembers." in seat.run("log", later).out


def test_a_task_is_paused_resumed_cancelled_and_hidden_by_a_prefix_in_any_case(
    seat: Terminal,
) -> None:
    task = seat.add("Not wanted", "--in", "1d")
    ref = task[:20].lower()
    paused, resumed = seat.run("pause", ref), seat.run("resume", ref)
    cancelled, late, hidden = (
        seat.run("cancel", ref),
        seat.run("pause", ref),
        seat.run("delete", ref),
    )

    assert [each.code for each in (paused, resumed, cancelled, late, hidden)] == [0, 0, 0, 5, 0]
    assert f"{task}  paused" in paused.out
    assert f"{task}  cancelled" in cancelled.out
    assert "it may become nothing more, not paused" in late.err
    assert "deleted" in hidden.out
    assert task in seat.run("ls", "--ids", "--all", "--deleted").out
    assert seat.run("undo", ref).code == 0
    assert task in seat.run("ls", "--ids", "--all").out


def test_a_task_that_failed_is_tried_again_as_a_new_one(seat: Terminal) -> None:
    task = task_of(seat.run("add", "hopeless", "--wait", "--json"))["id"]
    said, shown = seat.run("retry", task, "--wait", "--json"), seat.run("retry", task, "--wait")

    assert (said.code, shown.code) == (1, 1)
    assert said.maps("tasks")[0]["retryOf"] == task
    assert said.maps("tasks")[0]["status"] == "failed"
    assert "The script says: fail." in shown.out


def test_several_ids_come_from_stdin_and_one_that_fails_stops_no_other(seat: Terminal) -> None:
    tasks = [seat.add(f"Number {n}", "--in", "1d") for n in range(2)]
    said = seat.run("cancel", "-", "--json", stdin=f"{tasks[0]}\n01ZZZZZZZZ\n{tasks[1]}\n")

    assert said.code == 3
    assert [seat.status(task) for task in tasks] == ["cancelled", "cancelled"]
    assert [problem["id"] for problem in said.maps("problems")] == ["01ZZZZZZZZ"]


def test_who_will_not_wait_so_long_leaves_with_124(seat: Terminal) -> None:
    said = seat.run("add", "something slow", "--wait", "--timeout", "0.3")

    assert said.code == 124
    assert "within 0.3 s" in said.err


def test_a_key_stands_for_one_task_through_either_door(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    straight = seat.add("One", "--in", "1d", "--key", "a")
    with seat.up():
        assert seat.add("One", "--in", "1d", "--key", "a") == straight
        served = seat.add("Two", "--in", "1d", "--key", "b")
        assert seat.add("Two", "--in", "1d", "--key", "b") == served
    assert seat.add("Two", "--in", "1d", "--key", "b") == served


def test_without_a_remit_one_is_told_when_the_work_starts_and_run_does_it(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    said = seat.run("add", "Greet me", "--text", "Hello!")
    done = seat.run("run", seat.only())

    assert said.code == 0
    assert "as soon as Remit is up" in said.out
    assert "`remit up`" in said.err
    assert (done.code, done.out) == (0, "Hello!\n")


def test_a_text_can_come_from_stdin_and_a_moment_is_kept_as_it_was_said(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    words = ("--at", "2099-01-01T20:00:00Z", "--priority", "high", "--json")
    task = task_of(seat.run("add", "-", *words, stdin="Find two parks\nand write it down\n"))
    file = seat.home / "settings.toml"
    file.write_text(f'zone = "Asia/Bangkok"\n{file.read_text()}')

    assert task["title"] == "Find two parks"
    assert "write it down" in task["instructions"]
    assert task["scheduledFor"] == "2099-01-01T20:00:00.000Z"
    assert task["priority"] == "high"
    # It is shown on the clock of the settings, and not of the machine.
    assert "2099-01-02 03:00:00" in seat.run("show", task["id"]).out


def test_a_mistake_of_ours_is_a_sentence_too(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.given("Later")
    with closing(sqlite3.connect(seat.home / "agent.db")) as connection:
        connection.execute("UPDATE tasks SET details = 'nonsense'")
        connection.commit()
    said, shown = seat.run("ls"), seat.run("ls", REMIT_DEBUG="1")
    (tmp_path / "file").write_text("in the way")
    nowhere = seat.run("add", "x", REMIT_HOME=str(tmp_path / "file" / "home"))
    in_the_way = seat.run("ls", REMIT_HOME=str(tmp_path / "file"))
    with Path("/dev/full").open("w") as full:
        process = seat.start_writing(full.fileno(), "show", "--help")
        _, crowded = process.communicate(timeout=LIMIT)

    assert said.code == 1
    assert "Remit stumbled" in said.err
    assert "Traceback" not in said.err
    assert "Traceback" in shown.err
    # A home that cannot be is named.
    assert nowhere.code == 1
    assert f"{tmp_path}/file" in nowhere.err
    assert in_the_way.code == 2
    assert in_the_way.err == f"REMIT_HOME is {tmp_path}/file, which is a file; name a directory.\n"
    # A disk without room is no mistake of Remit.
    assert process.returncode
    assert crowded.startswith("The disk is full. Make room")
    assert "Not a directory" in nowhere.err


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


def test_what_asks_before_it_begins_is_shown_as_asking_and_not_as_planned(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.run("add", "Send Ana the list by mail tomorrow")  # nobody here is called so
    listed = seat.run("ls").out
    seat.run("add", "Remind me in 2 hours: stretch")

    assert "asks you" in listed
    with open_read_only(seat.home / "agent.db") as tx:
        asked = len(reviews.waiting(tx))
        counts = up_process._task_counts(tx, clock.now())
    assert asked > 0
    said = up_process._tasks(0, counts, shared=False)
    assert "1 to come" in said
    assert f"{asked} waiting for you (remit inbox)" in said
