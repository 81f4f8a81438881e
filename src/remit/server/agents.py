"""Rules for tasks that an agent creates: its words are never the owner's.

They count as text from others, so writing to other people needs the owner's approval.
remit.peer.permission decides what an agent may do and see at all.
"""

from typing import Final

from msgspec.structs import replace

from remit.model.ids import TaskId
from remit.model.specialist import PROJECT
from remit.model.task import Creator, Cue, Source, SourceKind, Taint, Task
from remit.peer import agent_operations
from remit.server.call import Call
from remit.store import tasks
from remit.store.database import Tx

_TRUST: Final = Taint.CONTACT
_BELIEVED: Final = ("parent", "depth")
ON_PROJECT: Final = "only a person has work done on a project"


async def entrusted(call: Call, cue: Cue) -> Cue:
    """Return the cue of a new task as its caller may create it."""
    if not call.caller.agent:
        return cue
    await agent_operations.check_room(call.house, call.access)
    return replace(_named(call, cue), created_by=Creator.AGENT)


def repeated(call: Call, cue: Cue) -> Cue:
    """Return the cue of a retry: its author stays, but an agent's retry needs approval."""
    if not call.caller.agent:
        return cue
    if (cue.assigned_agent or "").startswith(PROJECT):
        call.access.check_person(ON_PROJECT)
    return _named(call, cue)


async def resume(call: Call, task_id: TaskId, version: str | None = None) -> Task:
    """Resume a task; only a person releases what was held before sending."""
    if not call.caller.agent:
        return await call.owner.resume(task_id, version)
    task, known = await call.house.db.read(_with_version, task_id)
    call.access.check_resume(task)
    return await call.owner.resume(task_id, version or known)


def _with_version(tx: Tx, task_id: TaskId) -> tuple[Task, str]:
    return tasks.get(tx, task_id), tasks.version(tx, task_id)


def _named(call: Call, cue: Cue) -> Cue:
    """Return the cue named after its agent, and with an agent's taint."""
    ref, prefix = cue.source.ref, call.access.prefix
    source = Source(SourceKind.AGENT, ref if ref.startswith(prefix) else prefix + ref)
    context = cue.context
    if cue.source.kind is not SourceKind.AGENT:
        # Of an agent's task these are trusted: its parent task, and the depth.
        context = {name: said for name, said in context.items() if name not in _BELIEVED}
    return replace(cue, source=source, context=context, taint=cue.taint.joined(_TRUST))
