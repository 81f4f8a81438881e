"""What becomes of tasks, told where they were born: each thing once, whatever is cut in between.

The journal is followed from where it was told last. The turns and the place reached are one write,
and each turn is named after its event, so that nothing is told twice and nothing is left out.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from remit.converse import presence
from remit.errors import StoreTrouble
from remit.model.conversation import Action, Conversation, Role, TaskRef
from remit.model.event import Event, Kind
from remit.model.ids import ConversationId, Ids
from remit.model.task import Task
from remit.ports import Clock
from remit.store import conversations, events, tasks
from remit.store.conversations import Said
from remit.store.database import Database, Tx

FAR: Final = 2_000  # events that may be read again after a cut, where nothing of them was told
_PAGE: Final = 500
_TROUBLE_PAUSE: Final = 1.0

# What an event is told as; None if it is told nobody.
Says: TypeAlias = Callable[[Event, Task], str | None]


class Follows(Protocol):
    """The journal, in handfuls."""

    def pages(self, since: int) -> AsyncIterator[list[Event]]: ...


@dataclass(frozen=True, slots=True)
class News:
    """Events that may be told: `concerns` looks at the event alone, `says` at its task too."""

    concerns: Callable[[Event], bool]
    says: Says


class Tidings:
    def __init__(self, db: Database, clock: Clock, ids: Ids, journal: Follows, news: News) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._journal = journal
        self._news = news

    async def follow(self) -> None:
        """Tell what happens, for ever."""
        while True:
            try:
                reached = await self._db.read(conversations.told_upto)
                async for page in self._journal.pages(reached):
                    reached = await self._tell(page, reached)
            except StoreTrouble:
                await self._clock.sleep(_TROUBLE_PAUSE)

    async def catch_up(self) -> None:
        """Tell all that has happened until now."""
        reached = since = await self._db.read(conversations.told_upto)
        while page := await self._db.read(_happened, since):
            reached, since = await self._tell(page, reached), page[-1].seq

    async def _tell(self, page: Sequence[Event], reached: int) -> int:
        """Tell what there is to tell of some events; say up to where that is on the disk."""
        worth = [event for event in page if event.task_id and self._news.concerns(event)]
        now, last = self._clock.now(), page[-1].seq
        told = await self._db.read(self._placed, worth, self._ids.conversation(), now)
        if not told and last - reached < FAR:
            return reached
        await self._db.write(conversations.tell, told, last, now)
        return last

    def _placed(
        self, tx: Tx, worth: Sequence[Event], fresh: ConversationId, now: datetime
    ) -> list[tuple[Conversation, Said]]:
        here = presence.present(tx, now) if worth else None
        channel = here.channel if here else "dashboard"
        found: list[tuple[Conversation, Said]] = []
        for event in worth:
            assert event.task_id is not None  # noqa: S101 - looked at above
            task = tasks.get(tx, event.task_id)
            place = presence.place(tx, task, fresh, now)
            text = self._news.says(event, task) if place else None
            if place is not None and text is not None:
                found.append((place, _said(event, task, text, channel)))
        return found


def _happened(tx: Tx, since: int) -> list[Event]:
    return events.after(tx, since, _PAGE)


def _said(event: Event, task: Task, text: str, channel: str) -> Said:
    done = event.kind is Kind.TASK_MOVED and event.data["to"] == "completed"
    return Said(
        role=Role.ASSISTANT,
        content=text,
        channel=channel,
        key=f"event:{event.seq}",
        task_refs=(TaskRef(task.id, Action.COMPLETED if done else Action.UPDATED),),
    )


async def ended(task: "asyncio.Task[None] | None") -> None:
    """Stop a loop, and wait until it has."""
    if task is not None:
        task.cancel()
        await asyncio.wait((task,))
