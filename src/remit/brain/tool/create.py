"""The tool that lets the brain create a task, for later or in parallel.

The new task goes through normal admission. The brain cannot choose recipients: the result goes to
the owner's dashboard. Code limits how deeply tasks may create tasks, and how many one run may
create.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from remit.brain.tool.own import OwnTool, takes, text
from remit.errors import BadInput
from remit.model.codec import moment, stamp
from remit.model.delivery import Delivery
from remit.model.plan import WorkItem
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Creator, Cue, Source, SourceKind, Task
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
