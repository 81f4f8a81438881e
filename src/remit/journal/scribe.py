"""Writes files from the journal: one log for each task, and one file for each open question."""

import asyncio
import json
import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from remit.journal.follow import GATHER_SECONDS, Journal, line
from remit.model import ids
from remit.model.codec import JsonMap, stamp, text_of
from remit.model.ids import ReviewId, TaskId, task_id
from remit.model.review import Review
from remit.model.run import Event, EventKind
from remit.model.task import Task
from remit.model.view import SCHEMA_VERSION, JsonView, show
from remit.store import reviews, tasks
from remit.store.database import Database, Tx
from remit.system.files import append_text, write_atomic

_REMEMBERED: Final = 4096


class TaskLogWriter:
    def __init__(self, folder: Path, written: int | None = None) -> None:
        """`written`: what happened after it is in no file yet; None: that is not known."""
        self._folder = folder
        self._written = written
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
            last = 0 if self._is_new(events[0]) else mend(path)
        fresh = [event for event in events if event.seq > last]
        if fresh:
            append_text(path, "".join(map(line, fresh)))
            last = fresh[-1].seq
        self._last[task] = last
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)

    def _is_new(self, first: Event) -> bool:
        """Whether a task began after everything that is in files: then it has none."""
        return self._written is not None and first.n == 1 and first.seq > self._written

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
        fields = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    place = fields.get("seq") if isinstance(fields, dict) else None
    return place if isinstance(place, int) else None


P = ParamSpec("P")
T = TypeVar("T")


async def run_to_end(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work in a thread to its end, even if the caller is cancelled.

    A thread cannot be cancelled. Abandoned, it would write while its successor works on the same
    files, or after the directory was unlocked.
    """
    doing = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(doing)
    finally:
        await doing


FOLDER: Final = "hitl_queue"
_PAGE: Final = 10_000
# After these events a question may be new, gone or different.
_TELLING: Final = frozenset(
    {
        EventKind.REVIEW_OPENED,
        EventKind.REVIEW_DECIDED,
        EventKind.TASK_MOVED,
        EventKind.TASK_UPDATED,
    }
)


async def keep_queue(journal: Journal, db: Database, folder: Path) -> None:
    """Compare the folder with the store, then follow the journal until it ends."""
    since = await journal.last()
    queue = QueueFiles(folder)
    await run_to_end(queue.replace_all, await db.read(_everything))
    async for page in journal.pages(since, ends=True, gather_seconds=GATHER_SECONDS):
        touched = _changed_tasks(page)
        if touched:
            found = await db.read(_of_tasks, touched)
            if found or queue.has_files_of(touched):
                await run_to_end(queue.replace_of, touched, found)


class QueueFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[ReviewId, TaskId] = {}

    def replace_all(self, found: Iterable[tuple[Review, Task]]) -> None:
        """Write every question anew and delete all other files with such names."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for half in self._folder.glob(".rev-*.new"):  # left by an interrupted write
            half.unlink(missing_ok=True)
        there = {path.stem for path in self._folder.glob("rev-*.json")}
        for review, task in found:
            there.discard(str(self._write(review, task)))
        for name in there:
            self._path(name).unlink(missing_ok=True)

    def has_files_of(self, touched: Sequence[TaskId]) -> bool:
        return not set(self._written.values()).isdisjoint(touched)

    def replace_of(self, touched: Sequence[TaskId], found: Iterable[tuple[Review, Task]]) -> None:
        """Do the same for the questions of some tasks."""
        gone = {each for each, task_id in self._written.items() if task_id in touched}
        for review, task in found:
            gone.discard(self._write(review, task))
        for name in gone:
            self._path(name).unlink(missing_ok=True)
            del self._written[name]

    def _write(self, review: Review, task: Task) -> ReviewId:
        name = ids.review_id(str(review.id))
        path = self._path(name)
        write_atomic(path, text_of(record(review, task)) + "\n", mode=0o400, durable=False)
        self._written[name] = task.id
        return name

    def _path(self, name: str) -> Path:
        """The name is a checked id, so it cannot lead out of the folder."""
        return self._folder / f"{name}.json"


def record(review: Review, task: Task) -> JsonMap:
    """Return the file's content: S4's task, and the question about it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "review": {
            "id": review.id,
            "reason": review.reason.value,
            "question": review.question,
            "evidence": review.evidence,
            "digest": review.digest,
            "options": [option.value for option in review.options],
            "resume_to": review.resume_to.value,
            "opened_at": stamp(review.opened_at) if review.opened_at else None,
            "later_until": stamp(review.later_until) if review.later_until else None,
        },
        "task": show(task, JsonView.S4),
    }


def _changed_tasks(page: Iterable[Event]) -> list[TaskId]:
    task_ids = (event.task_id for event in page if event.kind in _TELLING)
    return list(dict.fromkeys(task_id for task_id in task_ids if task_id is not None))


def _everything(tx: Tx) -> list[tuple[Review, Task]]:
    return _with_tasks(tx, reviews.waiting(tx, _PAGE))


def _of_tasks(tx: Tx, touched: Sequence[TaskId]) -> list[tuple[Review, Task]]:
    asking = reviews.asking(tx, touched)
    found = [each for task_id in asking for each in reviews.of_task(tx, task_id)]
    return _with_tasks(tx, [each for each in found if each.decision is None])


def _with_tasks(tx: Tx, found: Iterable[Review]) -> list[tuple[Review, Task]]:
    return [(each, tasks.get(tx, each.task_id)) for each in found]


# All logs -----------------------------------------------------------------------------------------


async def keep_logs(journal: Journal, folder: Path) -> None:
    """Write every event into its task's log until the journal ends; continues from a mark."""
    scribe, mark = TaskLogWriter(folder, await journal.last()), folder / ".written"
    since = _last_written(mark)
    async for page in journal.pages(since, ends=True, gather_seconds=GATHER_SECONDS):
        await run_to_end(_write_page, scribe, mark, page)


def _write_page(scribe: TaskLogWriter, mark: Path, page: list[Event]) -> None:
    scribe.write(page)
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # there may be no log yet
    # The mark may lag behind the logs but not run ahead; existing lines are not written twice.
    write_atomic(mark, str(page[-1].seq), durable=False)


def _last_written(mark: Path) -> int:
    try:
        return int(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
