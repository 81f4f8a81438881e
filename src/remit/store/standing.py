"""How many tasks stand, without all that there is to say of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from remit.model.ids import TaskId
from remit.model.status import Status
from remit.store import rows
from remit.store.database import Tx


@dataclass(frozen=True, slots=True)
class Standing:
    id: TaskId
    title: str
    status: Status
    wish: str | None  # what the owner has asked for and the engine has not done yet
    deleted: bool


def of(tx: Tx, task_ids: Sequence[TaskId]) -> list[Standing]:
    """Those of some tasks that are there, in the order they are named."""
    found = {
        str(row["id"]): Standing(
            TaskId(str(row["id"])),
            str(row["title"]),
            rows.word(Status, row["status"]),
            rows.text(row["wish"]),
            row["deleted_at"] is not None,
        )
        for row in tx.all("list_tasks_named", {"tasks": json.dumps(task_ids)})
    }
    return [found[each] for each in dict.fromkeys(task_ids) if each in found]
