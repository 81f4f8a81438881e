"""The owner's priority rules, from a file that may change at any time."""

import logging
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.plan import priority
from remit.plan.priority import MAX_CHARS, PriorityRules
from remit.settings import rules

_LOG: Final = logging.getLogger("remit.priority")


class PriorityFile:
    """Rereads the file when it changes; while it is wrong, the last good rules apply.

    Without a good file the built-in rules apply.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / rules.PRIORITY
        self._seen: tuple[int, ...] | None = None
        self._rules = priority.default()
        self._complaint: str | None = None

    def __call__(self) -> PriorityRules:
        stamp = self._stamp()
        if stamp != self._seen:
            self._look()
            self._seen = stamp
        return self._rules

    @property
    def complaint(self) -> str | None:
        """The error in the current file, if it is not in use."""
        self()
        return self._complaint

    def _look(self) -> None:
        try:
            text = rules.text(self._path, rules.PRIORITY, MAX_CHARS)
            found = None if text is None else priority.load(text, rules.PRIORITY)
            self._rules, self._complaint = found or priority.default(), None
        except BadInput as bad:
            if str(bad) != self._complaint:
                _LOG.warning("%s %s", bad, held(self._rules))
            self._complaint = str(bad)

    def _stamp(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return ()
        return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def held(good: PriorityRules) -> str:
    """Return which rules apply while a file is wrong."""
    return "The rules from before hold." if good.file else "The rules that come with Remit hold."
