"""A store on a Postgres server: the same commands, its refusals, and the move to it."""

import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from remit.cli.up import choose_queues
from remit.settings import Settings
from remit.settings.projects import ProjectSettings
from remit.store import search
from remit.store.read_only import open_read_only
from remit.store.search import TaskFilter
from tests.cli.terminal import LIMIT, SETTINGS, Terminal, never_read
from tests.live.http_client import Client
from tests.store.postgres import Postgres

LOCK_HOLDERS = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"


@pytest.fixture
def url(postgres_server: Postgres) -> Iterator[str]:
    yield postgres_server.store
    postgres_server.wipe()


def seat_on(folder: Path, url: str) -> Terminal:
    folder.mkdir(exist_ok=True)
    seat = Terminal(folder)
    (seat.home / "settings.toml").write_text(f'{SETTINGS}[store]\nurl = "{url}"\n')
    seat.store = url
    return seat


def test_a_remit_works_on_postgres_as_on_its_file(tmp_path: Path, url: str) -> None:
    seat = seat_on(tmp_path, url)
    before = seat.add("Find two parks")
    with seat.up() as up:
        seat.until(before, "completed")
        later = seat.add("two parks again")
        seat.until(later, "completed")
        listed = seat.run("ls", "--ids")
        about = Client(seat, up).bytes("/settings/about").decode()

    assert re.search(r"[0-9]+ events in postgresql://\S+/store, Postgres 18", about)
    assert "agent.db" not in about
    assert set(listed.out.split()) == {before, later}
    assert "Lumphini Park and Benjakitti Park." in seat.run("show", before).out
    assert seat.run("audit", "--json").json["whole"] is True
    assert "answers, Postgres 18" in seat.run("doctor").out
    saved = seat.run("backup")
    assert (saved.code, "pg_dump" in saved.err) == (2, True)
    assert not (seat.home / "agent.db").exists()


def test_a_question_is_answered_by_the_beginning_of_its_id(tmp_path: Path, url: str) -> None:
    seat = seat_on(tmp_path, url)
    task = seat.add("Renew my passport")
    with seat.up():
        seat.until(task, "needs_review")
        said = seat.run("answer", task.removeprefix("task-"), "The red one")
        assert said.code == 0, said.err
        seat.until(task, "completed")


def test_a_short_command_beside_several_processes_leaves_the_work_and_the_secrets_to_them(
    tmp_path: Path, url: str
) -> None:
    seat = seat_on(tmp_path, url)
    said = seat.run("add", "Find two parks", REMIT_ENGINE_KIND="temporal")

    assert (said.code, "remit up" in said.out + said.err) == (0, False), said.out + said.err
    with psycopg.connect(url) as server:
        assert server.execute("SELECT place FROM secret_fingerprints").fetchall() == []


def test_of_two_processes_on_one_database_the_second_leaves(tmp_path: Path, url: str) -> None:
    first, second = seat_on(tmp_path / "a", url), seat_on(tmp_path / "b", url)
    with first.up():
        said = second.run("up", "--port", "0")

    assert said.code == 75
    assert "Another Remit works on postgresql://" in said.err
    assert second.run("add", "Later", "--json").code == 0  # now it is free


def test_a_process_that_has_lost_its_lock_ends_at_once(tmp_path: Path, url: str) -> None:
    seat = seat_on(tmp_path, url)
    with seat.up() as up:
        slow = seat.add("something slow")
        seat.until(slow, "running")
        with psycopg.connect(url) as admin:
            admin.execute(LOCK_HOLDERS)
        _, err = up.process.communicate(timeout=LIMIT)

    assert up.process.returncode == 74
    assert "has lost its lock" in err
    with seat.up() as up:
        assert up.told["pickedUp"] == 1


def test_a_database_from_a_dump_is_noticed_and_what_may_be_out_waits(
    tmp_path: Path, postgres_server: Postgres
) -> None:
    """A copy of the database plays the dump."""
    seat = seat_on(tmp_path, postgres_server.create("lived"))
    later = seat.add("Find two parks")
    postgres_server.psql("CREATE DATABASE dumped TEMPLATE lived;")
    with seat.up():
        seat.until(later, "completed")
    postgres_server.psql("DROP DATABASE lived; CREATE DATABASE lived TEMPLATE dumped;")

    refused = seat.run("up", "--port", "0")
    held = seat.run("restore", "--yes", "--json")

    assert (refused.code, "put back from a dump" in " ".join(refused.err.split())) == (1, True)
    assert (held.code, held.json["paused"]) == (0, 1)
    with seat.up():
        assert seat.status(later) == "paused"
        assert seat.run("resume", later).code == 0
        seat.until(later, "completed")
    assert seat.run("audit", "--json").json["whole"] is True


def test_a_worker_takes_code_where_the_repositories_are_and_no_queue_that_is_not(
    tmp_path: Path,
) -> None:
    def projects(path: Path) -> Settings:
        return Settings(home=tmp_path, projects={"shop": ProjectSettings(path=str(path))})

    here, elsewhere = projects(tmp_path), projects(tmp_path / "gone")
    own = choose_queues(here, "all")[2:]
    assert choose_queues(here, "all") == ["remit", "remit-code", *own]
    assert choose_queues(elsewhere, "all") == ["remit"]
    assert choose_queues(elsewhere, "code, main") == ["remit-code", "remit", *own]
    other = replace(here, home=tmp_path / "other")
    (name, another) = (choose_queues(each, "code")[1] for each in (here, other))
    assert (own, name == another) == ([name], False)
    assert name.startswith(f"remit-code-{socket.gethostname()}-")
    seat = seat_on(tmp_path, "postgresql://nobody@127.0.0.1:9/none")
    said = seat.run("worker", "--queues", "cod", REMIT_ENGINE_KIND="temporal")
    assert (said.code, "There is no queue 'cod'" in said.err) == (2, True), said.err


def test_the_stop_of_a_worker_ends_though_a_thread_hangs(tmp_path: Path, url: str) -> None:
    seat = seat_on(tmp_path, url)
    environ = {"REMIT_ENGINE_KIND": "temporal", "REMIT_ENGINE_ADDRESS": "127.0.0.1:9"}
    process = seat.start("worker", "--json", **environ)
    assert process.stdout is not None
    assert '"event":"up"' in process.stdout.readline()
    with never_read(seat.home / "settings.toml"):
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 130
    process.communicate()


SHIFTED = """
CREATE OR REPLACE FUNCTION remit_now(process_clock BIGINT) RETURNS BIGINT
LANGUAGE SQL VOLATILE AS $$
  SELECT CAST(floor(extract(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT) + {} * 60000
$$
"""


@pytest.mark.parametrize("minutes", [-90, 90])
def test_the_clock_of_the_database_decides_what_is_due(
    tmp_path: Path, postgres_server: Postgres, minutes: int
) -> None:
    seat = seat_on(tmp_path, postgres_server.create(f"shifted_{abs(minutes)}_{minutes > 0}"))
    later = seat.add("two parks later", "--in", "1h")
    with psycopg.connect(str(seat.store)) as admin:
        admin.execute(SHIFTED.format(minutes))

    with seat.up():
        at_once = seat.add("two parks")
        seat.until(at_once, "completed")
        if minutes > 0:
            seat.until(later, "completed")
        assert (seat.status(later) == "completed") is (minutes > 0)
        assert "its clock differs from this machine's" in " ".join(seat.run("doctor").out.split())


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://me:secret@db/remit", "is not the address of a Postgres database"),
        ("postgresql://me:secret@127.0.0.1:9/remit", "cannot be reached"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, url: str, sentence: str
) -> None:
    seat = seat_on(tmp_path, url)

    for words in (["ls"], ["up", "--port", "0"], ["doctor"]):
        said = seat.run(*words)
        shown = " ".join(f"{said.out} {said.err}".split())
        assert (said.code in (1, 2), sentence in shown) == (True, True), shown
        assert "secret" not in shown
        assert "Traceback" not in shown


UNSUITABLE = {
    "CREATE TABLE songs (name TEXT)": "is not a Remit database (it has tables of another program)",
    "CREATE TABLE meta (key TEXT, value TEXT);"
    "INSERT INTO meta VALUES ('postgres_schema', '999')": "has schema 999",
}


@pytest.mark.parametrize("made", UNSUITABLE)
def test_a_database_that_is_not_ours_is_left_alone(
    tmp_path: Path, postgres_server: Postgres, made: str
) -> None:
    foreign = postgres_server.create(f"foreign_{len(made)}")
    with psycopg.connect(foreign) as other:
        other.execute(made)

    said = seat_on(tmp_path, foreign).run("ls")

    assert (said.code, UNSUITABLE[made] in said.err) == (1, True), said.err
    with psycopg.connect(foreign) as other:
        tables = other.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchone() == (1,)


def test_a_database_in_another_encoding_is_refused(
    tmp_path: Path, postgres_server: Postgres
) -> None:
    postgres_server.psql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C';")

    said = seat_on(tmp_path, postgres_server.url("latin")).run("ls")

    assert (said.code, "--locale=C" in said.err) == (1, True), said.err


# A move to Postgres -------------------------------------------------------------------------------


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
    with open_read_only(seat.store) as tx:
        (waiting,) = search.ids(tx, TaskFilter(text="umlaut"))

    moved = seat.run("move", "--to", url, "--json")

    assert (moved.code, moved.json["tasks"]) == (0, 3), moved.err
    assert seat.run("ls", "--json").json == before
    assert seat.run("audit", "--json").json["whole"] is True
    seat.store = url
    with open_read_only(url) as tx:
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
