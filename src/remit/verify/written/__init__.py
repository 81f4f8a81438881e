"""Checks on written text, by their names in contracts."""

import asyncio
from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from msgspec import Struct

from remit.model.contract import Criterion, Evidence, Finding
from remit.model.task import Task
from remit.ports import Check
from remit.verify.written.answers import judge_answers
from remit.verify.written.form import judge_form, judge_length
from remit.verify.written.fresh import judge_freshness, judge_sources
from remit.verify.written.grounded import judge_grounded
from remit.verify.written.phrases import (
    judge_language,
    judge_mentions,
    judge_padding,
    judge_placeholders,
)
from remit.verify.written.request import judge_request
from remit.verify.written.wording import Judged, owner_words

_SHORT: Final = 4_000  # characters of all texts together


class WrittenCheck(Struct, frozen=True):
    """A check by its name in contracts; `judge` gets the criterion's pattern, or an empty one."""

    name: str
    judge: Callable[[Task, str, Evidence], Judged]
    is_quick: ClassVar[bool] = True

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        """Judge a text; a long one in a thread, because others must not wait."""
        given = task, criterion.pattern or "", evidence
        texts = (evidence.text, *(each.text for each in evidence.read), *owner_words(task))
        if sum(map(len, texts)) <= _SHORT:
            return Finding(self.name, *self.judge(*given))
        return Finding(self.name, *await asyncio.to_thread(self.judge, *given))


CHECKS: Final[Mapping[str, Check]] = {
    name: WrittenCheck(name, judge)
    for name, judge in {
        "answers": judge_answers,
        "sources": judge_sources,
        "grounded": judge_grounded,
        "fresh": judge_freshness,
        "language": judge_language,
        "length": judge_length,
        "form": judge_form,
        "mentions": judge_mentions,
        "request": judge_request,
        "no-placeholder": judge_placeholders,
        "no-padding": judge_padding,
    }.items()
}
