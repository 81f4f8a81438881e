"""Expands calendar resources into slots, in a thread with a time limit; finds who organises each.

A failure concerns one resource only. An organiser counts only if every event names the same address
exactly once, in a clean form; anything ambiguous counts as a stranger's.
"""

import asyncio
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from remit.calendar import entry, occurrences
from remit.calendar.entry import BrokenChange, CalendarEntry
from remit.calendar.ics import CalendarComponent, read_components
from remit.calendar.occurrences import EventOccurrence, ExpansionContext
from remit.calendar.slots import (
    IDLE,
    CalendarLimits,
    CalendarRefusal,
    CalendarSlot,
    Expansion,
    ExpansionBudget,
    TimeWindow,
    UnfitCalendar,
)
from remit.calendar.zones import Zones
from remit.language import outside_text
from remit.model.task import Taint
from remit.store.calendars import StoredResource
from remit.store.occurrences import ReadResource, StoredOccurrence

MORNING: Final = time(9)
DEFAULT: Final = CalendarLimits()
_LONGEST_UID: Final = 1_000


def slots(
    raw: bytes,
    window: TimeWindow,
    zone: ZoneInfo,
    limits: CalendarLimits = DEFAULT,
    *,
    all_day_at: time = MORNING,
) -> Expansion:
    """Return every slot that starts in the window, and the refusals; it never raises."""
    budget = ExpansionBudget(limits)
    try:
        components = read_components(raw, limits)
    except UnfitCalendar as unfit:
        return Expansion((), (CalendarRefusal("", str(unfit)),))
    zones = Zones([each for each in components if each.name == "VTIMEZONE"], window, budget)
    home = ExpansionContext(window, zone, all_day_at, zones, budget)
    found: list[CalendarSlot] = []
    refused: list[CalendarRefusal] = []
    for uid, parts in _by_uid(components):
        slots_of_it, refusals = _expand_event(uid, parts, home)
        found += slots_of_it
        refused += refusals
    found.sort(key=lambda slot: (slot.start, slot.uid, slot.key))
    return Expansion(tuple(found), tuple(refused), budget.spent)


def _by_uid(
    components: Sequence[CalendarComponent],
) -> Iterator[tuple[str, list[CalendarComponent]]]:
    """Yield each UID with all components that share it."""
    by_uid: dict[tuple[str, str], list[CalendarComponent]] = {}
    for each in components:
        if each.name == "VTIMEZONE":
            continue
        uid = each.says("UID").strip()[:_LONGEST_UID]
        if uid:
            by_uid.setdefault((each.name, uid), []).append(each)
        else:
            yield "", [each]  # refused alone, not with others without a UID
    yield from ((uid, parts) for (_, uid), parts in by_uid.items())


def _expand_event(
    uid: str, parts: Sequence[CalendarComponent], home: ExpansionContext
) -> tuple[list[CalendarSlot], list[CalendarRefusal]]:
    home.budget.begin()
    if not uid:
        named = parts[0].says("SUMMARY")
        why = parts[0].fault or f"{named!r:.60} has no UID to know it again by"
        return [], [CalendarRefusal("", _sentence(why))]
    try:
        entries, broken = _read_entries(parts, home)
        found = occurrences.occurrences(entries, broken, home)
        refused = [CalendarRefusal(uid, _sentence(str(each)), one_change=True) for each in broken]
        return [_slot(uid, each, home) for each in found], refused
    except UnfitCalendar as unfit:
        return [], [CalendarRefusal(uid, _sentence(str(unfit)))]
    except (OverflowError, ValueError):
        # Arithmetic at either end of the calendar; nobody meant such a year.
        return [], [CalendarRefusal(uid, "It reaches beyond the years 1 to 9999.")]


def _read_entries(
    parts: Sequence[CalendarComponent], home: ExpansionContext
) -> tuple[list[CalendarEntry], list[BrokenChange]]:
    """The event and its changes; a change that cannot be read is refused alone."""
    entries: list[CalendarEntry] = []
    broken: list[BrokenChange] = []
    for part in parts:
        try:
            entries.append(entry.read(part, home.zones, home.zone, home.budget.limits))
        except UnfitCalendar as unfit:
            change = entry.broken_change(part, home.zones, str(unfit))
            if change is None:
                raise
            broken.append(change)
    return entries, broken


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."


def _slot(uid: str, each: EventOccurrence, home: ExpansionContext) -> CalendarSlot:
    start = each.start.astimezone(UTC)
    return CalendarSlot(
        uid=uid,
        key=each.key,
        start=start,
        end=each.end.astimezone(UTC),
        local=start.astimezone(home.zone),
        flags=each.flags | each.entry.flags,
        summary=each.entry.summary,
        description=each.entry.description,
        kind=each.entry.kind,
    )


_FOLD: Final = re.compile(r"\r?\n[ \t]")
_VALUE: Final = r'(?:"[^"\x00-\x1f\x7f]*"|[^";:,\x00-\x1f\x7f]*)'
_PARAMETER: Final = rf";([A-Za-z0-9-]+)=({_VALUE}(?:,{_VALUE})*)"
_PARAMETERS: Final = re.compile(_PARAMETER)
_ANY_CASE: Final = re.IGNORECASE | re.ASCII  # without ASCII a Kelvin sign would match k
_CLEAN: Final = re.compile(rf"(ORGANIZER|ATTENDEE)((?:{_PARAMETER})*):(.+)", _ANY_CASE)
_ADDRESS: Final = re.compile(r"mailto:([a-z0-9.!#$&'*+/=^_`{|}~-]+@[a-z0-9.-]+)", _ANY_CASE)
_COMPONENTS: Final = frozenset({"begin:vevent", "begin:vtodo", "begin:vjournal"})
_PEOPLE: Final = ("organizer", "attendee")
_UNSEEN: Final = dict.fromkeys((*range(33), 127, *range(128, 161), 0x2028, 0x2029))
_MAX_CHARACTERS: Final = 4_000_000
_NOBODY: Final = ""


def organizer(body: str) -> str | None:
    """Return the address that organises a whole resource, in lower case.

    Empty if the resource has no organiser; None if that is not certain.
    """
    if len(body) > _MAX_CHARACTERS:
        return None
    by_component: list[list[str | None]] = [[]]  # the first holds what comes before any event
    for raw in _FOLD.sub("", body).split("\n"):
        line = raw.removesuffix("\r")
        name = _bare_name(line)
        if _hides_a_line(line):
            return None
        if name in _COMPONENTS:
            by_component.append([])
        elif name.startswith("organizer"):
            by_component[-1].append(_address(line))
        elif name.startswith("attendee") and _CLEAN.fullmatch(line) is None:
            return None
    outside, *components = by_component
    if not any(by_component):
        return _NOBODY
    found = {address for each in components for address in each}
    alone = not outside and len(found) == 1 and all(len(each) == 1 for each in components)
    return found.pop() if alone else None


def _hides_a_line(line: str) -> bool:
    """Whether some readers see an organiser within a line and others do not."""
    parts = line.splitlines()
    return len(parts) > 1 and any(_bare_name(each).startswith(_PEOPLE) for each in (line, *parts))


def _bare_name(line: str) -> str:
    """Return how a line begins for a reader that ignores invisible characters."""
    head = line[:200]
    if not head.isascii():
        head = unicodedata.normalize("NFKC", head)
        head = "".join(char for char in head if unicodedata.category(char) not in ("Cf", "Mn"))
    return head.translate(_UNSEEN).casefold()[:40]


def _address(line: str) -> str | None:
    """Return the address of an ORGANIZER line; None if anything in it is doubtful."""
    found = _CLEAN.fullmatch(line)
    address = _ADDRESS.fullmatch(found[found.lastindex or 0]) if found else None
    if found is None or address is None:
        return None
    address_text = address[1].lower()
    for name, value in _PARAMETERS.findall(found[2]):
        acts_for = name.upper() == "SENT-BY"
        other = name.upper() == "EMAIL" and value.strip('"').lower() != address_text
        if acts_for or other:
            return None
    return address_text


Knows: TypeAlias = Callable[[str], bool]  # whether an address belongs to a contact

SECONDS: Final = 5.0
HORIZON: Final = timedelta(days=35)
_BACK: Final = timedelta(days=1)
_FARTHEST: Final = timedelta(days=90)  # the longest downtime that is caught up
_SEVERAL: Final = "It holds more than one event; a calendar keeps each in a file of its own."


class CalendarReader(Struct, frozen=True):
    """Reads calendars for the owner: zone, hour for whole days, own addresses."""

    zone: ZoneInfo
    all_day_at: time = MORNING
    mine: Collection[str] = ()
    knows: Knows = lambda _: False
    limits: CalendarLimits = DEFAULT
    seconds: float = SECONDS

    async def read(
        self, resource: StoredResource, *, trusted: bool, fresh: datetime, now: datetime
    ) -> ReadResource:
        """Return the starts of a resource from the recent past up to the horizon."""
        since = max(min(fresh, now - _BACK), now - _FARTHEST)
        window = TimeWindow(since, now + HORIZON)
        found = await self._expand_event(resource.body, window)
        why = found if isinstance(found, str) else _objection(found, resource.uid)
        if why is not None or isinstance(found, str):
            # Known only up to now, so that it is tried again at the next roll.
            title = outside_text.title(entry.value(resource.body, "SUMMARY"))
            refused = replace(resource, until=now, why=why, title=title)
            return ReadResource(refused, (), frozenset(), since, fresh)
        taint = self._taint(resource.body, trusted=trusted)
        starts = tuple(_occurrence(slot, taint) for slot in found.slots)
        idle = frozenset(slot.key for slot in found.slots if slot.flags & IDLE)
        # Of a change that was refused the owner is told; the rest starts.
        refusal = next((each.why for each in found.refused), None)
        read = replace(resource, until=window.until, why=refusal)
        return ReadResource(read, starts, idle, since, fresh)

    async def _expand_event(self, body: str, window: TimeWindow) -> Expansion | str:
        if entry.is_ours(body):
            return Expansion((), ())
        # Not a pool: a stuck thread must not delay the next one.
        thread = ThreadPoolExecutor(1, "remit-calendar")
        raw, at = body.encode("utf-8", "replace"), self.all_day_at
        expand = partial(slots, raw, window, self.zone, self.limits, all_day_at=at)
        work = asyncio.get_running_loop().run_in_executor(thread, expand)
        try:
            async with asyncio.timeout(self.seconds):
                return await work
        except TimeoutError:
            return f"It could not be worked out within {self.seconds:g} s when it falls."
        except Exception as error:  # noqa: BLE001 - one event must not stop the others
            return f"It cannot be read ({type(error).__name__})."
        finally:
            thread.shutdown(wait=False)

    def _taint(self, body: str, *, trusted: bool) -> Taint:
        """Return OWNER if the calendar is the owner's and nobody else organises the event."""
        address = organizer(body)
        if address is None:
            return Taint.PUBLIC
        if address and address not in {each.lower() for each in self.mine}:
            return Taint.CONTACT if self.knows(address) else Taint.PUBLIC
        return Taint.OWNER if trusted else Taint.PUBLIC


def _objection(found: Expansion, uid: str) -> str | None:
    for refusal in found.refused:
        if not refusal.one_change:
            return refusal.why
    return None if all(slot.uid == uid for slot in found.slots) else _SEVERAL


def _occurrence(slot: CalendarSlot, taint: Taint) -> StoredOccurrence:
    return StoredOccurrence(
        uid=slot.uid,
        key=slot.key,
        start=slot.start,
        title=outside_text.title(slot.summary),
        text=outside_text.clean(slot.description),
        taint=taint,
    )
