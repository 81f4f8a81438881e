"""How many tasks stand, without all that there is to say of them."""

import json
from collections.abc import Sequence

from remit.model.ids import TaskId
from remit.model.standing import Standing
from remit.model.status import Status
from remit.store import rows
from remit.store.database import Row, Tx


def of(tx: Tx, task_ids: Sequence[TaskId]) -> list[Standing]:
    """Those of some tasks that are there, in the order they are named."""
    named = tx.all("list_tasks_named", {"tasks": json.dumps(task_ids)})
    found = {str(row["id"]): _standing(row) for row in named}
    return [found[each] for each in dict.fromkeys(task_ids) if each in found]


def _standing(row: Row) -> Standing:
    wish = rows.text(row["wish"])
    return Standing(
        id=TaskId(str(row["id"])),
        title=str(row["title"]),
        status=rows.word(Status, row["status"]),
        pausing=wish == "pause",
        leaving=wish in ("cancel", "delete"),
        deleted=row["deleted_at"] is not None,
        held=row["worker"] is not None,
    )
