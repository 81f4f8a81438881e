"""Dates as people write them in English, German and Spanish, and as machines do."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

from msgspec import Struct

from remit.verify.written.wording import fold

_NAMES: Final = (
    "january jan januar jänner enero ene",
    "february feb februar febr febrero",
    "march mar märz mär mrz marzo",
    "april apr abril abr",
    "may mai mayo",
    "june jun juni junio",
    "july jul juli julio",
    "august aug agosto ago",
    "september sep sept septiembre",
    "october oct oktober okt octubre",
    "november nov noviembre",
    "december dec dezember dez diciembre dic",
)
_MONTHS: Final[Mapping[str, int]] = {
    fold(name): month for month, names in enumerate(_NAMES, 1) for name in names.split()
}
_MONTH: Final = (
    "(?P<name>"
    + "|".join(sorted({name for names in _NAMES for name in names.split()}, key=len, reverse=True))
    + r")\b\.?"
)
_YEAR: Final = r"(?P<year>(?:1[5-9]|20)\d\d)"
_ORDER: Final = r"(?:st|nd|rd|th|\.|º)?"
_OF: Final = r"(?:\s+of|\s+de)?\s*"
_SHAPES: Final = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"(?<!\d){_YEAR}[-/](?P<month>\d\d)[-/](?P<day>\d\d)(?!\d)",
        rf"(?<![\w.,])(?P<day>\d\d?){_ORDER}{_OF}{_MONTH}(?:,?\s*(?:de[l]?\s+)?{_YEAR}(?!\d))?",
        rf"\b{_MONTH}\s+(?P<day>\d\d?)(?:st|nd|rd|th)?(?![\d:.]\d|\d|\s?%)(?:,?\s+{_YEAR}(?!\d))?",
        rf"\b{_MONTH},?\s+(?:de[l]?\s+)?{_YEAR}(?!\d)",
        rf"(?<![\w.,/])(?P<day>\d\d?)(?P<turns>[./])(?P<month>\d\d?)[./]{_YEAR}(?!\d)",
        r"(?<![\w.,/€$£])(?P<day>\d\d)(?P<turns>/)(?P<month>\d\d)(?![\d/\w])",
        r"(?<![\w.,/€$£])(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<short>\d\d)?(?![\d\w])",
    )
)
_LAST_DAY: Final = 31
_LAST_MONTH: Final = 12


class PartialDate(Struct, frozen=True):
    """A date, or as much of one as was said."""

    year: int | None
    month: int
    day: int | None

    def agrees(self, other: "PartialDate") -> bool:
        """Whether both may mean the same day; what one leaves open the other may fill."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(mine is None or yours is None or mine == yours for mine, yours in pairs)

    def whole(self, near: date) -> date | None:
        """The day itself; without a year it is the one nearest to `near`."""
        years = (self.year,) if self.year else (near.year, near.year - 1, near.year + 1)
        found = [made for year in years if (made := _made(year, self.month, self.day or 1))]
        return min(found, key=lambda each: abs((each - near).days), default=None)


def day_of(moment: date) -> PartialDate:
    return PartialDate(moment.year, moment.month, moment.day)


def find(text: str) -> Iterator[tuple[int, int, tuple[PartialDate, ...]]]:
    """Every date of a text: from where to where, and what it may mean (3/4 is two days)."""
    taken = bytearray(len(text))
    for shape in _SHAPES:
        for found in shape.finditer(text):
            meant = _meant(found.groupdict())
            if meant and not any(taken[found.start() : found.end()]):
                taken[found.start() : found.end()] = b"x" * (found.end() - found.start())
                yield found.start(), found.end(), meant


def _meant(parts: dict[str, str | None]) -> tuple[PartialDate, ...]:
    name, short = parts.get("name"), parts.get("short")
    year = int(parts.get("year") or 0) or (2000 + int(short) if short else None)
    said = parts.get("day")
    day = int(said) if said else None
    month = _MONTHS[fold(name)] if name else int(parts.get("month") or 0)
    turns = day is not None and parts.get("turns") == "/"
    both = [(month, day), (day, month)] if turns and day else [(month, day)]
    return tuple(
        PartialDate(year, m, d)
        for m, d in dict.fromkeys(both)
        if 1 <= m <= _LAST_MONTH and (d is None or 1 <= d <= _LAST_DAY)
    )


def _made(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
