"""The time zones that a calendar names.

A zone says which instant a wall time is. An IANA name is that zone, whatever the file says about
it; names used by Windows and some programs are mapped to IANA names. Any other zone must be defined
in the file, or the event is refused, because a guess would start work at a wrong hour. A wall time
that does not exist uses the offset before the change (RFC 5545, 3.3.5): 02:30 becomes 03:30. Of a
repeated wall time the first one counts.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.calendar.ics import CalendarComponent
from remit.calendar.slots import ExpansionBudget, TimeWindow, UnfitCalendar, read_rule
from remit.model import recurrence_times

_LOOK_BACK: Final = timedelta(days=15 * 366)
_LOOK_AHEAD: Final = timedelta(days=2 * 366)
_NONE: Final = timedelta(0)
_DAY: Final = timedelta(days=1)
_OFFSET_DIGITS: Final = (5, 7)  # +0100, +010000
_LONGEST_NAME: Final = 200

Turn = Literal["", "gap", "fold"]


def instant(wall: datetime, zone: tzinfo) -> tuple[datetime, Turn]:
    """Return the instant of a naive wall time, and whether the clocks change there."""
    first = wall.replace(tzinfo=zone, fold=0)
    at = first.astimezone(UTC)
    if zone is UTC or first.utcoffset() == first.replace(fold=1).utcoffset():
        return at, ""
    return at, "fold" if at.astimezone(zone).replace(tzinfo=None, fold=0) == wall else "gap"


def wall_of(at: datetime, zone: tzinfo) -> datetime:
    """Return the naive wall time of an instant."""
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


class Zones:
    """The zones that one calendar names."""

    def __init__(
        self, described: Sequence[CalendarComponent], window: TimeWindow, budget: ExpansionBudget
    ) -> None:
        self._described = {zone.says("TZID"): zone for zone in reversed(described)}
        self._window = window
        self._budget = budget
        self._known: dict[str, tzinfo | UnfitCalendar] = {}

    def find(self, name: str) -> tzinfo:
        """Return the zone of this name; raise UnfitCalendar if it is unknown."""
        if name not in self._known:
            self._known[name] = self._look_up(name)
        found = self._known[name]
        if isinstance(found, UnfitCalendar):
            raise found
        return found

    def _look_up(self, name: str) -> tzinfo | UnfitCalendar:
        known = _iana(name) or _iana(_windows().get(name, ""))
        if known is None and name in self._described:
            try:
                return _described(self._described[name], self._window, self._budget)
            except UnfitCalendar as unfit:
                return UnfitCalendar(f"the zone {name!r:.60} is described in a way that {unfit}")
        known = known or _zone_after_prefix(name)
        return known or UnfitCalendar(
            f"nobody knows its time zone {name!r:.60}; one looks like Europe/Berlin"
        )


def _zone_after_prefix(name: str) -> ZoneInfo | None:
    """Return the zone of a name with a registry prefix that ends in an IANA name."""
    pieces = name.split("/") if name[:1] == "/" else []
    ends = ("/".join(pieces[-many:]) for many in (3, 2, 1))
    return next((zone for end in ends if (zone := _iana(end))), None)


def _iana(name: str) -> ZoneInfo | None:
    if not name or len(name) > _LONGEST_NAME:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _windows() -> Mapping[str, str]:
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON  # noqa: PLC0415 - few calendars need it

    return WINDOWS_TO_OLSON


# A zone that the file describes -------------------------------------------------------------------


class _Onset(Struct, frozen=True):
    """An instant, in naive UTC, from which on the offset changes."""

    at: datetime
    before: timedelta
    after: timedelta


class CustomZone(tzinfo):
    """A zone made of onsets; before the first one its old offset applies."""

    def __init__(self, name: str, onsets: Sequence[_Onset]) -> None:
        self._name = name
        self._offsets = [onsets[0].before, *(onset.after for onset in onsets)]
        self._utc = [onset.at for onset in onsets]
        # Where a wall time could have either offset, fold decides.
        ways = [(onset.at + onset.before, onset.at + onset.after) for onset in onsets]
        self._first = [max(way) for way in ways]
        self._second = [min(way) for way in ways]

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        """The offset of a wall time."""
        if moment is None:
            return _NONE
        turns = self._second if moment.fold else self._first
        return self._offsets[bisect_right(turns, moment.replace(tzinfo=None, fold=0))]

    def fromutc(self, moment: datetime, /) -> datetime:
        """The wall time of an instant."""
        naive = moment.replace(tzinfo=None, fold=0)
        index = bisect_right(self._utc, naive)
        wall = naive + self._offsets[index]
        again = index > 0 and wall < self._first[index - 1]
        return wall.replace(tzinfo=self, fold=int(again))

    def dst(self, moment: datetime | None, /) -> None:
        """Return None: whether an offset is summer time is not needed."""

    def tzname(self, moment: datetime | None, /) -> str:
        """Return the file's name for it."""
        del moment
        return self._name


def _described(zone: CalendarComponent, window: TimeWindow, budget: ExpansionBudget) -> CustomZone:
    found: list[_Onset] = []
    for part in zone.inside:
        before, after = _offset(part.says("TZOFFSETFROM")), _offset(part.says("TZOFFSETTO"))
        found += [_Onset(wall - before, before, after) for wall in _onsets(part, window, budget)]
    if not found:
        raise UnfitCalendar("says no offset; STANDARD or DAYLIGHT would")
    return CustomZone(zone.says("TZID"), sorted(found, key=lambda onset: onset.at))


def _onsets(part: CalendarComponent, window: TimeWindow, budget: ExpansionBudget) -> set[datetime]:
    """Return when a part of a zone begins, in the wall time that it ends."""
    first = _wall(part.says("DTSTART"))
    found = {first} | {
        _wall(one) for line in part.properties("RDATE") for one in line.value.split(",") if one
    }
    since = window.since.astimezone(UTC).replace(tzinfo=None) - _LOOK_BACK
    until = window.until.astimezone(UTC).replace(tzinfo=None) + _LOOK_AHEAD
    for line in part.properties("RRULE"):
        rule = read_rule(line.value, budget.limits)
        if rule.freq in recurrence_times.COUNTED:
            raise UnfitCalendar(f"it turns its clocks {rule.freq}; YEARLY would be understood")
        end = min(until, _wall(rule.until) + _DAY) if rule.until else until
        found |= set(recurrence_times.walls(rule, first, (since, end), budget.spend))
    return found


def _wall(text: str) -> datetime:
    try:
        return datetime.strptime(text.strip()[:15].ljust(15, "0"), "%Y%m%dT%H%M%S")  # noqa: DTZ007 - a wall
    except ValueError:
        raise UnfitCalendar(f"{text!r:.40} is no time; one looks like 20261101T020000") from None


def _offset(text: str) -> timedelta:
    digits = text[1:].ljust(6, "0")
    if text[:1] not in ("+", "-") or len(text) not in _OFFSET_DIGITS or not digits.isdecimal():
        raise UnfitCalendar(f"{text!r:.20} is no offset; one looks like +0100")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    much = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if much >= _DAY:
        raise UnfitCalendar(f"{text!r:.20} is more than a day off")
    return -much if text[0] == "-" else much
