"""The owner's standing words to the brain, from a file that may change at any time."""

from pathlib import Path
from typing import Final

from remit.errors import BadInput

FILE: Final = "guidelines.txt"
MAX_CHARACTERS: Final = 16_000  # characters: they are told with every thought
DEFAULT_FILE: Final = """\
# What your agent is told before every task, in your own words: one guideline a line or as you
# like. Lines that begin with # are not told. A change counts from the next thought on.

# Write short sentences, and say where a figure comes from.
# Prices in euros, distances in kilometres.
# If something is not certain, say so.
"""


class GuidelinesFile:
    """Rereads the file when it changes; while it is unreadable, the last good text applies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_at: tuple[int, ...] = ()
        self._text = ""
        if self._stamp():
            self._text = read(path)
            self._read_at = self._stamp()

    def __call__(self) -> str:
        stamp = self._stamp()
        if stamp == self._read_at:
            return self._text
        try:
            self._text = read(self._path) if stamp else ""
        except BadInput:
            return self._text  # perhaps being edited; a start would refuse it by name
        self._read_at = stamp
        return self._text

    def _stamp(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return (found.st_mtime_ns, found.st_size, found.st_ino)


def read(path: Path) -> str:
    """Return the guidelines of a file; an invalid one is refused with a sentence."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); write it as text in UTF-8.") from None
    text = "\n".join(line.rstrip() for line in lines if not line.startswith("#")).strip()
    if len(text) > MAX_CHARACTERS:
        many = f"{path} has {len(text)} characters"
        raise BadInput(f"{many}; at most {MAX_CHARACTERS} can be told with every task.")
    return text
