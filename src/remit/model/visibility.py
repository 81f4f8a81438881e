"""Which tasks the work on another task may see: the one rule for recall and every tool.

Otherwise somebody who may start work here could ask for the work of others. The table of who sees
what is in docs/howto/recall.md.
"""

import re
from typing import Final, TypeAlias

from remit.model.task import Creator, SourceKind, Taint, Task

Origin: TypeAlias = tuple[str, ...]

OUTSIDE: Final = "outside"  # in a context: what came in by a door, which is not the owner's word
ORGANIZER: Final = "organizer"  # in the context of a calendar's task: the owner, if it is his event
OWNER: Final = "owner"
_AGENT: Final = re.compile(r"(tok-[^/:]+|owner)/")  # the token that an agent came in with
_PARENT: Final = re.compile(r"(task-[^/:@]+):")  # the task that made it
_FOLDER: Final = re.compile(r"folder:(\S+) ")
# Where in the context of a task stands who asked for it. A retry keeps its context.
_NAMED_BY: Final = {
    SourceKind.WEBHOOK: ("hook",),
    SourceKind.EMAIL: ("sender",),
    SourceKind.WHATSAPP: ("sender",),
    SourceKind.CALDAV: ("calendar", "uid"),
}
_PEOPLE: Final = frozenset({SourceKind.EMAIL, SourceKind.WHATSAPP, SourceKind.CALDAV})


def may_see(task: Task, other: Task) -> bool:
    """The owner's work sees all; an outsider's sees what the same outsider asked for.

    What a contact asked for sees the owner's own work as well, and nobody else's.
    """
    if task.id == other.id or is_owners(task):
        return True
    if _is_same_origin(task, other) or _is_child(other, task):
        return True
    contact = task.taint is Taint.CONTACT and task.source.kind in _PEOPLE and not _is_agents(task)
    return contact and is_owners(other)


def is_owners(task: Task) -> bool:
    """Whether the owner asked for it, whatever it has read since."""
    if task.taint is Taint.OWNER:
        return True
    if _is_agents(task):
        return False
    match task.source.kind:
        case SourceKind.MANUAL | SourceKind.CONVERSATION:
            return OUTSIDE not in task.context
        case SourceKind.CALDAV:
            return task.context.get(ORGANIZER) == OWNER
        case _:
            return False


def _is_same_origin(task: Task, other: Task) -> bool:
    if is_owners(other):
        return False
    origin = _origin(task)
    if origin is not None and origin == _origin(other):
        return True
    if task.retry_of == other.id:
        return True  # the owner has the same request tried again
    # Runs of an agent's series are not named after their agent.
    agents = _is_agents(task) and _is_agents(other)
    return agents and task.series_id is not None and task.series_id == other.series_id


def _origin(task: Task) -> Origin | None:
    """The one outsider who asked for it; None if nobody can be named for sure."""
    kind, ref = task.source.kind, task.source.ref
    if _is_agents(task):
        found = _AGENT.match(ref) or _PARENT.match(ref)
        return (SourceKind.AGENT, found[1]) if found else None
    if kind is SourceKind.MANUAL:
        folder = _FOLDER.match(ref)
        return ("folder", folder[1]) if folder else None
    if kind is SourceKind.EMAIL and task.context.get("sender_verified") is not True:
        return None
    names = [task.context.get(name) for name in _NAMED_BY.get(kind, ("",))]
    texts = [name.casefold() for name in names if isinstance(name, str) and name]
    return (kind, *texts) if len(texts) == len(names) else None


def _is_agents(task: Task) -> bool:
    return task.created_by is Creator.AGENT or task.source.kind is SourceKind.AGENT


def _is_child(other: Task, task: Task) -> bool:
    """Whether a task made the other one."""
    return _is_agents(other) and _origin(other) == (SourceKind.AGENT, task.id)
