"""Times of day as people say them: 3pm, 15h30, half past four, halb fünf, las cuatro y media."""

from dataclasses import dataclass, replace
from typing import Final

from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.shape import Part
from remit.language.tokens import Kind

NOON: Final = 12
MIDNIGHT: Final = 24  # the hour of a midnight that was named so: it belongs to two days
_LAST_HOUR: Final = 23
_EVENING: Final = 6  # "tonight at six" is today; "tonight at two" may be of either day
_LAST_MINUTE: Final = 59


@dataclass(frozen=True, slots=True)
class Clock:
    """`dial`: read off a dial of twelve hours, and nobody said which half of the day."""

    hour: int
    minute: int = 0
    dial: bool = False


Found = tuple[Clock, int]


def read_clock(said: Said, at: int, *, sure: bool = False) -> Found | None:
    """Read a time of day. A bare number is one only after "at", or where one is `sure` to stand."""
    words = said.time
    led = words.at.at(said.keys, at)
    start = led[1] if led else at
    found = _plain(said, start) or (_led(said, start, sure=sure) if led or sure else None)
    if found is None or _is_range(said, found[1]):
        return None
    return found


def with_part(clock: Clock, part: Part | None) -> Clock | None:
    """Say which half of the day is meant; None when the two do not go together."""
    if part is None or not clock.dial:
        return clock
    hour = clock.hour % NOON
    evening = part is Part.NIGHT and hour >= _EVENING
    if part is Part.NIGHT and not evening:
        return Clock(MIDNIGHT) if (hour, clock.minute) == (0, 0) else None
    late = evening or part in (Part.AFTERNOON, Part.EVENING)
    return Clock(hour + NOON if late else hour, clock.minute)


def read_number(said: Said, at: int) -> tuple[int, int] | None:
    """Read a number in digits or in words."""
    digits = said.number(at)
    if digits is not None:
        return digits, at + 1
    return said.time.numbers.at(said.keys, at)


def _plain(said: Said, at: int) -> Found | None:
    """Forms that can be nothing else."""
    named = said.time.named.at(said.keys, at)
    if named:
        (hour, minute), end = named
        return Clock(hour, minute), end
    for read in (
        _digital,
        _dotted,
        _run_together,
        _before_the_hour,
        _minutes_past,
        _half_named,
        _o_clock,
    ):
        if found := read(said, at):
            return found
    return None


def _led(said: Said, at: int, *, sure: bool) -> Found | None:
    """Forms that need "at" before them."""
    hour = read_number(said, at)
    if hour is None or hour[0] > _LAST_HOUR:
        return None
    clock, end = _on_dial(hour[0]), hour[1]
    words = said.time
    if half := words.half_after.at(said.keys, end):
        return _shift(clock, half[0]), half[1]
    sign = words.plus.at(said.keys, end)
    more = read_number(said, sign[1]) if sign else None
    if sign and more and more[0] <= _LAST_MINUTE and not words.units.at(said.keys, more[1]):
        return _shift(clock, sign[0] * more[0]), more[1]
    if mark := words.hour_marks.at(said.keys, end):
        return Clock(hour[0]), mark[1]
    return (clock, end) if _ends_well(said, end, sure=sure) else None


def _digital(said: Said, at: int) -> Found | None:
    """Read 8:30, 08:30, 7:45am, 16:45 Uhr."""
    hour, minute = said.number(at, 2), said.number(at + 2, 2)
    if hour is None or minute is None or not said.is_tight(at + 1, ":"):
        return None
    if not said.tokens[at + 2].tight or len(said.tokens[at + 2].text) != 2:  # noqa: PLR2004
        return None
    written_whole = said.tokens[at].text.startswith("0") or said.time.digital_is_24
    clock = replace(_on_dial(hour), minute=minute)
    clock = replace(clock, dial=clock.dial and not written_whole)
    return _finish(said, clock, at + 3)


def _dotted(said: Said, at: int) -> Found | None:
    """Read 15.30 Uhr and 3.30pm: a dot alone could be anything."""
    hour, minute = said.number(at, 2), said.number(at + 2, 2)
    if hour is None or minute is None or not said.is_tight(at + 1, "."):
        return None
    if not said.tokens[at + 2].tight:
        return None
    found = _finish(said, replace(_on_dial(hour), minute=minute), at + 3)
    return found if found and found[1] > at + 3 else None


def _run_together(said: Said, at: int) -> Found | None:
    """Read 530pm and 1130 am: without the half of the day it could be anything."""
    number = said.number(at, 4)
    half = said.time.am_pm.at(said.keys, at + 1)
    if number is None or half is None or len(said.tokens[at].text) < 3:  # noqa: PLR2004
        return None
    hour, minute = divmod(number, 100)
    return _halved(Clock(hour, minute), half[0], half[1]) if minute <= _LAST_MINUTE else None


def _finish(said: Said, clock: Clock, end: int) -> Found | None:
    if clock.hour > _LAST_HOUR or clock.minute > _LAST_MINUTE:
        return None
    words = said.time
    if half := words.am_pm.at(said.keys, end):
        return _halved(clock, half[0], half[1])
    for mark in (words.oclock.at(said.keys, end), words.hour_marks.at(said.keys, end)):
        if mark:
            return clock, mark[1]
    return clock, end


def _halved(clock: Clock, half: int, end: int) -> Found | None:
    if not 1 <= clock.hour <= NOON:
        return None
    return Clock(clock.hour % NOON + half, clock.minute), end


def _before_the_hour(said: Said, at: int) -> Found | None:
    """Read half past four, quarter to nine, halb fünf, Viertel nach drei."""
    shift = said.time.half_before.at(said.keys, at)
    hour = read_number(said, shift[1]) if shift else None
    if shift is None or hour is None or not 1 <= hour[0] <= NOON:
        return None
    end = hour[1]
    if mark := said.time.oclock.at(said.keys, end):
        end = mark[1]
    return _shift(_on_dial(hour[0]), shift[0]), end


def _minutes_past(said: Said, at: int) -> Found | None:
    """Read ten past three, zehn vor neun."""
    minutes = read_number(said, at)
    sign = said.time.past.at(said.keys, minutes[1]) if minutes else None
    hour = read_number(said, sign[1]) if sign else None
    if minutes is None or sign is None or hour is None:
        return None
    spelled = (
        said.tokens[at].kind is not Kind.NUMBER or said.tokens[sign[1]].kind is not Kind.NUMBER
    )
    if not (spelled or sign[0] > 0) or minutes[0] > 30 or not 1 <= hour[0] <= NOON:  # noqa: PLR2004
        return None  # "9 to 5" is a job
    return _shift(_on_dial(hour[0]), sign[0] * minutes[0]), hour[1]


def _half_named(said: Said, at: int) -> Found | None:
    """Read 3pm, nine a.m., 15h30."""
    hour = read_number(said, at)
    if hour is None:
        return None
    words = said.time
    if half := words.am_pm.at(said.keys, hour[1]):
        return _halved(Clock(hour[0]), half[0], half[1])
    minute = said.number(hour[1] + 1, 2)
    if said.is_tight(hour[1], "h") and minute is not None and said.tokens[hour[1] + 1].tight:
        return _finish(said, Clock(hour[0], minute), hour[1] + 2)
    return None


def _o_clock(said: Said, at: int) -> Found | None:
    """Read nine o'clock, 15 Uhr, 15 Uhr 30, tres en punto."""
    hour = read_number(said, at)
    mark = said.time.oclock.at(said.keys, hour[1]) if hour else None
    if hour is None or mark is None or hour[0] > _LAST_HOUR:
        return None
    minute = read_number(said, mark[1])
    if minute and minute[0] <= _LAST_MINUTE and _ends_well(said, minute[1], sure=False):
        return replace(_on_dial(hour[0]), minute=minute[0]), minute[1]
    return _on_dial(hour[0]), mark[1]


def _on_dial(hour: int) -> Clock:
    return Clock(hour, dial=1 <= hour <= NOON)


def _shift(clock: Clock, minutes: int) -> Clock:
    whole = (clock.hour * 60 + minutes) % (24 * 60)
    hour = whole // 60
    if clock.dial and hour == 0:
        hour = NOON
    return Clock(hour, whole % 60, clock.dial)


def _is_range(said: Said, end: int) -> bool:
    """Whether it goes on "to five", "bis 17 Uhr": then it is no moment."""
    through = said.time.through.at(said.keys, end)
    number = read_number(said, through[1]) if through else None
    return number is not None and not _is_of_month(said, number[1])


def _is_of_month(said: Said, at: int) -> bool:
    """Whether a number was that of a day: "at 9pm until 15 March"."""
    words = said.time
    for part in (words.ordinal_ends, words.of):
        if found := part.at(said.keys, at):
            at = found[1]
    return words.months.at(said.keys, at) is not None


def _ends_well(said: Said, end: int, *, sure: bool) -> bool:
    """Whether a bare number may be an hour: "at 9 remind me" may, "at 9 Elm Street" may not."""
    if end >= len(said.tokens):
        return True
    token = said.tokens[end]
    if token.kind is Kind.MARK:
        return token.text not in "%€$£°/" and not (token.text in "-–" and token.tight)
    if token.kind is Kind.NUMBER or (token.kind is Kind.WORD and token.tight):
        return False
    return sure or token.kind is Kind.QUOTE or token.key in said.language.opens
