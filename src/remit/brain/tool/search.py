"""Looking for earlier tasks by their words."""

from typing import Final

from remit.brain.tool.own import Own, number, takes, text
from remit.model.codec import stamp
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Taint, Task
from remit.store import search
from remit.store.database import Database

MOST: Final = 10
_SEARCH: Final = Tool(
    "search_tasks",
    "Find earlier tasks whose title, instructions or outcome hold all these words; newest first.",
    takes(
        "query",
        query={"type": "string", "minLength": 1, "maxLength": 300},
        limit={"type": "integer", "minimum": 1, "maximum": MOST},
    ),
)


def search_tasks(policy: Policy, db: Database) -> Own:
    async def look(task: Task, call: ToolCall) -> ToolResult:
        limit = min(number(call, "limit", MOST), MOST) + 1
        wanted = search.Filter(text=text(call, "query"), limit=limit)
        page = await db.read(search.page, wanted)
        found = [each for each in page.tasks if each.id != task.id][: limit - 1]
        taint = Taint.OWNER
        for each in found:
            taint = taint.joined(each.taint)
        told = "\n".join(map(_line, found)) or "Nothing was found."
        return ToolResult(call.id, told, taint=taint)

    return Own(_SEARCH, policy, look)


def _line(task: Task) -> str:
    outcome = f": {task.result_summary}" if task.result_summary else ""
    when = stamp(task.completed_at or task.created_at)[:10]
    return f"- {task.id} · {task.title} · {task.status} · {when}{outcome}"
