"""Checks that the sources of a text are not too old."""

from datetime import date, timedelta
from typing import Final

from remit.model.contract import Criterion, Evidence, Finding, ReadSource, Result
from remit.model.task import Task
from remit.verify.written import places, times
from remit.verify.written.figures import AmountFigure, DateFigure, figures
from remit.verify.written.source_figures import SourceFigures
from remit.verify.written.sources import is_named
from remit.verify.written.times import PartialDate
from remit.verify.written.vocabulary import pattern

_STAMP_FOLLOWS: Final = r"[^\n]{0,24}\Z"
_TOP: Final = 30  # a date at the start of a page is its own
_SHOWN: Final = 60


class FreshnessCheck:
    """`pattern` is a number of days: sources that were used must not be older.

    A page states its date under a word like `published` or at its top. Without one it counts as of
    its reading. Old sources that were not used do no harm.
    """

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        wanted = criterion.pattern or ""
        if not wanted.isdecimal():
            return Finding("fresh", Result.FAIL, "the pattern must be a number of days, like 7")
        if not evidence.read:
            return Finding(
                "fresh", Result.FAIL, f"nothing was read, so nothing is {wanted} days old at most"
            )
        today = _today(task, evidence)
        oldest = today - timedelta(days=int(wanted))
        dated = [(each, dated_on(each, today)) for each in evidence.read]
        stale = [(each, day) for each, day in dated if day and day < oldest]
        used = _used_stale_source([each for each, _ in stale], _fresh(dated, oldest), evidence.text)
        if used:
            day = next(day for each, day in stale if each is used)
            why = f"{used.place[:_SHOWN]} is of {day}, more than {wanted} days before {today}"
            return Finding("fresh", Result.FAIL, why)
        note = None if any(day for _, day in dated) else "nothing that was read says how old it is"
        return Finding("fresh", Result.PASS, note)


def dated_on(source: ReadSource, today: date) -> date | None:
    """Return the date a source states; else the day it was read."""
    head = source.text
    for start, _, meant in sorted(times.find_dates(head)):
        before = head[max(0, start - 60) : start]
        if start <= _TOP or pattern("sources.dated", after=_STAMP_FOLLOWS).search(before):
            return _day(meant, today)
    read = source.read_at.date() if source.read_at else None
    return _in_address(source.place, today) or read


def _today(task: Task, evidence: Evidence) -> date:
    reads = [each.read_at for each in evidence.read if each.read_at]
    begun = task.started_at or task.scheduled_for or task.created_at
    return max(begun, *reads).date() if reads else begun.date()


def _day(meant: tuple[PartialDate, ...], today: date) -> date | None:
    """Return what a date means: of two readings the past one nearer to today."""
    read = [day for each in meant if (day := each.whole(today))]
    return min(
        read,
        key=lambda day: (day > today + timedelta(days=1), abs((today - day).days)),
        default=None,
    )


def _in_address(place: str, today: date) -> date | None:
    if not places.is_page(place):
        return None
    found = [_day(meant, today) for _, _, meant in times.find_dates(place)]
    past = [day for day in found if day and day <= today]
    return past[0] if past else None


def _fresh(dated: list[tuple[ReadSource, date | None]], oldest: date) -> list[ReadSource]:
    return [each for each, day in dated if day is None or day >= oldest]


def _used_stale_source(
    stale: list[ReadSource], fresh: list[ReadSource], text: str
) -> ReadSource | None:
    """A stale source that the text names, or whose figures stand in no fresh one."""
    if not stale:
        return None
    known = SourceFigures([each.text for each in fresh])
    told = [each for each in figures(text) if isinstance(each, AmountFigure | DateFigure)]
    for each in stale:
        ground = SourceFigures([each.text])
        alone = any(ground.has(figure) and not known.has(figure) for figure in told)
        if alone or is_named(each, text) or not fresh:
            return each
    return None
