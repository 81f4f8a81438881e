"""The tools that read a task's log, newest lines first, and that search earlier tasks."""

from collections.abc import Awaitable, Callable, Iterable
from functools import reduce
from typing import Final, TypeAlias

from remit.brain.tool.own import OwnTool, number, takes, text
from remit.errors import NotFound
from remit.journal import follow
from remit.model.codec import stamp
from remit.model.ids import TaskId, task_id
from remit.model.likeness import SimilarTask
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.run import Event
from remit.model.task import Taint, Task
from remit.model.visibility import may_see
from remit.store import events, search, tasks
from remit.store.database import Database, Tx

MAX_LINES: Final = 200
MAX_CHARACTERS: Final = 20_000
_MAX_LINE_CHARACTERS: Final = 4_000
_MAX_TASKS: Final = 10
_LOG: Final = Tool(
    "read_task_log",
    "Read what happened in a task, line by line; without task_id, in this one and in those before "
    "it that are the same work.",
    takes(
        task_id={"type": "string", "description": "As search_tasks gives it."},
        last={"type": "integer", "minimum": 1, "maximum": MAX_LINES},
        before={"type": "integer", "minimum": 1, "description": "Only lines before this one."},
    ),
)


def read_task_log(policy: Policy, db: Database) -> OwnTool:
    async def read(task: Task, call: ToolCall) -> ToolResult:
        named = text(call, "task_id")
        last, before = number(call, "last", 40), number(call, "before", 0)
        wanted = task_id(named) if named else None
        read, found = await db.read(_read_events, task, wanted, last, before)
        return ToolResult(
            call.id, _newest_lines(found, last), taint=_worst(each.taint for each in read)
        )

    return OwnTool(_LOG, policy, read)


def _read_events(
    tx: Tx, task: Task, wanted: TaskId | None, last: int, before: int
) -> tuple[list[Task], list[Event]]:
    """Return the tasks to read, and one line more than requested, if there is one."""
    if wanted is None:
        session = search.TaskFilter(session=task.session_id, limit=_MAX_TASKS)
        read = [each for each in search.page(tx, session).tasks if may_see(task, each)]
    else:
        read = [tasks.get(tx, wanted)]
        # A task it may not see is reported like a missing one.
        if read[0].deleted_at is not None or not may_see(task, read[0]):
            raise NotFound("task", wanted)
    lines = [event for each in read for event in events.last_of_task(tx, each.id, last + 1, before)]
    lines.sort(key=lambda event: event.seq)
    return read, lines[-last - 1 :]


def _newest_lines(found: list[Event], last: int) -> str:
    """The newest lines that fit, in order, and how to get at those before them."""
    shown: list[str] = []
    room = MAX_CHARACTERS
    for event in reversed(found[-last:]):
        line = follow.line(event).rstrip()
        line = line if len(line) <= _MAX_LINE_CHARACTERS else f"{line[:_MAX_LINE_CHARACTERS]}…"
        line = f"{event.task_id} {line}"
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    if not shown:
        return "There is nothing."
    if len(shown) < len(found):
        shown.append(f"…more: ask with before={found[-len(shown)].seq}")
    return "\n".join(reversed(shown))


# Given words, a number, and a filter for visible tasks: similar tasks.
Find: TypeAlias = Callable[[str, int, Callable[[Task], bool]], Awaitable[list[SimilarTask]]]

MAX_RESULTS: Final = 10
_LOOKED: Final = 50  # with the words, of which some may not be told
_SEARCH: Final = Tool(
    "search_tasks",
    "Find earlier tasks: first those that hold all these words, newest first; then those that are "
    "about the same in other words.",
    takes(
        "query",
        query={"type": "string", "minLength": 1, "maxLength": 300},
        limit={"type": "integer", "minimum": 1, "maximum": MAX_RESULTS},
    ),
)


def search_tasks(policy: Policy, db: Database, find: Find | None = None) -> OwnTool:
    async def look(task: Task, call: ToolCall) -> ToolResult:
        query, limit = text(call, "query"), min(number(call, "limit", MAX_RESULTS), MAX_RESULTS)

        def fits(other: Task) -> bool:
            return other.id != task.id and may_see(task, other)

        page = await db.read(search.page, search.TaskFilter(text=query, limit=_LOOKED))
        found = [each for each in page.tasks if fits(each)][:limit]
        lines = [_line(each) for each in found]
        taints = [each.taint for each in found]
        known = {each.id for each in found}
        for alike in await find(query, limit, fits) if find and len(found) < limit else ():
            if alike.task.id not in known and len(lines) < limit:
                lines.append(f"{_line(alike.task)} (alike)")
                taints.append(alike.taint)
        return ToolResult(call.id, "\n".join(lines) or "Nothing was found.", taint=_worst(taints))

    return OwnTool(_SEARCH, policy, look)


def _worst(taints: Iterable[Taint]) -> Taint:
    return reduce(Taint.joined, taints, Taint.OWNER)


def _line(task: Task) -> str:
    outcome = f": {task.result_summary}" if task.result_summary else ""
    when = stamp(task.completed_at or task.created_at)[:10]
    return f"- {task.id} · {task.title} · {task.status} · {when}{outcome}"
