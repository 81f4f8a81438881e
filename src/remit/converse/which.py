"""Which task is meant: by what was spoken of last, or by words of its title."""

from collections.abc import Iterable, Sequence
from typing import Final

from remit.converse.meaning import Thing
from remit.converse.phrases import Words, words_of
from remit.model.task import Task

_STEM: Final = 4  # letters that two forms of a word share at least
_NUMBERS: Final = {"1": 0, "first": 0, "erste": 0, "ersten": 0, "primero": 0, "primera": 0}
_NUMBERS_2: Final = {"2": 1, "second": 1, "zweite": 1, "zweiten": 1, "segundo": 1, "segunda": 1}
_NUMBERS_3: Final = {"3": 2, "third": 2, "dritte": 2, "dritten": 2, "tercero": 2, "tercera": 2}
_PLACES: Final = {**_NUMBERS, **_NUMBERS_2, **_NUMBERS_3}


def matching(words: Words, among: Iterable[Task]) -> list[Task]:
    """The tasks whose title, or else whose request, holds every word."""
    tasks = list(among)
    by_title = [task for task in tasks if _holds(words, task.title)]
    return by_title or [task for task in tasks if _holds(words, _told(task))]


def named(thing: Thing, spoken: Sequence[Task], others: Sequence[Task]) -> list[Task]:
    """Every task that a thing may be; those that were spoken of go before all others."""
    if thing.pointed:
        return list(spoken[:1])
    return matching(thing.words, spoken) or matching(thing.words, others)


def chosen(text: str, among: Sequence[Task]) -> Task | None:
    """The one of some tasks that an answer names, by its place or by its words."""
    words = words_of(text)
    places = {_PLACES[word] for word in words if word in _PLACES}
    if len(places) == 1 and (place := places.pop()) < len(among):
        return among[place]
    found = [task for task in among if _names(words, task)]
    return found[0] if len(found) == 1 else None


def _names(words: Words, task: Task) -> bool:
    """Whether an answer holds a word that only a title would."""
    title = set(words_of(task.title))
    return any(_same(word, own) for word in words for own in title if len(word) >= _STEM)


def _holds(words: Words, text: str) -> bool:
    own = words_of(text)
    return bool(words) and all(any(_same(word, each) for each in own) for word in words)


def _same(one: str, other: str) -> bool:
    """Whether two words are the same, but for an ending."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _STEM and long.startswith(short)


def _told(task: Task) -> str:
    return f"{task.title} {task.request.text if task.request else task.instructions}"
