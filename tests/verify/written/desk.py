"""A task, a text, its sources, and one check: in one call."""

from datetime import datetime

from remit.model.contract import Criterion, Evidence, Finding, ReadSource
from remit.verify.written import CHECKS
from tests.verify.written.cases import NOW, task_for


def page(
    text: str, place: str = "https://www.town.example/visit", at: datetime = NOW
) -> ReadSource:
    return ReadSource(place, text, at)


async def look(
    activity: str,
    text: str,
    *read: ReadSource,
    ask: str = "Find it out",
    pattern: str | None = None,
) -> Finding:
    criterion = Criterion(activity, "as agreed", pattern)
    return await CHECKS[activity].check(task_for(ask), criterion, Evidence(text, read))
