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
    """Which of its tasks an agent asks for; an unset field does not filter."""

    statuses: Collection[Status] = ()
    session: SessionId | None = None
    since: datetime | None = None  # changed at or after
    before: TaskId | None = None  # the last task of the previous page
    limit: int = 50


def list_agent_tasks(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> list[Task]:
    """Return tasks whose source ref has this prefix, newest first, without deleted ones."""
    params = {**_params(prefix, wanted), "before": wanted.before}
    return tasks.all_with_deliveries(tx, tx.all("list_caller_tasks", params))


def count(tx: Tx, prefix: str, wanted: AgentTaskFilter) -> int:
    """Return how many there are, whatever the page, counted up to the filter's limit."""
    row = tx.one("count_caller_tasks", _params(prefix, wanted))
    return rows.number(row["tasks"]) if row else 0


def looked_at(tx: Tx, task_id: TaskId) -> tuple[Task, Review | None]:
    """Return a task, and its open question to the owner."""
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
