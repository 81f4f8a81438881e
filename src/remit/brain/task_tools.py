"""The tools about tasks: create, read their logs, search, ask the owner, tick; all built-in tools.

A task that the brain creates goes through normal admission, and its result goes to the owner's
dashboard. Code limits how deeply tasks may create tasks, and how many one run may create.
"""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from remit.brain import workspace_tools
from remit.brain.tools import TOOLS, OwnTool, number_argument, text_argument
from remit.brain.web_tools import WebTools
from remit.errors import BadInput, NotFound
from remit.files.kept_files import KeptFiles
from remit.journal import follow
from remit.model.caller import may_see
from remit.model.codec import moment, stamp
from remit.model.contract import WorkItem
from remit.model.delivery import Delivery
from remit.model.ids import TaskId, task_id
from remit.model.likeness import SimilarTask
from remit.model.reply import Policy, ToolCall, ToolResult
from remit.model.run import Event
from remit.model.task import Creator, Cue, Source, SourceKind, Task, worst_taint
from remit.settings import ToolSettings
from remit.store import events, search, tasks
from remit.store.database import Database, Tx

Admit: TypeAlias = Callable[[Cue], Awaitable[Task]]

MAX_DEPTH: Final = 3
MAX_CHILDREN: Final = 10  # of one run


def create_task(policy: Policy, db: Database, admit: Admit) -> OwnTool:
    async def create(task: Task, call: ToolCall) -> ToolResult:
        cue = _cue(task, call)
        known = await db.read(tasks.child_refs, _family(task), MAX_CHILDREN)
        if len(known) >= MAX_CHILDREN and cue.source.ref not in known:
            raise BadInput(f"A run makes at most {MAX_CHILDREN} tasks; this one has made them.")
        made = await admit(cue)
        when = f"for {stamp(made.scheduled_for)}" if made.scheduled_for else "to start now"
        return ToolResult(call.id, f"{made.id} is made, {when}.", taint=task.taint)

    return OwnTool(TOOLS["create_task"], policy, create, asks_if_tainted=True)


def task_depth(task: Task) -> int:
    """Return how many tasks are above this one; only tasks made by a brain have any."""
    counted = task.context.get("depth")
    made = task.source.kind is SourceKind.AGENT
    return counted if made and isinstance(counted, int) else 0


def _cue(task: Task, call: ToolCall) -> Cue:
    below = task_depth(task) + 1
    if below > MAX_DEPTH:
        sentence = f"This task was made {MAX_DEPTH} tasks deep; it makes no more. Do it here."
        raise BadInput(sentence)
    items = call.args.get("work")
    when = text_argument(call, "when")
    # The same call after a crash is the same task; the arguments are part of the ref because a
    # vendor may give two calls one id.
    same = hashlib.sha256(f"{call.id}\x1f{call.digest}".encode()).hexdigest()[:32]
    return Cue(
        source=Source(SourceKind.AGENT, _family(task) + same),
        title=text_argument(call, "title"),
        text=text_argument(call, "instructions"),
        work=tuple(WorkItem(str(item)) for item in items) if isinstance(items, list) else (),
        delivery=(Delivery("dashboard"),),
        scheduled_for=moment(when) if when else None,
        context={"parent": task.id, "depth": below},
        created_by=Creator.AGENT,
        taint=task.taint,
    )


def _family(task: Task) -> str:
    return f"{task.id}:{task.round}:"


def ask_owner(policy: Policy) -> OwnTool:
    """The run itself asks; this handles only an invalid question."""
    return OwnTool(TOOLS["ask_owner"], policy, _ask)


def tick_item(policy: Policy) -> OwnTool:
    return OwnTool(TOOLS["tick_item"], policy, _tick)


async def _ask(task: Task, call: ToolCall) -> ToolResult:
    del task
    return ToolResult(call.id, "The question is empty; ask it in words.", failed=True)


async def _tick(task: Task, call: ToolCall) -> ToolResult:
    n = number_argument(call, "n", 0)
    if 1 <= n <= len(task.work):
        return ToolResult(call.id, f"Item {n} is done.", done=(n,))
    there = "\n".join(f"{at}. {item.description}" for at, item in enumerate(task.work, 1))
    why = f"There is no item {n}. There is:\n{there}" if there else "This task has no work items."
    return ToolResult(call.id, why, failed=True)


MAX_CHARACTERS: Final = 20_000
_MAX_LINE_CHARACTERS: Final = 4_000
_MAX_TASKS: Final = 10


def read_task_log(policy: Policy, db: Database) -> OwnTool:
    async def read(task: Task, call: ToolCall) -> ToolResult:
        named = text_argument(call, "task_id")
        last, before = number_argument(call, "last", 40), number_argument(call, "before", 0)
        wanted = task_id(named) if named else None
        read, found = await db.read(_read_events, task, wanted, last, before)
        return ToolResult(
            call.id, _newest_lines(found, last), taint=worst_taint(each.taint for each in read)
        )

    return OwnTool(TOOLS["read_task_log"], policy, read)


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


def search_tasks(policy: Policy, db: Database, find: Find | None = None) -> OwnTool:
    async def look(task: Task, call: ToolCall) -> ToolResult:
        query, limit = (
            text_argument(call, "query"),
            min(number_argument(call, "limit", MAX_RESULTS), MAX_RESULTS),
        )

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
        return ToolResult(
            call.id, "\n".join(lines) or "Nothing was found.", taint=worst_taint(taints)
        )

    return OwnTool(TOOLS["search_tasks"], policy, look)


def _line(task: Task) -> str:
    outcome = f": {task.result_summary}" if task.result_summary else ""
    when = stamp(task.completed_at or task.created_at)[:10]
    return f"- {task.id} · {task.title} · {task.status} · {when}{outcome}"


def built_in_tools(  # noqa: PLR0913 - each tool needs something else
    tools: ToolSettings,
    db: Database,
    admit: Admit,
    work: Path,
    *,
    kept: KeptFiles,
    find: Find | None = None,
    web: WebTools | None = None,
    sees: Callable[[], bool] = lambda: False,
) -> list[OwnTool]:
    """Return every tool that is not denied; `find` searches earlier tasks by similarity."""
    every = [
        read_task_log(tools.read_task_log, db),
        search_tasks(tools.search_tasks, db, find),
        create_task(tools.create_task, db, admit),
        ask_owner(tools.ask_owner),
        tick_item(tools.tick_item),
        workspace_tools.list_files(tools.list_files, work),
        workspace_tools.read_file(tools.read_file, work, kept, sees),
        workspace_tools.write_file(tools.write_file, work),
        *(web.tools(tools.fetch, tools.search) if web else ()),
    ]
    return [each for each in every if each.set_to is not Policy.DENY]
