"""Follows the journal and notifies the owner: in conversations at once, elsewhere as notices.

It continues from its last stored place. Turns, notices and the new place are one write, and each
has a key derived from its event, so nothing is sent twice or left out after a crash.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from remit.model.conversation import (
    CONVERSATION,
    SCHEDULED,
    Action,
    Conversation,
    Notice,
    NoticeContent,
    NoticeKind,
    NoticeState,
    PlannedNotice,
    Role,
    TaskRef,
    Turn,
)
from remit.model.ids import ConversationId, Ids
from remit.model.run import Event
from remit.model.task import Task, TaskType
from remit.ports import Clock
from remit.store import callers, conversations, events, meta, notices, tasks
from remit.store.conversations import NewTurnRecord
from remit.store.database import Database, Tx

FAR: Final = 2_000  # events without news that may be read again after a crash
MOST_TURNS: Final = 5  # about missed runs; more become one
_PAGE: Final = 500
_BRIEF: Final = (
    NoticeKind.MISSED,
    NoticeKind.REFUSED,
)  # kinds without a result that must be shown in full


class JournalReader(Protocol):
    """The journal in batches."""

    def pages(self, since: int) -> AsyncIterator[list[Event]]: ...


class OwnerPresence(Struct, frozen=True):
    """Where the owner is active, and what can reach the owner now."""

    now: datetime
    channel: str | None
    digested: date | None
    listens: bool  # whether a browser subscribed to push


class NoticeDecisions(Struct, frozen=True):
    """What becomes a notice: `concerns` sees only an event, `telling` also its task."""

    concerns: Callable[[Event], bool]
    telling: Callable[[Event, Task | None], NoticeContent | None]
    posts: Callable[[NoticeContent, Task | None, OwnerPresence], tuple[PlannedNotice, ...]]
    many: Callable[[Sequence[NoticeContent]], str]
    ring: Callable[[], None] = lambda: None  # wakes the sender


class _PlacedNotice(Struct, frozen=True):
    """One piece of news with its time, its ways, and its conversation."""

    telling: NoticeContent
    at: datetime
    posts: tuple[PlannedNotice, ...]
    place: Conversation | None


_NoticeTurn: TypeAlias = tuple[Conversation, NewTurnRecord, list[_PlacedNotice]]


class NoticeFollower:
    def __init__(
        self, db: Database, clock: Clock, ids: Ids, journal: JournalReader, tells: NoticeDecisions
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._tells = tells

    async def follow(self) -> None:
        """Follow the journal for ever and notify the owner."""
        reached = await self._db.read(conversations.told_upto)
        async for page in self._journal.pages(reached):
            reached = await self._tell(page, reached)

    async def catch_up(self) -> None:
        """Handle everything that has happened until now."""
        reached = since = await self._db.read(conversations.told_upto)
        while page := await self._db.read(_events_since, since):
            reached, since = await self._tell(page, reached), page[-1].seq

    async def _tell(self, page: Sequence[Event], reached: int) -> int:
        """Handle a page of events; return up to which event that is stored."""
        worth = [event for event in page if self._tells.concerns(event)]
        now, last = self._clock.now(), page[-1].seq
        fresh = self._ids.conversation()
        placed, channel = (
            await self._db.read(self._place_notices, worth, fresh, now) if worth else ([], "")
        )
        if not any(each.posts for each in placed) and last - reached < FAR:
            return reached
        turns_found = self._turns(placed, channel)
        keys = {each: turn.key for _, turn, heap in turns_found for each in heap}
        made = [notice for each in placed for notice in self._notices(each, keys, now)]
        turns = [(place, turn) for place, turn, _ in turns_found]
        if await self._db.write(notices.decide, turns, made, last, now):
            self._tells.ring()
        return last

    def _place_notices(
        self, tx: Tx, worth: Sequence[Event], fresh: ConversationId, now: datetime
    ) -> tuple[list[_PlacedNotice], str]:
        listens = bool(callers.pushes(tx, now))
        at = present_channel(tx, now)
        here = OwnerPresence(now, at, notices.last_digest_day(tx, now.date()), listens)
        found: list[_PlacedNotice] = []
        known = tasks.by_id(tx, [event.task_id for event in worth if event.task_id])
        for event in worth:
            task = known[event.task_id] if event.task_id else None
            telling = self._tells.telling(event, task)
            posts = self._tells.posts(telling, task, here) if telling else ()
            if telling is not None and (posts := _untold(tx, telling, posts)):
                in_conversation = [post for post in posts if post.way == CONVERSATION]
                place = (
                    _place(tx, task, fresh, now, in_conversation[0]) if in_conversation else None
                )
                found.append(_PlacedNotice(telling, event.at, _usable_ways(posts, place), place))
        return found, here.channel or "dashboard"

    def _turns(self, pairs: Sequence[_PlacedNotice], channel: str) -> list[_NoticeTurn]:
        """Return every turn with its conversation; many short ones of a kind become one."""
        found: list[_NoticeTurn] = []
        spoken = [each for each in pairs if each.place is not None]
        for _, run in groupby(spoken, key=_sort):
            heap = list(run)
            place, tellings = heap[0].place, [each.telling for each in heap]
            assert place is not None  # noqa: S101 - only such were chosen
            if len(heap) > MOST_TURNS and tellings[0].news in _BRIEF:
                found.append((place, _turn(tellings, self._tells.many(tellings), channel), heap))
            else:
                found += [(place, _turn([e.telling], e.telling.text, channel), [e]) for e in heap]
        return found

    def _notices(
        self, pair: _PlacedNotice, keys: Mapping[_PlacedNotice, str | None], now: datetime
    ) -> list[Notice]:
        return [
            Notice(
                id=f"ntc-{self._ids.ulid()}",
                telling=pair.telling,
                way=post.way,
                made=pair.at,
                due=None if post.way == CONVERSATION else post.due if post.held else pair.at,
                held=post.held,
                state=NoticeState.SENT if post.way == CONVERSATION else NoticeState.NEW,
                told=now if post.way == CONVERSATION else None,
                parcel=keys.get(pair) if post.way == CONVERSATION else None,
            )
            for post in pair.posts
        ]


def _events_since(tx: Tx, since: int) -> list[Event]:
    return events.list_after(tx, since, _PAGE)


def _place(
    tx: Tx,
    task: Task | None,
    fresh: ConversationId,
    now: datetime,
    post: PlannedNotice,
) -> Conversation | None:
    """Return the conversation for a piece of news: its birthplace, or the one for planned tasks.

    An owner active on the dashboard gets there what would have gone elsewhere, but never in a
    conversation about something else.
    """
    if task is None:
        return planned_conversation(tx, fresh, now)
    found = conversation_for(tx, task, fresh, now)
    return planned_conversation(tx, fresh, now) if found is None and post.instead else found


def _untold(
    tx: Tx, telling: NoticeContent, posts: tuple[PlannedNotice, ...]
) -> tuple[PlannedNotice, ...]:
    """Return the ways on which this was not sent before."""
    return tuple(post for post in posts if notices.kind_sent(tx, telling.about, post.way) is None)


def _usable_ways(
    posts: tuple[PlannedNotice, ...], place: Conversation | None
) -> tuple[PlannedNotice, ...]:
    """Return the usable ways: without a conversation, not that one."""
    return tuple(post for post in posts if place is not None or post.way != CONVERSATION)


def _sort(pair: _PlacedNotice) -> tuple[str, NoticeKind | str]:
    """Return the grouping key of turns; a result stands alone."""
    assert pair.place is not None  # noqa: S101 - only such are sorted
    brief = pair.telling.news in _BRIEF
    return pair.place.id, pair.telling.news if brief else pair.telling.about


def _turn(tellings: Sequence[NoticeContent], text: str, channel: str) -> NewTurnRecord:
    first = tellings[0]
    action = Action.COMPLETED if first.news is NoticeKind.DONE else Action.UPDATED
    refs = dict.fromkeys(each.task_id for each in tellings)
    return NewTurnRecord(
        role=Role.ASSISTANT,
        content=text,
        channel=channel,
        key=first.about,
        task_refs=tuple(TaskRef(task_id, action) for task_id in refs if task_id),
    )


PRESENT: Final = timedelta(minutes=15)
DASHBOARD: Final = "dashboard"


def conversation_for(
    tx: Tx, task: Task, fresh: ConversationId, now: datetime
) -> Conversation | None:
    """Return the conversation a task reports into; None: nowhere.

    An immediate task reports where it was asked for. A planned one reports in its own conversation,
    unless the owner has just written where it was planned.
    """
    born = conversations.birthplace(tx, task.id)
    if task.type is TaskType.IMMEDIATE:
        return born
    here = recent_turn(tx, now)
    if born is not None and here is not None and here.conversation_id == born.id:
        return born
    return planned_conversation(tx, fresh, now)


def planned_conversation(tx: Tx, fresh: ConversationId, now: datetime) -> Conversation:
    """Return the conversation about planned tasks."""
    return conversations.find_by_title(tx, SCHEDULED) or Conversation(fresh, SCHEDULED, now, now)


def recent_turn(tx: Tx, now: datetime) -> Turn | None:
    """Return the owner's last turn, if recent and not followed by dashboard activity."""
    turn, acted = conversations.last_of_owner(tx, now - PRESENT), _last_action(tx, now)
    if turn is None or (acted and acted > turn.said_at and turn.channel != DASHBOARD):
        return None
    return turn


def present_channel(tx: Tx, now: datetime) -> str | None:
    """Return where the owner is: where the last turn was, or on the dashboard.

    Only a click counts as presence there, not an open page.
    """
    turn = recent_turn(tx, now)
    if turn is not None:
        return turn.channel
    return DASHBOARD if _last_action(tx, now) else None


def _last_action(tx: Tx, now: datetime) -> datetime | None:
    last = meta.last(tx)
    return last if last is not None and now - PRESENT < last <= now else None
