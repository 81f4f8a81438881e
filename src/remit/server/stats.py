"""Statistics: tasks by status, what ended when, cost, and what comes next."""

import os
from typing import Final

from remit.brain.budget import midnight
from remit.intake.recipients import owners
from remit.model.codec import Json, JsonMap, stamp
from remit.model.reply import Usage
from remit.model.view import show
from remit.server import reviews
from remit.server.call import VIEW, Call, CallResult, read
from remit.store import stats
from remit.store.stats import Stats
from remit.wiring import App


async def look(call: Call) -> CallResult:
    found = await numbers(call.house)
    return CallResult(stats_to_json(call, found))


async def numbers(house: App) -> Stats:
    """Return all current numbers, by the owner's clock."""
    zone = owners(house.settings.zone, os.environ).zone
    return await house.db.read(stats.look, house.clock.now(), midnight(zone))


def stats_to_json(call: Call, found: Stats) -> JsonMap:
    house, budget = call.house, call.house.settings.budget
    days: list[Json] = [{"at": stamp(day.at), **_used(day.used)} for day in found.days]
    hours: list[Json] = [
        {
            "at": stamp(hour.at),
            "completed": hour.completed,
            "failed": hour.failed,
            "cancelled": hour.cancelled,
        }
        for hour in found.hours
    ]
    return {
        "needs": reviews.inbox_counts_to_json(found.needs),
        "counts": dict[str, Json](found.counts),
        "hours": hours,
        "days": days,
        "next": [show(task, call.view) for task in found.next],
        "today": _used(found.today)
        | {"centsLimit": budget.day_cents or None, "tokensLimit": budget.day_tokens or None},
        "slots": {"busy": house.engine.running, "all": house.settings.engine.parallel},
    }


def _used(usage: Usage) -> JsonMap:
    return {"cents": usage.cents, "tokens": usage.tokens, "requests": usage.requests}


ROUTES: Final = (
    read(
        "/api/stats",
        look,
        "What stands where, what ended when, what it cost, what comes next",
        "Stats",
        VIEW,
    ),
)
