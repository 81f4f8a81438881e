"""Times of the day and lengths of time, as people write them."""

import re
from collections.abc import Iterator
from typing import Final

_HALF_DAY: Final = 12 * 60
_DAY: Final = 24 * 60
_HOURS: Final = r"(?:h|hrs?|hours?|std\.?|stunden?|horas?)\b\.?"
_MINUTES: Final = r"(?:m|min|mins|minutes?|minuten?|minutos?)\b\.?"
LENGTH: Final = re.compile(
    rf"(?<![\w.,:])(?P<h>\d{{1,3}})\s?{_HOURS}\s?(?:(?:and|und|y)\s)?(?P<m>\d{{1,2}})\s?{_MINUTES}"
    rf"|(?<![\w.,:])(?P<only>\d{{1,4}})\s?(?:min|mins|minutes?|minuten?|minutos?)\b",
    re.IGNORECASE,
)
TIME: Final = re.compile(
    r"(?<![\w:.,/])(?P<h>[01]?\d|2[0-4])(?:"
    r"[:h](?P<m>[0-5]\d)(?::[0-5]\d)?(?:\s?(?P<half>[ap])\.?m\b\.?)?(?!\d)"
    r"|\.(?P<m2>[0-5]\d)\s?(?:uhr\b|(?P<half2>[ap])\.?m\b\.?)"
    r"|\s?(?:(?P<half3>[ap])\.?m\b\.?|uhr\b|o’clock\b|o'clock\b))",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(
    r"\b(?:(?P<noon>noon|midday|mittags?|mediod[ií]a)|midnight|mitternacht|medianoche)\b",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Every time of the day: where it stands, and which minute of the day it may be.

    Without am or pm, 6:30 is the morning or the evening.
    """
    for found in TIME.finditer(text):
        minute = int(found["h"]) % 24 * 60 + int(found["m"] or found["m2"] or 0)
        half = (found["half"] or found["half2"] or found["half3"] or "").casefold()
        yield found.start(), found.end(), _meant(minute, half)


def find_words(text: str) -> set[int]:
    """Noon and midnight."""
    return {_HALF_DAY if found["noon"] else 0 for found in _WORDS.finditer(text)}


def find_lengths(text: str) -> Iterator[tuple[int, int, int]]:
    """Every length of time that is told with its minutes, in minutes."""
    for found in LENGTH.finditer(text):
        told = int(found["only"]) if found["only"] else int(found["h"]) * 60 + int(found["m"])
        yield found.start(), found.end(), told


def _meant(minute: int, half: str) -> tuple[int, ...]:
    if half:
        return (minute % _HALF_DAY + (_HALF_DAY if half == "p" else 0),)
    if minute < _HALF_DAY:
        return (minute, minute + _HALF_DAY)
    return (minute,)


def between(start: int, end: int) -> int:
    """Minutes from one time of the day to the next."""
    return (end - start) % _DAY
