"""Finds the obvious lessons by counting, without a model.

A pattern that holds in at least four of five cases, and in at least five cases within thirty days,
becomes a proposal: always edited the same way, always ranked differently, always late, always
declined. Its words are ours or come from the owner's titles.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, cast

from msgspec import Struct

from remit.language.files import read_toml
from remit.model.likeness import Lesson, LessonFile
from remit.model.task import Priority, SourceKind, Taint, Task
from remit.reflect import harvest
from remit.reflect.harvest import ReflectionLine, ShownMessage

DAYS: Final = 30
MIN_CASES: Final = 5  # cases
SHARE: Final = 0.8
LATE: Final = 900  # seconds
SHORTER: Final = 0.67  # of its words: more than a greeting less
_MAX_TITLE_CHARACTERS: Final = 60
MAX_NAMED_TASKS: Final = 10  # tasks that are named as evidence
_OWNER: Final = "owner"  # the rule of a priority that the owner set
_LEVELS: Final = tuple(Priority)
_WORDS: Final = re.compile(r"[^\W\d_]{4,30}")
_TELLS: Final = (SourceKind.EMAIL, SourceKind.WEBHOOK, SourceKind.WHATSAPP, SourceKind.CALDAV)
_TITLES: Final = cast("dict[str, str]", read_toml("lesson_words", __package__)["titles"])
_TELLS_NOTHING: Final = frozenset(_TITLES["common"].split())
_SAYS: Final = {
    harvest.GREETING: ("Leave out the greeting; begin with what matters.", "the greeting"),
    harvest.CLOSING: ("Leave out the closing line; the last thing said matters.", "the closing"),
    harvest.BULLETS: ("Write sentences, not lists with bullets.", "the bullets"),
    harvest.HEADINGS: ("Write without headings.", "the headings"),
    harvest.EMOJI: ("Use no emoji.", "the emoji"),
    harvest.EXCLAMATION: ("Use no exclamation marks.", "the exclamation marks"),
}


class ReflectedTask(Struct, frozen=True):
    """A reflection line, and its task from the store."""

    line: ReflectionLine
    task: Task


class CountedLessons(Struct, frozen=True):
    """The result of counting: lessons, and remarks that change no file."""

    lessons: tuple[Lesson, ...] = ()
    remarks: tuple[str, ...] = ()


class _Sort(Struct, frozen=True):
    """Tasks of one kind: as a rule and as a person would say it."""

    when: str
    said: str
    seen: tuple[ReflectedTask, ...]


def count(
    seen: Sequence[ReflectedTask],
    rank: Callable[[Task], Priority],
    domains: Callable[[Task], str | None],
) -> CountedLessons:
    """Return all obvious lessons.

    `rank` ranks a task by the current rules. `domains` returns the domain of an authenticated,
    known mail sender, or None.
    """
    sorts = list(_sorts(seen, domains))
    remarks: list[str] = []
    found = [*_lessons_about_words(seen)]
    found += _narrowest_lessons(
        [
            *_lessons_about_rank(sorts, rank),
            *_lessons_about_waiting(sorts, rank),
            *_lessons_about_declined(sorts, rank, remarks),
        ]
    )
    return CountedLessons(tuple(found), tuple(remarks))


# How messages are worded ----------------------------------------------------------------------


def _lessons_about_words(seen: Sequence[ReflectedTask]) -> Iterator[Lesson]:
    shown = [(each.line.task, message) for each in seen for message in each.line.shown]
    for kind, (says, what) in _SAYS.items():
        had = [(task, message) for task, message in shown if kind in message.had]
        out = [task for task, message in had if message.edited and kind not in message.kept]
        if _always(out, had):
            why = f"You took {what} out of {len(out)} of {len(had)} messages that had it"
            yield Lesson(LessonFile.GUIDELINES, says, f"{why}.", _latest_tasks(out))
    yield from _lessons_about_length(shown)


def _lessons_about_length(shown: Sequence[tuple[str, ShownMessage]]) -> Iterator[Lesson]:
    cut = [(task, m) for task, m in shown if m.edited and 0 < m.left <= m.words * SHORTER]
    if _always(cut, shown):
        most = -(-max(message.left for _, message in cut) // 10) * 10
        why = f"You shortened {len(cut)} of {len(shown)} messages, to {most} words or fewer."
        says = f"Keep a message under {most} words."
        yield Lesson(LessonFile.GUIDELINES, says, why, _latest_tasks(task for task, _ in cut))


# How tasks are ranked -------------------------------------------------------------------------


def _lessons_about_rank(
    sorts: Iterable[_Sort], rank: Callable[[Task], Priority]
) -> Iterator[Lesson]:
    """The owner set another priority than the rules, nearly every time."""
    for sort in sorts:
        words = defaultdict[Priority, list[str]](list)
        for each in sort.seen:
            rule = each.task.rule
            if rule and rule.name == _OWNER and rank(each.task) is not each.task.priority:
                words[each.task.priority].append(each.line.task)
        for level, ids in words.items():
            if _always(ids, sort.seen):
                why = f"You ranked {len(ids)} of {len(sort.seen)} tasks {sort.said} as {level}."
                yield _rule(sort, level, why, ids)


def _lessons_about_waiting(
    sorts: Iterable[_Sort], rank: Callable[[Task], Priority]
) -> Iterator[Lesson]:
    for sort in sorts:
        began = [each for each in sort.seen if each.line.late is not None]
        late = [each for each in began if (each.line.late or 0) >= LATE]
        if _always(late, began) and (level := _above(rank(late[-1].task))):
            ids = [each.line.task for each in late]
            why = f"{len(ids)} of {len(began)} tasks {sort.said} began more than a quarter of an"
            yield _rule(sort, level, f"{why} hour late.", ids)


def _lessons_about_declined(
    sorts: Iterable[_Sort], rank: Callable[[Task], Priority], remarks: list[str]
) -> Iterator[Lesson]:
    for sort in sorts:
        gone = [each for each in sort.seen if each.line.declined]
        if not _always(gone, sort.seen):
            continue
        why = f"You declined {len(gone)} of {len(sort.seen)} tasks {sort.said}."
        if rank(gone[-1].task) is Priority.LOW:
            remarks.append(f"{why} They are low already; perhaps they need not come at all.")
        else:
            yield _rule(sort, Priority.LOW, why, [each.line.task for each in gone])


def _rule(sort: _Sort, level: Priority, why: str, ids: Sequence[str]) -> Lesson:
    name = re.sub(r"[^\w]+", "-", sort.said.casefold()).strip("-")[:40]
    return Lesson(LessonFile.RULES, f"learned-{name}", why, _latest_tasks(ids), sort.when, level)


def _above(level: Priority) -> Priority | None:
    place = _LEVELS.index(level) + 1
    return _LEVELS[place] if place < len(_LEVELS) else None


def _narrowest_lessons(found: Iterable[Lesson]) -> Iterator[Lesson]:
    """Yield only the first, narrowest lesson of the same evidence."""
    spoken: set[str] = set()
    for lesson in found:
        if not spoken.issuperset(lesson.tasks):
            spoken.update(lesson.tasks)
            yield lesson


# Sorts of tasks -------------------------------------------------------------------------------


def _sorts(seen: Sequence[ReflectedTask], domains: Callable[[Task], str | None]) -> Iterator[_Sort]:
    """Yield tasks grouped by series, authenticated sender, title word, or source."""
    for keyed in (_series, lambda task: _domain(task, domains), _words, _source):
        those, called = defaultdict[str, list[ReflectedTask]](list), dict[str, str]()
        for each in seen:
            for when, word in keyed(each.task):
                those[when].append(each)
                called[when] = word
        for when in sorted(those, key=lambda each: (-len(those[each]), -len(each), each)):
            if len(those[when]) >= MIN_CASES:
                yield _Sort(when, called[when], tuple(those[when]))


def _series(task: Task) -> Iterator[tuple[str, str]]:
    if task.series_id is not None:
        mine = task.taint is Taint.OWNER
        called = f"“{task.title[:_MAX_TITLE_CHARACTERS]}”" if mine else str(task.series_id)
        yield f"series is {task.series_id}", f"of the series {called}"


def _domain(task: Task, domains: Callable[[Task], str | None]) -> Iterator[tuple[str, str]]:
    if (found := domains(task)) is not None:
        yield f"sender_domain is {found}", f"from {found}"


def _words(task: Task) -> Iterator[tuple[str, str]]:
    """Yield words of a title that the owner wrote; none of other titles."""
    if task.taint is not Taint.OWNER:
        return
    for word in dict.fromkeys(word.casefold() for word in _WORDS.findall(task.title)):
        if word not in _TELLS_NOTHING and word.isascii():
            yield rf"objective matches /\b{word}\b/i", f"about “{word}”"


def _source(task: Task) -> Iterator[tuple[str, str]]:
    if task.source.kind in _TELLS:
        yield f"source is {task.source.kind}", f"that came by {task.source.kind}"


def _always(those: Sequence[object], of: Sequence[object]) -> bool:
    return len(those) >= MIN_CASES and len(those) >= SHARE * len(of)


def _latest_tasks(tasks: Iterable[str]) -> tuple[str, ...]:
    """The latest ones, each once."""
    return tuple(dict.fromkeys(tasks))[-MAX_NAMED_TASKS:]
