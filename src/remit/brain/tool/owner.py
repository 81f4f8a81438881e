"""Tools to ask the owner a question and to tick work items."""

from typing import Final

from remit.brain.tool.own import OwnTool, number, takes
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Task

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
