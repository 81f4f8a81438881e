"""A text that must stand in the answer."""

from remit.model.contract import Criterion, Evidence, Finding, Result
from remit.model.task import Task


class MentionsCheck:
    """`pattern` is a text that must occur."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        wanted = criterion.pattern or ""
        if wanted and wanted.casefold() in evidence.text.casefold():
            return Finding("mentions", Result.PASS)
        return Finding("mentions", Result.FAIL, f"{wanted!r} does not occur")
