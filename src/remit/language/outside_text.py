"""Cleans text from outside for storage: one line for a title, a bounded text for the rest."""

import unicodedata
from typing import Final

MAX_BYTES: Final = 60_000  # of what came, beside what else is known of it
MAX_TITLE_CHARS: Final = 300
MAX_TEXT_CHARS: Final = 90_000
_CUT: Final = "\n[The rest was left out.]"


def title(text: str, otherwise: str = "Untitled event") -> str:
    """A text as one line that a task can be called by; the other one if nothing is left of it."""
    line = " ".join(clean(text).split()) or " ".join(clean(otherwise).split())
    return line if len(line) <= MAX_TITLE_CHARS else line[: MAX_TITLE_CHARS - 1] + "…"


def clean(text: str) -> str:
    """A text without the characters that no task may hold."""
    kept = (char for char in text[:MAX_TEXT_CHARS] if char in "\n\t" or _is_printable(char))
    return "".join(kept).strip()


def _is_printable(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs")


def bounded(text: str, most: int = MAX_BYTES) -> str:
    """A text without what no task may hold, and no longer than can be kept."""
    kept = clean(text.replace("\r\n", "\n").replace("\r", "\n")[: 2 * most])
    raw = kept.encode()
    if len(raw) <= most:
        return kept
    return raw[: most - len(_CUT)].decode("utf-8", "ignore").rstrip() + _CUT


def one_line(text: str, most: int = 200) -> str:
    """A short word of somebody else's: a name, an id."""
    return " ".join(clean(text[: 10 * most]).split())[:most]
