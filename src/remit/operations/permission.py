"""The one place that decides what a caller may do and see.

HTTP, pages, MCP and A2A all use it. A caller without `read` sees only its own tasks: those it
created, and the runs of a series it created. Everything else is reported as not found.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import NotFound, RemitError
from remit.model.caller import OWNERS, Caller, Scope
from remit.model.ids import SeriesId, TaskId
from remit.model.status import Status
from remit.model.task import Creator, Source, SourceKind, Taint, Task
from remit.store import tasks
from remit.store.database import Tx, quick


class NotAllowed(RemitError):
    """The caller is known, but may not do this."""


class CallerAccess(Struct, frozen=True):
    """What one caller may do: its name, the id of its token, and its scopes."""

    name: str
    key: str
    scopes: frozenset[Scope]
    agent: bool

    @property
    def prefix(self) -> str:
        """Return the prefix of the sources of everything it created."""
        return f"{self.key}/"

    @property
    def reads(self) -> bool:
        return Scope.READ in self.scopes

    # What it may do -----------------------------------------------------------------------------

    def check(self, *needed: Scope) -> None:
        """Refuse a caller without one of these scopes."""
        for scope in needed:
            if scope in self.scopes:
                continue
            if self.agent and scope in OWNERS:
                raise NotAllowed(f"{self.name} is an agent, and this (`{scope}`) is for people.")
            raise NotAllowed(f"{self.name} may not do this: it needs the scope `{scope}`.")

    def check_person(self, what: str) -> None:
        """Refuse an agent what only a person may do; `what` describes it."""
        if self.agent:
            raise NotAllowed(f"{self.name} is an agent, and {what}.")

    def check_edit(self, tx: Tx, task: Task) -> None:
        """Refuse an agent that would change words of others."""
        if not self.agent:
            return
        words = task.created_by is Creator.AGENT and task.taint is not Taint.OWNER
        if not words or not self.owns(tx, task):
            sentence = f"{self.name} is an agent, and task {task.id} is not in its own words."
            raise NotAllowed(f"{sentence} It may entrust another one.")

    def check_resume(self, task: Task) -> None:
        """Refuse an agent that would release what was held before sending."""
        if self.agent and task.resume_to is Status.DELIVERING:
            sentence = f"Task {task.id} was held back before it was sent"
            raise NotAllowed(f"{sentence}; only a person sends it now.")

    # What it may know ---------------------------------------------------------------------------

    def owns(self, tx: Tx, task: Task) -> bool:
        """Whether it created a task, or the series of the task."""
        if _is_named(task, self.prefix):
            return True
        first = first_of(task.series_id) if task.series_id else task.id
        if first == task.id:
            return False
        try:
            return _is_named(tasks.get(tx, first), self.prefix)
        except NotFound:
            return False

    def finds(self, tx: Tx, task_ids: Sequence[TaskId]) -> list[TaskId]:
        """Return those of some tasks that it may see."""
        if self.reads:
            return list(task_ids)
        return [each for each in task_ids if self._finds_own(tx, each)]

    def check_finds(self, tx: Tx, task_id: TaskId) -> None:
        if not self.finds(tx, [task_id]):
            raise NotFound("task", task_id)

    def check_finds_series(self, tx: Tx, series_id: SeriesId) -> None:
        if not self.finds(tx, [first_of(series_id)]):
            raise NotFound("series", series_id)

    @quick
    def as_told(self, tx: Tx, task: Task) -> Task:
        """Return a task as far as the caller may see it; of a foreign one only the status.

        What a person's program created runs with the owner's trust, so its result may hold anything
        the owner knows: that needs `read`.
        """
        if self.reads:
            return task
        if not self.owns(tx, task):
            return _bare(task)
        return task if task.created_by is Creator.AGENT else _without_outcome(task)

    def _finds_own(self, tx: Tx, task_id: TaskId) -> bool:
        try:
            return self.owns(tx, tasks.get(tx, task_id))
        except NotFound:
            return False


def access(caller: Caller, key: str) -> CallerAccess:
    """Return what a caller may do, by the id of its token."""
    opened = frozenset(scope for scope in caller.scopes if caller.may(scope))
    return CallerAccess(caller.name, key, opened, caller.agent)


def first_of(series_id: SeriesId) -> TaskId:
    """Return the first task of a series, which names the series."""
    return TaskId("task-" + series_id.removeprefix("ser-"))


def _is_named(task: Task, prefix: str) -> bool:
    kinds = (SourceKind.AGENT, SourceKind.MANUAL)
    return task.source.kind in kinds and task.source.ref.startswith(prefix)


def _without_outcome(task: Task) -> Task:
    parts = tuple(replace(each, body=None, receipt=None) for each in task.delivery)
    return replace(
        task, delivery=parts, result_summary=None, tool_output=None, verdict=None, notes=()
    )


def _bare(task: Task) -> Task:
    """Return a receipt: which task it is and its status, without its words."""
    return replace(
        _without_outcome(task),
        source=Source(task.source.kind, ""),
        title="",
        instructions="",
        request=None,
        gaps=(),
        veto=(),
        conditions=(),
        repeats=None,
        work=(),
        delivery=(),
        contract=None,
        context={},
        rule=None,
        assigned_agent=None,
    )
