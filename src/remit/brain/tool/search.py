"""The tool that searches earlier tasks, by words and by similarity."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from remit.brain.tool.own import OwnTool, number, takes, text
from remit.model.codec import stamp
from remit.model.likeness import SimilarTask
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Taint, Task
from remit.model.visibility import may_see
from remit.store import search
from remit.store.database import Database

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


def _worst(taints: list[Taint]) -> Taint:
    worst = Taint.OWNER
    for each in taints:
        worst = worst.joined(each)
    return worst


def _line(task: Task) -> str:
    outcome = f": {task.result_summary}" if task.result_summary else ""
    when = stamp(task.completed_at or task.created_at)[:10]
    return f"- {task.id} · {task.title} · {task.status} · {when}{outcome}"
