"""Finds which task is meant: the one mentioned last, or by words of its title."""

from collections.abc import Iterable, Sequence
from typing import Final

from remit.converse.meaning import TaskReference
from remit.converse.phrases import Words, in_list, words_of
from remit.model.task import Task

_STEM: Final = 4  # letters that two forms of a word must share
_PLACES: Final = ("first", "second", "third")


def matching(words: Words, among: Iterable[Task]) -> list[Task]:
    """Return the tasks whose title, or else request, contains every word."""
    tasks = list(among)
    by_title = [task for task in tasks if _holds(words, task.title)]
    return by_title or [task for task in tasks if _holds(words, _told(task))]


def named(thing: TaskReference, spoken: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    """Return every candidate; mentioned tasks come before all others."""
    if thing.pointed:
        return list(spoken[:1])
    return matching(thing.words, spoken) or matching(thing.words, others)


def chosen(text: str, among: Sequence[Task]) -> Task | None:
    """Return the one task that an answer names, by position or by words."""
    words = words_of(text)
    places = {n for n, name in enumerate(_PLACES) for word in words if word in in_list(name)}
    if len(places) == 1 and (place := places.pop()) < len(among):
        return among[place]
    found = [task for task in among if _names(words, task)]
    return found[0] if len(found) == 1 else None


def _names(words: Words, task: Task) -> bool:
    """Whether an answer contains a word of the title."""
    title = set(words_of(task.title))
    return any(_same(word, own) for word in words for own in title if len(word) >= _STEM)


def _holds(words: Words, text: str) -> bool:
    own = words_of(text)
    return bool(words) and all(any(_same(word, each) for each in own) for word in words)


def _same(one: str, other: str) -> bool:
    """Whether two words are equal except for an ending."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _STEM and long.startswith(short)


def _told(task: Task) -> str:
    return f"{task.title} {task.request.text if task.request else task.instructions}"
