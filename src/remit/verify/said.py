"""Shortens a program's output to its useful last lines, the same for the same failure."""

import re
from typing import Final

MAX_CHARACTERS: Final = 2_000
_LINES: Final = 40
_UNSEEN: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\S\n ]")
# What differs between runs would hide that the same error came twice.
_PASSING: Final = (
    (
        re.compile(r"\b(in|took|after) \d+(?:\.\d+)?\s?(?:ms|s|m|seconds)\b(?: \([\d:]+\))?"),
        r"\1 …",
    ),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
)


def useful(why: str, output: str) -> str:
    """A sentence and the end of what was said, no longer than may be told."""
    room = MAX_CHARACTERS - len(why) - 2
    lines = [line.rstrip() for line in _clean(output).splitlines()]
    kept: list[str] = []
    for line in reversed([line for line in lines if line][-_LINES:]):
        short = line if len(line) <= _LONG else f"{line[:_LONG]}…"
        if len(short) + 1 > room:
            break
        room -= len(short) + 1
        kept.append(short)
    return ":\n".join(filter(None, (why, "\n".join(reversed(kept)))))


def _clean(output: str) -> str:
    seen = _UNSEEN.sub(" ", output.replace("\r", "\n"))
    text = "".join(char for char in seen if char.isprintable() or char == "\n")
    for passing, shown in _PASSING:
        text = passing.sub(shown, text)
    return text


_LONG: Final = 300  # characters of a line
