"""The runs of a task as attempts (start, result, comparison of two), and its log in pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.journal import follow
from remit.model.ids import TaskId
from remit.model.reply import Usage
from remit.model.run import Event, EventKind, Run
from remit.model.status import ACTIVE
from remit.model.task import Task
from remit.server.call import Call, CallResult
from remit.server.page_language import say
from remit.server.routes import page
from remit.server.web import markup, shell, task_history, task_log
from remit.server.web.markup import TextChanges
from remit.server.web.task_history import TimelineBar, ToolUse
from remit.server.web.task_log import LogKind, LogLine
from remit.store import events, rows, runs, spending
from remit.store import tasks as stored
from remit.store.database import Tx

MOST: Final = 200  # runs that are loaded
LONG: Final = 4000  # events of a task searched for its attempts
_DELIVERABLE: Final = re.compile(r"<deliverable>(.*?)</deliverable>", re.DOTALL | re.IGNORECASE)


class AttemptView(Struct, frozen=True, kw_only=True):
    """One run, for the owner. `n` counts from 1 and is part of the page's address."""

    n: int
    started_at: datetime
    ended_at: datetime | None = None
    kind: str = "run"
    word: str = "Running"
    icon: str = "run"
    note: str = ""

    @property
    def took(self) -> timedelta | None:
        return None if self.ended_at is None else self.ended_at - self.started_at


def of_task(task: Task, legs: Sequence[Run], happened: Sequence[Event]) -> list[AttemptView]:
    """Return attempts, newest first; the running one is only in the journal yet."""
    sentences = [_ended_attempt(leg, happened) for leg in legs]
    newest = legs[0].lease if legs else 0
    if task.status in ACTIVE and task.lease > newest:
        began = (each.at for each in happened if each.data.get("lease") == task.lease)
        started_at = next(began, task.last_updated)
        sentences.insert(0, AttemptView(n=task.lease, started_at=started_at))
    return sentences


def _ended_attempt(leg: Run, happened: Sequence[Event]) -> AttemptView:
    kind, word, icon = _OUTCOMES.get(leg.outcome or "", ("idle", leg.outcome or "Ended", "pend"))
    return AttemptView(
        n=leg.lease,
        started_at=leg.started_at,
        ended_at=leg.ended_at,
        kind=kind,
        word=word,
        icon=icon,
        note=leg.note or _question_or_result(events_of(happened, leg.lease)),
    )


def _question_or_result(own: Iterable[Event]) -> str:
    """Return what it asked, or its result."""
    texts = [each.data.get("question") or each.data.get("summary") for each in own]
    return next((str(each) for each in texts if each), "")


def events_of(happened: Sequence[Event], n: int) -> list[Event]:
    """Return the events from the claim of one attempt to the next claim."""
    found: list[Event] = []
    for event in happened:
        lease = event.data.get("lease")
        if isinstance(lease, int) and event.kind in (EventKind.TASK_MOVED, EventKind.RUN_STARTED):
            found = [event] if lease == n else found
            if lease > n:
                return found
        elif found:
            found.append(event)
    return found


def calls_of(tx: Tx, task: Task) -> dict[str, list[ToolUse]]:
    """Return the tools used, by step."""
    rounds = (runs.steps(tx, replace(task, round=n)) for n in range(task.round + 1))
    return task_history.tools_used(rounds)


# Two of them side by side ------------------------------------------------------------------------


class AttemptSide(Struct, frozen=True):
    """One attempt in a comparison."""

    task: Task
    attempt: AttemptView
    bars: tuple[TimelineBar, ...]
    text: str  # its deliverable
    usage: Usage

    @property
    def name(self) -> str:
        return say("Attempt {0}", self.attempt.n)


class StepPair(Struct, frozen=True):
    """A step of either attempt; one side may lack it."""

    label: str
    before: TimelineBar | None
    after: TimelineBar | None

    @property
    def differs(self) -> bool:
        if self.before is None or self.after is None:
            return True
        return self.before.kind != self.after.kind


class Compared(Struct, frozen=True):
    before: AttemptSide
    after: AttemptSide
    words: TextChanges
    steps: tuple[StepPair, ...]


def read_side(tx: Tx, task_id: TaskId, n: int | None, now: datetime) -> AttemptSide | None:
    """Return one attempt with all that is compared; None if the number does not exist."""
    task = stored.get(tx, task_id)
    happened = events.last_of_task(tx, task_id, LONG)
    known = of_task(task, runs.of_task(tx, task_id, MOST), happened)
    chosen = next((each for each in known if n is None or each.n == n), None)
    if chosen is None:
        return None
    own = events_of(happened, chosen.n)
    bars = task_history.bars(own, chosen.ended_at, now, calls_of(tx, task))
    text = _last_deliverable(own)
    if not text and chosen is known[0]:
        text = next((each.body for each in task.delivery if each.body), None) or ""
    since = rows.ms(chosen.started_at)
    spent = spending.of_task(tx, task_id, since)
    if chosen.ended_at is not None:
        later = spending.of_task(tx, task_id, rows.ms(chosen.ended_at) + 1)
        spent = Usage(
            spent.tokens - later.tokens, spent.cents - later.cents, spent.requests - later.requests
        )
    return AttemptSide(task, chosen, bars, text, spent)


def compare(before: AttemptSide, after: AttemptSide) -> Compared:
    return Compared(before, after, markup.changes(before.text, after.text), _pairs(before, after))


def _last_deliverable(own: Iterable[Event]) -> str:
    """Return its last deliverable."""
    texts = [str(each.data.get("text", "")) for each in own if each.kind is EventKind.STEP_DONE]
    found = [match for text in texts for match in _DELIVERABLE.findall(text)]
    return found[-1].strip() if found else ""


def _pairs(before: AttemptSide, after: AttemptSide) -> tuple[StepPair, ...]:
    was, now = [_bars_by_key(each.bars) for each in (before, after)]
    names = list(dict.fromkeys((*was, *now)))
    return tuple(StepPair(name[0], was.get(name), now.get(name)) for name in names)


def _bars_by_key(bars: Iterable[TimelineBar]) -> Mapping[tuple[str, int], TimelineBar]:
    """Return the bars by label and occurrence."""
    seen: dict[str, int] = {}
    found: dict[tuple[str, int], TimelineBar] = {}
    for bar in bars:
        seen[bar.label] = seen.get(bar.label, 0) + 1
        found[bar.label, seen[bar.label]] = bar
    return found


_OUTCOMES: Final[Mapping[str, tuple[str, str, str]]] = {
    "done": ("ok", "Done", "done"),
    "wait": ("you", "Asked you", "you"),
    "retry": ("bad", "Did not work out", "fail"),
    "fail": ("bad", "Failed", "fail"),
    "crashed": ("bad", "Crashed", "fail"),
    "parked": ("idle", "Put off", "pause"),
    "paused": ("idle", "Paused", "pause"),
    "cancelled": ("idle", "Cancelled", "x"),
}


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


@page("/tasks/{id}/log", "after", "before", "show", "find")
async def more(call: Call) -> CallResult:
    """Return lines to add before or after those shown."""
    wanted = wanted_of(call)
    page = await call.app.db.read(read, call.task_id, wanted)
    values = {"log": page, "zone": call.app.zone, "task_id": call.task_id}
    return shell.part("parts/log_lines.html", values)


@page("/tasks/{id}/log.jsonl")
async def export(call: Call) -> CallResult:
    """Return everything that happened, one JSON object per line."""
    found = await call.app.db.read(_all_events, call.task_id)
    text = "".join(map(follow.line, found))
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
    calls = calls_of(tx, task)
    if wanted.after:
        found = events.of_task(tx, task_id, wanted.after, CAP)
        fits = [
            each for each in task_log.lines(found, calls) if each.fits(wanted.show, wanted.text)
        ]
        last = found[-1].n if found else wanted.after
        return LogPage(tuple(fits), wanted.after, last, more=True)
    lines, before, last, scanned = list[LogLine](), wanted.before, 0, 0
    while scanned < CAP:
        found = events.last_of_task(tx, task_id, _SCAN, before)
        if not found:
            break
        last, before, scanned = last or found[-1].n, found[0].n, scanned + len(found)
        fits = [
            each for each in task_log.lines(found, calls) if each.fits(wanted.show, wanted.text)
        ]
        lines = [*fits, *lines]
        if len(lines) >= PAGE or before == 1:
            break
    # A line left out here comes first on the next page.
    shown = lines[-PAGE:]
    first = shown[0].n if len(lines) > PAGE else before
    return LogPage(tuple(shown), first, last, more=first > 1)


def _all_events(tx: Tx, task_id: TaskId) -> list[Event]:
    stored.find_row(tx, task_id)
    return events.of_task(tx, task_id)
