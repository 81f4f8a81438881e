"""The MCP tools: arguments, results and behaviour. None of them decides a review."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Final, TypeAlias, TypeVar, cast

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remit.errors import BadInput
from remit.journal import follow
from remit.mcp import shapes
from remit.model import codec, ids
from remit.model.codec import Json, JsonMap
from remit.model.status import Status
from remit.model.task import Priority
from remit.operations.arguments import NewDelivery, NewTask
from remit.peer.agent_operations import (
    MOST_KEY,
    MOST_SHOWN,
    AgentOperations,
    AgentTaskView,
)
from remit.store.agent_tasks import AgentTaskFilter

M = TypeVar("M", bound=BaseModel)
MOST_LOG: Final = 200


class _Args(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CreateTaskArguments(_Args):
    text: Annotated[
        str, Field(min_length=1, max_length=100_000, description="What is to be done, in words.")
    ]
    work: Annotated[
        list[str], Field(max_length=50, description="The steps, in order, if there are several.")
    ] = []
    channel: Annotated[
        str, Field(max_length=100, description="Where the result goes; else to the dashboard.")
    ] = "dashboard"
    recipient: Annotated[
        str | None,
        Field(max_length=500, description="To whom, by name; else to the owner. He is asked."),
    ] = None
    when: Annotated[
        str | None, Field(description="When to start, with an offset: 2026-02-22T15:30:00+01:00.")
    ] = None
    priority: Annotated[Priority | None, Field(strict=False)] = None
    key: Annotated[
        str | None,
        Field(
            min_length=1, max_length=MOST_KEY, description="The same key again is the same task."
        ),
    ] = None


class OneTask(_Args):
    id: Annotated[str, Field(max_length=60, description="As create_task or list_tasks gave it.")]


class SomeTasks(_Args):
    status: Annotated[
        Status | None, Field(strict=False, description="Only those that stand there.")
    ] = None
    cursor: Annotated[
        str | None, Field(max_length=60, description="`next` of the page before.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST_SHOWN)] = 20


class SearchArguments(_Args):
    query: Annotated[
        str, Field(min_length=1, max_length=500, description="Words of title, text or result.")
    ]
    limit: Annotated[int, Field(ge=1, le=MOST_SHOWN)] = 20


class ReadLogArguments(_Args):
    id: Annotated[str, Field(max_length=60)]
    after: Annotated[int, Field(ge=0, description="Go on after this turnNumber.")] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_LOG)] = 50


class ToolOutput(Struct, frozen=True):
    """A tool's result: for a program, for a reader, and the task if it is about one."""

    content: JsonMap
    text: str
    seen: AgentTaskView | None = None


Does: TypeAlias = Callable[[AgentOperations, JsonMap, str], Awaitable[ToolOutput]]


class McpToolEntry(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    says: str
    takes: type[BaseModel]
    gives: JsonMap
    does: Does
    reads: bool = True  # changes nothing
    begins: bool = False  # a client that supports the extension gets the task instead


async def create(desk: AgentOperations, said: JsonMap, fresh: str) -> ToolOutput:
    args = _read(CreateTaskArguments, said)
    task = NewTask(
        args.text,
        work=[*args.work],
        delivery=[NewDelivery(args.channel, args.recipient)],
        scheduled_for=codec.stamp(codec.moment(args.when)) if args.when else None,
        priority=args.priority,
    )
    return _one(await desk.entrust(task, f"given:{args.key}" if args.key else f"fresh:{fresh}"))


async def get(desk: AgentOperations, said: JsonMap, _: str) -> ToolOutput:
    return _one(await desk.look(_read(OneTask, said).id))


async def cancel(desk: AgentOperations, said: JsonMap, _: str) -> ToolOutput:
    return _one(await desk.cancel(_read(OneTask, said).id))


async def some(desk: AgentOperations, said: JsonMap, _: str) -> ToolOutput:
    args = _read(SomeTasks, said)
    before = ids.task_id(args.cursor) if args.cursor else None
    statuses = (args.status,) if args.status else ()
    wanted = AgentTaskFilter(statuses=statuses, before=before, limit=args.limit + 1)
    found = await desk.page(wanted)
    more = found[args.limit - 1].task.id if len(found) > args.limit else None
    return _several(found[: args.limit], {"next": more})


async def search(desk: AgentOperations, said: JsonMap, _: str) -> ToolOutput:
    args = _read(SearchArguments, said)
    return _several(await desk.search(args.query, args.limit), {})


async def log(desk: AgentOperations, said: JsonMap, _: str) -> ToolOutput:
    args = _read(ReadLogArguments, said)
    found = await desk.log(args.id, args.after, args.limit)
    lines: list[Json] = [follow.record(event) for event in found]
    told: JsonMap = {"log": lines, "last": found[-1].n if found else args.after}
    return ToolOutput(told, codec.text_of(told))


def described(tool: McpToolEntry) -> JsonMap:
    """Return a tool as a client lists it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.says,
        "inputSchema": cast("JsonMap", tool.takes.model_json_schema()),
        "outputSchema": tool.gives,
        "annotations": {
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.name == "cancel_task",
            "idempotentHint": not tool.begins,
            "openWorldHint": False,
        },
    }


def _read(kind: type[M], said: JsonMap) -> M:
    try:
        return kind.model_validate(said)
    except ValidationError as bad:
        first = bad.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        sentence = f"{where or 'arguments'}: {first['msg'].rstrip('.')}."
        raise BadInput(sentence, field=where or None) from None


def _one(seen: AgentTaskView) -> ToolOutput:
    return ToolOutput(shapes.task(seen), shapes.text(seen), seen)


def _several(found: list[AgentTaskView], more: JsonMap) -> ToolOutput:
    # A list shows statuses; a result is read one at a time.
    listed: list[Json] = [{**shapes.task(seen), "deliverable": None} for seen in found]
    lines = [f"{seen.task.id}  {seen.task.status}  {seen.task.title}" for seen in found]
    return ToolOutput({"tasks": listed, **more}, "\n".join(lines) or "There are none.")


_TASKS: Final[JsonMap] = {
    "type": "object",
    "properties": {
        "tasks": {"type": "array", "items": shapes.TASK_SCHEMA},
        "next": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["tasks"],
}
_LOG: Final[JsonMap] = {
    "type": "object",
    "properties": {
        "log": {"type": "array", "items": {"type": "object"}},
        "last": {"type": "integer"},
    },
    "required": ["log", "last"],
}
_ALL: Final = (
    McpToolEntry(
        name="create_task",
        title="Entrust a task",
        says="Entrust work to Remit. It is done, checked, and the result is sent or shown; whatever"
        " the owner must decide, he is asked. Returns at once; look with get_task.",
        takes=CreateTaskArguments,
        gives=shapes.TASK_SCHEMA,
        does=create,
        reads=False,
        begins=True,
    ),
    McpToolEntry(
        name="get_task",
        title="Look at a task",
        says="How a task stands, and what was delivered once it is done.",
        takes=OneTask,
        gives=shapes.TASK_SCHEMA,
        does=get,
    ),
    McpToolEntry(
        name="list_tasks",
        title="List tasks",
        says="Tasks, newest first: those you entrusted, or all of them if your token may read.",
        takes=SomeTasks,
        gives=_TASKS,
        does=some,
    ),
    McpToolEntry(
        name="search_tasks",
        title="Search tasks",
        says="Tasks with these words in title, text or result. Needs the scope `read`.",
        takes=SearchArguments,
        gives=_TASKS,
        does=search,
    ),
    McpToolEntry(
        name="read_task_log",
        title="Read a task's log",
        says="What happened to a task, line by line. Needs the scope `read`.",
        takes=ReadLogArguments,
        gives=_LOG,
        does=log,
    ),
    McpToolEntry(
        name="cancel_task",
        title="Stop a task",
        says="Have a task end at its next boundary.",
        takes=OneTask,
        gives=shapes.TASK_SCHEMA,
        does=cancel,
        reads=False,
    ),
)
TOOLS: Final[Mapping[str, McpToolEntry]] = {tool.name: tool for tool in _ALL}
