"""What every check of written work has: its name, how it judges, and the owner's words."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from remit.model.contract import NOT_DECIDED, UNPROVEN, Criterion, Evidence, Finding, Result
from remit.model.task import Task

MAX_CHARACTERS: Final = 100_000  # of a text that is looked up or compared
_SHORT: Final = 4_000  # characters of all texts together

Judged: TypeAlias = tuple[Result, str | None]  # with the reason, or a remark
PASSED: Final[Judged] = (Result.PASS, None)


def failed(why: str) -> Judged:
    return Result.FAIL, why


def undecided(why: str) -> Judged:
    return Result.SKIPPED, NOT_DECIDED + why


class WrittenCheck(Struct, frozen=True):
    """A check by its name in contracts; `judge` gets the criterion's pattern, or an empty one."""

    name: str
    judge: Callable[[Task, str, Evidence], Judged]

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        """Judge a text; a long one in a thread, because others must not wait."""
        given = task, criterion.pattern or "", evidence
        texts = (evidence.text, *(each.text for each in evidence.read), *owner_words(task))
        if sum(map(len, texts)) <= _SHORT:
            return Finding(self.name, *self.judge(*given))
        return Finding(self.name, *await asyncio.to_thread(self.judge, *given))


def owner_words(task: Task) -> list[str]:
    """Return the owner's words. Notes of failed checks quote invented figures and do not count."""
    request = task.request.text if task.request else ""
    notes = (each for each in task.notes if not each.startswith(UNPROVEN))
    return list(dict.fromkeys((request, task.instructions, task.title, *notes)))
