"""From bytes to components: a calendar's lines are unfolded, counted and put into their frames.

Only the frames and the lines of events, to-dos and zones are kept. What is nested in them, alarms
with their commands above all, is passed over and never looked at. A file that is cut short or whose
frames do not close is refused whole: the line that is missing may be the one that takes a day out.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from remit.trigger.calendar.words import MEGABYTE, Limits, Unfit

_LINE: Final = re.compile(r'([A-Za-z0-9-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)', re.DOTALL)
_PARAM: Final = re.compile(r';([A-Za-z0-9-]+)=("[^"]*"|[^;"]*)')
_FOLD: Final = re.compile(rb"\r?\n[ \t]")
_KEPT: Final = frozenset({"VEVENT", "VTODO", "VTIMEZONE"})
_RULES_OF_ZONES: Final = frozenset({"STANDARD", "DAYLIGHT"})
_TIMES: Final = ("DT", "DUE", "DUR", "EXDATE", "EXRULE", "RDATE", "RECURR", "RRULE", "STATUS")
_DEEPEST: Final = 8
_MOST_LINES: Final = 5_000  # of one component


class Line(Struct, frozen=True):
    """One property: its value as written, and its parameters with names in capitals."""

    value: str
    params: dict[str, str]


class Component(Struct):
    """A frame and its properties by name; zones keep their rules inside."""

    name: str
    lines: dict[str, list[Line]] = field(default_factory=dict)
    inside: list["Component"] = field(default_factory=list)
    fault: str = ""  # why it cannot be taken, found while it was read

    def first(self, name: str) -> Line | None:
        """The first property of this name."""
        found = self.lines.get(name)
        return found[0] if found else None

    def every(self, name: str) -> list[Line]:
        return self.lines.get(name, [])

    def says(self, name: str) -> str:
        """The first value of this name, or ''."""
        found = self.first(name)
        return found.value if found else ""


def read(raw: bytes, limits: Limits) -> list[Component]:
    """Every event, to-do and zone of a calendar, in order."""
    if len(raw) > limits.bytes:
        raise Unfit(
            f"It is {len(raw) / MEGABYTE:.1f} MB; at most {limits.bytes / MEGABYTE:g} MB are read."
        )
    text = _FOLD.sub(b"", raw.removeprefix(b"\xef\xbb\xbf")).decode("utf-8", "replace")
    if text[:80].lstrip()[:15].upper() != "BEGIN:VCALENDAR":
        raise Unfit("It is no calendar; one begins with BEGIN:VCALENDAR.")
    if text.upper().count("BEGIN:V") > limits.components:
        raise Unfit(f"It holds more than {limits.components:,} components; fewer would be read.")
    return list(_framed(text, limits))


def _framed(text: str, limits: Limits) -> Iterator[Component]:
    """The components to keep, each once its frame is closed."""
    frames: list[str] = []
    kept: list[Component] = []
    for number, raw_line in enumerate(text.split("\n"), start=1):
        line = raw_line.rstrip("\r")
        head = line[:6].upper()
        if head == "BEGIN:":
            frames.append(line[6:].strip().upper())
            if len(frames) > _DEEPEST:
                raise Unfit(f"Line {number} is nested more than {_DEEPEST} frames deep.")
            _open(frames, kept)
        elif head[:4] == "END:":
            yield from _close(line[4:].strip().upper(), number, frames, kept)
        elif kept and len(frames) == _depth(kept):
            _add(kept[-1], line, limits)
    if frames:
        raise Unfit(f"It is cut short: {frames[-1]:.40} is begun and never ended.")


def _close(name: str, number: int, frames: list[str], kept: list[Component]) -> list[Component]:
    """End a frame; an outermost component that is kept is whole then."""
    if not frames or frames.pop() != name:
        raise Unfit(f"Line {number} ends {name:.40}, which is not what was begun.")
    if not kept or len(frames) >= _depth(kept):
        return []
    done = kept.pop()
    return [] if kept else [done]


def _depth(kept: list[Component]) -> int:
    """How many frames are open around the lines of the innermost component that is kept."""
    return len(kept) + 1  # VCALENDAR is the one that is not kept


def _open(frames: list[str], kept: list[Component]) -> None:
    name, outer = frames[-1], frames[:-1]
    if outer == ["VCALENDAR"] and name in _KEPT:
        kept.append(Component(name))
    elif outer == ["VCALENDAR", "VTIMEZONE"] and name in _RULES_OF_ZONES and kept:
        rule = Component(name)
        kept[-1].inside.append(rule)
        kept.append(rule)


def _add(component: Component, line: str, limits: Limits) -> None:
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
        return  # other broken lines, such as a text with its breaks left in, change no time
    params = {name.upper(): value.strip('"') for name, value in _PARAM.findall(found[2])}
    same = component.lines.setdefault(found[1].upper(), [])
    same.append(Line(found[3], params))
    if len(same) > _MOST_LINES:
        component.fault = f"it has more than {_MOST_LINES:,} lines of {found[1].upper():.40}"
