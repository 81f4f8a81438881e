"""What an agent's token is worth where it touches tasks: its words are never the owner's.

What it entrusts counts as read from someone else, so whoever else is to be written to is asked
about. It changes no words but its own, and what was held back before it was sent stays so. Without
`read` it finds what it entrusted itself; everything else is not there.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from remit.errors import NotFound
from remit.model.caller import Scope
from remit.model.ids import SeriesId, TaskId
from remit.model.specialist import PROJECT
from remit.model.status import Status
from remit.model.task import Creator, Cue, Source, SourceKind, Taint, Task
from remit.peer import desk
from remit.server.call import Call
from remit.server.problem import Problem, Refused
from remit.store import tasks
from remit.store.database import Tx

_TRUST: Final = Taint.CONTACT
_BELIEVED: Final = ("parent", "depth")


async def entrusted(call: Call, cue: Cue) -> Cue:
    """A new task as its caller may ask for it."""
    if not call.caller.agent:
        return cue
    await desk.check_room(call.house, desk.met(call.caller, call.key))
    return replace(_named(call, cue), created_by=Creator.AGENT)


def repeated(call: Call, cue: Cue) -> Cue:
    """Another try: whose words they are stays as it was, but an agent wants them sent."""
    if not call.caller.agent:
        return cue
    if (cue.assigned_agent or "").startswith(PROJECT):
        check_project(call)
    return _named(call, cue)


def check_project(call: Call) -> None:
    """Refuse an agent that would have the owner's code worked on."""
    if call.caller.agent:
        sentence = f"{call.caller.name} is an agent, and only a person has work done on a project."
        raise Refused(Problem("forbidden", sentence))


async def check_edit(call: Call) -> None:
    """Refuse an agent that would put words into somebody else's mouth."""
    if not call.caller.agent:
        return
    # Neither of both ever becomes the owner's again, so what holds now holds when it is written.
    task = await call.house.db.read(tasks.get, call.task_id)
    words = task.created_by is Creator.AGENT and task.taint is not Taint.OWNER
    if not words or not await call.house.db.read(_is_own, task.id, _prefix(call)):
        sentence = f"{call.caller.name} is an agent, and task {task.id} is not in its own words."
        raise Refused(Problem("forbidden", f"{sentence} It may entrust another one."))


async def check_sees(call: Call, task_id: TaskId) -> None:
    """Whoever may not look finds nothing but his own, whatever he would do to it."""
    if not await seen(call, [task_id]):
        raise NotFound("task", task_id)


async def check_series(call: Call) -> None:
    """The same for work that comes back: it is called as its first occurrence is."""
    series_id = call.series_id
    if not await seen(call, [_first(series_id)]):
        raise NotFound("series", series_id)


def check_person(call: Call, what: str) -> None:
    """Refuse an agent where there is nothing of its own."""
    if call.caller.agent:
        sentence = f"{call.caller.name} is an agent, and {what} are for people."
        raise Refused(Problem("forbidden", sentence))


async def seen(call: Call, task_ids: Sequence[TaskId]) -> list[TaskId]:
    """Those of some tasks that the caller may know of; who may look may know of all."""
    if not call.caller.agent or call.caller.may(Scope.READ):
        return list(task_ids)
    return await call.house.db.read(_own, task_ids, _prefix(call))


async def resume(call: Call, task_id: TaskId, version: str | None = None) -> Task:
    """Let a task go on; only a person lets out what was held back before it was sent."""
    if not call.caller.agent:
        return await call.owner.resume(task_id, version)
    task, seen = await call.house.db.read(_seen, task_id)
    if task.resume_to is Status.DELIVERING:
        sentence = f"Task {task.id} was held back before it was sent; only a person sends it now."
        raise Refused(Problem("forbidden", sentence))
    return await call.owner.resume(task_id, version or seen)


def _seen(tx: Tx, task_id: TaskId) -> tuple[Task, str]:
    return tasks.get(tx, task_id), tasks.version(tx, task_id)


def _own(tx: Tx, task_ids: Sequence[TaskId], prefix: str) -> list[TaskId]:
    return [each for each in task_ids if _is_own(tx, each, prefix)]


def _is_own(tx: Tx, task_id: TaskId, prefix: str) -> bool:
    """Whether an agent entrusted it, or what it is an occurrence of."""
    try:
        task = tasks.get(tx, task_id)
    except NotFound:
        return False
    first = _first(task.series_id) if task.series_id else task.id
    if first != task.id:
        return _is_own(tx, first, prefix)
    return task.source.kind is SourceKind.AGENT and task.source.ref.startswith(prefix)


def _first(series_id: SeriesId) -> TaskId:
    return TaskId("task-" + series_id.removeprefix("ser-"))


def _named(call: Call, cue: Cue) -> Cue:
    """Named after who asked, as all that it entrusts by other doors is, and no longer trusted."""
    source = Source(SourceKind.AGENT, _prefix(call) + cue.source.ref)
    context = cue.context
    if cue.source.kind is not SourceKind.AGENT:
        # Of an agent's task these are believed: which task it was made by, and how deep.
        context = {name: said for name, said in context.items() if name not in _BELIEVED}
    return replace(cue, source=source, context=context, taint=cue.taint.joined(_TRUST))


def _prefix(call: Call) -> str:
    return f"{call.key}/"
