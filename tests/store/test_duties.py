"""Work that one process does at a time: who lost it writes nothing more."""

import asyncio
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from remit.model.delivery import SendCap
from remit.model.ids import WorkerId
from remit.store import deliveries, tasks
from remit.store.postgres import duties, legs
from remit.store.postgres.database import SharedPostgres
from remit.store.postgres.duties import DutyLost, FencedDatabase
from remit.store.postgres.legs import DISPATCHED, WorkerState
from tests.store.postgres import Postgres as Server
from tests.store.scene import AT, BODY, DIGEST, WORKER, PostgresScene


@pytest.fixture
def maker(postgres_server: Server) -> Iterator[PostgresScene]:
    made = PostgresScene(postgres_server.store)
    yield made
    made.close()
    postgres_server.wipe()


async def test_who_was_replaced_writes_nothing_more(maker: PostgresScene) -> None:
    db = SharedPostgres(maker.url, process_clock=True)
    first = await db.write(duties.take_over, "series", WorkerId("wrk-1"), AT)
    old = FencedDatabase(db, "series", first)
    await old.write(tasks.admit, maker.task())
    second = await db.write(duties.take_over, "series", WorkerId("wrk-2"), AT)
    new = FencedDatabase(db, "series", second)
    with pytest.raises(DutyLost, match="taken over"):
        await old.write(tasks.admit, maker.task())
    await new.write(tasks.admit, maker.task())
    await db.close()

    assert maker.sql("SELECT COUNT(*) AS n FROM tasks") == [{"n": 2}]
    assert maker.complaints() == []


def test_a_leg_begins_once_and_is_released_once(maker: PostgresScene) -> None:
    task = maker.ready()
    (claim,) = maker.claim(DISPATCHED)
    lease = claim.lease.number
    begun = maker.do(legs.begin, task.id, lease, WORKER, AT)
    assert begun is not None
    assert (begun.lease.worker, begun.lease.number) == (WORKER, lease)
    assert maker.do(legs.begin, task.id, lease, WorkerId("wrk-2"), AT) is None
    assert [each.begun for each in legs.held(maker.tx, AT, 9)] == [True]

    released = [maker.do(legs.release, task.id, lease, maker.ids.review(), AT) for _ in range(2)]

    assert released == [True, False]
    assert (maker.get(task.id).crashes, legs.held(maker.tx, AT, 9)) == (1, [])
    assert maker.complaints() == []


def test_only_workers_that_live_count_as_free(maker: PostgresScene) -> None:
    maker.ready()
    for n, slots in ((1, 3), (2, 5)):
        worker = WorkerId(f"wrk-{n}")
        late = AT if n == 1 else AT - 2 * legs.ALIVE
        maker.do(legs.report_load, WorkerState(worker, "here:1", "remit", slots, (), late))
    maker.claim(DISPATCHED)

    found = legs.load(maker.tx, AT)

    assert (found.slots, found.free, found.suspects) == (3, 2, 0)
    assert [each.id for each in legs.workers(maker.tx, AT - legs.ALIVE)] == ["wrk-1"]


async def test_a_daily_cap_holds_however_many_processes_send_at_once(maker: PostgresScene) -> None:
    claims = [maker.delivering("outbox") for _ in range(6)]
    sends = [replace(each.task.delivery[0], address="+972 50") for each in claims]
    cap = SendCap(AT.replace(hour=0), 2)
    dbs = [SharedPostgres(maker.url, process_clock=True) for _ in range(3)]
    attempts = await asyncio.gather(
        *(
            dbs[n % 3].write(
                deliveries.claim_capped, each.lease, sends[n], BODY, DIGEST, AT, cap=cap
            )
            for n, each in enumerate(claims)
        )
    )
    for db in dbs:
        await db.close()

    assert sorted(attempts) == [0, 0, 0, 0, 1, 1]
