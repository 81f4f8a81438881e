"""Parses times of day: 3pm, 15h30, half past four, halb fünf, las cuatro y media."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.language.time import DayPart, TimeText
from remit.language.tokens import TokenKind

NOON: Final = 12
MIDNIGHT: Final = 24  # the hour of a midnight that was named so: it belongs to two days
_LAST_HOUR: Final = 23
_EVENING: Final = 6  # "tonight at six" is today; "tonight at two" may be of either day
_LAST_MINUTE: Final = 59


class ClockTime(Struct, frozen=True):
    """A time of day. `dial`: on a twelve-hour dial, with the half of the day not said."""

    hour: int
    minute: int = 0
    dial: bool = False


Found = tuple[ClockTime, int]


def read_clock(
    line: TimeText, at: int, *, sure: bool = False, dotted: bool = False, ranged: bool = False
) -> Found | None:
    """Read a time of day; a bare number only after "at", or if `sure` that one stands here.

    `dotted`: 7.30 is one too, because a day or "every" stands before it. `ranged`: it may be the
    beginning of a range.
    """
    words = line.words
    led = words.at.at(line.keys, at)
    start = led[1] if led else at
    known = led is not None or sure
    found = _read_dotted_time(line, start, led=known or dotted) or _plain(line, start)
    found = found or (_read_led_time(line, start, sure=sure) if known else None)
    if found is None or (not ranged and _is_range(line, found[1])):
        return None
    roughly = words.oclock.at(line.keys, found[1])  # "9pm ish", "3pm sharp"
    return (found[0], roughly[1]) if roughly else found


def with_part(clock: ClockTime, part: DayPart | None) -> ClockTime | None:
    """Return the time with its half of the day; None if the two do not fit."""
    if part is None or not clock.dial:
        return clock
    hour = clock.hour % NOON
    evening = part is DayPart.NIGHT and hour >= _EVENING
    if part is DayPart.NIGHT and not evening:
        return ClockTime(MIDNIGHT) if (hour, clock.minute) == (0, 0) else None
    late = evening or part in (DayPart.AFTERNOON, DayPart.EVENING)
    return ClockTime(hour + NOON if late else hour, clock.minute)


def read_number(line: TimeText, at: int) -> tuple[int, int] | None:
    """Read a number in digits or in words."""
    digits = line.number(at)
    if digits is not None:
        return digits, at + 1
    return line.words.numbers.at(line.keys, at)


def _plain(line: TimeText, at: int) -> Found | None:
    """Read forms that can be nothing else."""
    named = line.words.named.at(line.keys, at)
    if named:
        (hour, minute), end = named
        return ClockTime(hour, minute), end
    for read in (
        _digital,
        _run_together,
        _before_the_hour,
        _minutes_past,
        _half_named,
        _o_clock,
    ):
        if found := read(line, at):
            return found
    return None


def _read_led_time(line: TimeText, at: int, *, sure: bool) -> Found | None:
    """Read forms that need "at" before them."""
    hour = read_number(line, at)
    if hour is None or hour[0] > _LAST_HOUR:
        return None
    clock, end = _on_dial(hour[0]), hour[1]
    words = line.words
    if half := words.half_after.at(line.keys, end):
        return _shift(clock, half[0]), half[1]
    sign = words.plus.at(line.keys, end)
    more = read_number(line, sign[1]) if sign else None
    if sign and more and more[0] <= _LAST_MINUTE and not words.units.at(line.keys, more[1]):
        return _shift(clock, sign[0] * more[0]), more[1]
    if mark := words.hour_marks.at(line.keys, end):
        return ClockTime(hour[0]), mark[1]
    return (clock, end) if _ends_well(line, end, sure=sure) else None


def _digital(line: TimeText, at: int) -> Found | None:
    """Read 8:30, 08:30, 7:45am, 16:45 Uhr."""
    hour, minute = line.number(at, 2), line.number(at + 2, 2)
    if hour is None or minute is None or not line.is_tight(at + 1, ":"):
        return None
    if not line.tokens[at + 2].tight or len(line.tokens[at + 2].text) != 2:  # noqa: PLR2004
        return None
    written_whole = line.tokens[at].text.startswith("0") or line.words.digital_is_24
    clock = replace(_on_dial(hour), minute=minute)
    clock = replace(clock, dial=clock.dial and not written_whole)
    return _finish(line, clock, at + 3)


def _read_dotted_time(line: TimeText, at: int, *, led: bool) -> Found | None:
    """Read 15.30 Uhr, 3.30pm, 7.40 in the morning; alone it is a time only after "at" or a day."""
    hour, minute = line.number(at, 2), line.number(at + 2, 2)
    if hour is None or minute is None or not line.is_tight(at + 1, "."):
        return None
    if not line.tokens[at + 2].tight or len(line.tokens[at + 2].text) != 2:  # noqa: PLR2004
        return None
    found = _finish(line, replace(_on_dial(hour), minute=minute), at + 3)
    marked = found is not None and found[1] > at + 3
    part = line.words.parts.at(line.keys, at + 3) is not None
    date = minute <= NOON and line.is_tight(at + 3, ".")
    alone = led and not date and _ends_well(line, at + 3, sure=True)
    return found if marked or part or alone else None


def _run_together(line: TimeText, at: int) -> Found | None:
    """Read 530pm and 1130 am; without the half of the day it could be anything."""
    number = line.number(at, 4)
    half = line.words.am_pm.at(line.keys, at + 1)
    if number is None or half is None or len(line.tokens[at].text) < 3:  # noqa: PLR2004
        return None
    hour, minute = divmod(number, 100)
    return _read_half(ClockTime(hour, minute), half[0], half[1]) if minute <= _LAST_MINUTE else None


def _finish(line: TimeText, clock: ClockTime, end: int) -> Found | None:
    if clock.hour > _LAST_HOUR or clock.minute > _LAST_MINUTE:
        return None
    words = line.words
    if half := words.am_pm.at(line.keys, end):
        return _read_half(clock, half[0], half[1])
    for mark in (words.oclock.at(line.keys, end), words.hour_marks.at(line.keys, end)):
        if mark:
            return clock, mark[1]
    return clock, end


def _read_half(clock: ClockTime, half: int, end: int) -> Found | None:
    if not 1 <= clock.hour <= NOON:
        return None
    return ClockTime(clock.hour % NOON + half, clock.minute), end


def _before_the_hour(line: TimeText, at: int) -> Found | None:
    """Read half past four, quarter to nine, halb fünf, Viertel nach drei."""
    shift = line.words.half_before.at(line.keys, at)
    hour = read_number(line, shift[1]) if shift else None
    if shift is None or hour is None or not 1 <= hour[0] <= NOON:
        return None
    end = hour[1]
    if mark := line.words.oclock.at(line.keys, end):
        end = mark[1]
    return _shift(_on_dial(hour[0]), shift[0]), end


def _minutes_past(line: TimeText, at: int) -> Found | None:
    """Read ten past three, zehn vor neun."""
    minutes = read_number(line, at)
    sign = line.words.past.at(line.keys, minutes[1]) if minutes else None
    hour = read_number(line, sign[1]) if sign else None
    if minutes is None or sign is None or hour is None:
        return None
    spelled = (
        line.tokens[at].kind is not TokenKind.NUMBER
        or line.tokens[sign[1]].kind is not TokenKind.NUMBER
    )
    if not (spelled or sign[0] > 0) or minutes[0] > 30 or not 1 <= hour[0] <= NOON:  # noqa: PLR2004
        return None  # "9 to 5" is a job
    return _shift(_on_dial(hour[0]), sign[0] * minutes[0]), hour[1]


def _half_named(line: TimeText, at: int) -> Found | None:
    """Read 3pm, nine a.m., 15h30."""
    hour = read_number(line, at)
    if hour is None:
        return None
    words = line.words
    if half := words.am_pm.at(line.keys, hour[1]):
        return _read_half(ClockTime(hour[0]), half[0], half[1])
    minute = line.number(hour[1] + 1, 2)
    if line.is_tight(hour[1], "h") and minute is not None and line.tokens[hour[1] + 1].tight:
        return _finish(line, ClockTime(hour[0], minute), hour[1] + 2)
    return None


def _o_clock(line: TimeText, at: int) -> Found | None:
    """Read nine o'clock, 15 Uhr, 15 Uhr 30, tres en punto."""
    hour = read_number(line, at)
    mark = line.words.oclock.at(line.keys, hour[1]) if hour else None
    if hour is None or mark is None or hour[0] > _LAST_HOUR:
        return None
    minute = read_number(line, mark[1])
    if minute and _is_article(line, mark[1], minute[0]):  # "um 15 Uhr eine Mail"
        minute = None
    if minute and minute[0] <= _LAST_MINUTE and _ends_well(line, minute[1], sure=False):
        return replace(_on_dial(hour[0]), minute=minute[0]), minute[1]
    return _on_dial(hour[0]), mark[1]


def _is_article(line: TimeText, at: int, number: int) -> bool:
    return number == 1 and line.tokens[at].kind is TokenKind.WORD


def _on_dial(hour: int) -> ClockTime:
    return ClockTime(hour, dial=1 <= hour <= NOON)


def _shift(clock: ClockTime, minutes: int) -> ClockTime:
    whole = (clock.hour * 60 + minutes) % (24 * 60)
    hour = whole // 60
    if clock.dial and hour == 0:
        hour = NOON
    return ClockTime(hour, whole % 60, clock.dial)


def _is_range(line: TimeText, end: int) -> bool:
    """Whether it continues with "to five", "bis 17 Uhr": then it is no moment."""
    through = line.words.through.at(line.keys, end)
    number = read_number(line, through[1]) if through else None
    return number is not None and not _is_of_month(line, number[1])


def _is_of_month(line: TimeText, at: int) -> bool:
    """Whether a number is a day of a month: "at 9pm until 15 March"."""
    words = line.words
    for part in (words.ordinal_ends, words.of):
        if found := part.at(line.keys, at):
            at = found[1]
    return words.months.at(line.keys, at) is not None


def _ends_well(line: TimeText, end: int, *, sure: bool) -> bool:
    """Whether a bare number may be an hour: "at 9 remind me" may, "at 9 Elm Street" may not."""
    if end >= len(line.tokens):
        return True
    token = line.tokens[end]
    if token.kind is TokenKind.LINE:
        return True
    if token.kind is TokenKind.MARK:
        return token.text not in "%€$£°/" and not (token.text in "-–" and token.tight)
    if token.kind is TokenKind.NUMBER or (token.kind is TokenKind.WORD and token.tight):
        return False
    return sure or token.kind is TokenKind.QUOTE or token.key in line.words.opens
