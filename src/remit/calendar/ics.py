"""Writes to-dos and events as iCalendar; reads the components of a calendar, in linear time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field

from remit.calendar.slots import MEGABYTE, CalendarLimits, UnfitCalendar
from remit.model.contract import ItemStatus
from remit.model.status import Status
from remit.model.task import Priority, Task

OURS: Final = "X-REMIT-TASK"  # marks what we write, so that it is never taken for a cue
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
        f"DESCRIPTION:{_text(_describe_task(task))}",
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
    return calendar_text([lines])


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


def calendar_text(components: Iterable[Sequence[str]], *, name: str = "") -> str:
    """Return a calendar of components, as text."""
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Remit//Remit//EN"]
    if name:
        head += [f"X-WR-CALNAME:{_text(name)}", "REFRESH-INTERVAL;VALUE=DURATION:PT1H"]
    lines = [*head, *(line for each in components for line in each), "END:VCALENDAR"]
    return "".join(_fold_line(line) + "\r\n" for line in lines)


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


def _describe_task(task: Task) -> str:
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


def _fold_line(line: str) -> str:
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


# What others wrote --------------------------------------------------------------------------------

_LINE: Final = re.compile(r'([A-Za-z0-9-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)', re.DOTALL)
_PARAM: Final = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^;"]*)')
_FOLD: Final = re.compile(rb"\r?\n[ \t]")
_KEPT: Final = frozenset({"VEVENT", "VTODO", "VTIMEZONE"})
_RULES_OF_ZONES: Final = frozenset({"STANDARD", "DAYLIGHT"})
_TIMES: Final = ("DT", "DUE", "DUR", "EXDATE", "EXRULE", "RDATE", "RECURR", "RRULE", "STATUS")
_DEEPEST: Final = 8
_MOST_LINES: Final = 5_000  # of one component


class CalendarProperty(Struct, frozen=True):
    """One property: its raw value, and its parameters with upper-case names."""

    value: str
    params: dict[str, str]


class CalendarComponent(Struct):
    """A component and its properties by name; zones keep their rules inside."""

    name: str
    lines: dict[str, list[CalendarProperty]] = field(default_factory=dict)
    inside: list["CalendarComponent"] = field(default_factory=list)
    fault: str = ""  # why it is refused, found while parsing

    def first(self, name: str) -> CalendarProperty | None:
        found = self.lines.get(name)
        return found[0] if found else None

    def properties(self, name: str) -> list[CalendarProperty]:
        return self.lines.get(name, [])

    def says(self, name: str) -> str:
        """Return the first value of this name, or ''."""
        found = self.first(name)
        return found.value if found else ""


def read_components(raw: bytes, limits: CalendarLimits) -> list[CalendarComponent]:
    """Return every event, to-do and zone of a calendar, in order."""
    if len(raw) > limits.bytes:
        raise UnfitCalendar(
            f"It is {len(raw) / MEGABYTE:.1f} MB; at most {limits.bytes / MEGABYTE:g} MB are read."
        )
    text = _FOLD.sub(b"", raw.removeprefix(b"\xef\xbb\xbf")).decode("utf-8", "replace")
    if text[:80].lstrip()[:15].upper() != "BEGIN:VCALENDAR":
        raise UnfitCalendar("It is no calendar; one begins with BEGIN:VCALENDAR.")
    if text.upper().count("BEGIN:V") > limits.components:
        raise UnfitCalendar(
            f"It holds more than {limits.components:,} components; fewer would be read."
        )
    return list(_read_components(text, limits))


def _read_components(text: str, limits: CalendarLimits) -> Iterator[CalendarComponent]:
    """Yield the components to keep, each once it is closed."""
    frames: list[str] = []
    kept: list[CalendarComponent] = []
    for number, raw_line in enumerate(text.split("\n"), start=1):
        line = raw_line.rstrip("\r")
        head = line[:6].upper()
        if head == "BEGIN:":
            frames.append(line[6:].strip().upper())
            if len(frames) > _DEEPEST:
                raise UnfitCalendar(f"Line {number} is nested more than {_DEEPEST} frames deep.")
            _open(frames, kept)
        elif head[:4] == "END:":
            yield from _close(line[4:].strip().upper(), number, frames, kept)
        elif kept and len(frames) == _depth(kept):
            _add(kept[-1], line, limits)
    if frames:
        raise UnfitCalendar(f"It is cut short: {frames[-1]:.40} is begun and never ended.")


def _close(
    name: str, number: int, frames: list[str], kept: list[CalendarComponent]
) -> list[CalendarComponent]:
    """Close a component; an outermost one that is kept is complete then."""
    if not frames or frames.pop() != name:
        raise UnfitCalendar(f"Line {number} ends {name:.40}, which is not what was begun.")
    if not kept or len(frames) >= _depth(kept):
        return []
    done = kept.pop()
    return [] if kept else [done]


def _depth(kept: list[CalendarComponent]) -> int:
    """Return the number of open components around the innermost one that is kept."""
    return len(kept) + 1  # VCALENDAR itself is not kept


def _open(frames: list[str], kept: list[CalendarComponent]) -> None:
    name, outer = frames[-1], frames[:-1]
    if outer == ["VCALENDAR"] and name in _KEPT:
        kept.append(CalendarComponent(name))
    elif outer == ["VCALENDAR", "VTIMEZONE"] and name in _RULES_OF_ZONES and kept:
        rule = CalendarComponent(name)
        kept[-1].inside.append(rule)
        kept.append(rule)


def _add(component: CalendarComponent, line: str, limits: CalendarLimits) -> None:
    if not line or component.fault:
        return
    if len(line) > limits.line:
        name = re.split("[;:]", line[:40])[0]
        component.fault = (
            f"its {name.upper():.40} is {len(line):,} characters long; "
            f"at most {limits.line:,} are read"
        )
        return
    found = _LINE.match(line)
    if found is None:
        if line.upper().startswith(_TIMES):
            component.fault = f"its line {line!r:.60} has no value; one follows a colon"
        return  # other broken lines, such as a text with raw line breaks, change no time
    params = {name.upper(): value.strip('"') for name, value in _PARAM.findall(found[2])}
    same = component.lines.setdefault(found[1].upper(), [])
    same.append(CalendarProperty(found[3], params))
    if len(same) > _MOST_LINES:
        component.fault = f"it has more than {_MOST_LINES:,} lines of {found[1].upper():.40}"
