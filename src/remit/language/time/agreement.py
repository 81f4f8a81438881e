"""Compares a moment with the words it was read from, where the time grammar has no opinion.

"Tomorrow lunchtime 12.15" is no phrase of the grammar, but every number and day in it can be
compared: each must be the hour, the minute, the day or the month of the moment.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from remit.language.files import LANGUAGES
from remit.language.time.words import TimeWords, time_words
from remit.language.tokens import Token, TokenKind, keys_of, tokenize

_HALF_DAY, _HOUR = 12, 60


def agrees(words: str, at: datetime, now: datetime) -> bool:
    """Whether every number and day in some words fits a local moment, and they name its hour."""
    tokens = tokenize(words)
    found = [_names_hour(tokens, at, now, time_words(code)) for code in LANGUAGES]
    return None not in found and any(found)


def _names_hour(
    tokens: Sequence[Token], at: datetime, now: datetime, known: TimeWords
) -> bool | None:
    """Whether the words name the hour, as one language reads them; None if some do not fit."""
    keys = keys_of(tokens)
    dial = at.hour % _HALF_DAY
    hours = {at.hour, dial or _HALF_DAY}
    if at.minute >= _HOUR // 2:  # "halb acht", "ten to eight"
        hours |= {at.hour + 1, dial + 1}
    numbers = hours | {at.day, at.month, at.year, at.minute, (_HOUR - at.minute) % _HOUR}
    named_hour = False
    place = 0
    while place < len(keys):
        if tokens[place].kind is TokenKind.NUMBER:
            value = int(keys[place]) if keys[place].isdecimal() else -1
            found: tuple[int, int] | None = (value, place + 1)
        else:
            found = known.numbers.at(keys, place)
        if found:
            if found[0] not in numbers:
                return None
            named_hour = named_hour or found[0] in hours
            place = found[1]
            continue
        if not _is_day(keys, place, at, now, known):
            return None
        place += 1
    return named_hour


def _is_day(
    keys: tuple[str, ...], place: int, at: datetime, now: datetime, known: TimeWords
) -> bool:
    """Whether a word contradicts the moment in nothing: its day, its month, its half of the day."""
    if day := known.weekdays.at(keys, place):
        return day[0] == at.weekday() and at - now < timedelta(days=14)
    if month := known.months.at(keys, place):
        return month[0] == at.month
    if ahead := known.days.at(keys, place):
        return at.date() == now.date() + timedelta(days=ahead[0][0])
    if half := known.am_pm.at(keys, place):
        return (at.hour >= _HALF_DAY) == bool(half[0])
    return not known.every.at(keys, place) and not known.units.at(keys, place)
