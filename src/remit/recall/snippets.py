"""A task as an entry of the index, and earlier runs in words."""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Final

from msgspec.structs import replace

from remit.model.codec import Json, JsonMap, stamp, stored_text
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import NearestTask
from remit.model.task import Creator, Taint, Task
from remit.store.sessions import PastRun, SessionSummary

_TAINTS: Final = {each.value: each for each in Taint}
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
    parts = [task.title]
    if task.instructions.strip() != task.title.strip() and not _is_of_a_door(task):
        parts.append(task.instructions)
    parts += _context_words(task.context)
    whole = "\n".join(" ".join(part.split()) for part in parts if part.strip())
    return hide(whole)[:MOST_TEXT]


def _is_of_a_door(task: Task) -> bool:
    """Whether the instructions are the owner's text for everything that comes in one way.

    They would make all tasks of that way similar.
    """
    return task.created_by is Creator.SCHEDULER and "outside" in task.context


def index_payload(task: Task) -> JsonMap:
    """Return the payload of the vector: source, time, status and taint; the text is put in."""
    return {
        "task_id": task.id,
        "session": task.session_id,
        "source": task.source.kind.value,
        "taint": task.taint.value,
        "status": task.status.value if task.ended else OPEN,
        "created": stamp(task.created_at),
        "text": "",
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest_of(payload: JsonMap) -> str:
    return digest(stored_text(payload))


def point(task_id: TaskId) -> str:
    """Return the id of a task's point."""
    number = 0
    for letter in task_id.removeprefix("task-"):
        number = number << 5 | _LETTERS[letter]
    return str(uuid.UUID(int=number))


def parse_near(score: float, payload: JsonMap) -> NearestTask:
    """Parse the payload of a point; an unreadable taint counts as the least trusted."""
    taint = payload.get("taint")
    return NearestTask(
        TaskId(str(payload.get("task_id", ""))),
        score,
        SessionId(str(payload.get("session", ""))),
        _TAINTS.get(str(taint), Taint.PUBLIC),
        str(payload.get("status", "")),
    )


def _context_words(context: Json, key: str = "") -> Iterator[str]:
    """Yield the words in a context, without ids and fields for machines."""
    if key in _INNER:
        return
    match context:
        case dict():
            for name, each in context.items():
                yield from _context_words(each, name)
        case list():
            for each in context:
                yield from _context_words(each)
        case str() if not _ID.fullmatch(context.strip()):
            yield context


MOST_SUMMARY: Final = 8_000  # characters; about 2,000 tokens
_LINE: Final = 160
_FOLDED: Final = "(The oldest of "


def summed_up(
    made: SessionSummary, before: SessionSummary | None, older: Sequence[PastRun], zone: tzinfo
) -> SessionSummary:
    """Add one line per run to the summary; if it gets too long, the oldest lines are left out."""
    known = before.text.splitlines() if before else []
    kept = [each for each in known if not each.startswith(_FOLDED)]
    note = f"{_FOLDED}{made.runs} runs since {day(made.since, zone)} are left out.)"
    room = MOST_SUMMARY - len(note) - 1
    fitting: list[str] = []
    lines = [*kept, *(_came_to(each, zone) for each in older)]
    for each in reversed(lines):
        room -= len(each) + 1
        if room < 0:
            break
        fitting.append(each)
    folded = len(kept) < len(known) or len(fitting) < len(lines)
    return replace(made, text="\n".join([*([note] if folded else []), *reversed(fitting)]))


def run(past: PastRun, zone: tzinfo, most: int) -> str:
    """Return a run as text for a summary."""
    return f"{day(past.ended_at, zone)} {past.title}\n{cut(past.text.strip(), most)}"


def day(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).date().isoformat()


def line(text: str, most: int) -> str:
    """Return a text on one line, cut if it is too long."""
    return cut(" ".join(text.split()), most)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _came_to(past: PastRun, zone: tzinfo) -> str:
    first, *_ = past.text.strip().splitlines() or [""]
    return line(f"{day(past.ended_at, zone)}: {past.title}: {first}", _LINE)
