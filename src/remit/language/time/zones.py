"""Parses the zone of a time: "9 Bangkok time", "9 Uhr Ortszeit".

It applies to that time only. An unknown place, or "local time" without one, is asked about.
"""

from functools import cache
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from msgspec import Struct

from remit.language.files import Phrases, read_toml, with_values
from remit.language.time import TimeText
from remit.language.tokens import TokenKind, fold, keys_of, tokenize

UNCLEAR: Final = None  # a zone was named, and nobody knows which
OWN: Final = ""  # the owner's own
_MOST_WORDS: Final = 3  # of the name of a city
_TIED: Final = ("-zeit", "-time")
_CLOCK: Final = ((), ("time",), ("zeit",))
_GERMAN: Final = "er"  # "Bangkoker Zeit"

Found: TypeAlias = tuple[str | None, int]


class _ZoneWords(Struct, frozen=True, eq=False):
    """What `zones.toml` says."""

    zones: Phrases[str]
    short: frozenset[str]  # these need no word "time" behind them
    doubtful: frozenset[str]  # these mean several
    clocks: Phrases[bool]  # whose clock, by no place: True is the owner's own
    areas: frozenset[str]


@cache
def _words() -> _ZoneWords:
    data = read_toml("zones")
    clocks = {"|".join(data["own"]): True, "|".join(data["anybodys"]): False}
    return _ZoneWords(
        with_values(data["zones"], str),
        frozenset(data["short"]),
        frozenset(data["doubtful"]),
        Phrases(clocks),
        frozenset(data["areas"]),
    )


def read_zone(line: TimeText, at: int) -> Found | None:
    """Read the zone that is named after a time of day."""
    if at >= len(line.keys):
        return None
    if line.keys[at] in _words().doubtful and line.tokens[at].text.isupper():
        return UNCLEAR, at + 1
    if line.is_tight(at, "z"):
        return "UTC", at + 1
    return _whose(line, at) or _named(line, at) or _iana(line, at) or _unknown(line, at)


def zone_of(answer: str) -> str | None:
    """Return the zone of a text that names only a place: "Bangkok", "in Bangkok", "my time"."""
    keys = tuple(key for key in keys_of(tokenize(answer)) if key.isalnum())
    keys = keys[1:] if keys[:1] == ("in",) else keys
    if (clock := _words().clocks.at(keys, 0)) and clock == (True, len(keys)):
        return OWN
    place = _words().zones.at(keys, 0)
    if place and keys[place[1] :] in _CLOCK:
        return place[0]
    return _cities().get(" ".join(keys))


def _whose(line: TimeText, at: int) -> Found | None:
    """Read "my time" (the owner's) and "local time" (anybody's)."""
    if found := _words().clocks.at(line.keys, at):
        return (OWN if found[0] else UNCLEAR), found[1]
    return None


def _named(line: TimeText, at: int) -> Found | None:
    led = line.words.zone_starts.at(line.keys, at)
    start = led[1] if led else at
    for tied in _TIED:
        if start < len(line.keys) and line.keys[start].endswith(tied):
            place = _cities().get(line.keys[start].removesuffix(tied))
            return (place, start + 1) if place else None
    place, end = _place(line, start) or (None, start)
    if place is None:
        return None
    if ends := line.words.zone_ends.at(line.keys, end):
        return place, ends[1]
    if start and line.keys[start - 1] == "(" and end < len(line.keys) and line.keys[end] == ")":
        return place, end + 1
    return (place, end) if led or line.keys[start] in _words().short else None


def _place(line: TimeText, at: int) -> tuple[str, int] | None:
    """Read the name of a place; a world city only near a word for a clock."""
    if known := _words().zones.at(line.keys, at):
        return known
    if not _may_be_city(line, at):
        return None
    for end in range(min(at + _MOST_WORDS, len(line.keys)), at, -1):
        name = " ".join(line.keys[at:end])
        for each in (name, name.removesuffix(_GERMAN)):
            if zone := _cities().get(each):
                return zone, end
    return None


def _may_be_city(line: TimeText, at: int) -> bool:
    near = range(at + 1, min(at + _MOST_WORDS + 1, len(line.keys)))
    ends = any(line.words.zone_ends.at(line.keys, place) for place in near)
    starts = at > 0 and line.keys[at - 1] in line.words.zone_starts.words
    return line.is_word(at) and (ends or starts or (at > 0 and line.keys[at - 1] == "("))


def _unknown(line: TimeText, at: int) -> Found | None:
    """Read an unknown place by the word for its clock: "Springfield time"."""
    end = at
    while end < len(line.keys) and end - at < _MOST_WORDS and _is_name(line, end):
        end += 1
        if ends := line.words.zone_ends.at(line.keys, end):
            return UNCLEAR, ends[1]
    return None


def _is_name(line: TimeText, at: int) -> bool:
    token = line.tokens[at]
    return token.kind is TokenKind.WORD and token.capital and token.key not in line.words.known


def _iana(line: TimeText, at: int) -> Found | None:
    if line.keys[at] not in _words().areas or not line.is_tight(at + 1, "/"):
        return None
    if at + 2 >= len(line.keys):
        return None
    name = f"{line.tokens[at].text}/{line.tokens[at + 2].text}"
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return name, at + 3


@cache
def _cities() -> dict[str, str]:
    """Return the cities that zones are named after; an ambiguous name is left out."""
    found: dict[str, str | None] = {}
    for zone in sorted(available_timezones()):
        area, _, city = zone.rpartition("/")
        if fold(area.partition("/")[0]) in _words().areas:
            key = fold(city.replace("_", " "))
            found[key] = None if key in found else zone
    return {city: zone for city, zone in found.items() if zone}
