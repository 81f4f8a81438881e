"""The writer on Postgres: grouped commits, other writers, and a server that goes away."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta

import psycopg
import pytest

from remit.errors import Conflict, LeaseLost, NotFound, RemitError, StoreAway, StoreTrouble
from remit.model.recurrence import Repeats
from remit.model.reply import Usage
from remit.model.task import Task
from remit.store import audit, events, moves, queue, recall, rows, series, spending, tasks
from remit.store.cues import Arrival, InboundCaps, come
from remit.store.database import Tx
from remit.store.postgres import connection as postgres_connection
from remit.store.postgres.database import Postgres, SharedPostgres
from remit.store.spending import LimitScope, SpendingLimit, SpendingUnit
from tests.store.postgres import needs_server_timers
from tests.store.scene import AT, ROOMY, WORKER, PostgresScene
from tests.store.test_group_commit import (
    asks_nonsense,
    fails_after_it_wrote,
    fails_before_it_writes,
    is_refused,
)

CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'remit'"


@asynccontextmanager
async def writers(url: str, number: int = 1) -> AsyncIterator[list[Postgres]]:
    kind = Postgres if number == 1 else SharedPostgres
    opened = [kind(url, process_clock=True) for _ in range(number)]
    try:
        yield opened
    finally:
        for each in opened:
            await each.close()


@pytest.mark.parametrize(
    ("verb", "error"),
    [
        (fails_before_it_writes, NotFound),
        (fails_after_it_wrote, LeaseLost),
        (is_refused, Conflict),
        (asks_nonsense, StoreTrouble),
    ],
)
async def test_one_that_fails_is_no_loss_for_the_others(
    maker: PostgresScene, verb: Callable[[Tx, Task], None], error: type[RemitError]
) -> None:
    first, last = maker.task(), maker.task()
    told: list[int] = []
    async with writers(maker.url) as (db,):
        db.on_commit(lambda happened: told.extend(each.seq for each in happened))
        results = await asyncio.gather(
            db.write(tasks.admit, first),
            db.write(verb, maker.task()),
            db.write(tasks.admit, last),
            return_exceptions=True,
        )
        alone = await asyncio.gather(db.write(verb, maker.task()), return_exceptions=True)

    assert [type(each) for each in (*results, *alone)] == [Task, error, Task, error]
    stored = maker.sql("SELECT id FROM tasks ORDER BY no")
    assert [row["id"] for row in stored] == [first.id, last.id]
    assert told == [1, 2]
    assert maker.complaints() == []


def test_what_is_acknowledged_survives_a_kill_of_the_server_however_it_is_set_up(
    maker: PostgresScene,
) -> None:
    with psycopg.connect(maker.url) as plain, postgres_connection.connect(maker.url) as ours:
        said = [each.execute("SHOW synchronous_commit").fetchone() for each in (plain, ours)]
    assert said == [("off",), {"synchronous_commit": "on"}]


async def test_what_waits_together_is_committed_together(maker: PostgresScene) -> None:
    made = [maker.task() for _ in range(50)]
    async with writers(maker.url) as (db,):
        await asyncio.gather(*(db.write(tasks.admit, task) for task in made))

    together = maker.sql("SELECT COUNT(DISTINCT CAST(xmin AS TEXT)) AS n FROM tasks")
    assert together == [{"n": 1}]


async def test_a_limit_holds_however_many_writers_reserve_at_once(maker: PostgresScene) -> None:
    task = maker.admit()
    limit = SpendingLimit(LimitScope.DAY, SpendingUnit.TOKENS, 50, 0)
    wanted = Usage(10, 0, 1)
    async with writers(maker.url, 4) as dbs:
        results = await asyncio.gather(
            *(
                db.write(spending.reserve, f"{place}-{n}", task, wanted, [limit], AT)
                for place, db in enumerate(dbs)
                for n in range(4)
            ),
            return_exceptions=True,
        )

    assert [each for each in results if isinstance(each, Exception)] == []
    assert sum(each is None for each in results) == 5
    assert spending.of_all(maker.tx, 0).tokens == 50


async def test_a_cue_cap_holds_however_many_writers_store_at_once(maker: PostgresScene) -> None:
    caps = InboundCaps(hourly=3)
    async with writers(maker.url, 4) as dbs:
        results = await asyncio.gather(
            *(
                db.write(come, Arrival(ref=f"{place}-{n}", door="mail", body={}), caps, AT, AT)
                for place, db in enumerate(dbs)
                for n in range(3)
            )
        )

    assert sorted(each.fate.value for each in results) == ["over"] * 9 + ["waiting"] * 3


@needs_server_timers
async def test_two_writers_claim_each_task_once_and_one_of_a_session(maker: PostgresScene) -> None:
    sessions = [maker.ids.session() for _ in range(10)]
    for place in range(30):
        maker.ready(session_id=sessions[place % 10])
    async with writers(maker.url, 2) as dbs:
        claimed = await asyncio.gather(
            *(db.write(queue.claim, WORKER, ROOMY, maker.ids.run, AT) for db in dbs)
        )

    taken = [each.task for found in claimed for each in found]
    assert sorted(task.session_id for task in taken) == sorted(sessions)
    assert maker.complaints() == []


async def test_what_falls_due_while_it_is_looked_for_is_not_slept_through(
    maker: PostgresScene,
) -> None:
    """The clock of the server goes on between the look at what is due, and that at what will be."""
    db, now = Postgres(maker.url), maker.now
    maker.ready()
    maker.admit(repeats=Repeats("FREQ=DAILY", "UTC", now), scheduled_for=now)
    _set_due(maker, now + timedelta(days=9999))
    since = await db.read(queue.due_moment, now)

    outlook = await db.read(queue.outlook, now)
    assert not outlook.is_due
    assert outlook.later is not None
    assert await db.read(series.due, now, 1) == []
    _set_due(maker, since + timedelta(milliseconds=1))
    await asyncio.sleep(0.01)

    assert await db.read(series.soonest, since) is not None
    await db.close()


def _set_due(maker: PostgresScene, moment: datetime) -> None:
    for table in ("tasks", "series"):
        maker.sql(f"UPDATE {table} SET due_at = {rows.ms(moment)}")  # noqa: S608 - written above


async def test_a_server_that_goes_away_and_comes_back_is_said_and_used_again(
    maker: PostgresScene,
) -> None:
    admin_url, database = maker.url.replace("/store?", "/postgres?"), maker.url
    async with writers(database) as (db,):
        await db.write(tasks.admit, maker.task())
        assert await db.read(events.last) == 1
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute(CUT)
            await db.write(tasks.admit, maker.task())  # it is there: nobody notices
            assert await db.read(events.last) == 2
            assert await db.read(recall.has_any) is False

            admin.execute("ALTER DATABASE store ALLOW_CONNECTIONS false")
            admin.execute(CUT)
            try:
                for _ in range(3):
                    lost = await asyncio.gather(
                        db.write(tasks.admit, maker.task()),
                        db.read(events.last),
                        db.read(recall.has_any),
                        return_exceptions=True,
                    )
                    assert [type(each) for each in lost] == 3 * [StoreAway]
                    assert "cannot be reached" in str(lost[0])
            finally:
                admin.execute("ALTER DATABASE store ALLOW_CONNECTIONS true")
        await db.write(tasks.admit, maker.task())
        assert await db.read(events.last) == 3
        assert list(await db.read(lambda tx: list(audit.complaints(tx)))) == []


@needs_server_timers
async def test_who_stands_still_in_a_transaction_loses_it_to_the_others(
    maker: PostgresScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "IDLE_SECONDS", 1)
    task = maker.admit()
    with closing(postgres_connection.connect(maker.url)) as frozen:
        frozen.execute("BEGIN")
        frozen.execute("SELECT 1 FROM tasks FOR UPDATE")
        async with writers(maker.url) as (db,):
            await db.write(moves.cancel, task.id, AT)


@needs_server_timers
async def test_a_row_that_another_program_holds_is_busy(
    maker: PostgresScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "LOCK_SECONDS", 1)
    task = maker.admit()
    async with writers(maker.url) as (db,):
        with psycopg.connect(maker.url) as other:
            other.execute("SELECT 1 FROM tasks FOR UPDATE")
            with pytest.raises(StoreTrouble, match="locked by another program"):
                await db.write(moves.cancel, task.id, AT)
