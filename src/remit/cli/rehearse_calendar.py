"""`remit rehearse calendar`: when a file's events would start, and which would be refused."""

from datetime import date, datetime, time, timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from remit import settings as app_settings
from remit.calendar import expand
from remit.calendar.slots import IDLE, CalendarSlot, Expansion, SlotFlag, TimeWindow
from remit.cli import clock, codes, out
from remit.cli.lookup import read_file
from remit.cli.out import AsJson, Piece, StyledText, flag, free
from remit.errors import BadInput
from remit.model.codec import JsonMap, moment
from remit.model.rrule import zone_of
from remit.system.owner_zone import find_owner_zone

AHEAD: Final = timedelta(days=35)
_DAY: Final = timedelta(days=1)
_LAST_YEAR: Final = 9000
_NOTES: Final = {
    SlotFlag.GAP: "clocks go forward: the time written does not exist that day",
    SlotFlag.FOLD: "clocks go back: the time written comes twice that day",
    SlotFlag.FLOATING: "no zone: read in yours",
    SlotFlag.ALL_DAY: "whole day",
    SlotFlag.MOVED: "moved",
    SlotFlag.CHANGED: "changed",
    SlotFlag.CANCELLED: "cancelled: does not start",
    SlotFlag.COMPLETED: "done: does not start",
    SlotFlag.CUT: "its text is cut",
}


def calendar(
    file: Annotated[str, free("An .ics file; - reads it from stdin.")],
    /,
    *,
    since: Annotated[str | None, flag("The first day, or a time with offset.", "--from")] = None,
    until: Annotated[str | None, flag("The last day, or a time with offset.", "--to")] = None,
    tz: Annotated[str | None, flag("The time zone; default: yours.")] = None,
    all_day_at: Annotated[
        str | None, flag("When all-day events start; default: from the settings.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Say what a calendar would start and when; nothing is stored."""
    settings = app_settings.load()
    zone = find_owner_zone(settings.zone).zone if tz is None else zone_of(tz)
    morning = settings.calendar.morning if all_day_at is None else _hour(all_day_at)
    first = _from(since, zone)
    window = TimeWindow(first, _end_moment(until, zone) if until else first + AHEAD)
    if window.until <= window.since:
        raise BadInput("--to is not after --from; the later day is --to.", field="to")
    found = expand.slots(
        read_file(file, "file", expand.DEFAULT.bytes + 1), window, zone, all_day_at=morning
    )
    if json:
        out.emit(expansion_to_json(found))
    else:
        _show(found, window, zone)
    return codes.WAITS if found.refused else codes.DONE


def expansion_to_json(found: Expansion) -> JsonMap:
    """Return for programs: what starts, what is only shown, and what is refused."""
    return {
        "slots": [_slot(slot) for slot in found.slots if not slot.flags & IDLE],
        "idle": [_slot(slot) for slot in found.slots if slot.flags & IDLE],
        "refused": [{"uid": each.uid, "why": each.why} for each in found.refused],
    }


def _slot(slot: CalendarSlot) -> JsonMap:
    return {
        "slot": f"{slot.start:%Y-%m-%dT%H:%M:%SZ}",
        "local": slot.local.isoformat(timespec="seconds"),
        "end": f"{slot.end:%Y-%m-%dT%H:%M:%SZ}",
        "uid": slot.uid,
        "key": slot.key,
        "kind": slot.kind.value,
        "summary": slot.summary,
        "flags": [each.value for each in sorted(slot.flags)],
    }


def _show(found: Expansion, window: TimeWindow, zone: ZoneInfo) -> None:
    out.listing(False, {}, [_row(slot) for slot in found.slots])
    last = (window.until - timedelta(microseconds=1)).astimezone(zone)
    starts = sum(not slot.flags & IDLE for slot in found.slots)
    often = "nothing starts" if not starts else f"{starts:,} start" + "s" * (starts == 1)
    first = window.since.astimezone(zone)
    out.say(f"From {first:%Y-%m-%d} to {last:%Y-%m-%d} ({zone.key}): {often}.")
    for each in found.refused:
        out.line(StyledText("Refused ", "yellow"), f"{each.uid or 'the file'}: {each.why}")


def _row(slot: CalendarSlot) -> list[Piece]:
    notes = "; ".join(_NOTES[each] for each in sorted(slot.flags))
    style = "dim" if slot.flags & IDLE else ""
    when = f"{slot.local:%a %Y-%m-%d %H:%M}"
    summary = out.cut(" ".join(slot.summary.split()), 40) or slot.uid[:40]
    shown = StyledText(when, style), f"{slot.start:%H:%M}Z", StyledText(summary, style)
    return [*shown, StyledText(notes, "dim")]


def _from(text: str | None, zone: ZoneInfo) -> datetime:
    if text is None:
        return datetime.combine(clock.now().astimezone(zone), time(), zone)
    day = _day(text)
    return moment(text) if day is None else datetime.combine(day, time(), zone)


def _end_moment(text: str, zone: ZoneInfo) -> datetime:
    """Return the end: a day counts whole, a time is exact."""
    day = _day(text)
    return moment(text) if day is None else datetime.combine(day + _DAY, time(), zone)


def _day(text: str) -> date | None:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a day on the wall
    except ValueError:
        return None
    if day.year > _LAST_YEAR:
        raise BadInput(f"{text} is too far away; the last year is {_LAST_YEAR}.")
    return day


def _hour(text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - on the wall
    except ValueError:
        sentence = f"{text!r:.20} is no time of day; one looks like 09:00."
        raise BadInput(sentence, field="all-day-at") from None
