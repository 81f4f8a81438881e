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

MAX_TEXT_CHARACTERS: Final = 500  # characters of what was asked, and of what came of it
MAX_LINE_CHARACTERS: Final = 20_000  # of a line that is read


class ShownMessage(Struct, frozen=True):
    """A message that the owner was shown before it went out, and what became of it."""

    had: tuple[str, ...]  # what stood in it, by its kind: a greeting, bullets
    kept: tuple[str, ...]  # what of that the owner left in
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
    """A line as it was written; what is torn, forged or of another time is None."""
    if len(line) > MAX_LINE_CHARACTERS:
        return None
    try:
        return from_json(ReflectionLine, json.loads(line))
    except (ValueError, RecursionError, BadInput):
        return None
