"""Who calls and with which scopes, and which tasks the work on another task may see.

That rule holds for recall and every tool: otherwise somebody who may start work here could ask for
the work of others. The table of who sees what is in docs/howto/memory.md.
"""

import re
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from remit.model.task import Creator, SourceKind, Taint, Task


class Scope(StrEnum):
    READ = "read"  # read tasks
    WRITE = "write"  # create, stop and start tasks
    APPROVE = "approve"  # decide reviews
    ADMIN = "admin"  # tokens, channels, contacts, rules


ALL: Final = frozenset(Scope)


class Caller(Struct, frozen=True):
    """Who makes a request. An agent's token never holds `approve` or `admin`."""

    name: str
    scopes: frozenset[Scope] = ALL
    agent: bool = False

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes and not (self.agent and scope in OWNERS)


OWNERS: Final = frozenset({Scope.APPROVE, Scope.ADMIN})
OWNER: Final = Caller("owner")
NOBODY: Final = Caller("nobody", frozenset())


Origin: TypeAlias = tuple[str, ...]

OUTSIDE: Final = "outside"  # context key: what came in from outside, not from the owner
ORGANIZER: Final = "organizer"  # context key of a calendar's task: who organises the event
OWNER_ORGANIZES: Final = "owner"
_AGENT: Final = re.compile(r"(tok-[^/:]+|owner)/")  # the token of the agent that created it
_PARENT: Final = re.compile(r"(task-[^/:@]+):")  # the task that created it
_FOLDER: Final = re.compile(r"folder:(\S+) ")
# Where a task's context names who asked for it. A retry keeps its context.
_NAMED_BY: Final = {
    SourceKind.WEBHOOK: ("hook",),
    SourceKind.EMAIL: ("sender",),
    SourceKind.WHATSAPP: ("sender",),
    SourceKind.CALDAV: ("calendar", "uid"),
}
_PEOPLE: Final = frozenset({SourceKind.EMAIL, SourceKind.WHATSAPP, SourceKind.CALDAV})


def may_see(task: Task, other: Task) -> bool:
    """Whether work on `task` may see `other`.

    The owner's tasks see all; an outsider's see what the same outsider asked for. A contact's tasks
    also see the owner's own tasks.
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
            return task.context.get(ORGANIZER) == OWNER_ORGANIZES
        case _:
            return False


def _is_same_origin(task: Task, other: Task) -> bool:
    if is_owners(other):
        return False
    origin = _origin(task)
    if origin is not None and origin == _origin(other):
        return True
    if task.retry_of == other.id:
        return True  # the owner retries the same request
    # Runs of an agent's series do not name the agent.
    agents = _is_agents(task) and _is_agents(other)
    return agents and task.series_id is not None and task.series_id == other.series_id


def _origin(task: Task) -> Origin | None:
    """Return the one outsider who asked for it; None if that is not certain."""
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
    """Whether `task` created the other one."""
    return _is_agents(other) and _origin(other) == (SourceKind.AGENT, task.id)
