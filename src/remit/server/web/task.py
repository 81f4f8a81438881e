"""The page of one task: work, deliveries, proof, history."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.errors import NotFound
from remit.journal import tries
from remit.journal.tries import TryHistory
from remit.model import ids
from remit.model.conversation import Conversation
from remit.model.deferred import project_of
from remit.model.ids import TaskId
from remit.model.proof import NOT_VERIFIED, is_unverified
from remit.model.recurrence import Series
from remit.model.reply import Usage
from remit.model.review import Review
from remit.model.run import Event, EventKind, Run
from remit.model.status import ACTIVE, Status
from remit.model.task import Source, SourceKind, Task
from remit.model.view import limit_sentences, task_state
from remit.server.call import Call, CallResult
from remit.server.page_language import retell, say
from remit.server.problem import RequestRefused
from remit.server.routes import page
from remit.server.web import attempts, review_kinds, shell, task_history, task_sections
from remit.server.web.attempts import AttemptView
from remit.server.web.task_history import ToolUse
from remit.store import (
    conversations,
    events,
    messages,
    reviews,
    rows,
    runs,
    series,
    spending,
    tasks,
)
from remit.store.database import Tx

RUNS: Final = 8  # attempts shown at first
RECENT: Final = 1000  # events a page is rendered from, often while a task runs
_FEW: Final = 50
_ALIKE: Final = 4
_MOST_CHILDREN: Final = 20
_SEEN: Final = ("attempt", "runs")


class TaskRecord(Struct, frozen=True):
    """Everything the store knows about a task."""

    task: Task
    happened: list[Event]
    asked: list[Review]
    legs: list[Run]
    calls: Mapping[str, list[ToolUse]]
    usage: Usage
    due_at: datetime | None
    held: bool  # whether a worker holds it now
    series: Series | None
    before: Task | None  # the task it retries
    made: list[Task]  # tasks it created
    born: Conversation | None  # where it was created, or else first spoken of
    origin: Conversation | None  # where it was created
    tries: TryHistory


class UsageMeter(Struct, frozen=True):
    """Its cost, and its limit."""

    cents: int
    tokens: int
    asked: int
    answered: int
    cached: int  # percent of the input
    requests: int
    tools: int
    most_cents: int
    most_tokens: int

    @property
    def used(self) -> int | None:
        """Percent of its limit; None without a limit."""
        if self.most_cents:
            return min(100, round(100 * self.cents / self.most_cents))
        return min(100, round(100 * self.tokens / self.most_tokens)) if self.most_tokens else None

    @property
    def kind(self) -> str:
        return "bad" if (self.used or 0) >= 90 else "run"  # noqa: PLR2004 - nearly all of it


@page("/tasks/{id}", *_SEEN, "show", "find", "before")
async def look(call: Call) -> CallResult:
    """Show the whole page."""
    found = await call.app.db.read(_find, call.task_id, _event_limit(call))
    wanted = attempts.wanted_of(call)
    page = await call.app.db.read(attempts.read, call.task_id, wanted)
    values = page_values(call, found) | {
        "log": page,
        "wanted": wanted,
        "left": _undo_left(call, found),
    }
    values["like"] = await call.app.recollection.similar_if_ready(found.task, _ALIKE)
    return await shell.page(call, "pages/task.html", values)


@page("/tasks/{id}/part/{part}", *_SEEN)
async def part(call: Call) -> CallResult:
    """Return a part of the page, after an event."""
    name = call.path["part"]
    if name not in PARTS:
        raise RequestRefused("not-found", "There is no such part of a task's page.")
    most = _FEW if name == "bar" else _event_limit(call)
    found = await call.app.db.read(_find, call.task_id, most)
    return shell.part(f"parts/task_{name}.html", page_values(call, found))


def page_values(call: Call, found: TaskRecord) -> dict[str, object]:
    """Return the templates' values."""
    task, now, app = found.task, shell.local_now(call), call.app
    known = attempts.of_task(task, found.legs, found.happened)
    chosen = _chosen_attempt(known, call.number("attempt", 0))
    waiting = [each for each in found.asked if each.decision is None]
    agent, channels = app.settings.agent, task_sections.channel_labels(app.settings.channels)
    place = task_sections.CardContext(agent, app.zone, channels)
    return {
        "task": task,
        "found": found,
        "now": now,
        "zone": app.zone,
        "agent": agent,
        "owner": app.settings.owner,
        "can": task_state(task, held=found.held).can,
        "chips": task_sections.chips(task),
        "asks": waiting[0] if waiting else None,
        "work": task_sections.work(task, found.happened, now),
        "cards": task_sections.cards(task, found.asked, place),
        "notes": task.owner_notes,
        "proof": task_sections.proof(
            tries.with_records(task, found.tries), edited=review_kinds.was_edited(found.asked)
        ),
        "tried": task_history.rows(found.tries.attempts, app.zone),
        "project": project_of(task),
        "attempts": known,
        "most_runs": call.number("runs", RUNS),
        "chosen": chosen,
        "chart": _chart(found, chosen, now),
        "errors": sum(_is_error(each) for each in found.happened),
        "meter": _meter(call, found),
        "why": status_sentences(found, now),
        "twin": next(_twins(found.happened), ""),
        "kept": _page_query(call),
    }


def _twins(happened: list[Event]) -> Iterator[str]:
    """Yield what was said about a task that this one resembles."""
    for event in happened:
        if event.kind is EventKind.TASK_UPDATED and event.data.get("what") == "twin":
            yield str(event.data["said"])


def _event_limit(call: Call) -> int:
    """Return how many events to load: an old attempt needs more."""
    return attempts.LONG if call.number("attempt", 0) else RECENT


def _find(tx: Tx, task_id: TaskId, most: int) -> TaskRecord:
    row = tasks.find_row(tx, task_id)
    task = tasks.get(tx, task_id)
    return TaskRecord(
        task=task,
        happened=events.last_of_task(tx, task_id, most),
        asked=reviews.of_task(tx, task_id),
        legs=runs.of_task(tx, task_id, attempts.MOST),
        calls=attempts.calls_of(tx, task),
        usage=spending.told_apart(tx, task_id),
        due_at=rows.moment(row["due_at"]),
        held=row["worker"] is not None,
        series=series.get(tx, task.series_id) if task.series_id else None,
        before=tasks.get(tx, task.retry_of) if task.retry_of else None,
        made=_child_tasks(tx, task_id),
        born=conversations.birthplace(tx, task_id),
        origin=conversations.origin(tx, task_id),
        tries=tries.read(tx, task),
    )


def _child_tasks(tx: Tx, task_id: TaskId) -> list[Task]:
    """Return the tasks it created."""
    refs = tasks.child_refs(tx, f"{task_id}:", _MOST_CHILDREN)
    kind = SourceKind.AGENT
    return [task for ref in refs for task in messages.of_message(tx, Source(kind, ref))]


def _chosen_attempt(known: list[AttemptView], n: int) -> AttemptView | None:
    if not known:
        return None
    return next((each for each in known if each.n == n), known[0])


def _chart(
    found: TaskRecord, chosen: AttemptView | None, now: datetime
) -> task_history.TimelineChart | None:
    if chosen is None:
        return None
    own = attempts.events_of(found.happened, chosen.n)
    bars = task_history.bars(own, chosen.ended_at, now, found.calls)
    return task_history.chart(bars, f"attempt {chosen.n}")


def _is_error(event: Event) -> bool:
    if event.kind is EventKind.DELIVERY_SETTLED:
        return event.data.get("answer") in ("refused", "unknown")
    if event.kind is EventKind.RUN_ENDED:
        return event.data.get("outcome") in ("retry", "crashed")
    return event.kind is EventKind.TASK_MOVED and event.data.get("to") == Status.FAILED


def _meter(call: Call, found: TaskRecord) -> UsageMeter:
    budget, spent, used = call.app.settings.budget, found.task.spent, found.usage
    tools = sum(
        each.kind is EventKind.STEP_DONE and str(each.data["step"]).startswith("use:")
        for each in found.happened
    )
    return UsageMeter(
        max(found.usage.cents, spent.cents or 0),
        max(found.usage.tokens, spent.tokens or 0),
        used.asked,
        used.answered,
        round(100 * used.cached / used.asked) if used.asked else 0,
        found.usage.requests,
        tools,
        budget.run_cents,
        budget.run_tokens,
    )


def _undo_left(call: Call, found: TaskRecord) -> int:
    """Return the seconds in which an approval can still be undone."""
    now, undo = call.app.clock.now(), call.app.settings.deliver.undo
    due, decided = found.due_at, [each.decision for each in found.asked if each.decision]
    if found.task.status is not Status.DELIVERING or found.held or due is None:
        return 0
    newest = max((each.decided_at for each in decided if each.decided_at), default=None)
    if newest is None or (now - newest).total_seconds() > undo:
        return 0
    return max(0, round((due - now).total_seconds()))


def status_sentences(found: TaskRecord, now: datetime) -> tuple[str, ...]:
    """Return why it has its status, in sentences."""
    task, priority = found.task, say(found.task.priority.value)
    sentences = [_state_sentence(found, now)]
    if is_unverified(task):
        sentences.append(f"{say(NOT_VERIFIED)}: {say(task_sections.unverified_reason(task))}")
    if task.rule is None:
        sentences.append(
            say("Its priority is {0} for now: no rule has looked at it yet.", priority)
        )
    else:
        rule = say("by the rule {0}: {1}", say(task.rule.name), say(task.rule.because))
        sentences.append(say("Its priority is {0} {1}.", priority, rule))
    return (*sentences, *limit_sentences(task))


def _state_sentence(found: TaskRecord, now: datetime) -> str:
    task = found.task
    waiting = next((each for each in found.asked if each.decision is None), None)
    if waiting is not None:
        return say("It waits for you: {0}", retell(waiting.question))
    planned = task.scheduled_for
    if task.pending_reading is not None and task.status is Status.NEW:
        return "The model reads your words; then you see here what they become."
    if task.status in (Status.NEW, Status.READY):
        later = planned is not None and planned > now
        return "It waits for its time." if later else "It starts as soon as a place is free."
    if task.status in ACTIVE and not found.held:
        tries = " " + say("after {0} failed tries", task.attempts) if task.attempts else ""
        return say("It waits for its next turn{0}.", tries)
    return (
        _SILENT
        if task.was_silent
        else _SENTENCES.get(task.status, say("It is {0}.", task.status.value.replace("_", " ")))
    )


def _page_query(call: Call) -> str:
    """Return the part of the address that page parts need."""
    page_numbers = {name: call.number(name, 0) for name in ("attempt", "runs")}
    pairs = [f"{name}={value}" for name, value in page_numbers.items() if value]
    return f"?{'&'.join(pairs)}" if pairs else ""


@page("/tasks/{id}/compare", "a", "b", "of")
async def compare(call: Call) -> CallResult:
    """Compare two attempts; `of` names another task, whose last attempt comes first."""
    now, task_id = shell.local_now(call), call.task_id
    after_n = call.number("b", 0) or None
    after = await call.app.db.read(attempts.read_side, task_id, after_n, now)
    other, before_n = call.text("of"), call.number("a", 0) or None
    whose = ids.task_id(other) if other else task_id
    if before_n is None and not other and after is not None:
        before_n = max(1, after.attempt.n - 1)
    before = await call.app.db.read(attempts.read_side, whose, before_n, now)
    if before is None or after is None:
        raise NotFound("attempt", f"{before_n if before is None else after_n} of {task_id}")
    task = await call.app.db.read(tasks.get, task_id)
    legs = await call.app.db.read(runs.of_task, task_id, attempts.MOST)
    values = {
        "task": task,
        "seen": attempts.compare(before, after),
        "known": sorted(leg.lease for leg in legs),
        "zone": call.app.zone,
        "of": other or "",
    }
    return await shell.page(call, "pages/compare.html", values)


PARTS: Final = frozenset({"bar", "body", "rail"})
_SENTENCES: Final = {
    Status.RUNNING: "It is being worked on.",
    Status.VERIFYING: "The work is being checked against its contract.",
    Status.DELIVERING: "What passed is on its way.",
    Status.PAUSED: "It is paused; Resume lets it go on where it was.",
    Status.COMPLETED: "It is completed: everything was done and sent.",
    Status.CANCELLED: "It was cancelled; nothing more is sent.",
}
_SILENT: Final = "It is completed: there was nothing to report, so nothing was sent."
