"""Limits that several processes keep together, with one state in the database."""

import asyncio
from datetime import timedelta

from remit.channels.parts import SendRate
from remit.operations.callers import SignInLimiter
from remit.store.postgres.database import SharedPostgres
from remit.store.spending import Rates
from tests.store.scene import AT, PostgresScene


async def test_processes_keep_one_pace_and_one_count_of_failed_sign_ins(
    maker: PostgresScene,
) -> None:
    dbs = [SharedPostgres(maker.url, process_clock=True) for _ in range(2)]
    try:
        paces = [SendRate(6, 80, name="phone", rates=Rates(db)) for db in dbs]
        waits = await asyncio.gather(
            *(paces[n % 2].take("anna", f"dlv-{n}", AT) for n in range(10))
        )
        assert sorted(waits) == [n * 6.0 for n in range(10)]
        assert await paces[0].take("nina", "dlv-nina", AT) == 0

        limiters = [SignInLimiter(lambda: AT, Rates(db)) for db in dbs]
        pauses = [await limiters[n % 2].begin("192.0.2.1", "") for n in range(8)]
        assert pauses[:5] == 5 * [timedelta()]
        assert all(pauses[5:])
        assert await limiters[0].begin("192.0.2.2", "") == timedelta()
        await limiters[0].succeeded("192.0.2.1", "")
        assert await limiters[1].begin("192.0.2.1", "") == timedelta()

        later = SendRate(6, 80, name="other", rates=Rates(dbs[0]))
        await later.take("anna", "dlv-later", AT + timedelta(days=1))
        assert [row["name"] for row in maker.sql("SELECT name FROM rates")] == ["sends by other"]
    finally:
        for db in dbs:
            await db.close()
