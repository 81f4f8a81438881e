"""The tool that reads a task's log, a few lines at a time, newest first."""

from typing import Final

from remit.brain.tool.own import OwnTool, number, takes, text
from remit.errors import NotFound
from remit.journal import transcript
from remit.model.event import Event
from remit.model.ids import TaskId, task_id
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
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
        taint = Taint.OWNER
        for each in read:
            taint = taint.joined(each.taint)
        return ToolResult(call.id, _newest_lines(found, last), taint=taint)

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
        line = transcript.line(event).rstrip()
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
