"""What the earlier runs of the same session came to."""

from typing import Final

from remit.model.reply import Memory, Snippet
from remit.model.task import Task
from remit.store import tasks
from remit.store.database import Database

LAST: Final = 3


class Recall:
    def __init__(self, db: Database) -> None:
        self._db = db

    async def like(self, task: Task) -> Memory:
        """Only a series and a retry share their session with something earlier."""
        if task.series_id is None and task.retry_of is None:
            return Memory()
        earlier = await self._db.read(tasks.earlier_in_session, task, LAST)
        return Memory(tuple(Snippet(t.id, t.title, t.result_summary or "") for t in earlier))
