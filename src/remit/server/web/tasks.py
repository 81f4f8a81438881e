"""The task list page: filtered by a line of words, live, with bulk actions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, cast

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from remit.brain.budget import midnight
from remit.errors import BadInput, NotFound
from remit.model import ids
from remit.model.codec import JsonMap, stamp
from remit.model.ids import TaskId
from remit.model.task import SourceKind
from remit.operations import filters, upkeep
from remit.operations.arguments import Bulk
from remit.operations.filters import change_many_tasks
from remit.operations.settings_arguments import NewView, RemoveView
from remit.operations.table import perform
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult
from remit.server.page_language import say
from remit.server.routes import form, page
from remit.server.web import listing, row, shell, task_sections, words
from remit.server.web.listing import ListAddress, ListGrouping
from remit.store import inbox as stored_stats
from remit.store import task_filter, tasks
from remit.store.database import Tx
from remit.store.inbox import HourlyOutcomes, Stats
from remit.store.search import SortOrder, TaskFilter

_MOMENT: Final = timedelta(milliseconds=1)


class BulkForm(RequestBody, frozen=True):
    """The selection in the list: some rows, or all that match the filter."""

    action: Literal["run", "pause", "resume", "retry", "cancel", "delete"]
    id: Annotated[list[Annotated[str, Meta(max_length=60)]], Meta(max_length=10_000)] = field(
        default_factory=list
    )
    every: Annotated[str, Meta(max_length=10)] = ""
    q: Annotated[str, Meta(max_length=2_000)] = ""
    back: Annotated[str, Meta(max_length=2_000)] = "/tasks"
    sure: Annotated[str, Meta(max_length=10)] = ""


class BulkAction(Struct, frozen=True):
    ask: str  # with the number of tasks
    button: str
    past: str
    note: str = ""
    danger: bool = False


VERBS: Final[Mapping[str, BulkAction]] = {
    "run": BulkAction("Run {} now?", "Run now", "started"),
    "pause": BulkAction("Pause {}?", "Pause", "paused", "One at work stops at its next boundary."),
    "resume": BulkAction("Resume {}?", "Resume", "resumed"),
    "retry": BulkAction(
        "Try {} again?",
        "Retry",
        "tried again",
        "Each becomes a new task. What was sent before is not sent again.",
    ),
    "cancel": BulkAction(
        "Cancel {}?",
        "Cancel them",
        "cancelled",
        "A cancelled task does not go on; it can be tried again.",
        danger=True,
    ),
    "delete": BulkAction(
        "Delete {}?",
        "Delete",
        "deleted",
        "They are hidden from every list. One at work is cancelled first.",
        danger=True,
    ),
}


@form("/tasks/bulk", change_many_tasks)
async def act(call: Call, body: BulkForm) -> CallResult:
    """Show what would happen; after confirmation, do it."""
    if not body.id and not body.every:
        return shell.redirect(shell.own_address("/tasks", body.back))
    # A confirmation covers the tasks that matched then, not later ones.
    q = body.q if body.sure or not body.every else _until_now(call, body.q)
    answer = await _preview_bulk(call, body, q)
    if body.sure:
        done = f"done={body.action}.{answer['done']}.{answer['refused']}"
        return shell.redirect(shell.with_query(shell.own_address("/tasks", body.back), done))
    return await _preview(call, replace(body, q=q), answer)


async def _preview_bulk(call: Call, body: BulkForm, q: str) -> JsonMap:
    """Perform the operation that programs use, or only say what it would refuse."""
    ids, line = (None, q) if body.every else (body.id, None)
    return (await perform(call, Bulk(body.action, ids, line, not body.sure))).content


async def _preview(call: Call, body: BulkForm, content: JsonMap) -> CallResult:
    refused = cast("Sequence[Mapping[str, str]]", content["results"])
    names = await call.app.db.read(_titles, [TaskId(each["id"]) for each in refused])
    verb, fit = VERBS[body.action], cast("int", content["done"])
    values: dict[str, object] = {
        "body": body,
        "verb": verb,
        "ask": say(verb.ask).format(_tasks(fit)),
        "fit": fit,
        "more": content["more"],
        "first": content["first"],
        "refused": content["refused"],
        "why": [(names[each["id"]], each["why"]) for each in refused],
        "back": shell.own_address("/tasks", body.back),
    }
    if call.part:
        return shell.part("parts/bulk.html", values)
    return await shell.page(call, "pages/bulk.html", values)


def _titles(tx: Tx, found: Sequence[TaskId]) -> dict[str, str]:
    return {each: tasks.get(tx, each).title for each in found}


def _until_now(call: Call, q: str) -> str:
    if listing.line_value(q, "until"):
        return q
    return listing.changed_line(q, {"until": stamp(call.app.clock.now() + _MOMENT)})


def _tasks(n: int) -> str:
    return say("1 task") if n == 1 else say("{0} tasks", words.count(n))


class RemoveViewForm(RequestBody, frozen=True):
    name: Annotated[str, Meta(max_length=200)]
    back: Annotated[str, Meta(max_length=2_000)] = "/tasks"


async def view_named(call: Call, q: str) -> str:
    """Return the name of the view with exactly this filter, if any."""
    found = await call.app.db.read(task_filter.saved_views)
    return next((each.name for each in found if each.filter == q), "")


@form("/tasks/views", upkeep.save_view)
async def save_view(call: Call, view: NewView) -> CallResult:
    await perform(call, view)
    return shell.redirect(ListAddress(q=view.filter).href())


@form("/tasks/views/delete", upkeep.remove_view)
async def remove_view(call: Call, body: RemoveViewForm) -> CallResult:
    await perform(call, RemoveView(body.name))
    return shell.redirect(shell.own_address("/tasks", body.back))


_QUERY: Final = ("q", "sort", "group", "before")
_MENU: Final = ("status", "source", "channel", "due", "is")
_STATUSES: Final = ("pending", "running", "paused", "completed", "failed", "cancelled")
_TOGETHER: Final = 100  # rows rendered in one answer
_KINDS: Final = frozenset({"is:recurring", "is:once"})


@page("/tasks", *_QUERY, *_MENU, "done", "gone")
async def show(call: Call) -> CallResult:
    """Show the list by its address; our script gets the next rows."""
    if any(call.text(name) is not None for name in _MENU):
        return shell.redirect(_address_after_choice(call))
    shown, now = _list_address(call), shell.local_now(call)
    called = task_sections.channel_labels(call.app.settings.channels)
    try:
        wanted, wrong = wanted_of(call, shown.q), ""
    except BadInput as bad:
        wanted, wrong = TaskFilter(), str(bad)
    try:
        found = await call.app.db.read(listing.look, shown, wanted, now, called)
    except NotFound:  # an outdated place in the list
        return shell.redirect(shown.href())
    if wrong:
        found = replace(found, sections=(), next=None)
    values: dict[str, object] = {"shown": shown, "found": found, "now": now, "wrong": wrong}
    if call.part:
        return shell.part("parts/rows.html", values)
    values |= await stats_values(call) | _choices(call, shown)
    return await shell.page(
        call, "pages/tasks.html", values | {"view": await view_named(call, shown.q)}
    )


@page("/tasks/tabs", *_QUERY)
async def tabs(call: Call) -> CallResult:
    """Return the tabs with their numbers, and the newest matching tasks."""
    shown = _list_address(call)
    wanted = wanted_of(call, shown.q)
    made, newest = await call.app.db.read(listing.numbers, shown, wanted)
    return shell.part("parts/tabs.html", {"shown": shown, "tabs": made, "newest": newest})


@page("/tasks/stats")
async def stats(call: Call) -> CallResult:
    return shell.part(
        "parts/stats.html", {"now": shell.local_now(call), **await stats_values(call)}
    )


@page("/tasks/rows", "ids")
async def rows(call: Call) -> CallResult:
    """Return some rows as they are now; a deleted task has none."""
    asked = [ids.task_id(each) for each in (call.text("ids") or "").split(",")]
    if len(asked) > _TOGETHER:
        raise BadInput(f"Ask for up to {_TOGETHER} rows at once, not {len(asked)}.", field="ids")
    now = shell.local_now(call)
    called = task_sections.channel_labels(call.app.settings.channels)
    found = await call.app.db.read(row.rows_of_tasks, asked, now, called)
    return shell.part("parts/some_rows.html", {"rows": found, "now": now})


def wanted_of(call: Call, q: str) -> TaskFilter:
    """The filter that a line of words means; a bad one is refused with a sentence."""
    return filters.parse_filter(q, filters.context(call.app)) if q.strip() else TaskFilter()


def _list_address(call: Call) -> ListAddress:
    return ListAddress(
        q=(call.text("q") or "").strip()[:500],
        sort=call.word("sort", SortOrder) or SortOrder.NEWEST,
        group=call.word("group", ListGrouping) or ListGrouping.STATE,
        before=call.text("before") or "",
    )


def _address_after_choice(call: Call) -> str:
    """Return the address after a choice in the menu: its words go into the line."""
    shown = _list_address(call)
    kind = call.text("is")
    q = shown.q if kind is None else listing.line_without(shown.q, also=_KINDS)
    chosen = {name: text for name in _MENU if (text := call.text(name)) is not None}
    chosen.pop("is", None)
    changed = listing.changed_line(q, chosen)
    return shown.href(q=f"is:{kind} {changed}".strip() if kind else changed)


def _choices(call: Call, shown: ListAddress) -> dict[str, object]:
    """Return the menu's options, each with the line's current value."""
    channels = tuple(sorted({*call.app.outfit.channels, "dashboard"}))
    return {
        "menu": [
            ("status", "Status", _STATUSES, listing.line_value(shown.q, "status")),
            ("source", "Source", tuple(SourceKind), listing.line_value(shown.q, "source")),
            ("channel", "Channel", channels, listing.line_value(shown.q, "channel")),
            ("due", "Due", tuple(filters.DUE_WORDS), listing.line_value(shown.q, "due")),
            ("is", "Kind", ("recurring", "once"), _kind(shown.q)),
        ],
        "chosen": len([word for word in listing.line_words(shown.q) if ":" in word]),
        "sorts": tuple(SortOrder),
        "groups": tuple(ListGrouping),
        "keys": {name: say(each) for name, each in filters.KEYS.items()},
        "done": _bulk_result(call.text("done")),
        "gone": ids.task_id(gone) if (gone := call.text("gone")) else "",
        "icons": words.ICONS,
        "called": task_sections.channel_labels(call.app.settings.channels),
    }


def _kind(q: str) -> str:
    return next((word.removeprefix("is:") for word in listing.line_words(q) if word in _KINDS), "")


def _bulk_result(done: str | None) -> str:
    """Return the result of a bulk action in a sentence; the address has only numbers."""
    parts = (done or "").split(".")
    if len(parts) != 3 or parts[0] not in VERBS or not all(n.isdecimal() for n in parts[1:]):  # noqa: PLR2004
        return ""
    did, refused = int(parts[1][:6]), int(parts[2][:6])
    text = f"{_tasks(did)} {say(VERBS[parts[0]].past)}."
    return text + (" " + say("{0} could not be.", words.count(refused)) if refused else "")


_HIGH: Final = 44.0  # greatest height of a bar, in points
_LEAST: Final = 4  # one task in an hour is no tall bar
_UP_NEXT: Final = 3


class BarPiece(Struct, frozen=True):
    """A piece of a bar: its top, its height and its colour."""

    y: float
    height: float
    kind: str


class StatsChart(Struct, frozen=True):
    bars: Sequence[Sequence[BarPiece]]
    says: str


async def stats_values(call: Call) -> dict[str, object]:
    """Return what the bar's template needs."""
    now = shell.local_now(call)
    found = await call.app.db.read(stored_stats.stats, now, midnight(call.app.zone), count=False)
    return {
        "stats": found,
        "hours": hours_chart(found, now),
        "days": days_chart(found),
        "completed": sum(hour.completed for hour in found.hours),
        "failed": sum(hour.failed for hour in found.hours),
        "week": sum(day.used.cents for day in found.days),
        "tokens": _many(sum(day.used.tokens for day in found.days)),
        "coming": [
            (task, task.scheduled_for.astimezone(now.tzinfo))
            for task in found.next[:_UP_NEXT]
            if task.scheduled_for
        ],
    }


def hours_chart(found: Stats, now: datetime) -> StatsChart:
    most = max((_sum(hour) for hour in found.hours), default=0)
    scale = _HIGH / max(most, _LEAST)
    bars = [
        _stack_pieces(
            [(hour.cancelled, "idle"), (hour.failed, "bad"), (hour.completed, "ok")], scale
        )
        for hour in found.hours
    ]
    return StatsChart(bars, _hours_say(found.hours, now))


def days_chart(found: Stats) -> StatsChart:
    most = max((day.used.cents for day in found.days), default=0)
    scale = _HIGH / max(most, 1)
    each = (f"{words.date_words(day.at, '%a')} ${day.used.cents / 100:,.2f}" for day in found.days)
    bars = [_stack_pieces([(day.used.cents, "run")], scale) for day in found.days]
    return StatsChart(bars, say("Cost per day: {0}", ", ".join(each)))


def _hours_say(found: Sequence[HourlyOutcomes], now: datetime) -> str:
    if not any(_sum(hour) for hour in found):
        return say("No task was finished in the last 24 hours")
    peak = max(found, key=_sum)
    failed = [f"{hour.at.astimezone(now.tzinfo):%H:%M}" for hour in found if hour.failed]
    most = f"{peak.at.astimezone(now.tzinfo):%H:%M}"
    text = say("Tasks finished per hour, last 24 hours. Peak {0} at {1}.", _sum(peak), most)
    return text + (" " + say("Failures at {0}.", ", ".join(failed)) if failed else "")


def _sum(hour: HourlyOutcomes) -> int:
    return hour.completed + hour.failed + hour.cancelled


def _stack_pieces(parts: Sequence[tuple[int, str]], scale: float) -> list[BarPiece]:
    """Return the stacked pieces from the top: rare above common, each at least two points high."""
    pieces: list[BarPiece] = []
    top = _HIGH
    for n, kind in reversed([part for part in parts if part[0]]):
        height = max(2.0, round(n * scale, 1))
        top -= height
        pieces.append(BarPiece(round(max(0.0, top), 1), height, kind))
        top -= 1
    return pieces


def _many(n: int) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if n >= size:
            return f"{n / size:.1f}{unit}"
    return str(n)
