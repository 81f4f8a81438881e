"""What programs may look at: series, numbers, health, channels, journal, talks; debug routes."""

import asyncio
import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from remit import __version__
from remit.brain.budget import midnight
from remit.channels.registry import ChannelState, channel_states
from remit.errors import NotFound, UnknownName
from remit.intake.message import message_result_to_json
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, pick_fields, stamp, to_json
from remit.model.delivery import SendGuarantee
from remit.model.ids import ConversationId, SeriesId
from remit.model.reply import Usage
from remit.model.run import Event
from remit.model.view import moment_or_none, show
from remit.operations import contacts
from remit.operations import series as operations
from remit.operations.messages import conversation_id
from remit.operations.series_format import COMING_SLOTS, planned_start_to_json, series_to_json
from remit.operations.shapes import (
    conversation_to_json,
    lesson_history,
    notice_to_json,
    priority_rules_to_json,
    with_turns,
)
from remit.operations.tasks import create_task, delete_task
from remit.operations.upkeep import DASHBOARD, push_state
from remit.server import listing, shapes, tasks
from remit.server.call import Call, CallResult, result_of
from remit.server.routes import (
    CURSOR,
    VIEW,
    QueryParameter,
    cut,
    numbers,
    read,
    route_of,
    routes_in,
)
from remit.store import (
    agenda,
    conversations,
    deliveries,
    events,
    inbox,
    notices,
    permissions,
    series,
)
from remit.store import tasks as stored
from remit.store.database import Tx
from remit.store.inbox import Stats
from remit.system.owner_zone import find_owner_zone
from remit.wiring import App
from remit.wiring.app_context import keys_of

_SERIES: Final = numbers("limit", "How many.", 100, 1, 500)
_COMING: Final = numbers("coming", "How many of the next slots.", COMING_SLOTS, 0, 100)


@read(
    "/api/series",
    "SeriesPage",
    QueryParameter("ended", "Those that have ended, too.", {"enum": ["true", "false"]}),
    CURSOR,
    _SERIES,
)
async def list_series(call: Call) -> CallResult:
    """What comes back, oldest first."""
    limit, after = _SERIES.of(call), call.cursor(ids.series_id)
    found, last = cut(await call.app.db.read(_page, call, after, limit + 1), limit)
    # Calendar events have no place among ours: they are on the first page, soonest first.
    events = [] if after else await call.app.db.read(_events, call, limit)
    more = last["id"] if last else None
    return CallResult({"series": list[Json](found), "events": events, "next": more})


@read("/api/series/{id}", "Series", _COMING, tagged=True)
async def look(call: Call) -> CallResult:
    """One series, and the next times it comes back."""
    return result_of(await operations.look(call, call.series_id, _COMING.of(call)))


def _page(tx: Tx, call: Call, after: SeriesId | None, limit: int) -> list[JsonMap]:
    found = series.list_series(tx, ended=call.flag("ended"), after=after, limit=limit)
    return [series_to_json(tx, each, call.app.clock.now(), 1) for each in found]


def _events(tx: Tx, call: Call, limit: int) -> list[Json]:
    found = agenda.next_of_each(tx, call.app.clock.now(), limit)
    return [planned_start_to_json(each, call.app.zone) for each in found]


@read("/api/stats", "Stats", VIEW)
async def look_stats(call: Call) -> CallResult:
    """What stands where, what ended when, what it cost, what comes next."""
    found = await current_numbers(call.app)
    return CallResult(stats_to_json(call, found))


async def current_numbers(app: App) -> Stats:
    """Return all current numbers, by the owner's clock."""
    zone = find_owner_zone(app.settings.zone).zone
    return await app.db.read(inbox.stats, app.clock.now(), midnight(zone))


def stats_to_json(call: Call, found: Stats) -> JsonMap:
    app, budget = call.app, call.app.settings.budget
    days: list[Json] = [{"at": stamp(day.at), **_used_json(day.used)} for day in found.days]
    hours: list[Json] = [pick_fields(hour, "at completed failed cancelled") for hour in found.hours]
    return {
        "needs": tasks.inbox_counts_to_json(found.needs),
        "counts": dict[str, Json](found.counts),
        "hours": hours,
        "days": days,
        "next": [show(task, call.view) for task in found.next],
        "today": _used_json(found.today)
        | {"centsLimit": budget.day_cents or None, "tokensLimit": budget.day_tokens or None},
        "slots": {"busy": app.engine.running, "all": app.settings.engine.parallel},
    }


def _used_json(usage: Usage) -> JsonMap:
    return pick_fields(usage, "cents tokens requests")


@read("/api/lessons", "RuleChanges")
async def list_lessons(call: Call) -> CallResult:
    """Every accepted change of the rules and guidelines, the newest first."""
    return CallResult(lesson_history(await call.app.reflection.history()))


@read("/api/priority-rules", "PriorityRules")
async def list_priority_rules(call: Call) -> CallResult:
    """The rules that rank tasks, in their order, and what is wrong with their file."""
    found = call.app.priority
    return CallResult(priority_rules_to_json(found(), found.complaint))


@read("/healthz", "Health", public=True)
async def show_health(call: Call) -> CallResult:
    """Whether Remit is there, and which of its loops keep failing."""
    failing: dict[str, Json] = {}
    for loop in call.app.background.failing:
        kind = loop.name.partition(":")[0]
        failing[kind] = max(loop.failures, int(str(failing.get(kind, 0))))
    status = "degraded" if failing else "ok"
    return CallResult({"status": status, "version": __version__, "failing": failing})


@read("/api/background", "Background")
async def background(call: Call) -> CallResult:
    """The loops that run in the background, and what those that fail failed with."""
    loops: list[Json] = [
        pick_fields(loop, "name failures")
        | {"error": call.app.hide(loop.error) or None, "since": moment_or_none(loop.since)}
        for loop in call.app.background.states
    ]
    return CallResult({"loops": loops})


_SINCE: Final = numbers("since", "Go on after this seq.", 0, 0, 10**15 - 1)
_EVENTS: Final = numbers("limit", "How many.", 100, 1, 1000)


@read("/api/events", "EventPage", _SINCE, _EVENTS)
async def follow(call: Call) -> CallResult:
    """What happened, in order."""
    limit = _EVENTS.of(call)
    happened, newest = await call.app.db.read(_events_page, _SINCE.of(call), limit + 1)
    found, last = cut(happened, limit)
    rows: list[Json] = [shapes.event(event) for event in found]
    return CallResult({"events": rows, "next": last.seq if last else None, "last": newest})


def _events_page(tx: Tx, since: int, limit: int) -> tuple[list[Event], int]:
    last = events.last(tx)
    return events.list_after(tx, since, limit), last


@read("/api/contacts", "Contacts", tagged=True)
async def look_contacts(call: Call) -> CallResult:
    """Everyone in the contact book, and whether they are written to unasked."""
    return result_of(await contacts.look(call))


@read("/api/rules", "Rules")
async def list_rules(call: Call) -> CallResult:
    """What you have said once and for all."""
    return result_of(await contacts.list_rules(call))


# Conversations, and what the owner was told ------------------------------------------------------

_MOST_TURNS: Final = 200
_BEFORE: Final = QueryParameter("before", "The last one of the page before.")
_LIMIT: Final = numbers("limit", "How many at most.", 50, 1, _MOST_TURNS)
_TURN: Final = numbers("before", "Only turns before this one; 0 is from the end.", 0, 0, 10**9)


@read("/api/conversations", "Conversations", _BEFORE, _LIMIT)
async def recent(call: Call) -> CallResult:
    """The conversations that went on last."""
    limit, before = _LIMIT.of(call), call.text("before")
    after = ConversationId(before) if before else None
    try:
        found, last = cut(await call.app.db.read(conversations.recent, after, limit + 1), limit)
    except NotFound:
        sentence = f"before is {before!r:.60}; give the last id of the page before."
        raise UnknownName(sentence, field="before") from None
    shown: list[Json] = [conversation_to_json(each) for each in found]
    return CallResult({"conversations": shown, "next": last.id if last else None})


@read("/api/conversations/{id}", "ConversationDetail", _TURN, _LIMIT)
async def look_conversation(call: Call) -> CallResult:
    """A conversation with its newest turns."""
    before, limit = _TURN.of(call), _LIMIT.of(call)
    talk = await call.app.db.read(conversations.get, ident(call))
    turns = await call.app.db.read(conversations.turns, talk.id, before, limit)
    first = turns[0].n if turns else 0
    return CallResult(with_turns(talk, turns, first if first > 1 else None))


def ident(call: Call) -> ConversationId:
    return conversation_id(call.path["id"])


_PLACE: Final = re.compile(r"[0-9]{1,15}")
_NOTICES: Final = numbers("limit", "How many of them.", 50, 1, 500)


@read("/api/notices", "Notices", _NOTICES, CURSOR)
async def list_notices(call: Call) -> CallResult:
    """What the owner was told, newest first: over which way, and what came of it."""
    limit, cursor = _NOTICES.of(call), call.text("cursor")
    if cursor is not None and not _PLACE.fullmatch(cursor):
        raise UnknownName("cursor must be the `next` of a page before.", field="cursor")
    before = int(cursor) if cursor else None
    found, last = cut(await call.app.db.read(notices.recent, before, limit + 1), limit)
    listed: list[Json] = [notice_to_json(each) for _, each in found]
    return CallResult({"notices": listed, "next": str(last[0]) if last else None})


@read("/api/push", "Push", scope=Scope.APPROVE)
async def look_push(call: Call) -> CallResult:
    """Whether browsers can be told while no page is open, and whether this one is."""
    return result_of(await push_state(call))


@read(
    "/api/messages/{id}",
    "Heard",
    VIEW,
    QueryParameter("wait", "Answer once it is read.", {"type": "boolean"}),
)
async def became(call: Call) -> CallResult:
    """What a message became, by the id of its task; a model may still be reading it."""
    result = await call.app.intake.became(call.task_id, wait=call.flag("wait"))
    return CallResult(message_result_to_json(result, call.view))


# For debugging ------------------------------------------------------------------------------------

_MIRRORED: Final = {
    ("GET", "/api/tasks"),
    ("POST", "/api/tasks"),
    ("PATCH", "/api/tasks/{id}"),
    ("DELETE", "/api/tasks/{id}"),
    ("GET", "/api/tasks/{id}/log"),
}


async def look_debug(call: Call) -> CallResult:
    """One task in every detail."""
    task = await call.app.db.read(stored.get, call.task_id)
    version, content = await tasks.detail(call)
    return CallResult(content | {"internal": to_json(task)}, headers={"ETag": f'"{version}"'})


DEBUG_ROUTES: Final = (
    *(
        replace(route, path=route.path.replace("/api/", "/api/debug/"))
        for route in (*routes_in(listing, tasks), route_of(create_task), route_of(delete_task))
        if (route.method, route.path) in _MIRRORED
    ),
    read("/api/debug/tasks/{id}", "DebugDetail", VIEW, tagged=True)(look_debug),
)


# Channels: how each stands, and what it promises --------------------------------------------------

GUARANTEES: Final[Mapping[SendGuarantee, str]] = {
    SendGuarantee.TRANSACTION: "Exactly once: what is shown and what is written down are one.",
    SendGuarantee.KEY: "Once: the same message given twice is taken as one.",
    SendGuarantee.LOOKUP: "Once: after a cut it is looked up whether the message arrived.",
    SendGuarantee.NOTHING: "At most once: after a cut you are asked whether it arrived.",
}


@read("/api/channels", "Channels")
async def list_channels(call: Call) -> CallResult:
    """Every way out: whether it has what it needs, and what it promises."""
    return CallResult({"channels": await channels_to_json(call.app)})


async def channels_to_json(app: App) -> list[Json]:
    """Return the same for a page."""
    names = [DASHBOARD, *(way.name for way in app.outfit.ways)]
    off, wrong = await app.db.read(_channel_troubles, names)
    kinds = {way.name: (way.kind, way.aliases) for way in app.outfit.ways}
    states = await asyncio.to_thread(channel_states_of, app, off)
    found: list[Json] = []
    for name in names:
        kind, aliases = kinds.get(name, (DASHBOARD, ()))
        state = states.get(name)
        why = state.said if state and not state.ready else ""
        found.append(
            {
                "name": name,
                "kind": kind,
                "aliases": list[Json](aliases),
                "ready": not why,
                "why": why or None,
                "off": name in off,
                "guarantee": GUARANTEES[_guarantee_of(app, name)],
                "lastError": wrong.get(name),
            }
        )
    return found


def _guarantee_of(app: App, name: str) -> SendGuarantee:
    return SendGuarantee.TRANSACTION if name == DASHBOARD else app.outfit.channels[name].keeps


def channel_states_of(app: App, off: Mapping[str, str]) -> dict[str, ChannelState]:
    """Whether each channel has what it needs; asks the machine's keyring, which may be slow."""
    return channel_states(keys_of(app.settings), app.clock, off, app.settings.home)


def _channel_troubles(tx: Tx, names: list[str]) -> tuple[Mapping[str, str], dict[str, str]]:
    last = {name: deliveries.last_trouble(tx, name) for name in names}
    return permissions.channels_off(tx), {name: why for name, why in last.items() if why}
