"""The fields of a task that a priority rule may test."""

from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from functools import lru_cache
from typing import Final, TypeAlias

import idna
from msgspec import Struct

from remit.model.codec import Json
from remit.model.task import SourceKind, Task
from remit.plan.priority_pattern import Patterns

# A field and one of its values, or a field and the number of a pattern that was found in it.
Key: TypeAlias = "tuple[str, str | int]"
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
CONTEXT: Final = "context."
ANY: Final = "any"
NONE: Final = "none"
_MOST_TEXTS: Final = 100  # of one place in the context
_DEEPEST: Final = 4


class PriorityFacts(Struct, frozen=True):
    """What of a task counts for some rules; `score` is None while nobody has said one."""

    keys: frozenset[Key]
    minute: int  # of the owner's day in which it came
    score: float | None = None


def gather(
    task: Task, zone: tzinfo, fields: Mapping[str, Patterns], score: float | None = None
) -> PriorityFacts:
    """Look at the fields that some rules ask about, each with the patterns they try on it."""
    local = task.created_at.astimezone(zone)
    keys: set[Key] = {("weekday", WEEKDAYS[local.weekday()])}
    for field, patterns in fields.items():
        for text in _texts(task, field):
            keys.add((field, plain(text)))
            keys.update((field, place) for place in patterns.found(text))
    return PriorityFacts(frozenset(keys), local.hour * 60 + local.minute, score)


def plain(text: str) -> str:
    """A text as it is compared: capitals and blanks do not count."""
    return " ".join(text.split()).casefold()


@lru_cache(4096)
def domain(name: str) -> str | None:
    """A domain as it is compared, in the letters that the mail goes by; None if it is none."""
    try:
        found = idna.encode(name.lower(), uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return None
    return found if "." in found and not found.endswith(".") else None


def _texts(task: Task, field: str) -> Iterator[str]:
    if field.startswith(CONTEXT):
        yield from _inside(task.context, field.removeprefix(CONTEXT).split("."))
    elif field in _FIELDS:
        yield from _FIELDS[field](task)


def _inside(value: Json, path: list[str]) -> list[str]:
    """The texts at a place in the context; of a list each one counts."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return list(_flat(value, _DEEPEST))[:_MOST_TEXTS]


def _flat(value: Json, deepest: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, list) and deepest:
        for each in value:
            yield from _flat(each, deepest - 1)


def _sender_domain(task: Task) -> Iterator[str]:
    """The domain of who wrote, and all above it; nothing unless our own server vouched for it.

    Anybody can write any name into a letter: only mail counts, and only with the door's word.
    """
    sender, context = task.context.get("sender"), task.context
    if task.source.kind is not SourceKind.EMAIL or context.get("sender_verified") is not True:
        return
    # What stands after the first @ must be a domain: an address with two of them is none.
    found = domain(sender.partition("@")[2]) if isinstance(sender, str) else None
    if found is None:
        return
    yield found
    _, dot, above = found.partition(".")
    while dot:
        yield f"*.{above}"
        _, dot, above = above.partition(".")


def _series(task: Task) -> Iterator[str]:
    if task.series_id is None:
        yield NONE
    else:
        yield from (ANY, task.series_id)


def _channels(task: Task) -> Iterator[str]:
    yield from (each.channel for each in task.delivery) if task.delivery else (NONE,)


_FIELDS: Final[Mapping[str, Callable[[Task], Iterator[str]]]] = {
    "objective": lambda task: iter((task.title,)),
    "instructions": lambda task: iter((task.instructions,)),
    "sender_domain": _sender_domain,
    "source": lambda task: iter((task.source.kind.value,)),
    "taint": lambda task: iter((task.taint.value,)),
    "created_by": lambda task: iter((task.created_by.value,)),
    "series": _series,
    "channel": _channels,
}
FIELDS: Final = (*_FIELDS, "weekday")
