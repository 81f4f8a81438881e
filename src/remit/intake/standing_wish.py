"""Finds a standing wish such as "never message May after 10 pm" and proposes it as a rule.

Only a message that says nothing else counts. The owner accepts the proposal or not.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts.people import ContactBook
from remit.errors import BadInput
from remit.intake.conditions import read_days
from remit.intake.message_words import MessageWords
from remit.language.files import LANGUAGES, Phrases, section
from remit.model.permit import QuietHours, QuietTimes
from remit.model.review import ContactRule

_MAX_CHARS: Final = 200
_HOUR: Final = re.compile(r"[01]?\d|2[0-4]")
_MINUTE: Final = re.compile(r"[0-5]\d")
_NIGHT: Final = ("22:00", "07:00")
_EVENING: Final = ("18:00", "23:00")
_MORNING: Final = "07:00"  # a night that is said to begin at some hour ends then
_MIDNIGHT: Final = "00:00"
_NOON: Final = 12
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
    while at < len(message.keys):
        step = next(_steps(message, code, at, found), None)
        if step is None:
            return None
        found, at = step
    return found


def _steps(
    message: MessageWords, code: str, at: int, found: _Found
) -> Iterator[tuple[_Found, int]]:
    """Yield what may stand at a place, its meaning and its end; exact forms first."""
    keys = message.keys
    if span := _hours(message, code, at):
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


def _hours(message: MessageWords, code: str, at: int) -> tuple[QuietHours, int] | None:
    """Return a span of hours at a place: "at night", "after 10 pm", "between 22 and 7"."""
    keys = message.keys
    for name, span in (("night", _NIGHT), ("evening", _EVENING)):
        if hit := _words(code, name).at(keys, at):
            return QuietHours(*span), hit[1]
    if (lead := _words(code, "after").at(keys, at)) and (hour := _clock(message, code, lead[1])):
        since = _in_the_evening(*hour[0])
        return _span(since, _MORNING), hour[1]
    if (lead := _words(code, "before").at(keys, at)) and (hour := _clock(message, code, lead[1])):
        return _span(_MIDNIGHT, _written(*hour[0])), hour[1]
    return _between(message, code, at)


def _between(message: MessageWords, code: str, at: int) -> tuple[QuietHours, int] | None:
    lead = _words(code, "between").at(message.keys, at)
    first = _clock(message, code, lead[1]) if lead else None
    link = _words(code, "until").at(message.keys, first[1]) if first else None
    last = _clock(message, code, link[1]) if link else None
    if first is None or last is None:
        return None
    return _span(_written(*first[0]), _written(*last[0])), last[1]


def _span(since: str, till: str) -> QuietHours:
    return QuietHours(since, till if since != till else _MIDNIGHT)


_Hour = tuple[int, int, str]  # hour, minute, "am", "pm" or nothing


def _clock(message: MessageWords, code: str, at: int) -> tuple[_Hour, int] | None:
    """Return a time of day in figures, with its half of the day."""
    keys = message.keys
    if at >= len(keys) or not _HOUR.fullmatch(keys[at]):
        return None
    end, minute = at + 1, 0
    if keys[end : end + 1] in ((":",), (".",)) and _MINUTE.fullmatch((*keys, "", "")[end + 1]):
        minute, end = int(keys[end + 1]), end + 2
    half = ""
    for name in ("pm", "am"):
        if hit := _words(code, name).at(keys, end):
            half, end = name, hit[1]
            break
    return (int(keys[at]), minute, half), end


def _written(hour: int, minute: int, half: str) -> str:
    if half == "pm" and hour < _NOON:
        hour += _NOON
    return f"{hour % 24:02}:{minute:02}"


def _in_the_evening(hour: int, minute: int, half: str) -> str:
    """Return an hour after "after": without a half of the day, in the evening."""
    if not half and _FIRST_EVENING_HOUR <= hour < _NOON:
        half = "pm"
    return _written(hour, minute, half)


@cache
def _words(code: str, name: str) -> Phrases[bool]:
    return Phrases({"|".join(section(code, "wish")[name]): True})
