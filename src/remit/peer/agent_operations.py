"""What another agent may do: create, read and stop tasks. It never decides a review.

Every caller here counts as an agent: even the owner's token gets only what an agent with `read` and
`write` gets. An agent's words are not the owner's, so writing to other people needs the owner's
approval. With `write` alone an agent sees only its own tasks; everything else is reported as not
found.
"""

import hashlib
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput, Conflict, NotFound
from remit.model import ids
from remit.model.caller import Scope
from remit.model.delivery import DeliveryStatus
from remit.model.ids import TaskId
from remit.model.proof import unverified_label
from remit.model.review import Review
from remit.model.run import Event
from remit.model.status import Status
from remit.model.task import Task
from remit.operations import tasks
from remit.operations.arguments import CancelTask, NewTask
from remit.operations.operation import OperationRequest
from remit.operations.permission import NotAllowed
from remit.operations.table import perform
from remit.store import events, reviews, search
from remit.store.database import Tx
from remit.store.search import AgentTaskFilter, TaskFilter

_TaskAndReview: TypeAlias = tuple[Task, Review | None]

MOST_SHOWN: Final = 100
MOST_KEY: Final = 200
MOST_COUNTED: Final = 10_000


class AgentTaskView(Struct, frozen=True):
    """A task as another agent may see it: status and result, not how it was done."""

    task: Task
    review: Review | None
    url: str  # where a person decides or looks

    @property
    def deliverable(self) -> str | None:
        """The text that passed the gate and was sent; None before that."""
        if self.task.status is not Status.COMPLETED:
            return None
        sent = [each for each in self.task.delivery if each.status is DeliveryStatus.SENT]
        bodies = dict.fromkeys(each.body for each in sent if each.body)
        return "\n\n".join(bodies) or self.task.result_summary

    @property
    def waits(self) -> bool:
        """Whether it waits for the owner's decision."""
        return self.task.status is Status.NEEDS_REVIEW or (
            self.review is not None and not self.task.ended
        )

    @property
    def sentence(self) -> str:
        """Its state, for a reader."""
        if self.waits:
            return f"It waits for its owner, who decides here: {self.url}"
        if self.task.status is Status.FAILED:
            return f"It failed: {self.task.result_summary or 'no reason was given'}"
        return " ".join(filter(None, (_SENTENCES[self.task.status], unverified_label(self.task))))


class AgentOperations:
    """The operations of one agent. `wide`: whether `read` shows tasks of others, too."""

    def __init__(self, request: OperationRequest, url: str, *, wide: bool) -> None:
        self._request = request
        self._app = request.app
        self._peer = request.access
        self._url = url
        self._wide = wide and self._peer.reads

    async def entrust(self, task: NewTask, key: str) -> AgentTaskView:
        """Take work on, durably; the same key again is the same task."""
        if not 1 <= len(key) <= MOST_KEY:
            raise BadInput(f"A key has 1 to {MOST_KEY} characters, not {len(key)}.")
        task = replace(task, context={"agent": self._peer.name})
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]
        request = replace(self._request, ref=self._peer.prefix + digest)
        made = await perform(request, task)
        self._app.engine.nudge()
        return await self.look(str(made.content["id"]))

    async def look(self, name: str) -> AgentTaskView:
        """Return one task; one that this agent may not see is not found."""
        task_id = ids.task_id(name)
        return self._view(*await self._app.db.read(self._find, task_id))

    async def page(self, wanted: AgentTaskFilter) -> list[AgentTaskView]:
        """Return tasks, newest first: its own, or all if it may read."""
        self._needs_any()
        if not 1 <= wanted.limit <= MOST_SHOWN + 1:
            raise BadInput(f"limit must lie between 1 and {MOST_SHOWN}.", field="limit")
        query = TaskFilter(
            statuses=tuple(wanted.statuses), before=wanted.before, limit=min(wanted.limit, 500)
        )
        found = await self._app.db.read(self._list_tasks_of_peer, wanted, query)
        return [self._view(*each) for each in found]

    async def count(self, wanted: AgentTaskFilter) -> int:
        """Return how many of its own there are, counted up to `MOST_COUNTED`."""
        self._needs_any()
        query = replace(wanted, limit=MOST_COUNTED)
        return await self._app.db.read(search.count_agent_tasks, self._peer.prefix, query)

    async def search(self, words: str, limit: int) -> list[AgentTaskView]:
        """Return tasks with these words, then similar ones."""
        self._peer.check(Scope.READ)
        if not words.strip():
            raise BadInput("Say at least one word to look for.", field="query")
        if not 1 <= limit <= MOST_SHOWN:
            raise BadInput(f"limit must lie between 1 and {MOST_SHOWN}.", field="limit")
        query = TaskFilter(text=words, limit=limit)
        found = [self._view(*each) for each in await self._app.db.read(_matching, query)]
        if len(found) < limit:
            known = {view.task.id for view in found}
            near = await self._app.recollection.finder.find(words, limit)
            more = [each.task for each in near if each.task.id not in known]
            found += [self._view(*each) for each in await self._app.db.read(_with_reviews, more)]
        return found[:limit]

    async def log(self, name: str, after: int, limit: int) -> list[Event]:
        """Return a task's events in order; needs `read`."""
        self._peer.check(Scope.READ)
        view = await self.look(name)
        return await self._app.db.read(events.of_task, view.task.id, after, limit)

    async def cancel(self, name: str) -> AgentTaskView:
        """Have a task end; one that has ended raises `Conflict`."""
        tasks.cancel_task.allow(self._peer)
        view = await self.look(name)
        if view.task.ended:
            raise Conflict(f"Task {view.task.id} is {view.task.status}; it has ended.")
        await perform(self._request, CancelTask(view.task.id))
        return await self.look(view.task.id)

    def _view(self, task: Task, review: Review | None) -> AgentTaskView:
        return AgentTaskView(task, review, f"{self._url}/tasks/{task.id}")

    def _find(self, tx: Tx, task_id: TaskId) -> _TaskAndReview:
        """Return a visible task; an invisible one is reported like a missing one."""
        task, review = search.task_and_question(tx, task_id)
        if task.deleted_at is not None or not (self._wide or self._peer.owns(tx, task)):
            raise NotFound("task", task_id)
        return self._peer.as_told(tx, task), review

    def _list_tasks_of_peer(
        self, tx: Tx, wanted: AgentTaskFilter, query: TaskFilter
    ) -> list[_TaskAndReview]:
        if self._wide:
            return _matching(tx, query)
        found = _with_reviews(tx, search.list_agent_tasks(tx, self._peer.prefix, wanted))
        return [(self._peer.as_told(tx, task), review) for task, review in found]

    def _needs_any(self) -> None:
        if not self._peer.scopes:
            raise NotAllowed(f"{self._peer.name} may do nothing here.")


def _matching(tx: Tx, query: TaskFilter) -> list[_TaskAndReview]:
    return _with_reviews(tx, list(search.page(tx, query).tasks))


def _with_reviews(tx: Tx, found: list[Task]) -> list[_TaskAndReview]:
    asking = reviews.asking(tx, [task.id for task in found])
    return [
        search.task_and_question(tx, task.id) if task.id in asking else (task, None)
        for task in found
    ]


_SENTENCES: Final = {
    Status.NEW: "It has been taken on.",
    Status.READY: "It has been taken on, and begins when it is due.",
    Status.RUNNING: "It is being worked on.",
    Status.VERIFYING: "The work is being checked.",
    Status.DELIVERING: "The result is on its way.",
    Status.NEEDS_REVIEW: "It waits for its owner.",
    Status.PAUSED: "Its owner has paused it.",
    Status.COMPLETED: "It is done.",
    Status.FAILED: "It failed.",
    Status.CANCELLED: "It was stopped.",
}
