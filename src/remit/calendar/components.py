"""The components of a calendar file, read in linear time."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from remit.calendar.slots import MEGABYTE, CalendarLimits, UnfitCalendar

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
    return list(_framed(text, limits))


def _framed(text: str, limits: CalendarLimits) -> Iterator[CalendarComponent]:
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
