"""One of several processes on a database: makes tasks, claims them and ends their legs.

With a fourth argument it is of the next version: it knows one more migration, that script.
"""

import asyncio
import sys
from datetime import UTC, datetime
from random import SystemRandom

from remit.model.ids import Ids, WorkerId
from remit.model.status import Actor, Status
from remit.model.task import Priority, Source, SourceKind, Task
from remit.store import moves, queue, tasks
from remit.store.moves import Ending
from remit.store.postgres import schema
from remit.store.postgres.database import SharedPostgres
from tests.sample_task import sample_task
from tests.store.scene import ROOMY, RULE


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - a process of its own


def task(ids: Ids) -> Task:
    ident = ids.task()
    source = Source(SourceKind.MANUAL, ident)
    return sample_task(at=now(), id=ident, source=source, session_id=ids.session())


async def work(url: str, name: str, count: int) -> None:
    ids = Ids(now, SystemRandom().getrandbits)
    schema.prepare(url)
    db = SharedPostgres(url)
    made = [task(ids) for _ in range(count)]
    await asyncio.gather(*(db.write(tasks.admit, each) for each in made))
    await asyncio.gather(
        *(db.write(queue.rank, each.id, Priority.MED, RULE, now()) for each in made)
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while claimed := await db.write(queue.claim, WorkerId(name), ROOMY, ids.run, now()):
        end = Ending(outcome="done", to=Status.COMPLETED, by=Actor.EXECUTOR)
        await asyncio.gather(
            *(db.write(moves.finish, c.task, c.lease, now(), end, now()) for c in claimed)
        )
    await db.close()


if __name__ == "__main__":
    if len(sys.argv) > 4:
        known = [*schema.migrations(), sys.argv[4]]
        schema.migrations = lambda: known  # type: ignore[assignment]
    asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
