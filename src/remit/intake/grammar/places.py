"""Whose clock a time is read on: "9 Bangkok time", "9 Uhr Ortszeit". It holds for that time alone.

A place that nobody knows, or "local time" without one, is unclear and asked about.
"""

from functools import cache
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from remit.intake.grammar.sentences import Said
from remit.intake.lexicon.zones import CLOCKS, DOUBTFUL, SHORT, ZONES
from remit.language.phrases import words
from remit.language.tokens import Kind, fold, keys_of, tokenize

UNCLEAR: Final = None  # a zone was named, and nobody knows which
OWN: Final = ""  # the owner's own
_CONTINENTS: Final = words("europe america asia africa australia pacific atlantic indian")
_MOST_WORDS: Final = 3  # of the name of a city
_TIED: Final = ("-zeit", "-time")
_CLOCK: Final = ((), ("time",), ("zeit",))
_GERMAN: Final = "er"  # "Bangkoker Zeit"

Found: TypeAlias = tuple[str | None, int]


def read_zone(said: Said, at: int) -> Found | None:
    """Read the zone that is named behind a time of day."""
    if at >= len(said.keys):
        return None
    if said.keys[at] in DOUBTFUL:
        return UNCLEAR, at + 1
    if said.is_tight(at, "z"):
        return "UTC", at + 1
    return _whose(said, at) or _named(said, at) or _iana(said, at) or _unknown(said, at)


def zone_of(answer: str) -> str | None:
    """The zone of a place that is all that is said: "Bangkok", "in Bangkok", "my time"."""
    keys = tuple(key for key in keys_of(tokenize(answer)) if key.isalnum())
    keys = keys[1:] if keys[:1] == ("in",) else keys
    if (clock := CLOCKS.at(keys, 0)) and clock == (True, len(keys)):
        return OWN
    place = ZONES.at(keys, 0)
    if place and keys[place[1] :] in _CLOCK:
        return place[0]
    return _cities().get(" ".join(keys))


def _whose(said: Said, at: int) -> Found | None:
    """Read "my time", which is the owner's, and "local time", which may be anybody's."""
    if found := CLOCKS.at(said.keys, at):
        return (OWN if found[0] else UNCLEAR), found[1]
    return None


def _named(said: Said, at: int) -> Found | None:
    led = said.time.zone_starts.at(said.keys, at)
    start = led[1] if led else at
    for tied in _TIED:
        if start < len(said.keys) and said.keys[start].endswith(tied):
            place = _cities().get(said.keys[start].removesuffix(tied))
            return (place, start + 1) if place else None
    place, end = _place(said, start) or (None, start)
    if place is None:
        return None
    if ends := said.time.zone_ends.at(said.keys, end):
        return place, ends[1]
    if start and said.keys[start - 1] == "(" and end < len(said.keys) and said.keys[end] == ")":
        return place, end + 1
    return (place, end) if led or said.keys[start] in SHORT else None


def _place(said: Said, at: int) -> tuple[str, int] | None:
    """Read the name of a place; a city of the world only where a word for a clock is near."""
    if known := ZONES.at(said.keys, at):
        return known
    if not _may_be_city(said, at):
        return None
    for end in range(min(at + _MOST_WORDS, len(said.keys)), at, -1):
        name = " ".join(said.keys[at:end])
        for each in (name, name.removesuffix(_GERMAN)):
            if zone := _cities().get(each):
                return zone, end
    return None


def _may_be_city(said: Said, at: int) -> bool:
    near = range(at + 1, min(at + _MOST_WORDS + 1, len(said.keys)))
    ends = any(said.time.zone_ends.at(said.keys, place) for place in near)
    starts = at > 0 and said.keys[at - 1] in said.time.zone_starts.words
    return said.is_word(at) and (ends or starts or (at > 0 and said.keys[at - 1] == "("))


def _unknown(said: Said, at: int) -> Found | None:
    """Read a place that nobody knows, by the word for its clock: "Springfield time"."""
    end = at
    while end < len(said.keys) and end - at < _MOST_WORDS and _is_name(said, end):
        end += 1
        if ends := said.time.zone_ends.at(said.keys, end):
            return UNCLEAR, ends[1]
    return None


def _is_name(said: Said, at: int) -> bool:
    token = said.tokens[at]
    return token.kind is Kind.WORD and token.capital and token.key not in said.language.known


def _iana(said: Said, at: int) -> Found | None:
    if said.keys[at] not in _CONTINENTS or not said.is_tight(at + 1, "/"):
        return None
    if at + 2 >= len(said.keys):
        return None
    name = f"{said.tokens[at].text}/{said.tokens[at + 2].text}"
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return name, at + 3


@cache
def _cities() -> dict[str, str]:
    """The cities after which zones are named; a name that two have is no answer."""
    found: dict[str, str | None] = {}
    for zone in sorted(available_timezones()):
        area, _, city = zone.rpartition("/")
        if fold(area.partition("/")[0]) in _CONTINENTS:
            key = fold(city.replace("_", " "))
            found[key] = None if key in found else zone
    return {city: zone for city, zone in found.items() if zone}
