"""Finds a standing wish such as "never message May after 10 pm" and proposes it as a rule.

Only a message that says nothing else counts. The owner accepts the proposal or not.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts import ContactBook
from remit.errors import BadInput
from remit.intake.conditions import read_days
from remit.intake.message_words import MessageWords
from remit.language.files import LANGUAGES, Phrases, section
from remit.language.time import TimeText, time_words
from remit.language.time.clock_time import MIDNIGHT, NOON, ClockTime, read_clock
from remit.model.permit import QuietHours, QuietTimes
from remit.model.review import ContactRule

_MAX_CHARS: Final = 200
_NIGHT: Final = ("22:00", "07:00")
_EVENING: Final = ("18:00", "23:00")
_MORNING: Final = "07:00"  # a night that is said to begin at some hour ends then
_MIDNIGHT: Final = "00:00"
_FIRST_EVENING_HOUR: Final = 5  # "after 5" without more is said of the afternoon
_MARKS: Final = frozenset(",.!;")
_NOUNS: Final = ("messag", "mensaj", "nachricht")


class _Found(Struct, frozen=True):
    denied: bool = False
    writes: bool = False
    names: tuple[str, ...] = ()
    hours: tuple[QuietHours, ...] = ()
    days: tuple[int, ...] = ()


def find_standing_wish(text: str, book: ContactBook) -> ContactRule | None:
    """Return the wish, if it is the whole message; None if it says anything else."""
    if len(text) > _MAX_CHARS:
        return None
    message = MessageWords(text, book)
    for code in LANGUAGES:
        found = _read(message, code)
        if found is None or not (found.denied and found.writes and len(found.names) == 1):
            continue
        if found.hours or found.days:
            try:
                quiet = QuietTimes(found.hours, found.days)
                return ContactRule(found.names[0], QuietTimes.parse(quiet.texts))
            except BadInput:
                return None
    return None


def _read(message: MessageWords, code: str) -> _Found | None:
    """Return the meaning of every word, in one language; None if one means something else."""
    found, at = _Found(), 0
    line = TimeText(message.tokens, message.keys, time_words(code))
    while at < len(message.keys):
        step = next(_steps(message, line, code, at, found), None)
        if step is None:
            return None
        found, at = step
    return found


def _steps(
    message: MessageWords, line: TimeText, code: str, at: int, found: _Found
) -> Iterator[tuple[_Found, int]]:
    """Yield what may stand at a place, its meaning and its end; exact forms first."""
    keys = message.keys
    if span := _hours(line, code, at):
        yield replace(found, hours=(*found.hours, span[0])), span[1]
    if days := read_days(message, at):
        yield replace(found, days=(*found.days, *days[0])), days[1]
    if (named := message.book.people.at(keys, at)) and _is_other(named[0], message.book):
        yield replace(found, names=(*found.names, named[0][0].name)), named[1]
    if hit := _words(code, "never").at(keys, at):
        yield replace(found, denied=True), hit[1]
    if hit := _words(code, "verbs").at(keys, at):
        yield replace(found, writes=True), hit[1]
    if hit := _words(code, "fillers").at(keys, at):
        writes = keys[at].startswith(_NOUNS)  # "no messages to May"
        yield replace(found, writes=found.writes or writes), hit[1]
    if keys[at] in _MARKS:
        yield found, at + 1


def _is_other(people: tuple[object, ...], book: ContactBook) -> bool:
    return len(people) == 1 and people[0] is not book.owner


def _hours(line: TimeText, code: str, at: int) -> tuple[QuietHours, int] | None:
    """Return a span of hours at a place: "at night", "after 10 pm", "between 22 and 7"."""
    for name, span in (("night", _NIGHT), ("evening", _EVENING)):
        if hit := _words(code, name).at(line.keys, at):
            return QuietHours(*span), hit[1]
    if hour := _clock(line, _words(code, "after").at(line.keys, at)):
        late = hour[0].dial and _FIRST_EVENING_HOUR <= hour[0].hour < NOON
        since = ClockTime(hour[0].hour + NOON, hour[0].minute) if late else hour[0]
        return _span(_clock_text(since), _MORNING), hour[1]
    if hour := _clock(line, _words(code, "before").at(line.keys, at)):
        return _span(_MIDNIGHT, _clock_text(hour[0])), hour[1]
    if first := _clock(line, _words(code, "between").at(line.keys, at)):
        last = _clock(line, _words(code, "until").at(line.keys, first[1]))
        return (_span(_clock_text(first[0]), _clock_text(last[0])), last[1]) if last else None
    return None


def _clock(line: TimeText, lead: tuple[bool, int] | None) -> tuple[ClockTime, int] | None:
    return read_clock(line, lead[1], sure=True, ranged=True) if lead else None


def _span(since: str, till: str) -> QuietHours:
    return QuietHours(since, till if since != till else _MIDNIGHT)


def _clock_text(clock: ClockTime) -> str:
    return f"{clock.hour % MIDNIGHT:02}:{clock.minute:02}"


@cache
def _words(code: str, name: str) -> Phrases[bool]:
    return Phrases({"|".join(section(code, "wish")[name]): True})
