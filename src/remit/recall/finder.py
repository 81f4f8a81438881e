"""Finds tasks similar to a task or to some words, and the reminders for the brain.

It searches by meaning and by shared words; each search gives an order, and a task is ranked by the
sum of its places (reciprocal rank fusion). So what both find comes first, and where one fails, as
the default embedder does for most languages, the other still finds something.

A reminder is the result of a completed similar task. It carries the taint of its task, which raises
the taint of whoever reads it. Reminders are short, because every prompt pays for them.

A new task that looks like an earlier one is noted; nothing is decided by it. Similar meaning alone
would be wrong too often: a reminder for nine is nearly the same as one for ten. So the figures, the
names, the time and the recipients must be equal, too.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache, partial
from typing import Final

from msgspec import Struct

from remit.errors import RemitError, StoreTrouble
from remit.model.caller import may_see
from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import NearestTask, SimilarityKind, SimilarTask
from remit.model.reply import Snippet
from remit.model.status import Status
from remit.model.task import Task
from remit.ports import Clock
from remit.recall import snippets
from remit.recall.library import RecallLibrary
from remit.store import recall
from remit.store.database import Database, Tx

CUT: Final = 0.18  # below it two texts have nothing to do with each other
WIDE: Final = 24  # so far each way looks
_ROUNDS: Final = 3  # looks, where one series fills the first one
_FUSE: Final = 60  # how little a place matters against being found at all
_CROWD: Final = 5  # places after which what is near is near only as everything is
_ABOVE: Final = 0.1  # so much nearer than that lies what has to do with each other
_SAME: Final = 0.55  # nearer than that is near in any crowd
_ALONE: Final = 0.32  # nearer than that is near where there is no crowd to compare with


class TaskFinder:
    """Finds similar tasks; without a library it searches by words only."""

    def __init__(
        self, db: Database, library: RecallLibrary | None, hide: Callable[[str], str] = str
    ) -> None:
        self._db = db
        self.library = library  # None: it is off
        self._hide = hide

    async def like(self, task: Task, most: int) -> list[SimilarTask]:
        """Return tasks that are surely similar to a task; the best one of each session.

        Only the vectors are searched; they count n-grams as well. All German texts are somewhat
        similar to them, so the limit depends on the other results.
        """
        near = await self._near_task(task, most, None)
        return await self._rank_found(_clearly_nearest(near), (), most, lambda _: True, task)

    async def completed_like(self, task: Task, most: int) -> list[SimilarTask]:
        """The same among completed tasks that this one may see, as `recall.completed` gives them.

        Every task waits for this.
        """
        near = await self._near_task(task, most, Status.COMPLETED)
        fits, read = partial(may_see, task), recall.list_completed
        return await self._rank_found(_clearly_nearest(near), (), most, fits, task, read)

    async def _near_task(self, task: Task, most: int, status: Status | None) -> list[NearestTask]:
        text = snippets.words(task, self._hide)
        return await self.by_meaning(text, most, [task.session_id], status)

    async def find(
        self, text: str, most: int, fits: Callable[[Task], bool] = lambda _: True
    ) -> list[SimilarTask]:
        """Return tasks that may be similar to some words, for a reader who chooses."""
        near = await self.by_meaning(text, most, [])
        worded = await self._db.read(recall.find_by_words, text, WIDE)
        return await self._rank_found(near, worded, most, fits, None)

    async def ready(self, text: str) -> Sequence[float] | None:
        """Return the vector of a text, if the library is open already."""
        library = self.library
        return await library.vector(text) if library is not None and library.is_open else None

    async def near(
        self,
        vector: Sequence[float],
        most: int,
        without: Sequence[SessionId],
        status: Status | None = None,
    ) -> list[NearestTask]:
        """Return the tasks near a vector; none if the library is closed."""
        if self.library is None:
            return []
        try:
            return await self.library.look(vector, most, without, status)
        except StoreTrouble as error:
            self.library.fail(error)
            return []

    async def _rank_found(
        self,
        near: Sequence[NearestTask],
        worded: Sequence[TaskId],
        most: int,
        fits: Callable[[Task], bool],
        but: Task | None,
        read: Callable[[Tx, Sequence[TaskId]], list[Task]] = recall.list_by_id,
    ) -> list[SimilarTask]:
        by_meaning = {each.task_id: each for each in near}
        found = [each.task_id for each in near]
        waiting = fuse_orders(found, worded) if worded else list(dict.fromkeys(found))
        seen, kept = {but.session_id} if but else set[SessionId](), list[SimilarTask]()
        while waiting and len(kept) < most:
            some, waiting = _first_of_sessions(waiting, by_meaning, seen, most)
            for task in await self._db.read(read, some):
                if task.session_id not in seen and task.deleted_at is None and fits(task):
                    seen.add(task.session_id)
                    kept.append(_similar_task(task, by_meaning.get(task.id), worded))
        return kept[:most]

    async def by_meaning(
        self, text: str, most: int, without: Sequence[SessionId] = (), status: Status | None = None
    ) -> list[NearestTask]:
        """Return the tasks near some words in meaning."""
        vector = await self.library.vector(text) if self.library else None
        found: list[NearestTask] = []
        for _ in range(_ROUNDS if vector is not None else 0):
            some = await self.near(vector or (), WIDE, without, status)
            found += [each for each in some if each.score >= CUT]
            sessions = {each.session_id for each in found if each.session_id}
            if len(some) < WIDE or some[-1].score < CUT or len(sessions) >= most:
                break
            without = [*without, *sessions]
        return found


def fuse_orders(*ways: Sequence[TaskId]) -> list[TaskId]:
    """Return everything that was found; what both searches found comes first."""
    worth: dict[TaskId, float] = {}
    for way in ways:
        for place, each in enumerate(way):
            worth[each] = worth.get(each, 0) + 1 / (_FUSE + place)
    return sorted(worth, key=lambda each: -worth[each])


def _clearly_nearest(near: Sequence[NearestTask]) -> list[NearestTask]:
    """Return what is clearly nearer than the other results."""
    crowd = [each.score for each in near[_CROWD:]]
    cut = min(sum(crowd) / len(crowd) + _ABOVE, _SAME) if crowd else _ALONE
    return [each for each in near if each.score >= cut]


def _similar_task(task: Task, near: NearestTask | None, worded: Sequence[TaskId]) -> SimilarTask:
    if near is None:
        return SimilarTask(task, SimilarityKind.WORDS, 0, task.taint)
    by = SimilarityKind.BOTH if task.id in worded else SimilarityKind.MEANING
    return SimilarTask(task, by, near.score, task.taint.joined(near.taint))


def _first_of_sessions(
    order: Sequence[TaskId],
    near: Mapping[TaskId, NearestTask],
    seen: Collection[SessionId],
    most: int,
) -> tuple[list[TaskId], list[TaskId]]:
    """Return the next tasks to read, one of each session, and those that may be read after them."""
    left = [each for each in order if each not in near or near[each].session_id not in seen]
    sessions, some = set[SessionId | TaskId](), list[TaskId]()
    for each in left:
        session = (near[each].session_id if each in near else None) or each
        if session not in sessions and len(some) < most:
            sessions.add(session)
            some.append(each)
    return some, [each for each in left if each not in some]


MOST: Final = 4
MOST_CHARACTERS: Final = 2_400  # of all together
_ASKED: Final = 240
_CAME: Final = 480


class Reminders(Struct, frozen=True):
    finder: TaskFinder
    zone: tzinfo

    async def of(self, task: Task) -> tuple[Snippet, ...]:
        """Return reminders for a task, the best first, as many as there is room for."""
        found = await self.finder.completed_like(task, MOST)
        room, snippets_found = MOST_CHARACTERS, list[Snippet]()
        for each in found:
            snippet = self._snippet(each)
            room -= len(snippet.title) + len(snippet.text)
            if room < 0:
                break
            snippets_found.append(snippet)
        return tuple(snippets_found)

    def _snippet(self, alike: SimilarTask) -> Snippet:
        task = alike.task
        day = snippets.day(task.completed_at or task.created_at, self.zone)
        result = snippets.line(task.result_summary or "", _CAME)
        asked = snippets.line(task.instructions, _ASKED)
        text = f"{asked} — {result}" if asked != task.title.strip() else result
        return Snippet(task.id, f"{day} {task.title}", text, alike.taint)


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

    async def arrived(self, some: Sequence[tuple[Task, Sequence[float]]]) -> None:
        """Note in the log of each new task that it looks like an earlier one, if it does."""
        for task, other in await self._find_lookalikes(some):
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
                found = await self._find_lookalikes([(task, vector)]) if vector is not None else []
        except (TimeoutError, RemitError):
            return None
        return self._warning(*found[0], self.clock.now()) if found else None

    async def _find_lookalikes(
        self, some: Sequence[tuple[Task, Sequence[float]]]
    ) -> list[tuple[Task, Task]]:
        """Return the tasks that look like an earlier one, each with that one."""
        close = {
            task.id: await self._close(task, vector) for task, vector in some if _is_single(task)
        }
        wanted = list(dict.fromkeys(each for ids in close.values() for each in ids))
        texts = await self.db.read(recall.texts, wanted) if wanted else {}
        pairs = []
        for task, _ in some:
            known = [each for each in close.get(task.id, ()) if each in texts]
            alike = [each for each in known if _same_words(_text(task), texts[each])]
            if alike and (other := await self._find_same(task, alike)) is not None:
                pairs.append((task, other))
        return pairs

    async def _close(self, task: Task, vector: Sequence[float]) -> list[TaskId]:
        near = await self.finder.near(vector, _LOOKED, [task.session_id])
        return [each.task_id for each in near if each.score >= NEAR]

    async def _find_same(self, task: Task, alike: Sequence[TaskId]) -> Task | None:
        found = {each.id: each for each in await self.db.read(recall.list_by_id, [task.id, *alike])}
        now, whole = self.clock.now(), found.pop(task.id, task)  # with its deliveries
        return next((each for each in found.values() if is_same(whole, each, now)), None)

    def _warning(self, task: Task, other: Task, now: datetime) -> str:
        when = _day(other.created_at, now, self.zone)
        sentence = f"“{task.title}” looks like “{other.title}” {when} ({other.id})."
        if task.ended:
            return f"{sentence} Both were done."
        return f"{sentence} If it is the same, cancel one of them; until then both count."


def _is_single(task: Task) -> bool:
    """Whether a task can be given twice by mistake: it repeats nothing and is not cancelled."""
    cancelled = task.status is Status.CANCELLED
    return task.series_id is None and task.retry_of is None and not cancelled


def is_same(task: Task, other: Task, now: datetime) -> bool:
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


@lru_cache(maxsize=64)  # one text is compared with several
def _figures(text: str) -> tuple[str, ...]:
    return tuple(sorted(_FIGURES.findall(text)))


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
