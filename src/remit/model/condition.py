"""Limits that the owner set in words: stored with the task, shown, and enforced by code."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct


class ConditionKind(StrEnum):
    NOT_BEFORE = "not_before"  # a time
    NOT_ON = "not_on"  # days of the week
    NOT_TO = "not_to"  # people
    ONLY_IF = "only_if"  # something in the world
    AFTER_OK = "after_ok"  # an event that code cannot see: the owner must say that it happened


class Condition(Struct, frozen=True):
    """One limit, in the owner's words and as code understands it."""

    kind: ConditionKind
    words: str
    end: int = 0  # where the words end in the message
    at: datetime | None = None  # not before this, in UTC
    days: tuple[int, ...] = ()  # not on these; Monday is 0
    zone: str = "UTC"  # the zone in which days begin
    names: tuple[str, ...] = ()  # not to these


def excludes(conditions: Iterable[Condition], name: str) -> Condition | None:
    """Return the limit that excludes a person; None if there is none."""
    return next((each for each in conditions if name in each.names), None)


def holds_until(conditions: Iterable[Condition], now: datetime) -> tuple[datetime, str] | None:
    """Return until when nothing may be sent, and the words that say so; None if it may go now."""
    for each in conditions:
        if each.at is not None and now < each.at:
            return each.at, each.words
        local = now.astimezone(ZoneInfo(each.zone))
        if local.weekday() in each.days and len(set(each.days)) < 7:  # noqa: PLR2004 - a week
            return _next_day(local, each), each.words
    return None


def _next_day(local: datetime, condition: Condition) -> datetime:
    """Return the midnight at which the first day begins that is not excluded."""
    day = local.date() + timedelta(days=1)
    while day.weekday() in condition.days:
        day += timedelta(days=1)
    return datetime.combine(day, time(), tzinfo=local.tzinfo)
