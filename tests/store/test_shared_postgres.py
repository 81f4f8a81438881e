"""Several processes on one database: one journal, whose events everybody hears in one order."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest

from remit.errors import StoreLocked, StoreTrouble
from remit.model.run import Event
from remit.store import events, tasks
from remit.store.opening import open_store
from remit.store.postgres import lock, schema
from remit.store.postgres.connection import connect
from remit.store.postgres.database import SharedPostgres, seal
from remit.store.postgres.lock import only_process, shared_process
from tests.store.postgres import Postgres as Server
from tests.store.scene import AT, PostgresScene

TASKS = 60


def start(
    url: str, name: str, count: int = TASKS, migration: str | None = None
) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.store.shared_writer", url, name, str(count)]
    command += [migration] if migration is not None else []
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_share_the_work_and_one_that_is_killed_leaves_the_journal_whole(
    maker: PostgresScene,
) -> None:
    victim, *others = (start(maker.url, f"wrk-{n}") for n in range(3))
    for each in (victim, *others):
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    victim.kill()
    assert [each.wait() for each in others] == [0, 0]
    victim.wait()
    # What the victim was about to claim as it died was locked for the others, which may have left.
    last = start(maker.url, "wrk-3", 0)
    assert last.wait() == 0
    for each in (victim, *others, last):
        each.stdout.close()  # type: ignore[union-attr]

    with connect(maker.url) as admin:
        seal(admin)  # what the victim committed last
    held = maker.sql("SELECT 1 FROM tasks WHERE worker IS NOT NULL AND worker <> 'wrk-0'")
    ended = maker.sql("SELECT COUNT(*) AS n FROM tasks WHERE status = 'completed'")
    rest = maker.sql("SELECT COUNT(*) AS n FROM tasks WHERE worker = 'wrk-0'")
    assert (held, ended[0]["n"] + rest[0]["n"]) == ([], 3 * TASKS)  # type: ignore[operator]
    twice = "SELECT 1 FROM runs GROUP BY task_id HAVING COUNT(*) > 1"
    assert maker.sql(twice) == []
    assert maker.complaints() == []


def test_processes_of_this_version_and_the_next_share_a_database(
    postgres_server: Server,
) -> None:
    """Machines are upgraded one by one: old processes see the schema change, and start on it."""
    url, more = postgres_server.create("versions"), "ALTER TABLE tasks ADD COLUMN tomorrow BIGINT"
    first = start(url, "wrk-old")
    assert first.stdout is not None
    assert first.stdout.readline() == "ready\n"
    second = start(url, "wrk-new", TASKS, more)
    assert second.stdout is not None
    assert second.stdout.readline() == "ready\n"
    third = start(url, "wrk-old-again")
    assert [each.wait() for each in (first, second, third)] == [0, 0, 0]
    for each in (first, second, third):
        each.stdout.close()  # type: ignore[union-attr]

    with connect(url) as admin:
        seal(admin)
        query = "SELECT status, COUNT(*) AS n, MAX(lease) AS lease FROM tasks GROUP BY status"
        assert admin.execute(query).fetchall() == [
            {"status": "completed", "n": 3 * TASKS, "lease": 1}
        ]
        oldest = "UPDATE meta SET value = %s WHERE key = 'postgres_oldest_schema'"
        admin.execute(oldest, [str(len(schema.migrations()) + 1)])
    refused = start(url, "wrk-refused", 0)
    assert refused.wait() != 0
    refused.stdout.close()  # type: ignore[union-attr]


async def test_everybody_hears_everything_once_and_in_one_order(maker: PostgresScene) -> None:
    heard: tuple[list[Event], list[Event]] = ([], [])
    dbs = [SharedPostgres(maker.url, process_clock=True) for _ in heard]
    for db, told in zip(dbs, heard, strict=True):
        db.on_commit(told.extend)
    await asyncio.gather(*(dbs[n % 2].write(tasks.admit, maker.task()) for n in range(40)))
    with psycopg.connect(maker.url) as admin:  # nobody hears the notifications meanwhile
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE query LIKE '%unsealed%' AND pid <> pg_backend_pid()"
        )
    await asyncio.gather(
        *(dbs[n % 2].write(tasks.admit, maker.task()) for n in range(20)), return_exceptions=True
    )
    count = maker.sql("SELECT COUNT(*) AS n FROM tasks")[0]["n"]
    while any(len(told) < int(str(count)) for told in heard):  # noqa: ASYNC110 - two threads tell
        await asyncio.sleep(0.02)
    for db in dbs:
        await db.close()

    assert [[each.seq for each in told] for told in heard] == 2 * [
        list(range(1, len(heard[0]) + 1))
    ]
    assert heard[0] == heard[1] == events.list_after(maker.tx, 0, 1000)
    assert maker.complaints() == []


async def test_who_stands_still_after_it_sealed_holds_nobody_up(maker: PostgresScene) -> None:
    stands, goes_on = threading.Event(), threading.Event()
    still = SharedPostgres(maker.url, process_clock=True)

    def stand_still(_: Sequence[Event]) -> None:
        stands.set()
        goes_on.wait()

    still._sealer._hand_on = stand_still
    await still.write(tasks.admit, maker.task())
    await asyncio.to_thread(stands.wait)
    other, heard = SharedPostgres(maker.url, process_clock=True), list[Event]()
    other.on_commit(heard.extend)
    try:
        await other.write(tasks.admit, maker.task())
        async with asyncio.timeout(30):
            while not heard:  # noqa: ASYNC110 - a thread tells
                await asyncio.sleep(0.02)
    finally:
        goes_on.set()
        for db in (still, other):
            await db.close()
    assert maker.complaints() == []


async def test_each_machine_notices_a_dump_and_starts_again_once_that_is_said(
    maker: PostgresScene, postgres_server: Server, tmp_path: Path
) -> None:
    """A copy of the database plays the dump."""
    url, homes = postgres_server.create("many_lived"), [tmp_path / "a", tmp_path / "b"]
    for home in homes:
        home.mkdir()

    async def work(home: Path) -> None:
        async with open_store(url, home, shared=True) as db:
            await db.write(tasks.admit, maker.task())

    await work(homes[0])
    postgres_server.psql("CREATE DATABASE many_dumped TEMPLATE many_lived;")
    for home in homes:
        await work(home)
    copied = "DROP DATABASE many_lived; CREATE DATABASE many_lived TEMPLATE many_dumped;"
    postgres_server.psql(copied)
    homes.append(tmp_path / "away")  # it has not seen what the dump has not
    homes[-1].mkdir()
    for home in homes:
        with pytest.raises(StoreTrouble, match="put back from a dump"):
            await work(home)
    schema.hold_back(url, homes[0], AT)
    for home in homes:
        await work(home)


def test_a_row_that_others_only_refer_to_is_claimed(maker: PostgresScene) -> None:
    """The index of earlier work may be writing about a task that is due."""
    task = maker.ready()
    with psycopg.connect(maker.url) as indexer:
        row = "INSERT INTO snippets (task_id, words, beside) VALUES (%s, '', '')"
        indexer.execute(row, [task.id])
        assert [each.task.id for each in maker.claim()] == [task.id]
        indexer.rollback()


def test_a_machine_that_vanished_keeps_no_lock(maker: PostgresScene) -> None:
    """The server asks whether it is still there, also where the system asks after two hours."""
    found = maker.sql(
        "SELECT name FROM pg_settings WHERE name LIKE 'tcp_keepalives%' AND source = 'session'"
    )
    assert len(found) == 3


def test_what_waits_for_its_seal_is_in_the_log_of_its_task_only(maker: PostgresScene) -> None:
    maker.tx.shared = True  # type: ignore[misc]
    task = maker.ready()

    assert [each.n for each in events.of_task(maker.tx, task.id)] == [1, 2]
    assert [each.n for each in events.last_of_task(maker.tx, task.id, 1)] == [2]
    assert (events.list_after(maker.tx, 0, 9), events.last(maker.tx)) == ([], 0)
    assert maker.complaints() == []
    odd = "“ß” \N{SNAKE}\n\x1f\\x1f"
    events.note_loop_failure(maker.tx, odd, odd, AT)  # of no task
    with connect(maker.url) as admin:
        seal(admin)
    sealed = events.list_after(maker.tx, 0, 9)
    assert [(each.task_id, each.n) for each in sealed] == [(task.id, 1), (task.id, 2), (None, 0)]
    assert sealed[-1].data == {"loop": odd, "why": odd}
    assert maker.complaints() == []


def test_a_changed_event_breaks_the_chain_of_several_writers(maker: PostgresScene) -> None:
    maker.tx.shared = True  # type: ignore[misc]
    for _ in range(3):
        maker.ready()
    with connect(maker.url) as admin:
        seal(admin)
        admin.execute("ALTER TABLE events DISABLE TRIGGER USER")
        admin.execute("UPDATE events SET at = at + 1 WHERE seq = 3")
        admin.execute("ALTER TABLE events ENABLE TRIGGER USER")

    assert any("Event 3 does not match" in each for each in maker.complaints())


def test_either_one_process_has_the_database_alone_or_several_share_it(
    maker: PostgresScene,
) -> None:
    shared = shared_process(maker.url)
    with shared, shared_process(maker.url), pytest.raises(StoreLocked), only_process(maker.url):
        pass
    with only_process(maker.url), pytest.raises(StoreLocked), shared_process(maker.url):
        pass


def test_a_new_process_waits_a_moment_for_the_end_of_the_one_before(
    maker: PostgresScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "GRACE_SECONDS", 30.0)
    before = only_process(maker.url)
    before.__enter__()
    ending = threading.Timer(0.2, before.__exit__, (None, None, None))
    ending.start()
    with only_process(maker.url):
        ending.join()
