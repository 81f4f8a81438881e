"""Reads a reply while it streams: whole lines for the owner, and ticked work items.

    ✓ STEP 2: compared the prices          ticks work item 2

A marker counts at the start of a line, outside code blocks and outside the deliverable. It only
ever ticks: what a line says moves nothing and sends nothing.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Final, Protocol, Self

from remit.brain import outside
from remit.brain.long_reply import MAX_ANSWER_CHARS

PAUSE: Final = timedelta(seconds=1)  # at least so long between two things that are told
MOST: Final = 2000  # characters that are told at once, whatever the time; no shorter line is cut

_MARKER: Final = re.compile(
    "\\s{0,3}(?:[-*] )?(?:\\*\\*|__)?[\u2713\u2714\u2705\u2611]\ufe0f? ?(?:\\*\\*|__)?"
    "(?i:step) {0,2}#?(\\d{1,4}) ?(?:\\*\\*|__)?:"
)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TAG: Final = re.compile(r"<(/?)deliverable>", re.IGNORECASE)


class ProgressCallback(Protocol):
    """Lets the owner see how far the work is."""

    async def __call__(self, text: str = "", done: Sequence[int] = ()) -> None: ...


class ProgressListener:
    """Listens to one turn of a thought.

    The first words are told when it goes on speaking for a moment, for what is said at once is on
    record at once, with its step. A thought that breaks off is told to its end.
    """

    def __init__(
        self,
        tell: ProgressCallback,
        items: int,
        now: Callable[[], datetime],
        redact: Callable[[str], str] = str,
    ) -> None:
        self._tell = tell
        self._now = now
        self._redact = redact
        self._markers = Markers(items)
        self._line = ""  # what has come of the line that is being said
        self._lines = ""  # whole lines that were not told yet
        self._last: datetime | None = None
        self._spoke = False
        self._heard = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        broken = kind is not None and issubclass(kind, Exception)
        if broken or (kind is None and self._spoke):
            self._lines, self._line = self._lines + self._line, ""
            await self._say()

    async def hear(self, piece: str) -> None:
        """Take the next piece of what is said, wherever it was cut."""
        self._heard += len(piece)
        if self._heard > MAX_ANSWER_CHARS:
            return  # no such answer is taken, so no more of it is told
        for start in range(0, len(piece), MOST):
            await self._hear(piece[start : start + MOST])

    async def _hear(self, piece: str) -> None:
        self._last = self._last or self._now()
        *whole, self._line = (self._line + piece).split("\n")
        ticked: list[int] = []
        for line in whole:
            ticked += self._markers.read(line)
            self._lines += line + "\n"
        ticked += self._markers.glance(self._line)
        if ticked:
            await self._say(ticked)
        while len(self._line) >= MOST:
            cut = self._line.rfind(" ", MOST // 2, MOST) + 1 or MOST
            piece, self._line = self._line[:cut], self._line[cut:]
            self._markers.read(piece, ends=False)
            self._lines += piece
        if len(self._lines) >= MOST or (self._lines and self._now() - self._last >= PAUSE):
            await self._say()

    async def _say(self, done: Sequence[int] = ()) -> None:
        text, self._lines = self._lines, ""
        self._last, self._spoke = self._now(), True
        if text.strip() or done:
            await self._tell(plain(self._redact(text)), tuple(done))


class Markers:
    """Finds the work items that a text says are done, line by line."""

    def __init__(self, items: int) -> None:
        self._items = items
        self._done: set[int] = set()
        self._fence = ""
        self._inside = False  # between the deliverable's tags
        self._starts = True  # what comes next stands at the start of a line

    def read(self, line: str, *, ends: bool = True) -> list[int]:
        """The items that a line, or a piece of a long one, ticks for the first time."""
        ticked = self.glance(line)
        if self._starts:
            self._fence = _fence(self._fence, line)
        if not self._fence:
            for tag in _TAG.finditer(line):
                self._inside = not tag[1]
        self._starts = ends
        return ticked

    def glance(self, line: str) -> list[int]:
        """The same for a line that may still go on."""
        found = _MARKER.match(line)
        if found is None or self._fence or self._inside or not self._starts:
            return []
        n = int(found[1])
        if n in self._done or not 1 <= n <= self._items:
            return []
        self._done.add(n)
        return [n]


def ticked(text: str, items: int) -> tuple[int, ...]:
    """The work items that a whole reply says are done."""
    markers = Markers(items)
    return tuple(n for line in text.split("\n") for n in markers.read(line))


def _fence(fence: str, line: str) -> str:
    """The code block that is open after a line, by what opened it."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    run, rest = found[1], line[found.end() :]
    if not fence:
        # A line such as ```x``` is inline code.
        return "" if run[0] == "`" and "`" in rest else run
    return "" if run.startswith(fence) and not rest.strip() else fence


def plain(text: str) -> str:
    """Without half characters, which cannot be kept, and without tags that mean something."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return outside.neutral(whole).rstrip("\n")
