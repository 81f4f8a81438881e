"""One finished task as a line of `reflections/DATE.jsonl`, and the kinds of wording in a message.

The lines are for counting; of a message that the owner was shown they hold only kinds of wording,
never its words. The words of a proposal come from the tasks in the store, and only from what the
owner wrote.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, cast

from msgspec import Struct

from remit.errors import BadInput
from remit.language.files import read_toml
from remit.model.codec import from_json, line_of, to_json

FOLDER: Final = "reflections"
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


GREETING: Final = "greeting"
CLOSING: Final = "closing"
BULLETS: Final = "bullets"
EMOJI: Final = "emoji"
EXCLAMATION: Final = "exclamation"
HEADINGS: Final = "headings"

_MAX_CHARACTERS: Final = 100_000  # characters that are looked at
_SHORT: Final = 8  # words of a line that greets or closes
_LAST: Final = 3  # lines among which a closing stands
_WORDING: Final = cast("Mapping[str, str]", read_toml("lesson_words", __package__)["wording"])
_GREETS, _CLOSES = (
    re.compile(_WORDING[name].replace("\n", ""), re.IGNORECASE) for name in ("greets", "closes")
)
_BULLET: Final = re.compile(r"(?m)^[ \t]*(?:[-*•‣]|\d{1,2}[.)])[ \t]+\S")
_HEADING: Final = re.compile(r"(?m)^#{1,6} \S")
_EMOJI: Final = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_WORD: Final = re.compile(r"\w+(?:['’-]\w+)*")


def kinds(text: str) -> tuple[str, ...]:
    """What stands in a text, in a fixed order."""
    shown = text[:_MAX_CHARACTERS]
    return tuple(name for name, there in _KINDS.items() if there(shown))


def count(text: str) -> int:
    return len(_WORD.findall(text[:_MAX_CHARACTERS]))


def _greets(text: str) -> bool:
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _GREETS.match(first) is not None and (
        count(first) <= _SHORT or first.partition(",")[0].count(" ") < _SHORT // 2
    )


def _closes(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[1:][-_LAST:]  # a single line is the message itself, no closing
    return any(_CLOSES.match(line) and count(line) <= _SHORT for line in last)


_KINDS: Final[Mapping[str, Callable[[str], bool]]] = {
    GREETING: _greets,
    CLOSING: _closes,
    BULLETS: lambda text: len(_BULLET.findall(text)) > 1,
    HEADINGS: lambda text: _HEADING.search(text) is not None,
    EMOJI: lambda text: _EMOJI.search(text) is not None,
    EXCLAMATION: lambda text: "!" in text,
}
