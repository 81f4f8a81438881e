"""A task's log in pages, filtered and searched on the server."""

from typing import Final

from msgspec import Struct

from remit.journal import transcript
from remit.model.event import Event
from remit.model.ids import TaskId
from remit.server.call import Call, CallResult, QueryParameter, numbers, page
from remit.server.web import attempts, shell, story
from remit.server.web.story import LogKind, LogLine
from remit.store import events
from remit.store import tasks as stored
from remit.store.database import Tx

PAGE: Final = 200  # lines
CAP: Final = 5000  # lines that a browser keeps, and events one search reads
_SCAN: Final = 500


class LogFilter(Struct, frozen=True, kw_only=True):
    """Which lines: after or before a place, of one kind, with some words."""

    after: int = 0
    before: int = 0
    show: LogKind = LogKind.ALL
    text: str = ""


class LogPage(Struct, frozen=True):
    """Lines in order; `first` and `last` are the range that was searched."""

    lines: tuple[LogLine, ...]
    first: int
    last: int
    more: bool  # whether there are older ones


async def more(call: Call) -> CallResult:
    """Return lines to add before or after those shown."""
    wanted = wanted_of(call)
    page = await call.house.db.read(read, call.task_id, wanted)
    values = {"log": page, "zone": call.house.zone, "task_id": call.task_id}
    return shell.part("parts/log_lines.html", values)


async def export(call: Call) -> CallResult:
    """Return everything that happened, one JSON object per line."""
    found = await call.house.db.read(_all, call.task_id)
    text = "".join(map(transcript.line, found))
    name = f'attachment; filename="{call.task_id}.jsonl"'
    return CallResult(text, media="application/jsonl", headers={"Content-Disposition": name})


def wanted_of(call: Call) -> LogFilter:
    return LogFilter(
        after=call.number("after", 0),
        before=call.number("before", 0),
        show=call.word("show", LogKind) or LogKind.ALL,
        text=(call.text("find") or "").strip()[:200],
    )


def read(tx: Tx, task_id: TaskId, wanted: LogFilter) -> LogPage:
    """Return one page; with a filter it has as many lines, if there are as many."""
    task = stored.get(tx, task_id)
    calls = attempts.calls_of(tx, task)
    if wanted.after:
        found = events.of_task(tx, task_id, wanted.after, CAP)
        fits = [each for each in story.lines(found, calls) if each.fits(wanted.show, wanted.text)]
        last = found[-1].n if found else wanted.after
        return LogPage(tuple(fits), wanted.after, last, more=True)
    lines, before, last, scanned = list[LogLine](), wanted.before, 0, 0
    while scanned < CAP:
        found = events.last_of_task(tx, task_id, _SCAN, before)
        if not found:
            break
        last, before, scanned = last or found[-1].n, found[0].n, scanned + len(found)
        fits = [each for each in story.lines(found, calls) if each.fits(wanted.show, wanted.text)]
        lines = [*fits, *lines]
        if len(lines) >= PAGE or before == 1:
            break
    # A line left out here comes first on the next page.
    shown = lines[-PAGE:]
    first = shown[0].n if len(lines) > PAGE else before
    return LogPage(tuple(shown), first, last, more=first > 1)


def _all(tx: Tx, task_id: TaskId) -> list[Event]:
    stored.find_row(tx, task_id)
    return events.of_task(tx, task_id)


SHOW: Final = QueryParameter("show", "Which lines.", {"enum": list(LogKind)})
FIND: Final = QueryParameter("find", "Words that must be in a line.", {"type": "string"})
ROUTES: Final = (
    page(
        "/tasks/{id}/log",
        more,
        "Lines of a task's log",
        numbers("after", "Behind this line.", 0, 0, 10**15),
        numbers("before", "Before this line.", 0, 0, 10**15),
        SHOW,
        FIND,
    ),
    page("/tasks/{id}/log.jsonl", export, "A task's log, whole"),
)
