"""Freezes the files that a text names: checks and keeps them, writes their hashes into it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from remit.brain.workspace_tools import Workspace
from remit.delivery.courier import Courier
from remit.errors import BadInput
from remit.files import checks, reader
from remit.files.kept_files import KeptFiles
from remit.gate import GateSecrets, leak
from remit.gate.eye import fold
from remit.model.delivery import Delivery
from remit.model.reply import Deliverable, Hold
from remit.model.task import Task
from remit.model.task_file import (
    TaskFile,
    asked_path,
    frozen_file,
    has_files,
    join_body,
    split_lines,
)
from remit.ports import Steps


class AttachedText(Struct, frozen=True):
    """A text whose files are frozen, or what is wrong with one of them."""

    text: str
    files: tuple[TaskFile, ...] = ()
    problem: str = ""


class FileAttacher:
    """Only a file of the task's own workspace, or one that came in with the task, can be named."""

    def __init__(
        self, kept: KeptFiles, workspaces: Path, courier: Courier, known: GateSecrets
    ) -> None:
        self._kept = kept
        self._workspaces = workspaces
        self._courier = courier
        self._known = known

    async def freeze(self, task: Task, text: str) -> AttachedText:
        """Freeze the files for all deliveries of a task."""
        return await self.freeze_for(task, text, task.delivery)

    async def freeze_for(
        self, task: Task, text: str, deliveries: Sequence[Delivery]
    ) -> AttachedText:
        words, lines = split_lines(text)
        files: list[TaskFile] = []
        for line in dict.fromkeys(lines):
            found = await self._file(task, line)
            if isinstance(found, str):
                return AttachedText(text, problem=found)
            files.append(found)
        problem = _name_conflict(files) or self._courier.file_problem(deliveries, files)
        if problem:
            return AttachedText(text, problem=problem)
        return AttachedText(join_body(words, files), tuple(files))

    async def _file(self, task: Task, line: str) -> TaskFile | str:
        """Return the file of a line, frozen, or what is wrong."""
        if frozen_file(line) is not None:
            return await self._mine(task, line)
        path = asked_path(line)
        if path is None:
            example = "Write it as [file: name.pdf] on a line of its own."
            return f"{line[:80]!a} does not name a file exactly. {example}"
        try:
            name, content = await asyncio.to_thread(self._content, task, path)
            wrong = await self._problem(name, content)
        except BadInput as bad:
            return str(bad)
        return wrong or await asyncio.to_thread(self._kept.keep, name, content, made=True)

    async def _mine(self, task: Task, line: str) -> TaskFile | str:
        """Return a file that was frozen before: only this task's own counts."""
        mine = next((each for each in task.files if each.line == line), None)
        if mine and await asyncio.to_thread(self._kept.read, mine.sha256) is not None:
            return mine
        return f"This task has no such file: {line[:120]}"

    def _content(self, task: Task, path: str) -> tuple[str, bytes]:
        name = path.rpartition("/")[2]
        try:
            return name, Workspace(self._workspaces, task.id).read_bytes(path, checks.MAX_BYTES)
        except BadInput:
            incoming = next((each for each in task.files if each.name == path), None)
            content = self._kept.read(incoming.sha256) if incoming else None
            if content is None:
                raise
            return name, content

    async def _problem(self, name: str, content: bytes) -> str:
        """Return why a file may not be sent; BadInput if its text cannot be read."""
        wrong = await asyncio.to_thread(checks.problem, name, content)
        kind = checks.detect(name, content)
        if wrong or not reader.is_readable(kind):
            return wrong or ""
        text = await reader.text_of(name, kind, content)
        found = await asyncio.to_thread(self._secret, text)
        return f"In {name}: {found}" if found else ""

    def _secret(self, text: str) -> str | None:
        found = leak.find_secret(fold(text), frozenset(self._known.secrets))
        return found.reason if found else None


async def attach(
    text: str,
    attacher: FileAttacher | None,
    steps: Steps,
    *,
    step: str = "",
    delivery: Delivery | None = None,
) -> Deliverable | Hold:
    """Return a text with its files frozen, or why it is held.

    Under a step it is done once. Without one it is done each time, for one delivery: a file that
    changed has another hash, and what was approved does not fit it.
    """
    if not has_files(text):
        return Deliverable(text)
    if attacher is None:
        return Hold("No files are sent from here. Take out the lines that name one.")
    if delivery is None:
        found = await steps.do(step, attacher.freeze, steps.task, text)
    else:
        found = await attacher.freeze_for(steps.task, text, (delivery,))
    if found.problem:
        return Hold(found.problem)
    steps.keep(files=found.files)
    return Deliverable(found.text)


def _name_conflict(files: Sequence[TaskFile]) -> str | None:
    names = [each.name.casefold() for each in files]
    return "Two files have the same name." if len(set(names)) < len(names) else None
