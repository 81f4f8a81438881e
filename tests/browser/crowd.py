"""Many tasks at once, written through the store instead of ten thousand runs."""

from datetime import datetime, timedelta
from typing import Final

from remit.model.ids import TaskId
from remit.model.task import Source, SourceKind, Task
from remit.store import tasks
from remit.store.database import Tx
from tests.sample_task import sample_task
from tests.server.served import Served

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_WAY: Final = (
    "UPDATE tasks SET status = 'ready' WHERE source_ref LIKE 'crowd-%'",
    "UPDATE tasks SET status = 'running' WHERE source_ref LIKE 'crowd-%'",
    "UPDATE tasks SET completed_at = created_at, due_at = NULL WHERE source_ref LIKE 'crowd-%'",
    "UPDATE tasks SET status = 'failed' WHERE source_ref LIKE 'crowd-%00'",
    "UPDATE tasks SET status = 'completed' WHERE source_ref LIKE 'crowd-%' AND status = 'running'",
)


def crowd(site: Served, count: int) -> None:
    """Make ended tasks `Errand 00001` and so on; those that end with 00 have failed."""
    site.do(_write(site, count))


async def _write(site: Served, count: int) -> None:
    await site.app.db.write(_put, count, site.clock.now() - timedelta(days=3))


def _put(tx: Tx, count: int, since: datetime) -> None:
    for n in range(1, count + 1):
        tasks.admit(tx, _errand(n, since + timedelta(seconds=n)))
    for sql in _WAY:
        tx.ask(sql)


def _errand(n: int, at: datetime) -> Task:
    ident = TaskId(f"task-01CR0WD{_tail(n)}")
    return sample_task(
        f"Errand {n:05}",
        at,
        id=ident,
        source=Source(SourceKind.EMAIL if n % 10 == 0 else SourceKind.MANUAL, f"crowd-{n}"),
        instructions=f"Run errand {n:05} for me",
        session_id=f"sess-{ident.removeprefix('task-')}",
    )


def _tail(n: int) -> str:
    text = ""
    for _ in range(19):
        n, rest = divmod(n, 32)
        text = _ALPHABET[rest] + text
    return text
