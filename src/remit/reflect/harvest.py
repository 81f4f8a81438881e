"""Writes `reflections/DATE.jsonl` from the journal: one line for each ended task.

The journal is authoritative. Each line has its place there and a mark says how far it was read, so
a line cut by a crash is written again, and none is written twice. The lines are for counting; of a
message that the owner was shown they hold only kinds of wording, never its words.
"""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby
from pathlib import Path
from typing import Final, cast

from msgspec import Struct

from remit.errors import BadInput
from remit.language.files import read_toml
from remit.model.codec import from_json, line_of, to_json
from remit.model.contract import Overall
from remit.model.likeness import is_reflection
from remit.model.recurrence import ON_TIME
from remit.model.review import SEND, Review, ReviewAnswer
from remit.model.run import Event
from remit.model.status import Reason
from remit.model.task import Task
from remit.ports import Clock
from remit.store import reflections, reviews
from remit.store.database import Database, Tx
from remit.system.files import append_text, write_atomic

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
    """Return the kinds of wording in a text, in a fixed order."""
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


_MARK: Final = ".written"
_SPAN: Final = 5_000  # journal events read at once


class ReflectionCollector:
    """`keep` is for how many days the files are kept, by the owner's clock."""

    def __init__(self, db: Database, clock: Clock, folder: Path, zone: tzinfo, keep: int) -> None:
        self._db = db
        self._clock = clock
        self._folder = folder
        self._zone = zone
        self._keep = timedelta(days=keep)
        self._written: dict[Path, set[int]] = {}
        self._one = asyncio.Lock()

    async def catch_up(self) -> int:
        """Write a line for every task that ended since the last time; return how many."""
        async with self._one:
            since, written = await asyncio.to_thread(self._begin), 0
            while True:
                found, until = await self._db.read(_next_ended, since)
                if until == since:
                    return written
                oldest = self._clock.now() - self._keep
                fresh = [reflection(*each) for each in found if each[0].at > oldest]
                written += await asyncio.to_thread(self._write, fresh, until)
                since = until

    async def recent(self, days: int) -> list[ReflectionLine]:
        """Return the lines of the last days, oldest first; unreadable ones are skipped."""
        first = self._day(self._clock.now() - timedelta(days=days))
        return await asyncio.to_thread(self._read, first)

    def _day(self, at: datetime) -> date:
        return at.astimezone(self._zone).date()

    def _begin(self) -> int:
        """Delete old files, and return up to where the journal was read."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        oldest = self._day(self._clock.now() - self._keep).isoformat()
        for path in self._files():
            if path.stem < oldest:
                path.unlink(missing_ok=True)
                self._written.pop(path, None)
        try:
            return int((self._folder / _MARK).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0

    def _write(self, found: Iterable[ReflectionLine], until: int) -> int:
        written = 0
        for day, some in groupby(found, key=lambda each: self._day(each.at).isoformat()):
            path = self._folder / f"{day}.jsonl"
            if path not in self._written:
                self._written[path] = _mend(path)
            fresh = [each for each in some if each.seq not in self._written[path]]
            append_text(path, "".join(map(write, fresh)))
            self._written[path] |= {each.seq for each in fresh}
            written += len(fresh)
        # The mark may lag behind the lines but not run ahead.
        write_atomic(self._folder / _MARK, str(until), durable=False)
        return written

    def _read(self, first: date) -> list[ReflectionLine]:
        pairs = list[ReflectionLine]()
        for path in self._files():
            if path.stem >= first.isoformat() and not path.is_symlink():
                text = path.read_text(encoding="utf-8", errors="replace")
                pairs += [each for line in text.splitlines() if (each := read(line))]
        return sorted(pairs, key=lambda each: each.seq)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].jsonl"))


def reflection(event: Event, task: Task, reviews: Sequence[Review]) -> ReflectionLine:
    """Return a task's result, with its questions and answers."""
    decided = [each.decision.answer for each in reviews if each.decision]
    verdict = task.verdict.overall if task.verdict else None
    return ReflectionLine(
        seq=event.seq,
        task=str(task.id),
        at=event.at,
        status=str(event.data["to"]),
        source=task.source.kind.value,
        series=task.series_id,
        priority=task.priority.value,
        rule=task.rule.name if task.rule else None,
        taint=task.taint.value,
        asked=(task.request.text if task.request else task.title)[:MAX_TEXT_CHARACTERS],
        done=(task.result_summary or "")[:MAX_TEXT_CHARACTERS],
        held=tuple(each.reason.value for each in reviews),
        shown=tuple(_shown_message(each) for each in reviews if _is_message(each)),
        declined=ReviewAnswer.DECLINE in decided,
        sent_back=decided.count(ReviewAnswer.BACK),
        verified=Overall(verdict).value if verdict else None,
        tokens=task.spent.tokens or 0,
        cents=task.spent.cents or 0,
        late=_seconds_waited(task),
    )


def _is_message(review: Review) -> bool:
    """Whether the owner was shown a message, and sent it as it was or edited."""
    if review.decision is None or review.reason is not Reason.APPROVAL:
        return False
    sent = (review.about or "").startswith(f"{SEND}:") or ":send:" in review.key
    return sent and review.decision.answer in (ReviewAnswer.APPROVE, ReviewAnswer.EDIT)


def _shown_message(review: Review) -> ShownMessage:
    before, after = review.evidence, review.evidence
    edited = review.decision is not None and review.decision.answer is ReviewAnswer.EDIT
    if edited and review.decision is not None:
        after = review.decision.text or ""
    had = kinds(before)
    kept = tuple(each for each in kinds(after) if each in had)
    return ShownMessage(had, kept, count(before), count(after), edited)


def _seconds_waited(task: Task) -> int | None:
    """Return the seconds it waited for its turn; catching up does not count."""
    if task.started_at is None:
        return None
    if task.slot is not None and task.created_at - task.slot > ON_TIME:
        return None
    due = max(task.scheduled_for or task.created_at, task.created_at)
    return max(0, round((task.started_at - due).total_seconds()))


def _next_ended(tx: Tx, since: int) -> tuple[list[tuple[Event, Task, list[Review]]], int]:
    """The next ends with their tasks and questions; a look back is not looked back at."""
    found, until = reflections.ends(tx, since, _SPAN)
    known = reflections.tasks_by_id(tx, [str(event.task_id) for event in found])
    pairs = [(event, known[str(event.task_id)]) for event in found if str(event.task_id) in known]
    return [
        (event, task, reviews.of_task(tx, task.id))
        for event, task in pairs
        if not is_reflection(task)
    ], until


def _mend(path: Path) -> set[int]:
    """Cut off a broken last line; return the places of the complete ones."""
    if not path.exists():
        return set()
    whole = path.read_bytes()
    complete = whole[: whole.rfind(b"\n") + 1]
    if len(complete) != len(whole):
        os.truncate(path, len(complete))
    found = (read(line) for line in complete.decode("utf-8", "replace").splitlines())
    return {each.seq for each in found if each}
