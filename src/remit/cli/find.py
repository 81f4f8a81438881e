"""Resolves what a person types to one task: ids, prefixes, `-` for stdin."""

import re
import sys
from collections.abc import Sequence
from typing import Final

from remit.errors import BadInput, NotFound
from remit.model.ids import TaskId
from remit.store import tasks
from remit.store.database import Tx

_LETTERS: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{1,26}")
_SHORT: Final = (10, 14, 18, 22)  # ten letters are the millisecond of creation: usually enough


def words(given: Sequence[str]) -> list[str]:
    """Return the ids as typed; `-` reads them from stdin."""
    found: list[str] = []
    for word in given:
        found += sys.stdin.read().split() if word == "-" else [word]
    if not found:
        raise BadInput("Which one? Give an id, or the first letters of it.", field="id")
    return list(dict.fromkeys(found))


def task(tx: Tx, text: str) -> TaskId:
    """Return the task whose id has this prefix, in any case, with or without `task-`."""
    ulid = letters_of(text, "task")
    fitting = list(tasks.ids_like(tx, f"task-{ulid}"))
    if not fitting:
        raise NotFound("task", shown(text))
    if len(fitting) > 1:
        raise BadInput(several(text, fitting), field="id")
    return fitting[0]


def short(tx: Tx, task_id: TaskId) -> str:
    """Return the shortest unique prefix of an id."""
    ulid = task_id.removeprefix("task-")
    for length in _SHORT:
        if len(list(tasks.ids_like(tx, f"task-{ulid[:length]}"))) == 1:
            return ulid[:length]
    return ulid


def letters_of(text: str, prefix: str) -> str:
    letters = text.strip().upper().removeprefix(f"{prefix.upper()}-")
    if not _LETTERS.fullmatch(letters):
        sentence = (
            f"{shown(text)!r} is not the beginning of an id; "
            f"one looks like {prefix}-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA. `remit ls` shows them."
        )
        raise BadInput(sentence, field="id")
    return letters


def several(text: str, fitting: Sequence[str]) -> str:
    return f"{shown(text)!r} fits several: {', '.join(fitting)}. Type more of it."


def shown(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004
