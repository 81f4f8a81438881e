"""Reflection: reads tasks that ended recently, proposes lessons, applies what the owner accepts.

A rule change is first tested on past tasks.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput, RemitError, Transient
from remit.model.likeness import (
    DraftedLesson,
    Lesson,
    LessonFile,
    LessonResult,
    ReflectionResult,
    UnfitLesson,
)
from remit.model.task import Priority, SourceKind, Task
from remit.ports import Clock
from remit.reflect import statistics, suggest, versions
from remit.reflect.harvest import ReflectionCollector
from remit.reflect.statistics import DAYS, ReflectedTask
from remit.reflect.versions import LessonVersions
from remit.store import reflections
from remit.store.database import Database
from remit.store.reflections import LessonChange

_OWNER: Final = "owner"


class BacktestResult(Struct, frozen=True):
    """Counts of past tasks that were tested, and that would be ranked differently."""

    seen: int
    changed: int
    as_said: int = 0  # of those: now as the owner had said

    @property
    def sentence(self) -> str:
        text = f"{self.changed:,} of {self.seen:,} past tasks would change"
        return (
            f"{text}, {self.as_said:,} to what you said yourself." if self.as_said else f"{text}."
        )


def run(
    tasks: Iterable[Task], before: Callable[[Task], Priority], after: Callable[[Task], Priority]
) -> BacktestResult:
    """Rank every task by the current and by the new rules."""
    count = changed = as_said = 0
    for task in tasks:
        count += 1
        now = after(task)
        if now is before(task):
            continue
        changed += 1
        by_owner = task.rule is not None and task.rule.name == _OWNER
        as_said += by_owner and now is task.priority
    return BacktestResult(count, changed, as_said)


MAX_QUESTIONS: Final = 3  # questions of one night
NOT_AGAIN: Final = timedelta(days=30)  # after a no
PAST: Final = timedelta(days=90)  # tasks that a change is tried on
_MAX_PAST_TASKS: Final = 5_000

Rank: TypeAlias = Callable[[Task], Priority]
# Ranks tasks by a rules text; an invalid text is refused with a sentence.
Ranker: TypeAlias = Callable[[str], Rank]
# A model's answer; None if there is none or the budget is used up.
Asks: TypeAlias = Callable[[Task, str, str], Awaitable[str | None]]


class ReflectionContext(Struct, frozen=True):
    """Connects reflection with the rest of the app."""

    ranker: Ranker
    names: Callable[[], Collection[str]]  # people, channels and tools: no lesson may name any
    domain: Callable[[Task], str | None]  # domain of an authenticated sender whom the owner knows
    asks: Asks | None = None
    day: Callable[[], str] = str  # today's date on the owner's clock


class Reflector:
    def __init__(
        self,
        db: Database,
        clock: Clock,
        harvest: ReflectionCollector,
        versions: LessonVersions,
        around: ReflectionContext,
    ) -> None:
        self._db = db
        self._clock = clock
        self._harvest = harvest
        self._versions = versions
        self._around = around

    async def look(self, task: Task) -> ReflectionResult:
        """Return lessons from finished tasks, without those declined or asked recently."""
        await self._harvest.catch_up()
        tasks = await self._recent_tasks()
        rank, wrong = self._ranks()
        counted = statistics.count(tasks, rank, self._around.domain)
        suggested, lost = await self._ask_for_suggestions(task, tasks)
        fit, refused = self._screen_lessons([*counted.lessons, *suggested])
        fresh = await self._fresh(fit)
        summary = f"Looked at what ended in the last {DAYS} days: {len(tasks)}."
        remarks = [summary, *counted.remarks, *wrong]
        if lost + len(refused):
            why = "; ".join(dict.fromkeys(refused)) or "they name too few tasks"
            remarks.append(f"{lost + len(refused)} suggestions were thrown away: {why}.")
        day = self._around.day()
        return ReflectionResult(
            tuple(replace(each, on=day) for each in fresh[:MAX_QUESTIONS]), "\n".join(remarks)
        )

    async def draft(self, lesson: Lesson) -> DraftedLesson | UnfitLesson:
        """Return the lesson inserted into the current file, and its effect on past tasks."""
        objection = suggest.objection(lesson, self._around.names())
        if objection is not None:
            return UnfitLesson(objection)
        try:
            before = self._versions.text(lesson.file)
            after = versions.insert_lesson(lesson, before)
            tried = await self._backtest(lesson, before, after)
        except BadInput as bad:
            return UnfitLesson(str(bad))
        shown = versions.diff(before, after, lesson.file.value)
        return DraftedLesson(versions.digest(after), shown, tried)

    async def accept(self, task: Task, lesson: Lesson, digest: str) -> LessonResult:
        """Write exactly what was approved; if the file changed since, nothing is written."""
        before = self._versions.text(lesson.file)
        after = versions.insert_lesson(lesson, before)
        if versions.digest(after) != digest:
            raise Transient(f"{lesson.file.value} was changed meanwhile.", after=1)
        lesson_change = LessonChange(
            key=_key(task, lesson),
            file=lesson.file,
            was=versions.digest(before),
            digest=digest,
            why=lesson.why,
            by="owner",
            task_id=task.id,
        )
        await self._versions.change(lesson_change, after)
        return LessonResult(taken=True)

    async def leave(self, task: Task, lesson: Lesson, why: str) -> LessonResult:
        """Record that the lesson was declined or no longer fits.

        If this task already wrote it before a crash, it counts as accepted.
        """
        taken = await self._db.read(reflections.is_made, _key(task, lesson))
        return LessonResult(taken, "" if taken else why)

    def _ranks(self) -> tuple[Rank, list[str]]:
        """Return the current rules' ranking; invalid rules are reported and give no lessons."""
        try:
            return self._around.ranker(self._versions.text(LessonFile.RULES)), []
        except BadInput as bad:
            return (lambda task: task.priority), [str(bad)]

    async def _recent_tasks(self) -> list[ReflectedTask]:
        """The recent lines with their tasks.

        Lines are only counted; content and authors come from the store.
        """
        lines = {each.task: each for each in await self._harvest.recent(DAYS)}
        tasks = await self._db.read(reflections.tasks_by_id, list(lines))
        return [ReflectedTask(line, tasks[name]) for name, line in lines.items() if name in tasks]

    async def _ask_for_suggestions(
        self, task: Task, tasks: Sequence[ReflectedTask]
    ) -> tuple[list[Lesson], int]:
        if self._around.asks is None or not any(suggest.is_mine(each.task) for each in tasks):
            return [], 0
        request = suggest.suggestion_prompt(tasks, self._versions.text(LessonFile.GUIDELINES))
        try:
            answer = await self._around.asks(task, suggest.RULES, request)
        except RemitError:
            answer = None  # counting is enough for one night
        return suggest.read(answer, tasks) if answer else ([], 0)

    def _screen_lessons(self, found: Sequence[Lesson]) -> tuple[list[Lesson], list[str]]:
        names = self._around.names()
        judged = [(lesson, suggest.objection(lesson, names)) for lesson in found]
        fit = {lesson.key: lesson for lesson, wrong in reversed(judged) if wrong is None}
        return list(reversed(fit.values())), [wrong for _, wrong in judged if wrong]

    async def _fresh(self, found: Sequence[Lesson]) -> list[Lesson]:
        """Return the lessons that fit their file and were not declined recently."""
        since = self._clock.now() - NOT_AGAIN
        unwanted = await self._db.read(reflections.list_unwanted, since)
        fresh = list[Lesson]()
        for lesson in found:
            drafted = await self.draft(lesson)
            if isinstance(drafted, DraftedLesson) and not _is_known(lesson, drafted, unwanted):
                fresh.append(lesson)
        return fresh

    async def _backtest(self, lesson: Lesson, before: str, after: str) -> str:
        if lesson.file is LessonFile.GUIDELINES:
            return "It is told with every thought; it changes no rank."
        now = self._clock.now()
        past = await self._db.read(reflections.list_ended, now - PAST, now, _MAX_PAST_TASKS)
        ranker = self._around.ranker
        return run(past, ranker(before), ranker(after)).sentence


def _key(task: Task, lesson: Lesson) -> str:
    """Return the key of a change: one task adds a lesson once."""
    return f"{task.id}:{lesson.key}"


def _is_known(lesson: Lesson, drafted: DraftedLesson, unwanted: Mapping[str, str]) -> bool:
    if lesson.key in unwanted:
        return True
    if lesson.file is LessonFile.RULES:
        # The same tasks share more than one word: a no to one rule covers the others.
        return any(_is_of(lesson, shown) for shown in unwanted.values())
    text = versions.added_words(drafted.diff)
    return any(versions.are_alike(text, versions.added_words(shown)) for shown in unwanted.values())


def _is_of(lesson: Lesson, shown: str) -> bool:
    """Whether a rule's evidence is mostly that of a rule shown before."""
    rule = f"+++ b/{LessonFile.RULES.value}" in shown
    return rule and 2 * sum(task in shown for task in lesson.tasks) >= len(lesson.tasks)


def sender_domain(task: Task, known: Collection[str]) -> str | None:
    """Return a mail sender's domain, if authenticated and known to the owner.

    What the task has read since does not matter, so its taint is ignored.
    """
    sender = task.context.get("sender")
    if task.source.kind is not SourceKind.EMAIL or not isinstance(sender, str):
        return None
    found = sender.rpartition("@")[2].casefold()
    return found if found in known and task.context.get("sender_verified") is True else None
