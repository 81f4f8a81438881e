"""Warns when a new task looks like an earlier one; it never decides anything.

Similar meaning alone would be wrong too often: a reminder for nine is nearly the same as one for
ten. So the figures, the names, the time and the recipients must be equal, too.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.errors import RemitError
from remit.model.caller import may_see
from remit.model.codec import JsonMap
from remit.model.status import Status
from remit.model.task import Task
from remit.ports import Clock
from remit.recall import snippets
from remit.recall.finder import TaskFinder
from remit.store import recall
from remit.store.database import Database

NEAR: Final = 0.8  # where two ways to say one thing begin
LATELY: Final = timedelta(days=7)  # what ended earlier was another time
PATIENCE: Final = 0.3  # seconds that a receipt waits for this
_LOOKED: Final = 8
_FIGURES: Final = re.compile(r"\d+")
_NAMES: Final = re.compile(r"(?<=[\w,;:] )[^\W\d_a-zà-öø-ÿ]\w+")  # within a sentence
_STEM: Final = 4  # letters by which a name is known in another form


class Duplicates(Struct, frozen=True):
    db: Database
    clock: Clock
    zone: tzinfo
    finder: TaskFinder
    hide: Callable[[str], str]

    async def arrived(self, task: Task, vector: Sequence[float]) -> None:
        """Note in the log of a new task that it looks like an earlier one, if it does."""
        other = await self._other(task, vector)
        if other is not None:
            now = self.clock.now()
            details: JsonMap = {
                "task": other.id,
                "title": other.title,
                "said": self._warning(task, other, now),
            }
            await self.db.write(recall.propose, task.id, details, now)

    async def sentence(self, task: Task) -> str | None:
        """Return the warning for a receipt; None if there is none, or finding it takes too long."""
        try:
            async with asyncio.timeout(PATIENCE):
                vector = await self.finder.ready(snippets.words(task, self.hide))
                other = await self._other(task, vector) if vector is not None else None
        except (TimeoutError, RemitError):
            return None
        return self._warning(task, other, self.clock.now()) if other else None

    async def _other(self, task: Task, vector: Sequence[float]) -> Task | None:
        gone = task.status is Status.CANCELLED
        if task.series_id is not None or task.retry_of is not None or gone:
            return None
        near = await self.finder.near(vector, _LOOKED, [task.session_id])
        close = [each.task_id for each in near if each.score >= NEAR]
        texts = await self.db.read(recall.texts, close) if close else {}
        alike = [each for each in close if each in texts and _same_words(_text(task), texts[each])]
        if not alike:
            return None
        found = {each.id: each for each in await self.db.read(recall.named, [task.id, *alike])}
        now, whole = self.clock.now(), found.pop(task.id, task)  # with its deliveries
        return next((each for each in found.values() if same(whole, each, now)), None)

    def _warning(self, task: Task, other: Task, now: datetime) -> str:
        when = _day(other.created_at, now, self.zone)
        sentence = f"“{task.title}” looks like “{other.title}” {when} ({other.id})."
        if task.ended:
            return f"{sentence} Both were done."
        return f"{sentence} If it is the same, cancel one of them; until then both count."


def same(task: Task, other: Task, now: datetime) -> bool:
    """Whether everything that a person would compare is the same."""
    stands = other.deleted_at is None and other.status is not Status.CANCELLED
    lately = not other.ended or now - other.created_at <= LATELY
    # Of one message come several that are not the same by intent.
    apart = other.created_at < task.created_at and other.series_id is None
    return (
        stands
        and lately
        and apart
        and may_see(task, other)
        and other.scheduled_for == task.scheduled_for
        and _for_whom(other) == _for_whom(task)
        and _same_words(_text(task), _text(other))
    )


def _same_words(one: str, other: str) -> bool:
    """Whether the figures are equal, and the names of each occur in the other."""
    return (
        _figures(one) == _figures(other)
        and _names(other) <= _stems(one)
        and _names(one) <= _stems(other)
    )


def _for_whom(task: Task) -> set[tuple[str, str | None]]:
    return {(each.channel, each.recipient) for each in task.delivery}


def _figures(text: str) -> list[str]:
    return sorted(_FIGURES.findall(text))


def _names(text: str) -> set[str]:
    return {each[:_STEM].lower() for each in _NAMES.findall(text)}


def _stems(text: str) -> set[str]:
    return {each[:_STEM].lower() for each in re.findall(r"\w+", text)}


def _text(task: Task) -> str:
    return f"{task.title}\n{task.instructions}"


def _day(at: datetime, now: datetime, zone: tzinfo) -> str:
    days = (now.astimezone(zone).date() - at.astimezone(zone).date()).days
    named = {0: "of today", 1: "of yesterday"}
    return named.get(days, f"of {at.astimezone(zone):%Y-%m-%d}")
