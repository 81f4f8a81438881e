"""Why a text is held: a reason for code, and a sentence for the owner."""

from enum import StrEnum
from typing import Final

from remit.model.reply import Hold

_MAX_SHOWN_CHARACTERS: Final = 48


class HoldReason(StrEnum):
    TAGS = "tags"  # not exactly one pair, in order
    SPELLING = "spelling"  # misspelt tags
    PLACE = "place"  # the pair is in an example, a quotation or a thought
    EMPTY = "empty"
    DECLINE = "decline"
    HIDDEN = "hidden"  # invisible characters
    ECHO = "echo"  # our instructions, or an unfilled template
    MARKUP = "markup"  # markup for machines: thoughts, tool calls, control tokens
    WORK = "work"  # step markers and talk about the work
    ID = "id"  # internal ids
    SECRET = "secret"  # noqa: S105 - the word, not one
    LIMIT = "limit"


class Objection(Hold, frozen=True):
    """A hold with its reason class."""

    why: HoldReason


def line(text: str, index: int) -> int:
    """Return the line number of a character, from 1."""
    return text.count("\n", 0, index) + 1


def excerpt(text: str) -> str:
    """A piece of a text as it may stand in a sentence: short, and with nothing hidden in it."""
    piece = " ".join(text[: 2 * _MAX_SHOWN_CHARACTERS].split())
    if len(piece) > _MAX_SHOWN_CHARACTERS:
        piece = piece[: _MAX_SHOWN_CHARACTERS - 1] + "…"
    return "".join(char if char.isprintable() else f"[U+{ord(char):04X}]" for char in piece)
