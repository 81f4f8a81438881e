"""What an agent's token is worth where it touches tasks: its words are never the owner's.

What it entrusts counts as read from someone else, so whoever else is to be written to is asked
about. It changes no words but its own, and what was held back before it was sent stays so.
"""

from dataclasses import replace
from typing import Final

from remit.model.ids import TaskId
from remit.model.specialist import PROJECT
from remit.model.status import Status
from remit.model.task import Creator, Cue, Taint, Task
from remit.server.call import Call
from remit.server.problem import Problem, Refused
from remit.store import tasks
from remit.store.database import Tx

_TRUST: Final = Taint.CONTACT


def entrusted(call: Call, cue: Cue) -> Cue:
    """A new task as its caller may ask for it."""
    if not call.caller.agent:
        return cue
    return replace(cue, created_by=Creator.AGENT, taint=cue.taint.joined(_TRUST))


def repeated(call: Call, cue: Cue) -> Cue:
    """Another try: whose words they are stays as it was, but an agent wants them sent."""
    if not call.caller.agent:
        return cue
    if (cue.assigned_agent or "").startswith(PROJECT):
        check_project(call)
    return replace(cue, taint=cue.taint.joined(_TRUST))


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
    if task.created_by is not Creator.AGENT or task.taint is Taint.OWNER:
        sentence = f"{call.caller.name} is an agent, and task {task.id} is not in its own words."
        raise Refused(Problem("forbidden", f"{sentence} It may entrust another one."))


async def resume(call: Call, task_id: TaskId, version: str | None = None) -> Task:
    """Let a task go on; only a person lets out what was held back before it was sent."""
    if not call.caller.agent:
        return await call.house.owner.resume(task_id, version)
    task, seen = await call.house.db.read(_seen, task_id)
    if task.resume_to is Status.DELIVERING:
        sentence = f"Task {task.id} was held back before it was sent; only a person sends it now."
        raise Refused(Problem("forbidden", sentence))
    return await call.house.owner.resume(task_id, version or seen)


def _seen(tx: Tx, task_id: TaskId) -> tuple[Task, str]:
    return tasks.get(tx, task_id), tasks.version(tx, task_id)
