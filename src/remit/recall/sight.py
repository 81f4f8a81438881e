"""Which tasks another may be told of: what somebody else asked for sees nothing of the owner's.

Whoever can have work done here, without being known, could else ask for what was done for others.
"""

import re
from typing import Final

from remit.model.task import Creator, SourceKind, Taint, Task

_OWN_WAYS: Final = frozenset({SourceKind.MANUAL, SourceKind.CONVERSATION, SourceKind.CALDAV})
_FAMILY: Final = re.compile(r"[^/:]*")


def may_see(task: Task, other: Task) -> bool:
    """The owner's work sees all. An agent's sees its own; a stranger's what came the same way."""
    if task.taint is Taint.OWNER:
        return True
    if task.created_by is Creator.AGENT or task.source.kind is SourceKind.AGENT:
        return other.source.kind is SourceKind.AGENT and _family(task) == _family(other)
    if task.taint is Taint.PUBLIC and task.source.kind not in _OWN_WAYS:
        return other.source.kind is task.source.kind
    return True


def _family(task: Task) -> str:
    """Who asked: an agent by its key, or the task that made it."""
    found = _FAMILY.match(task.source.ref)
    return found.group() if found else ""
