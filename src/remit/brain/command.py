"""Runs a command from the settings instead of asking a brain, and reports its output.

A task names its command as its agent, `command:backup`. The first turn asks for that one tool. The
run records the start of the tool, so a crash does not run it twice unless the settings allow that.
The second turn makes a reply from the result. The tool is allowed only in tasks made for it, so no
model can call it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from remit.errors import Permanent, Transient
from remit.model.contract import Plan
from remit.model.reply import Exchange, Policy, Reply, Tool, ToolCall, ToolResult
from remit.model.task import Creator, Taint, Task
from remit.settings import CommandSettings
from remit.system import process as programs
from remit.system.files import write_atomic

PREFIX: Final = "command:"
OUTPUT: Final = "output.txt"  # in the task's workspace
MAX_OUTPUT_BYTES: Final = 1_000_000
MAX_REPLY_CHARACTERS: Final = 4_000
_ALWAYS: Final = ("PATH", "HOME", "LANG")
_WENT_WELL: Final = "exit 0"


def is_for(task: Task) -> bool:
    return (task.assigned_agent or "").startswith(PREFIX)


def turn(task: Task, plan: Plan, past: Sequence[Exchange]) -> Reply:
    """Return a call of the command; after it ended, a reply with its output."""
    if not past:
        return Reply("", calls=(ToolCall("command", str(task.assigned_agent)),))
    (result,) = past[-1].results
    if result.failed:
        raise Permanent(result.text)
    head, _, output_text = result.text.partition("\n")
    if head != _WENT_WELL or not plan.delivery:
        return Reply(result.text)
    # The output is judged like a brain's words: tags or control characters are held.
    name = str(task.assigned_agent).removeprefix(PREFIX)
    body = output_text if output_text.strip() else f"{name} ended well and said nothing."
    return Reply(f"{head}\n\n<deliverable>\n{body}\n</deliverable>")


class CommandTool:
    """Runs one command of the settings, for the tasks made for it."""

    def __init__(
        self,
        name: str,
        command: CommandSettings,
        *,
        work: Path,
        environ: Mapping[str, str],
        limit: float,
    ) -> None:
        self.tool = Tool(PREFIX + name, f"Runs the command {name} of the settings.")
        self.warning = ""
        self._name = name
        self._command = command
        self._work = work  # the parent folder of the tasks' workspaces
        self._limit = min(command.timeout, limit)
        names = (*_ALWAYS, *command.env)
        self._environ = {key: environ[key] for key in names if key in environ}

    @property
    def may_repeat(self) -> bool:
        return self._command.repeat

    def policy(self, task: Task) -> Policy:
        mine = task.assigned_agent == self.tool.name and task.created_by is not Creator.AGENT
        return Policy.ALLOW if mine else Policy.DENY

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        workspace = self._work / task.id
        try:
            workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
            ended = await self._run(self._command.cwd or str(workspace))
            await asyncio.to_thread(write_atomic, workspace / OUTPUT, ended.out, durable=False)
        except OSError as error:
            sentence = f"{self._name} could not be run: {error.strerror or error}."
            return ToolResult(call.id, sentence, failed=True)
        output_text = ended.out.decode("utf-8", "replace")
        if ended.code == 0:
            text = f"{_WENT_WELL}\n{_tail(output_text)}"
            return ToolResult(call.id, text, taint=Taint.PUBLIC, raw=True)
        how = programs.describe_exit(ended.code, self._limit)
        sentence = programs.describe_failure(self._name, how, output_text)
        return ToolResult(call.id, sentence, failed=True, taint=Taint.PUBLIC, raw=True)

    async def output(self) -> bytes:
        """Run it in a folder of its own and return its output; a failure is an error."""
        folder = self._work / "watch"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            ended = await self._run(self._command.cwd or str(folder))
        except OSError as error:
            raise Transient(f"{self._name} could not be run: {error.strerror or error}.") from None
        if ended.code != 0:
            raise Transient(f"{self._name} {programs.describe_exit(ended.code, self._limit)}.")
        return ended.out

    async def _run(self, where: str) -> programs.ProgramEnd:
        process = await asyncio.create_subprocess_exec(
            *self._command.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=where,
            env=self._environ,
            start_new_session=True,
        )
        return await programs.run_to_end(process, self._limit, MAX_OUTPUT_BYTES)


def _tail(text: str) -> str:
    """Return the end of the output, in whole lines, saying how much is left out."""
    text = text.rstrip()
    if len(text) <= MAX_REPLY_CHARACTERS:
        return text
    start = (
        text.find("\n", len(text) - MAX_REPLY_CHARACTERS) + 1 or len(text) - MAX_REPLY_CHARACTERS
    )
    return f"(the end of {len(text)} characters; the rest is in {OUTPUT})\n{text[start:]}"
