"""A task as an entry of the index: its text, its payload, and the id of its point.

The collection is called `task_snippets`. The id of a point is the task's own id: a ULID and a UUID
are the same 128 bits in different letters.
"""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Final

from remit.model.codec import Json, JsonMap, stamp, text_of
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import NearestTask
from remit.model.task import Creator, Taint, Task

COLLECTION: Final = "task_snippets"
MOST_TEXT: Final = 1_200  # characters; no embedder here reads further
OPEN: Final = "open"  # the status of all that has not ended
_LETTERS: Final = {letter: n for n, letter in enumerate("0123456789ABCDEFGHJKMNPQRSTVWXYZ")}
_INNER: Final = frozenset(  # what a context holds for the machine
    {"agent", "depth", "group", "left_out", "organizer", "parent", "project", "threads", "uid"}
)
_ID: Final = re.compile(r"[\w-]*\d[\w-]{11,}|[^\s@]+@[^\s@]+|https?://\S+")


def words(task: Task, hide: Callable[[str], str]) -> str:
    """Return what a task is about: title, instructions and context, without secrets."""
    said = [task.title]
    if task.instructions.strip() != task.title.strip() and not _is_of_a_door(task):
        said.append(task.instructions)
    said += _told(task.context)
    whole = "\n".join(" ".join(part.split()) for part in said if part.strip())
    return hide(whole)[:MOST_TEXT]


def _is_of_a_door(task: Task) -> bool:
    """Whether the instructions are the owner's text for everything that comes in one way.

    They would make all tasks of that way similar.
    """
    return task.created_by is Creator.SCHEDULER and "outside" in task.context


def beside(task: Task, text: str) -> JsonMap:
    """Return the payload of the vector: source, time, status, taint and text."""
    return {
        "task_id": task.id,
        "session": task.session_id,
        "source": task.source.kind.value,
        "taint": task.taint.value,
        "status": task.status.value if task.ended else OPEN,
        "created": stamp(task.created_at),
        "text": text,
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest_of(told: JsonMap) -> str:
    return digest(text_of(told))


def point(task_id: TaskId) -> str:
    """Return the id of a task's point."""
    number = 0
    for letter in task_id.removeprefix("task-"):
        number = number << 5 | _LETTERS[letter]
    return str(uuid.UUID(int=number))


def near(score: float, told: JsonMap) -> NearestTask:
    """Parse the payload of a point; an unreadable taint counts as the least trusted."""
    taint = told.get("taint")
    return NearestTask(
        TaskId(str(told.get("task_id", ""))),
        score,
        SessionId(str(told.get("session", ""))),
        Taint(taint) if taint in set(Taint) else Taint.PUBLIC,
    )


def _told(context: Json, key: str = "") -> Iterator[str]:
    """Yield the words in a context, without ids and fields for machines."""
    if key in _INNER:
        return
    match context:
        case dict():
            for name, each in context.items():
                yield from _told(each, name)
        case list():
            for each in context:
                yield from _told(each)
        case str() if not _ID.fullmatch(context.strip()):
            yield context
