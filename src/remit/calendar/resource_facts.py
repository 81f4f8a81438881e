"""What the calendar trigger needs besides the starts: a resource's UID, and whether Remit wrote it.

The lines are read leniently; the expansion refuses what is broken.
"""

import re
from collections.abc import Iterator
from typing import Final

OURS: Final = "X-REMIT-TASK"  # marks what we write, so that it is never taken for a cue
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_MOST_READ: Final = 4_000_000  # characters


def uid(body: str) -> str:
    """Return the first UID; empty if there is none."""
    return next(_values(body, "UID"), "").strip()[:1000]


def is_ours(body: str) -> bool:
    return next(_values(body, OURS), None) is not None


def value(body: str, name: str) -> str:
    """Return the value of the first property of a name; empty if there is none."""
    return next(_values(body, name), "").strip()


def _values(body: str, name: str) -> Iterator[str]:
    """Yield the values of every property of a name, unfolded; parameters may hold quoted colons."""
    found = re.compile(rf'^{name}(?:;(?:"[^"\n]*"|[^":\n])*)?:(.*)$', re.MULTILINE | re.IGNORECASE)
    for each in found.finditer(_FOLD.sub("", body[:_MOST_READ])):
        yield each[1].rstrip("\r")
