"""Tools for the task's own files: list, read and write."""

import asyncio
from pathlib import Path
from typing import Final

from remit.brain.tool.own import OwnTool, takes, text
from remit.brain.tool.workspace import Workspace
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.task import Task

_PATH: Final = "In the task's own folder, such as notes/offers.md."
_LIST: Final = Tool("list_files", "List the files of this task, with their sizes.", takes())
_READ: Final = Tool(
    "read_file",
    "Read a text file of this task.",
    takes("path", path={"type": "string", "description": _PATH}),
)
_WRITE: Final = Tool(
    "write_file",
    "Write a whole text file of this task; what it held before is gone.",
    takes(
        "path",
        "text",
        path={"type": "string", "description": _PATH},
        text={"type": "string"},
    ),
)


def list_files(policy: Policy, root: Path) -> OwnTool:
    async def look(task: Task, call: ToolCall) -> ToolResult:
        found = await asyncio.to_thread(Workspace(root, task.id).files)
        told = "\n".join(f"{path} ({size} bytes)" for path, size in found)
        return ToolResult(call.id, told or "There are no files yet.", taint=task.taint)

    return OwnTool(_LIST, policy, look)


def read_file(policy: Policy, root: Path) -> OwnTool:
    async def read(task: Task, call: ToolCall) -> ToolResult:
        found = await asyncio.to_thread(Workspace(root, task.id).read, text(call, "path"))
        # Its writer had read no more than the task has by now.
        return ToolResult(call.id, found, taint=task.taint)

    return OwnTool(_READ, policy, read)


def write_file(policy: Policy, root: Path) -> OwnTool:
    async def write(task: Task, call: ToolCall) -> ToolResult:
        path = text(call, "path")
        size = await asyncio.to_thread(Workspace(root, task.id).write, path, text(call, "text"))
        return ToolResult(call.id, f"{path} is written, {size} bytes.")

    return OwnTool(_WRITE, policy, write)
