"""What reaches the screen and the pipe: clean, parseable, cheap."""

import json
from pathlib import Path

import pytest

from remit.settings import Settings
from remit.store import tasks
from remit.store.read_only import open_read_only
from tests.cli.terminal import Terminal, task_of

NASTY = "red \x1b[31malert\x1b[0m \x1b]0;owned\x07 \x9b2J and \u202eback"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A thousand tasks."""
    terminal = Terminal(tmp_path_factory.mktemp("full"))
    terminal.given(*(f"Task number {n}" for n in range(1000)))
    return terminal


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> tuple[Terminal, str]:
    """One task that asks, whose words were written by somebody nasty."""
    text = json.dumps(f"<deliverable>x</deliverable> {NASTY}")
    script = f"- ask: {text}\n"
    terminal = Terminal(tmp_path_factory.mktemp("one"), script=script)
    said = terminal.run("add", "Ask me", "--as-is", "--wait", "--json")
    return terminal, task_of(said)["id"]


def test_a_long_list_comes_in_pages_without_a_gap(full: Terminal) -> None:
    first = full.run("ls", "--limit", "400", "--json").json
    second = full.run("ls", "--limit", "500", "--cursor", str(first["next"]), "--json").json
    whole = full.run("ls", "--all", "--ids").out.split()

    pages = [*ids_in(first), *ids_in(second)]
    assert len(set(whole)) == 1000
    assert pages == whole[:900]


def test_every_short_id_in_a_list_is_enough_to_find_the_task(full: Terminal) -> None:
    said = full.run("ls", "--limit", "30")
    shown = [line.split()[0] for line in said.out.splitlines()[1:]]

    assert "--cursor" in said.err
    with open_read_only(Settings(home=full.home).database) as tx:
        assert all(len(list(tasks.ids_like(tx, f"task-{ref}"))) == 1 for ref in shown)


def test_a_list_is_narrowed_by_words_and_states(full: Terminal) -> None:
    assert "Task number 777" in full.run("ls", "-q", "number 777").out
    assert full.run("ls", "--status", "completed", "-s", "failed").out == ""
    assert len(full.run("ls", "-s", "new", "--source", "manual", "-n", "7").out.splitlines()) == 8


def test_a_list_that_nobody_reads_to_its_end_ends_quietly(full: Terminal) -> None:
    process = full.start("ls", "--all")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate()

    assert (process.returncode, err) == (0, "")


def test_nothing_written_by_a_stranger_reaches_the_terminal_as_an_order(
    one: tuple[Terminal, str],
) -> None:
    seat, task = one
    for words in (("show", task), ("log", task), ("why", task), ("inbox",), ("inbox", "--json")):
        said = seat.run(*words).out
        assert "alert" in said
        assert not set("\x1b\x07\x9b\u202e") & set(said)

    for shown in (seat.type(("show", task)).out, seat.type(("hitl",), ("q",)).out):
        assert "alert" in shown
        assert "\x1b[31malert" not in shown
        assert "owned" not in shown


def test_colour_is_for_terminals_that_want_it(one: tuple[Terminal, str]) -> None:
    seat, _ = one

    assert "\x1b[33mneeds review" in seat.type(("ls",)).out
    assert "\x1b" not in seat.type(("ls",), NO_COLOR="1").out
    assert "\x1b" not in seat.type(("ls",), TERM="dumb").out


def test_a_list_that_is_empty_or_too_wide_and_a_file_that_is_not_ours(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    empty = seat.run("ls")
    seat.given("Long " * 20)
    shown, whole = seat.type(("ls",), NO_COLOR="1"), seat.run("ls")
    (seat.home / "agent.db").unlink()
    (seat.home / "agent.db").write_text("Dear diary, " * 100)
    foreign = seat.run("ls")

    assert (empty.code, empty.out) == (0, "")
    assert "remit add" in empty.err
    # A title is cut at the edge of the terminal only.
    assert max(len(line) for line in shown.out.splitlines()) <= 80
    assert ("Long " * 20).strip() in whole.out
    assert (foreign.code, "is not a Remit database" in foreign.err) == (1, True)


def ids_in(answer: object) -> list[str]:
    assert isinstance(answer, dict)
    return [task["id"] for task in answer["tasks"]]
