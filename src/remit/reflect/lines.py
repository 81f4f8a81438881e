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

MOST_TEXT: Final = 500  # characters of what was asked, and of what came of it
MOST_LINE: Final = 20_000  # of a line that is read


class ShownMessage(Struct, frozen=True):
    """A message that the owner was shown before it went out, and how he let it go."""

    had: tuple[str, ...]  # what stood in it, by its kind: a greeting, bullets
    kept: tuple[str, ...]  # what of that he left in
    words: int
    left: int  # words, as it went out
    edited: bool


class ReflectionLine(Struct, frozen=True, kw_only=True):
    seq: int  # the place in the journal where the task ended: no task has two lines for one end
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
    late: int | None  # seconds between when it was due and when it began; None if it never began


def write(reflection: ReflectionLine) -> str:
    return line_of(to_json(reflection))


def read(line: str) -> ReflectionLine | None:
    """A line as it was written; what is torn, forged or of another time is None."""
    if len(line) > MOST_LINE:
        return None
    try:
        return from_json(ReflectionLine, json.loads(line))
    except (ValueError, RecursionError, BadInput):
        return None
