"""The list of the inbox: to decide, to look at, to fix, and postponed."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.model.contract import ContractType, Result
from remit.model.ids import TaskId
from remit.model.proof import NOT_VERIFIED, is_unverified
from remit.model.review import InboxGroup, Review
from remit.model.task import Task
from remit.server import listing
from remit.server.call import Call
from remit.server.listing import CalendarRefusalRow
from remit.server.web import ask, letter, refused, review_kinds, shell, trail, words
from remit.server.web.letter import ChannelLabel
from remit.server.web.review_kinds import SORTS, ReviewKind
from remit.store import events, inbox, search
from remit.store.database import Tx
from remit.store.inbox import InboxCounts, WaitingReview

MOST: Final = 50  # of a group; the rest appear as these are done
_CHIPS: Final = 3
_LAST: Final = 5  # events of a task, including its end


class InboxRow(Struct, frozen=True, kw_only=True):
    id: str  # of the review, or of an ended task
    task_id: TaskId | None = None
    colour: str
    icon: str
    title: str
    says: str
    ways: tuple[ChannelLabel, ...]
    meta: str
    at: datetime | None  # unknown for a refused event
    back: datetime | None = None  # when it comes back, if postponed
    elsewhere: str = ""  # where to act, if not here

    @property
    def href(self) -> str:
        return self.elsewhere or f"/inbox/{self.id}"


class InboxSection(Struct, frozen=True):
    """One group, with its total number."""

    word: str
    count: int
    rows: tuple[InboxRow, ...]


class InboxListing(Struct, frozen=True):
    heaps: tuple[InboxSection, ...]
    later: tuple[InboxRow, ...]
    needs: InboxCounts
    fresh: bool  # no task was ever created

    @property
    def rows(self) -> tuple[InboxRow, ...]:
        return tuple(row for heap in self.heaps for row in heap.rows)

    def place(self, ident: str) -> int:
        """Return the position in the list, from 1; 0 if it is not there."""
        return next((n for n, row in enumerate(self.rows, 1) if row.id == ident), 0)

    def after(self, ident: str) -> InboxRow | None:
        """Return what to open next: the one below, or else the first."""
        rows, at = self.rows, self.place(ident)
        left = [*rows[at:], *rows[: max(0, at - 1)]]
        return left[0] if left else None


async def listed(call: Call) -> InboxListing:
    found = await call.house.db.read(_read, call.house.clock.now())
    now = shell.local(call)
    asked = [_asked(call, each, now) for each in found.decide]
    broken = [_asked(call, each, now) for each in found.locked]
    ended = [_ended(call, each, ReviewKind.LOOK, now) for each in found.look]
    failed = [_ended(call, each, ReviewKind.FIX, now, why) for each, why in found.fix]
    heaps = (
        InboxSection("Decide", found.needs.decide, tuple(asked)),
        InboxSection("Look at", found.needs.look, tuple(ended)),
        InboxSection("Fix", found.needs.fix, (*broken, *failed, *map(_refused, found.refused))),
    )
    later = tuple(_asked(call, each, now) for each in found.later)
    return InboxListing(tuple(heap for heap in heaps if heap.rows), later, found.needs, found.fresh)


def verified(task: Task) -> str:
    """Return what was checked, in a few words."""
    if task.verdict is not None:
        done = [each for each in task.verdict.findings if each.result is not Result.SKIPPED]
        good = sum(each.result is Result.PASS for each in done)
        if is_unverified(task):
            return f"{NOT_VERIFIED}: {good} of {len(done)}"
        return f"Verified {good} of {len(done)}" if done else "Nothing to verify"
    advisory = task.contract is not None and task.contract.type is ContractType.ADVISORY
    return NOT_VERIFIED if advisory else ""


class _Found(Struct, frozen=True):
    needs: InboxCounts
    decide: Sequence[WaitingReview]
    locked: Sequence[WaitingReview]
    later: Sequence[WaitingReview]
    look: Sequence[Task]
    fix: Sequence[tuple[Task, str]]
    refused: Sequence[CalendarRefusalRow]
    fresh: bool


def _read(tx: Tx, now: datetime) -> _Found:
    needs = inbox.needs(tx, now)
    quiet = not (needs.total or needs.later)
    return _Found(
        needs,
        inbox.questions(tx, now, InboxGroup.DECIDE, limit=MOST),
        inbox.questions(tx, now, InboxGroup.FIX, limit=MOST),
        inbox.questions(tx, now, later=True, limit=MOST),
        inbox.look(tx, now, MOST),
        [(each, _why(tx, each)) for each in inbox.fix(tx, now, MOST)],
        [each for each in listing.look(tx) if not each.seen][:MOST],
        quiet and not search.page(tx, search.TaskFilter(limit=1)).tasks,
    )


def _why(tx: Tx, task: Task) -> str:
    return trail.end(events.last_of_task(tx, task.id, _LAST))


def _asked(call: Call, waiting: WaitingReview, now: datetime) -> InboxRow:
    review, task = waiting.review, waiting.task
    kind = review_kinds.kind_of(review)
    opened = review.opened_at or now
    later = review.later_until
    return InboxRow(
        id=str(review.id),
        task_id=task.id,
        colour=SORTS[kind].colour,
        icon=SORTS[kind].icon,
        title=task.title,
        says=_says(review, kind),
        ways=_ways(call, task),
        meta=verified(task),
        at=opened.astimezone(now.tzinfo),
        back=later.astimezone(now.tzinfo) if later and later > now else None,
    )


def _says(review: Review, kind: ReviewKind) -> str:
    if kind is ReviewKind.SEND:
        to = ask.permission(review)
        text = words.first_line(review.evidence, 100).strip("*#_ ")
        return f"Send to {to.contact if to else 'you'}: “{text}”"
    return review_kinds.question_text(review.question)


def _ended(call: Call, task: Task, kind: ReviewKind, now: datetime, why: str = "") -> InboxRow:
    tries = f"{task.attempts} failed tries" if task.attempts > 1 else ""
    said = why or task.result_summary or "It ended without a word."
    return InboxRow(
        id=str(task.id),
        task_id=task.id,
        colour=SORTS[kind].colour,
        icon=SORTS[kind].icon,
        title=task.title,
        says=words.first_line(said),
        ways=_ways(call, task),
        meta=tries if kind is ReviewKind.FIX else verified(task),
        at=(task.completed_at or task.last_updated).astimezone(now.tzinfo),
    )


def _refused(each: CalendarRefusalRow) -> InboxRow:
    """Return the row of a refused event, which is fixed in its calendar."""
    resource = each.resource
    name = hashlib.sha256(f"{resource.account} {resource.path}".encode()).hexdigest()[:16]
    return InboxRow(
        id=f"event-{name}",
        colour=SORTS[ReviewKind.FIX].colour,
        icon="calendar",
        title=each.title,
        says=words.first_line(each.why),
        ways=(),
        meta=each.calendar,
        at=None,
        elsewhere=refused.HREF,
    )


def _ways(call: Call, task: Task) -> tuple[ChannelLabel, ...]:
    return tuple(_each_once(call, task))[:_CHIPS]


def _each_once(call: Call, task: Task) -> Iterator[ChannelLabel]:
    for name in dict.fromkeys(each.channel for each in task.delivery):
        yield letter.way(call, name)
