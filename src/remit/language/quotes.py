"""Finds where quotations begin and end, in any usual style.

Apostrophes and inch marks do not count.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct


class Quote(Struct, frozen=True):
    """`clear` is False when another mark could just as well be its end."""

    start: int
    end: int
    clear: bool = True

    @property
    def inner_start(self) -> int:
        return self.start + 1

    @property
    def inner_end(self) -> int:
        return self.end - 1


# What may close what opens. A single one ends with its line, for it may be an apostrophe.
# ruff: noqa: RUF001 - these marks are what it is about
_CLOSERS: Final = {
    "“": "”",
    "„": '“”"',
    "«": "»",
    "»": "«",
    "‹": "›",
    "‚": "‘",
    '"': '"',
    "「": "」",
    "`": "`",
    "'": "'",
    "‘": "’",
}
_OPENER: Final = re.compile(f"[{''.join(_CLOSERS)}]")
_APOSTROPHES: Final = "'’"
_BEFORE: Final = " \t\n\r([{<:,;-–—=¿¡/"


def find_quotes(text: str) -> Iterator[Quote]:
    """Yield the quotations from left to right; none lies within another."""
    searched: dict[str, int] = {}  # up to where an opener is known to have no closer
    at = 0
    while found := _OPENER.search(text, at):
        at, opener = found.start(), found.group()
        if not _opens(text, at) or at < searched.get(opener, 0):
            at += 1
            continue
        close, looked = _close(text, at)
        if close is None or not text[at + 1 : close].strip():
            searched[opener] = looked
            at += 1
            continue
        yield Quote(at, close + 1, clear=_is_clear(text, close))
        at = close + 1


def _opens(text: str, at: int) -> bool:
    if text[at] not in _CLOSERS:
        return False
    before = text[at - 1] if at else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    return before in _BEFORE and (text[at] == "«" or not after.isspace())


def _close(text: str, at: int) -> tuple[int | None, int]:
    """Find the closer; also say how far was looked."""
    closers = _CLOSERS[text[at]]
    within_line = any(mark in closers for mark in _APOSTROPHES)
    for place in range(at + 1, len(text)):
        letter = text[place]
        if within_line and letter == "\n":
            return None, place
        if letter in closers and _closes(text, place):
            return place, place
        if letter == text[at] and _opens(text, place):
            return None, place  # the same mark opens again: the first was never closed
    return None, len(text)


def _closes(text: str, place: int) -> bool:
    """Tell a closing mark from an apostrophe: no letter follows it."""
    after = text[place + 1] if place + 1 < len(text) else " "
    before = text[place - 1]
    if text[place] in _APOSTROPHES:
        return not after.isalnum() and not before.isspace()
    return not (before.isspace() and after.isalnum())


def _is_clear(text: str, close: int) -> bool:
    """Doubt a single quotation when its line holds one more mark that closes and none opened."""
    mark = text[close]
    if mark not in _APOSTROPHES:
        return True
    for place in range(close + 1, len(text)):
        letter = text[place]
        if letter == "\n" or (letter in _CLOSERS and _opens(text, place)):
            return True
        if letter == mark and _closes(text, place):
            return False
    return True
