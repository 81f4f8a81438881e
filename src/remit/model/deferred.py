"""Deferred criteria, which wait for the end of a group, and test debt of files.

A group is what ends together: the stories of a requirements document, the running tasks of a
series, or a day. Criteria of the same group, branch and project are one batch and are checked once.
A file whose tests failed has debt and needs extra checks; only time reduces a debt.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import JsonMap, first_few
from remit.model.contract import DEFERRED, Criterion, Finding, Result, Verdict
from remit.model.ids import TaskId
from remit.model.reply import PROJECT
from remit.model.task import Task

PRD: Final = "prd"  # key in a task's context: the document, and after a # the story
# Keys in the context of a task that fixes failed work: whose work, and what must pass.
FIXES: Final = "fixes"
FAILED: Final = "failed"
MOST_PATHS: Final = 500  # paths stored per task
UNMERGED: Final = "not checked: the work was not merged"
UNCHANGED: Final = "not checked: nothing was changed"


class GroupEnd(StrEnum):
    """What ends a group."""

    PRD = "prd"  # with the last open task of the document
    SERIES = "series"  # when none of its runs is active
    DAY = "day"  # at midnight in the owner's zone


class DeferredGroup(Struct, frozen=True):
    ends: GroupEnd
    name: str  # the document, the series, or the day

    @property
    def key(self) -> str:
        return f"{self.ends.value}:{self.name}"

    @property
    def said(self) -> str:
        """The group as it reads in `when … ends`."""
        return {
            GroupEnd.PRD: self.name,
            GroupEnd.SERIES: "this run of the series",
            GroupEnd.DAY: f"the day {self.name}",
        }[self.ends]

    def over_at(self, zone: tzinfo) -> datetime | None:
        """When the day ends; None if tasks end the group."""
        if self.ends is not GroupEnd.DAY:
            return None
        tomorrow = date.fromisoformat(self.name) + timedelta(days=1)
        local = datetime.combine(tomorrow, time(), zone)
        return datetime.fromtimestamp(local.timestamp(), UTC)


class DeferredBatch(Struct, frozen=True):
    """A group on one branch of one project, whose criteria are checked together."""

    project: str
    branch: str
    group: DeferredGroup


class DeferredCriterion(Struct, frozen=True):
    """One criterion of one task, and what it waits for."""

    task_id: TaskId
    place: int  # index among the criteria of its contract
    criterion: Criterion
    batch: DeferredBatch
    since: datetime
    paths: tuple[str, ...] = ()  # files that the task changed


class DueCriterion(Struct, frozen=True):
    """One check that several tasks wait for."""

    criterion: Criterion
    waits: tuple[DeferredCriterion, ...]


def group_of(task: Task, now: datetime, zone: tzinfo) -> DeferredGroup:
    """Return the group of a task: its document, else its series, else the day."""
    if document := document_of(task.context.get(PRD)):
        return DeferredGroup(GroupEnd.PRD, document)
    if task.series_id is not None:
        return DeferredGroup(GroupEnd.SERIES, task.series_id)
    return DeferredGroup(GroupEnd.DAY, now.astimezone(zone).date().isoformat())


def document_of(value: object) -> str:
    """Return the document without the story; empty if none is named."""
    return value.partition("#")[0].strip() if isinstance(value, str) else ""


def project_of(task: Task) -> str:
    """Return the project that a task works on; empty if none."""
    who = task.assigned_agent or ""
    return who.removeprefix(PROJECT) if who.startswith(PROJECT) else ""


def is_late(finding: Finding) -> bool:
    """Whether a criterion was deferred and has no result yet."""
    return finding.result is Result.SKIPPED and finding.error == DEFERRED


def deferred_criteria(
    task: Task, batch: DeferredBatch, paths: Sequence[str], now: datetime
) -> tuple[DeferredCriterion, ...]:
    """Return the deferred criteria of a task; one that could not be checked at all is left out."""
    if task.contract is None or task.verdict is None:
        return ()
    pairs = zip(task.contract.criteria, task.verdict.findings, strict=False)
    return tuple(
        DeferredCriterion(task.id, n, criterion, batch, now, tuple(paths[:MOST_PATHS]))
        for n, (criterion, found) in enumerate(pairs)
        if is_late(found)
    )


def batches(
    every: Iterable[DeferredCriterion],
) -> Mapping[DeferredBatch, tuple[DeferredCriterion, ...]]:
    """Return the waiting criteria by batch, in the order they were deferred."""
    found: dict[DeferredBatch, tuple[DeferredCriterion, ...]] = {}
    for each in sorted(every, key=lambda each: (each.since, each.task_id, each.place)):
        found[each.batch] = (*found.get(each.batch, ()), each)
    return found


def due_checks(waits: Iterable[DeferredCriterion]) -> tuple[DueCriterion, ...]:
    """Return the checks to run; the same check for several tasks is run once."""
    found: dict[tuple[str, str | None], list[DeferredCriterion]] = {}
    for each in waits:
        found.setdefault((each.criterion.activity, each.criterion.pattern), []).append(each)
    return tuple(DueCriterion(same[0].criterion, tuple(same)) for same in found.values())


def settle_verdict(verdict: Verdict, late: Mapping[int, Finding], now: datetime) -> Verdict:
    """Return a verdict with the late findings inserted by the index of their criterion."""
    findings = tuple(
        late[n] if n in late and is_late(each) else each for n, each in enumerate(verdict.findings)
    )
    return Verdict(findings, now)


LATER: Final = "checked later"  # the `what` of such an event
NEVER: Final = "not checked later"


def deferred_sentence(data: JsonMap) -> str | None:
    """Return the sentence of an event about deferred checks; None for other events."""
    if data.get("what") == NEVER:
        return "What was put off is not checked: the work was not merged."
    if data.get("what") != LATER:
        return None
    found = data.get("found")
    pairs = sorted(found.items()) if isinstance(found, dict) else []
    parts = [f"{name} {_CAME[str(result)]}" for name, result in pairs]
    return f"Checked on {data.get('branch')}, with {data.get('group')}: {', '.join(parts)}."


_CAME: Final = {
    Result.PASS.value: "passed",
    Result.FAIL.value: "failed",
    Result.SKIPPED.value: "was skipped",
}


def drop_deferred(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict that waits for nothing, with the reason why deferred checks do not run."""
    findings = (replace(each, error=why) if is_late(each) else each for each in verdict.findings)
    return replace(verdict, findings=tuple(findings))


DECAY: Final = timedelta(days=30)
OFTEN: Final = 3  # failures after which a change also needs end-to-end tests
TESTS: Final = frozenset({"unit-test", "e2e"})  # activities whose failures are remembered
_NAMED: Final = 3  # files named before the rest is only counted


class DebtCause(StrEnum):
    """Why a file has debt. One task adds each cause to a file once."""

    CHECK = "check"  # tests of a change to it failed
    LATE = "late"  # a deferred check failed when its group ended
    SKIP = "skip"  # the owner accepted a change without proof


class Debt(Struct, frozen=True):
    """One file: how often tests of a change to it failed, and when they last did."""

    path: str
    failures: int
    last_failed_at: datetime
    reasons: tuple[str, ...] = ()  # why a check of it was skipped by hand


class DebtBook(Struct, frozen=True):
    """All debts of a project."""

    debts: tuple[Debt, ...] = ()


def add_failures(book: DebtBook, paths: Sequence[str], now: datetime, reason: str = "") -> DebtBook:
    """Return the book with a failure added, or an unchecked change with its reason."""
    known = {each.path: each for each in current_debts(book, now).debts}
    for path in paths:
        old = known.get(path) or Debt(path, 0, now)
        reasons = tuple(dict.fromkeys((*old.reasons, *((reason,) if reason else ()))))
        known[path] = replace(
            old,
            failures=old.failures + 1,
            last_failed_at=max(now, old.last_failed_at),
            reasons=reasons,
        )
    return replace(book, debts=tuple(known[path] for path in sorted(known)))


def current_debts(book: DebtBook, now: datetime) -> DebtBook:
    """Return only the debts that still count: those that failed within the last thirty days."""
    return replace(book, debts=tuple(d for d in book.debts if now - d.last_failed_at < DECAY))


def extra_criteria(book: DebtBook, paths: Sequence[str], now: datetime) -> tuple[Criterion, ...]:
    """Return the extra criteria for a change to these files."""
    hot = _hot(book, paths, now)
    often = [debt.path for debt in hot if debt.failures >= OFTEN]
    named = first_few([debt.path for debt in hot], _NAMED)
    added = [Criterion("unit-test", f"All tests pass: {named} failed before")]
    if often:
        added.append(
            Criterion("e2e", f"It works from end to end: {first_few(often, _NAMED)} failed often")
        )
    return tuple(added) if hot else ()


def debt_sentences(book: DebtBook, paths: Sequence[str], now: datetime) -> tuple[str, ...]:
    """Return one sentence for each file with debt, saying why more is required."""
    return tuple(_debt_sentence(each) for each in _hot(book, paths, now))


def _hot(book: DebtBook, paths: Sequence[str], now: datetime) -> list[Debt]:
    touched = set(paths)
    return [debt for debt in current_debts(book, now).debts if debt.path in touched]


def _debt_sentence(debt: Debt) -> str:
    often = "once" if debt.failures == 1 else f"{debt.failures} times"
    skipped = f"; taken unproven: {', '.join(debt.reasons)}" if debt.reasons else ""
    last = f"last on {debt.last_failed_at:%Y-%m-%d}"
    return f"{debt.path} failed {often}, {last}, so more is checked{skipped}"
