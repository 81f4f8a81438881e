"""Reads a reply while it streams: whole lines for the owner, and ticked work items.

    ✓ STEP 2: compared the prices          ticks work item 2

A marker counts at the start of a line, outside code blocks and outside the deliverable. It only
ticks an item: no line of a reply moves a task or sends anything.

A reply that was cut off or refused is no deliverable, even if it has complete tags. Its tags are
broken and its first line says why; without tags every gate holds it.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec.structs import replace

from remit.brain import outside
from remit.model.reply import Reply

MIN_PAUSE: Final = timedelta(seconds=1)  # at least so long between two things that are told
MAX_PIECE_CHARACTERS: Final = 2000  # a longer line is told in pieces

_MARKER: Final = re.compile(
    "\\s{0,3}(?:[-*] )?(?:\\*\\*|__)?[\u2713\u2714\u2705\u2611]\ufe0f? ?(?:\\*\\*|__)?"
    "(?i:step) {0,2}#?(\\d{1,4}) ?(?:\\*\\*|__)?:"
)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TAG: Final = re.compile(r"<(/?)deliverable>", re.IGNORECASE)


class ProgressCallback(Protocol):
    """Reports progress to the owner."""

    async def __call__(self, text: str = "", done: Sequence[int] = ()) -> None: ...


class ProgressListener(AbstractAsyncContextManager["ProgressListener"]):
    """Listens to one turn of a reply.

    The first words are reported only if the reply goes on for a moment, because a quick reply is
    recorded with its step at once. A reply that breaks off is reported to its end.
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
        self._line = ""  # the current, incomplete line
        self._lines = ""  # complete lines that were not reported yet
        self._last: datetime | None = None
        self._spoke = False
        self._length = 0

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        broken = kind is not None and issubclass(kind, Exception)
        if broken or (kind is None and self._spoke):
            self._lines, self._line = self._lines + self._line, ""
            await self._say()

    async def hear(self, piece: str) -> None:
        """Take the next piece of the stream, wherever it was cut."""
        self._length += len(piece)
        if self._length > MAX_ANSWER_CHARS:
            return  # no such answer is taken, so no more of it is told
        for start in range(0, len(piece), MAX_PIECE_CHARACTERS):
            await self._hear(piece[start : start + MAX_PIECE_CHARACTERS])

    async def _hear(self, piece: str) -> None:
        self._last = self._last or self._now()
        *whole, self._line = (self._line + piece).split("\n")
        ticked: list[int] = []
        for line in whole:
            ticked += self._markers.read(line)
            self._lines += line + "\n"
        ticked += self._markers.open_read_only(self._line)
        if ticked:
            await self._say(ticked)
        while len(self._line) >= MAX_PIECE_CHARACTERS:
            cut = (
                self._line.rfind(" ", MAX_PIECE_CHARACTERS // 2, MAX_PIECE_CHARACTERS) + 1
                or MAX_PIECE_CHARACTERS
            )
            piece, self._line = self._line[:cut], self._line[cut:]
            self._markers.read(piece, ends=False)
            self._lines += piece
        if len(self._lines) >= MAX_PIECE_CHARACTERS or (
            self._lines and self._now() - self._last >= MIN_PAUSE
        ):
            await self._say()

    async def _say(self, done: Sequence[int] = ()) -> None:
        text, self._lines = self._lines, ""
        self._last, self._spoke = self._now(), True
        if text.strip() or done:
            await self._tell(readable_text(self._redact(text)), tuple(done))


class Markers:
    """Finds the work items that a text marks as done, line by line."""

    def __init__(self, items: int) -> None:
        self._items = items
        self._done: set[int] = set()
        self._fence = ""
        self._inside = False  # inside the deliverable's tags
        self._starts = True  # the next text is at the start of a line

    def read(self, line: str, *, ends: bool = True) -> list[int]:
        """Return the items that a line, or a piece of a long one, ticks for the first time."""
        ticked = self.open_read_only(line)
        if self._starts:
            self._fence = _fence(self._fence, line)
        if not self._fence:
            for tag in _TAG.finditer(line):
                self._inside = not tag[1]
        self._starts = ends
        return ticked

    def open_read_only(self, line: str) -> list[int]:
        """Do the same for a line that may continue."""
        found = _MARKER.match(line)
        if found is None or self._fence or self._inside or not self._starts:
            return []
        n = int(found[1])
        if n in self._done or not 1 <= n <= self._items:
            return []
        self._done.add(n)
        return [n]


def ticked_items(text: str, items: int) -> tuple[int, ...]:
    """Return the work items that a whole reply marks as done."""
    markers = Markers(items)
    return tuple(n for line in text.split("\n") for n in markers.read(line))


def _fence(fence: str, line: str) -> str:
    """Return the fence of the code block that is open after a line."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    run, rest = found[1], line[found.end() :]
    if not fence:
        # A line such as ```x``` is inline code.
        return "" if run[0] == "`" and "`" in rest else run
    return "" if run.startswith(fence) and not rest.strip() else fence


def readable_text(text: str) -> str:
    """Return the text without lone surrogates and without meaningful tags."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return outside.neutralise(whole).rstrip("\n")


MAX_ANSWER_CHARS: Final = 1_000_000  # of one answer; the gate reads a quarter of it at most
KEPT_CHARS: Final = 100_000  # kept of a longer answer
TOO_LONG: Final = (
    f"it is longer than {MAX_ANSWER_CHARS:,} characters, so only its beginning was kept."
)
_DELIVERABLE_TAG: Final = re.compile(
    r"<(?=\s*/?\s*deliverable)|(?<=deliverable)(\s*)>", re.IGNORECASE
)


def hold_back(text: str, why: str) -> str:
    """Return the same text with its tags broken and a reason on top."""
    return f"[Held: {why}]\n\n{_DELIVERABLE_TAG.sub(_defuse_tag, text)}".rstrip()


def limit_reply(reply: Reply) -> Reply:
    """Return the reply; of one that is too long only the beginning, which is never sent."""
    if len(reply.text) <= MAX_ANSWER_CHARS:
        return reply
    return replace(long_reply(reply.text), usage=reply.usage)


def long_reply(text: str) -> Reply:
    """Return what is kept of an answer that did not end; its calls are not run."""
    return Reply(
        hold_back(text[:KEPT_CHARS], TOO_LONG), flaw=f"The answer is not whole: {TOO_LONG}"
    )


def _defuse_tag(found: re.Match[str]) -> str:
    return "⟨" if found[0] == "<" else f"{found[1]}⟩"
