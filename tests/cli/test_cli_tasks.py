"""What one does with tasks in the terminal, with a Remit running and without."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remit.cli.main import run
from remit.model.codec import JsonMap
from tests.cli.terminal import Said, Terminal, task_of
from tests.soak import one_of

pytestmark = one_of("seat")

FULL_ID = re.compile(r"task-[0-7][0-9A-HJKMNP-TV-Z]{25}")


def parts(said: Said, name: str) -> list[JsonMap]:
    """A list of objects in an answer."""
    found = said.json[name]
    assert isinstance(found, list)
    return [part for part in found if isinstance(part, dict)]


def test_a_task_that_is_waited_for_shows_its_steps_and_gives_its_result(seat: Terminal) -> None:
    said = seat.run("add", "Find two parks", "--work", "Look around", "--wait")

    assert said.code == 0
    assert said.out == "Lumphini Park and Benjakitti Park.\n"
    assert "Thought it through." in said.err


def test_a_receipt_says_what_was_understood_when_it_runs_and_to_whom_it_goes(
    seat: Terminal,
) -> None:
    said = seat.run("add", "Write to Anna", "--to", "Anna", "--work", "Think", "--in", "2h30m")

    assert said.code == 0
    assert re.search(r"Task +Write to Anna\n", said.out)
    assert re.search(r"Work +Think\n", said.out)
    assert re.search(r"Goes to +Anna, on dashboard\n", said.out)
    assert re.search(r"Runs .*\(in 2 h\)\n", said.out)
    assert FULL_ID.search(said.out)


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


def test_a_planned_task_can_be_run_now(seat: Terminal) -> None:
    task = seat.add("Find two parks", "--in", "3d")
    said = seat.run("run", task, "--wait")

    assert said.code == 0
    assert "Lumphini" in said.out


def test_a_task_that_failed_is_tried_again_as_a_new_one(seat: Terminal) -> None:
    task = task_of(seat.run("add", "hopeless", "--wait", "--json"))["id"]
    said = seat.run("retry", task, "--wait", "--json")

    assert said.code == 1
    assert parts(said, "tasks")[0]["retryOf"] == task
    assert parts(said, "tasks")[0]["status"] == "failed"


def test_several_ids_come_from_stdin_and_one_that_fails_stops_no_other(seat: Terminal) -> None:
    tasks = [seat.add(f"Number {n}", "--in", "1d") for n in range(2)]
    said = seat.run("cancel", "-", "--json", stdin=f"{tasks[0]}\n01ZZZZZZZZ\n{tasks[1]}\n")

    assert said.code == 3
    assert [seat.status(task) for task in tasks] == ["cancelled", "cancelled"]
    assert [problem["id"] for problem in parts(said, "problems")] == ["01ZZZZZZZZ"]


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


def test_a_task_that_fails_is_1_and_one_that_asks_is_4(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    failed, asks = seat.run("add", "hopeless", "--wait"), seat.run("add", "passport", "--wait")

    assert (failed.code, asks.code) == (1, 4)
    assert "The script says: fail." in failed.out
    assert "Which passport do you hold?" in asks.out
    assert "remit answer" in asks.out


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
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)  # noqa: TID251 - a test
    words = ("--at", moment.isoformat(), "--priority", "high", "--json")
    task = task_of(seat.run("add", "-", *words, stdin="Find two parks\nand write it down\n"))

    assert task["title"] == "Find two parks"
    assert "write it down" in task["instructions"]
    assert task["scheduledFor"] == f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"
    assert task["priority"] == "high"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", ""), "text is empty"),
        (("add", "x", "--at", "2020-01-01T00:00:00Z"), "has passed"),
        (("add", "x", "--at", "tomorrow"), "is not a time"),
        (("add", "x", "--in", "3x"), "is not a span of time"),
        (("add", "x", "--in", "1h", "--at", "2099-01-01T00:00:00Z"), "either --at or --in"),
        (("add", "x", "--text", " "), "content is empty"),
        (("add", "x", "--channel", "pigeon"), "There is no channel 'pigeon'"),
        (("add", "x", "--priority", "huge"), "must be one of low, med, high"),
        (("add",), "needs TEXT"),
        (("pause",), "Which one?"),
        (("pause", "!"), "is not the beginning of an id"),
        (("approve", "01ZZ", "01YY", "--text", "x"), "one review at a time"),
        (("ls", "--limit", "0"), "--limit is 0"),
        (("ls", "-q", "?"), "at least one word"),
        (("ls", "--colour"), "has no option --colour"),
        (("lst",), "there is ls"),
        (("audit", "log-rebuild"), "Name the tasks, or say --all"),
        (("restore", "nowhere.db"), "There is no backup"),
        (("backup",), "nothing to save yet"),
        (("completion", "tcsh"), "must be one of bash, zsh, fish"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence_and_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.setenv("REMIT_HOME", str(tmp_path / "home"))
    code = run(words)
    said = capsys.readouterr()

    assert code == 2
    assert sentence in said.err
    assert said.out == ""


def test_a_mistake_of_ours_is_a_sentence_too(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.given("Later")
    with closing(sqlite3.connect(seat.home / "agent.db")) as connection:
        connection.execute("UPDATE tasks SET details = 'nonsense'")
        connection.commit()
    said, shown = seat.run("ls"), seat.run("ls", REMIT_DEBUG="1")

    assert said.code == 1
    assert "Remit stumbled" in said.err
    assert "Traceback" not in said.err
    assert "Traceback" in shown.err


def test_a_home_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = Terminal(tmp_path).run("add", "x", REMIT_HOME=str(tmp_path / "file" / "home"))

    assert said.code == 1
    assert f"{tmp_path}/file" in said.err
    assert "Not a directory" in said.err
