"""Checks on what was written: its length, and what must or must not stand in it."""

import re
from collections.abc import Mapping
from typing import Final

from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task
from remit.ports import Check

_PLACEHOLDER: Final = re.compile(
    r"\[(?:your|insert|todo|tbd)[^\]\n]{0,80}\]|lorem ipsum|\bTODO\b", re.IGNORECASE
)


class Length:
    """`pattern` is `least-most` in characters, like `20-2000`."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        text = evidence.text
        least, _, most = (criterion.pattern or "").partition("-")
        if not (least.isdecimal() and most.isdecimal()):
            return Finding("length", Result.FAIL, "the pattern must look like 20-2000")
        if int(least) <= len(text) <= int(most):
            return Finding("length", Result.PASS)
        return Finding("length", Result.FAIL, f"{len(text)} characters, not {criterion.pattern}")


class Mentions:
    """`pattern` is a text that must occur."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        text = evidence.text
        wanted = criterion.pattern or ""
        if wanted and wanted.casefold() in text.casefold():
            return Finding("mentions", Result.PASS)
        return Finding("mentions", Result.FAIL, f"{wanted!r} does not occur")


class NoPlaceholder:
    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task, criterion
        found = _PLACEHOLDER.search(evidence.text)
        if found is None:
            return Finding("no-placeholder", Result.PASS)
        return Finding("no-placeholder", Result.FAIL, f"{found.group(0)!r} was left in")


CHECKS: Final[Mapping[str, Check]] = {
    "length": Length(),
    "mentions": Mentions(),
    "no-placeholder": NoPlaceholder(),
}
