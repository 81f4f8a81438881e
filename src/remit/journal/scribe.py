"""Writes `tasks/logs/{id}.jsonl` from the journal; the database is authoritative.

Each line has its place in the journal, so a missing or truncated file is repaired by writing on
from the last complete line.
"""

import json
import os
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from remit.journal.follow import line
from remit.model.ids import TaskId, task_id
from remit.model.run import Event
from remit.system.files import append_text

_REMEMBERED: Final = 4096


class TaskLogWriter:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: OrderedDict[TaskId, int] = OrderedDict()

    def write(self, found: Iterable[Event]) -> None:
        """Append the events that are not in the files yet."""
        by_task: defaultdict[TaskId, list[Event]] = defaultdict(list)
        for event in found:
            if event.task_id is not None:
                by_task[event.task_id].append(event)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for task, events in by_task.items():
            self._append(task, events)

    def rebuild(self, task: TaskId, events: list[Event]) -> Path:
        """Write one log anew, whole."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(task)
        path.unlink(missing_ok=True)
        self._last.pop(task, None)
        self._append(task, events)
        return path

    def _append(self, task: TaskId, events: list[Event]) -> None:
        path = self._path(task)
        last = self._last.get(task)
        if last is None:
            last = mend(path)
        fresh = [event for event in events if event.seq > last]
        if fresh:
            append_text(path, "".join(map(line, fresh)))
            last = fresh[-1].seq
        self._last[task] = last
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)

    def _path(self, task: TaskId) -> Path:
        """Derived from a checked id, so that no id can lead out of the folder."""
        return self._folder / f"{task_id(task)}.jsonl"


def mend(path: Path) -> int:
    """Cut off broken lines at the end; return the journal place of the last good one."""
    try:
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return 0
    with open(file, "r+b") as log:  # noqa: PTH123
        lines = log.read().splitlines(keepends=True)
        while lines and _place(lines[-1]) is None:
            lines.pop()
        log.truncate(sum(map(len, lines)))
    return (_place(lines[-1]) or 0) if lines else 0


def _place(line: bytes) -> int | None:
    """Return a line's place in the journal; None if the line is broken or has none."""
    try:
        told = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    place = told.get("seq") if isinstance(told, dict) else None
    return place if isinstance(place, int) else None
