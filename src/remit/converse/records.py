"""Sentences about what is stored: the status of tasks, what was done when."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.converse.meaning import Words
from remit.converse.scene import UnderstoodMessage
from remit.model.contract import ItemStatus
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.status import ACTIVE, Status
from remit.model.task import Task

_MOST: Final = 8  # tasks in one answer
_HALF_DAY: Final = 12
_ENDS: Final = {Status.COMPLETED: "done"}
_MOST_TITLE: Final = 80
_BEFORE, _AFTER = timedelta(minutes=30), timedelta(hours=1)


class TimeSpan(Struct, frozen=True):
    since: datetime
    until: datetime
    called: str


def title(task: Task) -> str:
    named = task.title if len(task.title) <= _MOST_TITLE else task.title[: _MOST_TITLE - 1] + "…"
    return f"“{named}”"


def moment(at: datetime, now: datetime, zone: ZoneInfo) -> str:
    """Return a time on the owner's clock: 08:57, tomorrow 08:57, Thu 5 Mar 08:57."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    clock, apart = f"{local:%H:%M}", (local.date() - today).days
    near = {0: clock, 1: f"tomorrow {clock}", -1: f"yesterday {clock}"}
    year = "" if local.year == today.year else f" {local.year}"
    return near.get(apart, f"{local:%a} {local.day} {local:%b}{year} {clock}")


def state_words(task: Task, now: datetime, zone: ZoneInfo) -> str:
    """Return the state of a task, in a clause."""
    if task.pending_reading is not None and task.status is Status.NEW:
        return "it is being read"
    if task.status in (Status.NEW, Status.NEEDS_REVIEW) and (task.gaps or task.reason):
        return "it waits for you"
    if task.status in ACTIVE:
        return _at_work(task)
    if task.status in (Status.NEW, Status.READY):
        at = task.scheduled_for
        return f"planned for {moment(at, now, zone)}" if at else "about to start"
    why = f": {task.result_summary}" if task.status is Status.FAILED and task.result_summary else ""
    return _end_words(_ENDS.get(task.status, task.status.value), task, now, zone) + why


def _at_work(task: Task) -> str:
    done = sum(item.status is ItemStatus.COMPLETED for item in task.work)
    word = "being sent" if task.status is Status.DELIVERING else "running"
    return f"{word}, {done} of {len(task.work)} done" if task.work else word


def _end_words(word: str, task: Task, now: datetime, zone: ZoneInfo) -> str:
    at = task.completed_at
    sent = [delivery_words(each) for each in task.delivery if each.status is DeliveryStatus.SENT]
    went = f", sent by {', '.join(sent)}" if sent else ""
    return f"{word} {moment(at, now, zone)}{went}" if at else word


def too_late(task: Task, now: datetime, zone: ZoneInfo) -> str:
    """Return that a task cannot be taken back, if it was sent to others; else nothing."""
    sent = [each for each in task.delivery if each.recipient and each.sent_at]
    if not sent:
        return ""
    at, ways = max(each.sent_at or now for each in sent), ", ".join(map(delivery_words, sent))
    went = f"{title(task)} went out {moment(at, now, zone)} by {ways}"
    return f"Too late: {went}. It cannot be taken back."


def delivery_words(delivery: Delivery) -> str:
    return f"{delivery.channel} to {delivery.recipient or 'you'}"


def list_tasks(head: str, none: str, tasks: Sequence[Task], now: datetime, zone: ZoneInfo) -> str:
    """Return a line for each task, or a sentence that there is none."""
    if not tasks:
        return none
    lines = [f"- {title(task)}: {state_words(task, now, zone)}" for task in tasks[:_MOST]]
    more = [f"- and {len(tasks) - _MOST} more"] if len(tasks) > _MOST else []
    return "\n".join([head, *lines, *more])


def status(task: Task, now: datetime, zone: ZoneInfo) -> str:
    state = state_words(task, now, zone)
    result = task.result_summary if task.status is Status.COMPLETED else None
    return f"{title(task)}: {state}." + (f" {result}" if result else "")


# When ---------------------------------------------------------------------------------------------


def span(when: Words, now: datetime, zone: ZoneInfo) -> TimeSpan | None:
    """Return the past time span that words like "yesterday" or "at 8" name."""
    local = now.astimezone(zone)
    midnight = datetime.combine(local.date(), time(), zone)
    name = " ".join(when)
    for names, start, length in _SPANS:
        if name in names:
            since = midnight + timedelta(hours=start)
            until = min(since + timedelta(hours=length), now)
            return TimeSpan(since, until, names[0]) if since < now else None
    at = _clock(when, local)
    if at is None:
        return None
    return TimeSpan(at - _BEFORE, min(at + _AFTER, now), f"around {at:%H:%M}")


def _clock(when: Words, local: datetime) -> datetime | None:
    """Return the last time the clock showed that; "8" may be morning or evening."""
    words = [word for word in when if word not in _FILL]
    if len(words) != 1:
        return None
    digits, half = words[0], None
    for name in ("am", "pm"):
        if digits.endswith(name):
            digits, half = digits.removesuffix(name), name
    hour, _, minute = digits.replace(".", ":").partition(":")
    if not (hour.isdecimal() and (not minute or minute.isdecimal())):
        return None
    hours = _hours(int(hour), half)
    if not hours or int(minute or 0) > 59:  # noqa: PLR2004 - minutes
        return None
    shown = [local.replace(hour=h, minute=int(minute or 0), second=0, microsecond=0) for h in hours]
    past = [at if at <= local else at - timedelta(days=1) for at in shown]
    return max(past)


def _hours(hour: int, half: str | None) -> list[int]:
    if half is not None:
        fits = 1 <= hour <= _HALF_DAY
        return [hour % _HALF_DAY + (_HALF_DAY if half == "pm" else 0)] if fits else []
    if 1 <= hour < _HALF_DAY:
        return [hour, hour + _HALF_DAY]
    return [hour] if hour < 2 * _HALF_DAY else []


_FILL: Final = frozenset(["at", "um", "a", "las", "la", "uhr", "o'clock", "around", "gegen"])
# Names of a span; its start in hours from last midnight; its length.
_SPANS: Final = (
    (("today", "", "heute", "hoy", "so far"), 0, 24),
    (("yesterday", "gestern", "ayer"), -24, 24),
    (("this morning", "heute morgen", "heute fruh", "esta manana"), 0, 12),
    (("this afternoon", "heute nachmittag", "esta tarde"), 12, 6),
    (("last night", "letzte nacht", "heute nacht", "anoche"), -6, 12),
)


TALK: Final = {
    "thanks": "You are welcome.",
    "greeting": "Hello. Say what is to be done, or ask what is going on.",
    "statement": "That tells something and asks for nothing, so nothing was done.",
    "taken_back": "You took it back, so nothing is done.",
    "forbidden": "You said not to, so nothing is sent.",
    "control": "I cannot tell which task that is about. Name it by a word of its title.",
    "chatter": "That asks for nothing to be done.",
}


def receipt_text(understood: UnderstoodMessage) -> str:
    """Return the card of a message that asks for something, and its questions."""
    asked = [each.question for each in understood.asked]
    return "\n".join([*understood.card, *asked, *understood.unasked])
