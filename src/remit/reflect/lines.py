"""One finished task as a line of `reflections/DATE.jsonl`.

The lines are for counting. The words of a proposal come from the tasks in the store, and only from
what the owner wrote.
"""

import json
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import from_json, line_of, to_json

MOST_TEXT: Final = 500  # characters of the request, and of the result
MOST_LINE: Final = 20_000  # characters of a line that are read


class ShownMessage(Struct, frozen=True):
    """A message the owner saw before it was sent, and what the owner changed."""

    had: tuple[str, ...]  # its parts by kind: a greeting, bullets
    kept: tuple[str, ...]  # the parts the owner kept
    words: int
    left: int  # words, as sent
    edited: bool


class ReflectionLine(Struct, frozen=True, kw_only=True):
    seq: int  # the journal place of the task's end: one line per end
    task: str
    at: datetime
    status: str
    source: str
    series: str | None
    priority: str
    rule: str | None
    taint: str
    asked: str
    done: str
    held: tuple[str, ...]  # why the owner was asked, each time
    shown: tuple[ShownMessage, ...]
    declined: bool
    sent_back: int
    verified: str | None  # pass, fail, pending; None if nothing was checked
    tokens: int
    cents: int
    late: int | None  # seconds between due and start; None if it never began


def write(reflection: ReflectionLine) -> str:
    return line_of(to_json(reflection))


def read(line: str) -> ReflectionLine | None:
    """Parse a line; None if it is broken or of another version."""
    if len(line) > MOST_LINE:
        return None
    try:
        return from_json(ReflectionLine, json.loads(line))
    except (ValueError, RecursionError, BadInput):
        return None
