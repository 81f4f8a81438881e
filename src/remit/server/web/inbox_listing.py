"""The list of the inbox: to decide, to fix, to look at, and postponed."""

import hashlib
import re
from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from remit.errors import BadInput
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.review import Review, ReviewAnswer
from remit.model.task import Task
from remit.server import listing
from remit.server.bodies import RequestBody
from remit.server.call import Call
from remit.server.listing import CalendarRefusalRow
from remit.server.page_language import say
from remit.server.web import (
    message_preview,
    review_kinds,
    review_page,
    schedule,
    shell,
    task_history,
    words,
)
from remit.server.web.message_preview import ChannelLabel
from remit.server.web.review_kinds import SORTS, ReviewKind
from remit.store import events, inbox, reviews, search
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
    seen: bool = False  # whether its rows can be marked as seen


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

    def position(self, ident: str) -> tuple[int, int] | None:
        """Return the position in its section, from 1, and how many there are."""
        places = (
            (n, heap)
            for heap in self.heaps
            for n, row in enumerate(heap.rows, 1)
            if row.id == ident
        )
        return next(((n, heap.count) for n, heap in places), None)

    def after(self, ident: str) -> InboxRow | None:
        """Return what to open next: the one below, or else the first."""
        rows, at = self.rows, self.place(ident)
        left = [*rows[at:], *rows[: max(0, at - 1)]]
        return left[0] if left else None


async def inbox_listing(call: Call) -> InboxListing:
    return await call.app.db.read(_list_inbox, call, shell.local_now(call))


def _list_inbox(tx: Tx, call: Call, now: datetime) -> InboxListing:
    needs = inbox.needs(tx, now)
    decide = inbox.questions(tx, now, limit=MOST)
    later = inbox.questions(tx, now, later=True, limit=MOST)
    fix = (
        *(_failed_row(tx, call, each, now) for each in inbox.fix(tx, now, MOST)),
        *[_refused_event_row(each) for each in listing.look(tx) if not each.seen][:MOST],
    )
    heaps = (
        InboxSection(
            "Decide",
            needs.decide,
            tuple(
                _question_row(call, each, now, edited=_was_edited(tx, each.task)) for each in decide
            ),
        ),
        InboxSection("Fix", needs.fix, fix),
        InboxSection(
            "Look at",
            needs.look,
            tuple(_result(tx, call, each, now) for each in inbox.look(tx, now, MOST)),
            seen=True,
        ),
    )
    quiet = not (needs.total or needs.later)
    return InboxListing(
        tuple(heap for heap in heaps if heap.rows),
        tuple(_question_row(call, each, now) for each in later),
        needs,
        fresh=quiet and not search.page(tx, search.TaskFilter(limit=1)).tasks,
    )


def _was_edited(tx: Tx, task: Task) -> bool:
    return task.verdict is not None and review_kinds.was_edited(reviews.of_task(tx, task.id))


def _question_row(
    call: Call, waiting: WaitingReview, now: datetime, *, edited: bool = False
) -> InboxRow:
    review, task = waiting.review, waiting.task
    is_edited = review.draft not in (None, review.evidence) or edited
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
        meta=words.verified_words(task, edited=is_edited),
        at=opened.astimezone(now.tzinfo),
        back=later.astimezone(now.tzinfo) if later and later > now else None,
    )


def _says(review: Review, kind: ReviewKind) -> str:
    if kind is ReviewKind.SEND:
        to = review_page.permission(review)
        text = words.teaser(review.evidence, 100)
        return say("Send to {0}: “{1}”", to.contact if to else say("you"), text)
    return review_kinds.question_text(review.question)


def _failed_row(tx: Tx, call: Call, task: Task, now: datetime) -> InboxRow:
    why = task_history.end(events.last_of_task(tx, task.id, _LAST))
    tries = say("{0} failed tries", task.attempts) if task.attempts > 1 else ""
    return _ended_row(call, task, ReviewKind.FIX, now, why, tries)


def _result(tx: Tx, call: Call, task: Task, now: datetime) -> InboxRow:
    verified = words.verified_words(task, edited=_was_edited(tx, task))
    return _ended_row(call, task, ReviewKind.LOOK, now, "", verified)


def _ended_row(
    call: Call, task: Task, kind: ReviewKind, now: datetime, why: str, meta: str
) -> InboxRow:
    text = why or task.result_summary or say("It ended without a message.")
    return InboxRow(
        id=str(task.id),
        task_id=task.id,
        colour=SORTS[kind].colour,
        icon=SORTS[kind].icon,
        title=task.title,
        says=words.teaser(text),
        ways=_ways(call, task),
        meta=meta,
        at=(task.completed_at or task.last_updated).astimezone(now.tzinfo),
    )


def _refused_event_row(each: CalendarRefusalRow) -> InboxRow:
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
        elsewhere=schedule.REFUSED_HREF,
    )


def _ways(call: Call, task: Task) -> tuple[ChannelLabel, ...]:
    names = list(dict.fromkeys(each.channel for each in task.delivery))
    return tuple(message_preview.channel_label(call, name) for name in names[:_CHIPS])


_MOST: Final = 100_000
_MOST_LINES: Final = 100
_MOST_NAME: Final = 100
_MOST_SEEN: Final = 1_000  # results marked at once
_LINE: Final = re.compile(r"line-[0-9]{1,3}")


class NewAnswer(RequestBody, frozen=True):
    """A form of the inbox. Approving a text that differs from the draft is an edit."""

    answer: ReviewAnswer = ReviewAnswer.APPROVE
    text: Annotated[str, Meta(max_length=_MOST)] = ""
    choice: Annotated[str, Meta(max_length=_MOST)] = ""
    always: bool = False
    digest: Annotated[str, Meta(max_length=64)] = ""
    to: Annotated[str, Meta(max_length=500)] | None = None  # who gets the text; empty: the owner
    channel: Annotated[str, Meta(max_length=_MOST_NAME)] | None = None
    lines: Annotated[dict[int, str], Meta(max_length=_MOST_LINES)] = field(default_factory=dict)

    @classmethod
    def gather(cls, sent: JsonMap) -> JsonMap:
        """The form with its fields `line-1`, `line-2`, … as one."""
        lines = {name[5:]: words for name, words in sent.items() if _LINE.fullmatch(name)}
        rest = {name: words for name, words in sent.items() if not _LINE.fullmatch(name)}
        return {**rest, "lines": lines} if lines else rest

    @property
    def words(self) -> str:
        """What is answered: a choice, the lines of the card that were filled in, or the text."""
        filled = {n: " ".join(words.split()) for n, words in self.lines.items()}
        lines = "\n".join(f"{n}: {words}" for n, words in sorted(filled.items()) if words)
        if lines and self.text.strip():
            raise BadInput("Answer line by line, or all in one text, not both.", field="text")
        return self.choice or lines or self.text


class NewText(RequestBody, frozen=True):
    text: Annotated[str, Meta(max_length=_MOST)] = ""


class ContactAnswer(RequestBody, frozen=True):
    """Someone new, as the answer to the question whom a message is for."""

    name: Annotated[str, Meta(max_length=_MOST_NAME)] = ""
    channel: Annotated[str, Meta(max_length=_MOST_NAME)] = ""
    address: Annotated[str, Meta(max_length=500)] = ""


class NewLater(RequestBody, frozen=True):
    until: Literal["hour", "evening", "morning"] | None = None
    at: Annotated[str, Meta(max_length=40)] = ""


class SeenForm(RequestBody, frozen=True):
    """The results that were looked at; without ids, all."""

    ids: Annotated[tuple[str, ...], Meta(max_length=_MOST_SEEN)] = ()


class NewTry(RequestBody, frozen=True):
    instructions: Annotated[str, Meta(max_length=_MOST)] = ""
