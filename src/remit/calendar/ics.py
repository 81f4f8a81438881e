"""Writes iCalendar to-dos and events, folded and escaped."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from remit.calendar.entry import OURS
from remit.model.contract import ItemStatus
from remit.model.status import Status
from remit.model.task import Priority, Task

__all__ = ["Event", "event", "todo", "whole"]

_MOST_LINE: Final = 73  # bytes, without the blank of a fold
_MOST_TEXT: Final = 2_000
_ESCAPED: Final = re.compile(r"([\\;,])")
_PRIORITY: Final = {Priority.CRITICAL: 1, Priority.HIGH: 1, Priority.MED: 5, Priority.LOW: 9}
_BEGUN: Final = frozenset({Status.RUNNING, Status.VERIFYING, Status.DELIVERING})
_ENDS: Final = {
    Status.COMPLETED: "COMPLETED",
    Status.FAILED: "CANCELLED",
    Status.CANCELLED: "CANCELLED",
}
_SHORT: Final = timedelta(minutes=30)
_HALF_DONE: Final = 99

Event = tuple[str, datetime, str, str]  # uid, start, title, description


def todo(task: Task, *, above: int = -1) -> str:
    """Return a task as a to-do: status, progress, and a mark that it is ours.

    SEQUENCE counts seconds, so it rises with every change, and is higher than `above`. Clients keep
    what they have if theirs is the same or higher.
    """
    sequence = int((task.last_updated - task.created_at).total_seconds())
    lines = [
        "BEGIN:VTODO",
        f"UID:{task.id}",
        f"DTSTAMP:{_utc(task.last_updated)}",
        f"CREATED:{_utc(task.created_at)}",
        f"LAST-MODIFIED:{_utc(task.last_updated)}",
        f"SEQUENCE:{max(sequence, above + 1, 0)}",
        f"SUMMARY:{_text(task.title)}",
        f"DESCRIPTION:{_text(_described(task))}",
        f"STATUS:{status(task)}",
        f"PERCENT-COMPLETE:{percent(task)}",
        f"PRIORITY:{_PRIORITY[task.priority]}",
        f"{OURS}:{task.id}",
        f"X-REMIT-STATUS:{task.status}",
    ]
    if task.scheduled_for is not None:
        lines.append(f"DUE:{_utc(task.scheduled_for)}")
    if task.status is Status.COMPLETED and task.completed_at is not None:
        lines.append(f"COMPLETED:{_utc(task.completed_at)}")
    lines.append("END:VTODO")
    return whole([lines])


def event(planned: Event, stamp: datetime) -> list[str]:
    """Return something planned as an event of half an hour."""
    uid, start, title, description = planned
    return [
        "BEGIN:VEVENT",
        f"UID:{_text(uid)}",
        f"DTSTAMP:{_utc(stamp)}",
        f"DTSTART:{_utc(start)}",
        f"DTEND:{_utc(start + _SHORT)}",
        f"SUMMARY:{_text(title)}",
        f"DESCRIPTION:{_text(description)}",
        "TRANSP:TRANSPARENT",
        f"{OURS}:1",
        "END:VEVENT",
    ]


def whole(components: Iterable[Sequence[str]], *, name: str = "") -> str:
    """Return a calendar of components, as text."""
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Remit//Remit//EN"]
    if name:
        head += [f"X-WR-CALNAME:{_text(name)}", "REFRESH-INTERVAL;VALUE=DURATION:PT1H"]
    lines = [*head, *(line for each in components for line in each), "END:VCALENDAR"]
    return "".join(_folded(line) + "\r\n" for line in lines)


def status(task: Task) -> str:
    """Return a task's status in the words of a to-do."""
    if task.status in _ENDS:
        return _ENDS[task.status]
    paused_begun = task.status is Status.PAUSED and task.resume_to in _BEGUN
    begun = task.status in _BEGUN or task.status is Status.NEEDS_REVIEW or paused_begun
    return "IN-PROCESS" if begun else "NEEDS-ACTION"


def percent(task: Task) -> int:
    """Return how much of the work is ticked; 100 only if completed."""
    if task.status is Status.COMPLETED:
        return 100
    done = sum(item.status is ItemStatus.COMPLETED for item in task.work)
    return min(100 * done // len(task.work), _HALF_DONE) if task.work else 0


def _described(task: Task) -> str:
    notes = {
        Status.NEEDS_REVIEW: "It waits for you: remit inbox",
        Status.FAILED: "It failed.",
        Status.PAUSED: "It is paused.",
    }
    parts = (notes.get(task.status, ""), task.result_summary or "", task.instructions)
    return "\n".join(filter(None, parts))[:_MOST_TEXT]


def _utc(at: datetime) -> str:
    return f"{at:%Y%m%dT%H%M%SZ}"


def _text(text: str) -> str:
    kept = "".join(char for char in text if char in "\n\t" or char.isprintable())
    return _ESCAPED.sub(r"\\\1", kept).replace("\n", "\\n")


def _folded(line: str) -> str:
    """Fold a line by bytes without cutting a character."""
    if len(line.encode()) <= _MOST_LINE:
        return line
    pieces, piece, size = list[str](), "", 0
    for char in line:
        wide = len(char.encode())
        if size + wide > _MOST_LINE:
            pieces.append(piece)
            piece, size = "", 0
        piece, size = piece + char, size + wide
    return "\r\n ".join([*pieces, piece])
