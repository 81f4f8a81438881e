"""What programs may look at: series, people, numbers, rules, health, the journal; debug routes."""

from typing import Final

from msgspec.structs import replace

from remit import __version__
from remit.brain.budget import midnight
from remit.errors import BadInput, UnknownName
from remit.model import ids
from remit.model.codec import Json, JsonMap, picked, stamp, to_json
from remit.model.ids import SeriesId
from remit.model.reply import Usage
from remit.model.run import Event
from remit.model.view import moment_or_none, show
from remit.operations import contacts
from remit.operations import series as operations
from remit.operations.series_json import NEXT, event, listed
from remit.operations.shapes import lesson_history, priority_rules_to_json
from remit.operations.tasks import create_task, delete_task
from remit.server import reviews, shapes, tasks
from remit.server.call import (
    VIEW,
    Call,
    CallResult,
    QueryParameter,
    numbers,
    read,
    result_of,
    route_of,
)
from remit.store import agenda, events, series, stats
from remit.store import tasks as stored
from remit.store.database import Tx
from remit.store.stats import Stats
from remit.system.background import LoopState
from remit.system.owner_zone import find_owner_zone
from remit.wiring import App

_COMING: Final = numbers("coming", "How many of the next slots.", NEXT, 0, 100)


async def list_series(call: Call) -> CallResult:
    """Return the series, oldest first."""
    limit, cursor = call.number("limit", 100, least=1, most=500), call.text("cursor")
    try:
        after = None if cursor is None else ids.series_id(cursor)
    except BadInput as bad:
        raise UnknownName(str(bad), field="cursor") from None
    found = await call.house.db.read(_page, call, after, limit + 1)
    more = found[limit - 1]["id"] if len(found) > limit else None
    # Calendar events have no place among ours: they are on the first page, soonest first.
    events = [] if cursor else await call.house.db.read(_events, call, limit)
    return CallResult({"series": list[Json](found[:limit]), "events": events, "next": more})


async def look(call: Call) -> CallResult:
    coming = call.number("coming", NEXT, least=0, most=100)
    return result_of(await operations.look(call, call.series_id, coming))


def _page(tx: Tx, call: Call, after: SeriesId | None, limit: int) -> list[JsonMap]:
    found = series.list_series(tx, ended=call.flag("ended"), after=after, limit=limit)
    return [listed(tx, each, call.house.clock.now(), 1) for each in found]


def _events(tx: Tx, call: Call, limit: int) -> list[Json]:
    found = agenda.next_of_each(tx, call.house.clock.now(), limit)
    return [event(each, call.house.zone) for each in found]


async def look_stats(call: Call) -> CallResult:
    found = await current_numbers(call.house)
    return CallResult(stats_to_json(call, found))


async def current_numbers(house: App) -> Stats:
    """Return all current numbers, by the owner's clock."""
    zone = find_owner_zone(house.settings.zone).zone
    return await house.db.read(stats.look, house.clock.now(), midnight(zone))


def stats_to_json(call: Call, found: Stats) -> JsonMap:
    house, budget = call.house, call.house.settings.budget
    days: list[Json] = [{"at": stamp(day.at), **_used_json(day.used)} for day in found.days]
    hours: list[Json] = [picked(hour, "at completed failed cancelled") for hour in found.hours]
    return {
        "needs": reviews.inbox_counts_to_json(found.needs),
        "counts": dict[str, Json](found.counts),
        "hours": hours,
        "days": days,
        "next": [show(task, call.view) for task in found.next],
        "today": _used_json(found.today)
        | {"centsLimit": budget.day_cents or None, "tokensLimit": budget.day_tokens or None},
        "slots": {"busy": house.engine.running, "all": house.settings.engine.parallel},
    }


def _used_json(usage: Usage) -> JsonMap:
    return picked(usage, "cents tokens requests")


async def list_lessons(call: Call) -> CallResult:
    return CallResult(lesson_history(await call.house.reflection.history()))


async def list_priority_rules(call: Call) -> CallResult:
    """Return the rules in force; while the file is wrong, they differ from it."""
    found = call.house.priority
    return CallResult(priority_rules_to_json(found(), found.complaint))


async def tell_health(call: Call) -> CallResult:
    """Return failing loops by kind and count only, because anybody may ask."""
    failing: dict[str, Json] = {}
    for loop in call.house.background.failing:
        kind = loop.name.partition(":")[0]
        failing[kind] = max(loop.failures, int(str(failing.get(kind, 0))))
    status = "degraded" if failing else "ok"
    return CallResult({"status": status, "version": __version__, "failing": failing})


async def background(call: Call) -> CallResult:
    return CallResult({"loops": [_loop_json(call, loop) for loop in call.house.background.states]})


def _loop_json(call: Call, loop: LoopState) -> Json:
    return {
        "name": loop.name,
        "failures": loop.failures,
        "error": call.house.hide(loop.error) or None,
        "since": moment_or_none(loop.since),
    }


async def follow(call: Call) -> CallResult:
    """Return everything after a place, in order, without a gap."""
    since, limit = call.number("since", 0), call.number("limit", 100, least=1, most=1000)
    found, last = await call.house.db.read(_events_page, since, limit + 1)
    rows: list[Json] = [shapes.event(event) for event in found[:limit]]
    more = found[limit - 1].seq if len(found) > limit else None
    return CallResult({"events": rows, "next": more, "last": last})


def _events_page(tx: Tx, since: int, limit: int) -> tuple[list[Event], int]:
    last = events.last(tx)
    return events.after(tx, since, limit), last


async def look_contacts(call: Call) -> CallResult:
    """Everyone in the book, with what holds for each way."""
    return result_of(await contacts.look(call))


async def list_rules(call: Call) -> CallResult:
    return result_of(await contacts.list_rules(call))


ROUTES: Final = (
    read(
        "/api/contacts",
        look_contacts,
        "Everyone in the contact book, and whether they are written to unasked",
        "Contacts",
        tagged=True,
    ),
    read("/api/rules", list_rules, "What you have said once and for all", "Rules"),
    read(
        "/api/series",
        list_series,
        "What comes back, oldest first",
        "SeriesPage",
        QueryParameter("ended", "Those that have ended, too.", {"enum": ["true", "false"]}),
        QueryParameter("cursor", "`next` of the page before."),
        numbers("limit", "How many.", 100, 1, 500),
    ),
    read(
        "/api/series/{id}",
        look,
        "One series, and the next times it comes back",
        "Series",
        _COMING,
        tagged=True,
    ),
    read(
        "/api/stats",
        look_stats,
        "What stands where, what ended when, what it cost, what comes next",
        "Stats",
        VIEW,
    ),
    read(
        "/api/lessons",
        list_lessons,
        "Every accepted change of the rules and guidelines, the newest first",
        "RuleChanges",
    ),
    read(
        "/api/priority-rules",
        list_priority_rules,
        "The rules that rank tasks, in their order, and what is wrong with their file",
        "PriorityRules",
    ),
    read(
        "/healthz",
        tell_health,
        "Whether Remit is there, and which of its loops keep failing",
        "Health",
        public=True,
    ),
    read(
        "/api/background",
        background,
        "The loops that run in the background, and what those that fail failed with",
        "Background",
    ),
    read(
        "/api/events",
        follow,
        "What happened, in order",
        "EventPage",
        numbers("since", "Go on after this seq.", 0, 0, 10**15 - 1),
        numbers("limit", "How many.", 100, 1, 1000),
    ),
)

_MIRRORED: Final = {
    ("GET", "/api/tasks"),
    ("POST", "/api/tasks"),
    ("PATCH", "/api/tasks/{id}"),
    ("DELETE", "/api/tasks/{id}"),
    ("GET", "/api/tasks/{id}/log"),
}


async def look_debug(call: Call) -> CallResult:
    """Return a task in every detail, with internals."""
    task = await call.house.db.read(stored.get, call.task_id)
    version, content = await tasks.detail(call)
    return CallResult(content | {"internal": to_json(task)}, headers={"ETag": f'"{version}"'})


DEBUG_ROUTES: Final = (
    *(
        replace(route, path=route.path.replace("/api/", "/api/debug/"))
        for route in (*tasks.ROUTES, route_of(create_task), route_of(delete_task))
        if (route.method, route.path) in _MIRRORED
    ),
    read(
        "/api/debug/tasks/{id}",
        look_debug,
        "One task in every detail",
        "DebugDetail",
        VIEW,
        tagged=True,
    ),
)
