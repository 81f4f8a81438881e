"""`remit move`: everything goes to Postgres once, checked, and no two Remits work on it."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from remit.store import search
from remit.store.read_only import glance
from remit.store.search import TaskFilter
from tests.cli.terminal import Terminal
from tests.store.postgres import Postgres


@pytest.fixture
def url(postgres_server: Postgres) -> Iterator[str]:
    yield postgres_server.store
    postgres_server.wipe()


@pytest.fixture
def seat(tmp_path: Path) -> Terminal:
    """A Remit that has worked on its file: one task is done, one asks, one is to come."""
    seat = Terminal(tmp_path)
    with seat.up():
        done, asks = seat.add("Find two parks"), seat.add("My passport", "--work", "Look")
        seat.until(done, "completed")
        seat.until(asks, "needs_review")
    seat.given("Umlaut: Grüße an die Straße")
    return seat


def test_a_moved_store_goes_on_where_it_was(seat: Terminal, url: str) -> None:
    before = seat.run("ls", "--json").json
    with glance(seat.store) as tx:
        (waiting,) = search.ids(tx, TaskFilter(text="umlaut"))

    moved = seat.run("move", "--to", url, "--json")

    assert (moved.code, moved.json["tasks"]) == (0, 3), moved.err
    assert seat.run("ls", "--json").json == before
    assert seat.run("audit", "--json").json["whole"] is True
    seat.store = url
    with glance(url) as tx:
        assert (
            search.ids(tx, TaskFilter(text="grusse strasse")) == []
        )  # ß is no ss in SQLite either
        assert search.ids(tx, TaskFilter(text="gruße")) == [waiting]
    with seat.up():
        seat.until(waiting, "completed")
        later = seat.add("two parks again")
        seat.until(later, "completed")
    assert seat.run("audit", "--json").json["whole"] is True
    again = seat.run("move", "--to", url)
    assert (again.code, "already" in again.err) == (2, True)


def test_the_file_is_not_used_any_more(seat: Terminal, url: str) -> None:
    assert seat.run("move", "--to", url).code == 0
    text = (seat.home / "settings.toml").read_text()
    (seat.home / "settings.toml").write_text(text.replace(f'url = "{url}"', ""))

    for words in (["ls"], ["up", "--port", "0"], ["add", "One more"]):
        said = seat.run(*words)
        assert (said.code, "was moved to postgresql://" in said.err) == (1, True), words


@pytest.mark.parametrize("point", ["move:marked:1", "move:done:1"])
def test_an_interrupted_move_is_finished_by_the_next(seat: Terminal, url: str, point: str) -> None:
    seat._fresh = True  # a failpoint is armed as the program starts
    killed = seat.run("move", "--to", url, REMIT_FAILPOINT=point)
    between = seat.run("up", "--port", "0")
    finished = seat.run("move", "--to", url, "--json")

    assert killed.code not in (0, 1, 2)
    assert (between.code, "run `remit move` again" in " ".join(between.err.split())) == (1, True)
    assert (finished.code, finished.json["tasks"]) == (0, 3), finished.err
    assert seat.run("audit", "--json").json["whole"] is True


def test_a_database_in_use_is_refused_and_the_file_goes_on(seat: Terminal, url: str) -> None:
    with psycopg.connect(url) as other:
        other.execute(
            "INSERT INTO events (seq, n, kind, actor, at, data, hash)"
            " VALUES (1, 0, 'x', 'owner', 0, '{}', repeat('x', 32)::bytea)"
        )

    said = seat.run("move", "--to", url)

    assert (said.code, "is in use" in said.err) == (5, True)
    assert seat.run("ls", "--ids").code == 0
