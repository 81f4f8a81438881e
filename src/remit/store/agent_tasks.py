"""Tasks created by other agents: lists, counts and lookups for each agent."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct

from remit.model.ids import SessionId, TaskId
from remit.model.review import Review
from remit.model.status import Status
from remit.model.task import Task
from remit.store import reviews, rows, tasks
from remit.store.database import Cell, Tx


class AgentTaskFilter(Struct, frozen=True, kw_only=True):
    """Which of its tasks an agent asks for; what is not said is not looked at."""

    statuses: Collection[Status] = ()
    session: SessionId | None = None
    since: datetime | None = None  # something happened to it at or after
    before: TaskId | None = None  # where the page before ended
    limit: int = 50


def list_agent_tasks(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> list[Task]:
    """The tasks whose source begins so, newest first; what was deleted is not among them."""
    params = {**_params(prefix, wanted), "before": wanted.before}
    return tasks.all_with_deliveries(tx, tx.all("list_caller_tasks", params))


def count(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> int:
    """How many there are, wherever a page begins; counted up to its limit."""
    row = tx.one("count_caller_tasks", _params(prefix, wanted))
    return rows.number(row["tasks"]) if row else 0


def looked_at(tx: Tx, task_id: TaskId) -> tuple[Task, Review | None]:
    """A task, and the question about it that waits for the owner."""
    waiting = [each for each in reviews.of_task(tx, task_id) if each.decision is None]
    return tasks.get(tx, task_id), waiting[-1] if waiting else None


def _params(prefix: str, wanted: AgentTaskFilter) -> dict[str, Cell]:
    return {
        **rows.prefix_range(prefix),
        "session": wanted.session,
        "since": rows.millis(wanted.since),
        "statuses": f" {' '.join(wanted.statuses)} " if wanted.statuses else None,
        "limit": wanted.limit,
    }
