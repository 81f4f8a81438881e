"""The class of all built-in tools, and helpers to read their arguments."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import Json, JsonMap
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Taint, Task

Work: TypeAlias = Callable[[Task, ToolCall], Awaitable[ToolResult]]
CallPolicy: TypeAlias = Callable[[Task, ToolCall], Awaitable[Policy]]


class OwnTool(Struct, frozen=True):
    """A built-in tool. Each of them is safe to run twice."""

    tool: Tool
    set_to: Policy
    work: Work
    asks_if_tainted: bool = False  # allowed only while the task's taint is the owner's
    may_repeat: bool = True
    warning: str = ""
    for_call: CallPolicy | None = None  # may be stricter for some calls

    def policy(self, task: Task) -> Policy:
        strict = self.asks_if_tainted and task.taint is not Taint.OWNER
        return Policy.ASK if strict and self.set_to is Policy.ALLOW else self.set_to

    async def policy_for(self, task: Task, call: ToolCall) -> Policy:
        policy = self.policy(task)
        if self.for_call is None or policy is not Policy.ALLOW:
            return policy
        return await self.for_call(task, call)

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        return await self.work(task, call)


def takes(*needed: str, **parts: JsonMap) -> JsonMap:
    """Return the schema of arguments: these and no others."""
    return {
        "type": "object",
        "properties": dict[str, Json](parts),
        "required": list[Json](needed),
        "additionalProperties": False,
    }


def text(call: ToolCall, name: str, default: str = "") -> str:
    value = call.args.get(name, default)
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {value!r:.60}.", field=name)
    return value


def number(call: ToolCall, name: str, default: int) -> int:
    value = call.args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} must be a whole number, not {value!r:.60}.", field=name)
    return int(value)
