"""The statistics bar above the list: finished tasks, cost, next run."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.brain.budget import midnight
from remit.server.call import Call
from remit.server.page_language import say
from remit.server.web import shell, words
from remit.store import stats
from remit.store.stats import HourlyOutcomes, Stats

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


async def values(call: Call) -> dict[str, object]:
    """Return what the bar's template needs."""
    now = shell.local(call)
    found = await call.house.db.read(stats.look, now, midnight(call.house.zone), count=False)
    return {
        "stats": found,
        "hours": hours(found, now),
        "days": days(found),
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


def hours(found: Stats, now: datetime) -> StatsChart:
    most = max((_sum(hour) for hour in found.hours), default=0)
    scale = _HIGH / max(most, _LEAST)
    bars = [
        _stacked([(hour.cancelled, "idle"), (hour.failed, "bad"), (hour.completed, "ok")], scale)
        for hour in found.hours
    ]
    return StatsChart(bars, _hours_say(found.hours, now))


def days(found: Stats) -> StatsChart:
    most = max((day.used.cents for day in found.days), default=0)
    scale = _HIGH / max(most, 1)
    each = (f"{words.dated(day.at, '%a')} ${day.used.cents / 100:,.2f}" for day in found.days)
    bars = [_stacked([(day.used.cents, "run")], scale) for day in found.days]
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


def _stacked(parts: Sequence[tuple[int, str]], scale: float) -> list[BarPiece]:
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
