"""The tools to create a task, ask the owner and tick items, and the list of all built-in tools.

A task that the brain creates goes through normal admission, and its result goes to the owner's
dashboard. Code limits how deeply tasks may create tasks, and how many one run may create.
"""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from remit.brain.tool import log, workspace
from remit.brain.tool.own import OwnTool, number, takes, text
from remit.brain.tool.web import WebTools
from remit.errors import BadInput
from remit.files.kept_files import KeptFiles
from remit.model.codec import moment, stamp
from remit.model.delivery import Delivery
from remit.model.plan import WorkItem
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Creator, Cue, Source, SourceKind, Task
from remit.settings import ToolSettings
from remit.store import tasks
from remit.store.database import Database

Admit: TypeAlias = Callable[[Cue], Awaitable[Task]]

MAX_DEPTH: Final = 3
MAX_CHILDREN: Final = 10  # of one run
_CREATE: Final = Tool(
    "create_task",
    "Make a task of its own, now or for later. Its outcome is shown to the owner.",
    takes(
        "title",
        "instructions",
        title={"type": "string", "minLength": 1, "maxLength": 300},
        instructions={"type": "string", "minLength": 1, "maxLength": 20_000},
        work={
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 500},
            "maxItems": 50,
            "description": "The steps, in order, if there are several.",
        },
        when={
            "type": "string",
            "description": "When to start, with an offset: 2026-02-22T15:30:00+01:00. Else now.",
        },
    ),
)


def create_task(policy: Policy, db: Database, admit: Admit) -> OwnTool:
    async def create(task: Task, call: ToolCall) -> ToolResult:
        cue = _cue(task, call)
        known = await db.read(tasks.child_refs, _family(task), MAX_CHILDREN)
        if len(known) >= MAX_CHILDREN and cue.source.ref not in known:
            raise BadInput(f"A run makes at most {MAX_CHILDREN} tasks; this one has made them.")
        made = await admit(cue)
        when = f"for {stamp(made.scheduled_for)}" if made.scheduled_for else "to start now"
        return ToolResult(call.id, f"{made.id} is made, {when}.", taint=task.taint)

    return OwnTool(_CREATE, policy, create, asks_if_tainted=True)


def depth(task: Task) -> int:
    """Return how many tasks are above this one; only tasks made by a brain have any."""
    counted = task.context.get("depth")
    made = task.source.kind is SourceKind.AGENT
    return counted if made and isinstance(counted, int) else 0


def _cue(task: Task, call: ToolCall) -> Cue:
    below = depth(task) + 1
    if below > MAX_DEPTH:
        sentence = f"This task was made {MAX_DEPTH} tasks deep; it makes no more. Do it here."
        raise BadInput(sentence)
    items = call.args.get("work")
    when = text(call, "when")
    # The same call after a crash is the same task; the arguments are part of the ref because a
    # vendor may give two calls one id.
    same = hashlib.sha256(f"{call.id}\x1f{call.digest}".encode()).hexdigest()[:32]
    return Cue(
        source=Source(SourceKind.AGENT, _family(task) + same),
        title=text(call, "title"),
        text=text(call, "instructions"),
        work=tuple(WorkItem(str(item)) for item in items) if isinstance(items, list) else (),
        delivery=(Delivery("dashboard"),),
        scheduled_for=moment(when) if when else None,
        context={"parent": task.id, "depth": below},
        created_by=Creator.AGENT,
        taint=task.taint,
    )


def _family(task: Task) -> str:
    return f"{task.id}:{task.round}:"


_ASK: Final = Tool(
    "ask_owner",
    "Ask the person you work for, and wait for the answer. Only for what you cannot find out.",
    takes(
        "question",
        question={"type": "string", "minLength": 1, "maxLength": 2000},
        options={
            "type": "array",
            "items": {"type": "string", "maxLength": 200},
            "maxItems": 10,
            "description": "Answers to choose from, if there are some.",
        },
    ),
)
_TICK: Final = Tool(
    "tick_item",
    "Say that a work item of this task is done, as soon as it is; the owner sees it at once.",
    takes("n", n={"type": "integer", "description": "The number of the item, from 1."}),
)


def ask_owner(policy: Policy) -> OwnTool:
    """The run itself asks; this handles only an invalid question."""
    return OwnTool(_ASK, policy, _ask)


def tick_item(policy: Policy) -> OwnTool:
    return OwnTool(_TICK, policy, _tick)


async def _ask(task: Task, call: ToolCall) -> ToolResult:
    del task
    return ToolResult(call.id, "The question is empty; ask it in words.", failed=True)


async def _tick(task: Task, call: ToolCall) -> ToolResult:
    n = number(call, "n", 0)
    if 1 <= n <= len(task.work):
        return ToolResult(call.id, f"Item {n} is done.", done=(n,))
    there = "\n".join(f"{at}. {item.description}" for at, item in enumerate(task.work, 1))
    why = f"There is no item {n}. There is:\n{there}" if there else "This task has no work items."
    return ToolResult(call.id, why, failed=True)


def own(  # noqa: PLR0913 - each tool needs something else
    tools: ToolSettings,
    db: Database,
    admit: Admit,
    work: Path,
    *,
    kept: KeptFiles,
    find: log.Find | None = None,
    web: WebTools | None = None,
    sees: Callable[[], bool] = lambda: False,
) -> list[OwnTool]:
    """Return every tool that is not denied; `find` searches earlier tasks by similarity."""
    every = [
        log.read_task_log(tools.read_task_log, db),
        log.search_tasks(tools.search_tasks, db, find),
        create_task(tools.create_task, db, admit),
        ask_owner(tools.ask_owner),
        tick_item(tools.tick_item),
        workspace.list_files(tools.list_files, work),
        workspace.read_file(tools.read_file, work, kept, sees),
        workspace.write_file(tools.write_file, work),
        *(web.tools(tools.fetch, tools.search) if web else ()),
    ]
    return [each for each in every if each.set_to is not Policy.DENY]
