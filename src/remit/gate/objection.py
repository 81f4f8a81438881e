"""Why a text is held: a reason for code, and a sentence for the owner."""

from enum import StrEnum
from typing import Final

from remit.model.reply import Hold

_MOST_SHOWN: Final = 48


class HoldReason(StrEnum):
    TAGS = "tags"  # not exactly one pair, in order
    SPELLING = "spelling"  # tags that are nearly the right ones
    PLACE = "place"  # the pair stands where an example, a quotation or a thought would
    EMPTY = "empty"
    DECLINE = "decline"
    HIDDEN = "hidden"  # characters that a reader cannot see
    ECHO = "echo"  # our own instructions, or a template that nobody filled in
    MARKUP = "markup"  # what models write for machines: thoughts, tool calls, control tokens
    WORK = "work"  # step markers and talk about the work
    ID = "id"  # our own names of things
    SECRET = "secret"  # noqa: S105 - the word, not one
    LIMIT = "limit"


class Objection(Hold, frozen=True):
    """A hold that says of which class it is."""

    why: HoldReason


def line(text: str, index: int) -> int:
    """The line, counted from 1, in which a character stands."""
    return text.count("\n", 0, index) + 1


def shown(text: str) -> str:
    """A piece of a text as it may stand in a sentence: short, and with nothing hidden in it."""
    piece = " ".join(text[: 2 * _MOST_SHOWN].split())
    if len(piece) > _MOST_SHOWN:
        piece = piece[: _MOST_SHOWN - 1] + "…"
    return "".join(char if char.isprintable() else f"[U+{ord(char):04X}]" for char in piece)
