"""The journal as a stream: everything since a place, then new events; and each as a log line."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from remit.model.codec import JsonMap, line_of, stamp
from remit.model.ids import TaskId
from remit.model.run import Event, EventKind
from remit.model.status import Actor
from remit.store import events
from remit.store.database import Database
from remit.system.background import Sleep, wait_at_most

PAGE: Final = 500
GATHER_SECONDS: Final = 0.5  # so late may files be that are copies of the store
NEWS_SECONDS: Final = 0.1  # so late may a person hear of what happened
RECENT: Final = 1_000  # events that are kept in memory for those who follow, at least
LONGEST: Final = 10_000  # characters of an event that is kept there


class Journal:
    """Feeds whoever wants to know: sockets, webhooks, logs, the terminal.

    Committed events are handed on in memory. Only who begins further back, or falls further
    behind, than memory reaches reads the database until it has caught up.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._recent: list[Event] = []
        self._news = asyncio.Event()
        self._enough = asyncio.Event()  # happens whenever there is as much as memory may lose
        self._fresh = 0  # events since then
        self._over = asyncio.Event()
        db.on_commit(self._hand_on)

    async def follow(self, since: int, *, ends: bool = False) -> AsyncIterator[Event]:
        """Yield every event after `since`, in order, without a gap.

        With `ends`, the iteration stops after `end` was called and everything was yielded.
        """
        async for page in self.pages(since, ends=ends):
            for event in page:
                yield event

    async def pages(
        self, since: int, *, ends: bool = False, gather_seconds: float = 0.0
    ) -> AsyncIterator[list[Event]]:
        """The same, in handfuls: as many as there are, when there are any.

        With `gather_seconds` it gathers more before each handful: for who pays by the handful and
        may be late.
        """
        while True:
            news, over = self._news, ends and self._over.is_set()
            found = await self.page(since)
            if found and gather_seconds and len(found) < PAGE and not self._over.is_set():
                await self.gather(gather_seconds)
                found = await self.page(since)
            if found:
                since = found[-1].seq
                yield found
            elif over:
                return
            else:
                await news.wait()

    async def gather(self, seconds: float, sleep: Sleep = asyncio.sleep) -> None:
        """Wait for more to happen, but never until memory reaches no longer so far back."""
        await wait_at_most(self._enough, sleep, seconds)

    async def page(self, since: int, most: int = PAGE) -> list[Event]:
        """Return the next events after a place: from memory, if it reaches so far back."""
        if not self._recent or since < self._recent[0].seq - 1:
            return await self._db.read(events.list_after, since, most)
        first = since + 1 - self._recent[0].seq
        return self._recent[first : first + most]

    def end(self) -> None:
        """Nothing more is to come that anybody must wait for."""
        self._over.set()
        self._ring()
        self._enough.set()

    async def of_task(self, task_id: TaskId, n: int = 0) -> list[Event]:
        return await self._db.read(events.of_task, task_id, n)

    async def last(self) -> int:
        return self._recent[-1].seq if self._recent else await self._db.read(events.last)

    def _hand_on(self, happened: Sequence[Event]) -> None:
        for event in happened:
            if _length(event) > LONGEST:
                self._recent.clear()  # memory holds no gap: it begins anew behind this one
            else:
                self._recent.append(event)
        if len(self._recent) > 2 * RECENT:
            del self._recent[:-RECENT]
        self._ring()
        self._fresh += len(happened)
        if self._fresh >= RECENT // 2 and not self._over.is_set():
            self._fresh = 0
            self._enough.set()
            self._enough = asyncio.Event()

    def _ring(self) -> None:
        # A new bell each time: whoever read before this commit holds the old one and wakes.
        self._news.set()
        self._news = asyncio.Event()


def _length(event: Event) -> int:
    length = 0
    for part in event.data.values():
        if isinstance(part, str):
            length += len(part)
    return length


_SPEAKS: Final = {
    Actor.OWNER: "user",
    Actor.EXECUTOR: "assistant",
}


def line(event: Event) -> str:
    """Return one line of JSON; no kind of newline in a text can break it."""
    return line_of(record(event))


def record(event: Event) -> JsonMap:
    common: JsonMap = {
        "seq": event.seq,
        "turnNumber": event.n,
        "timestamp": stamp(event.at),
        "actor": event.actor.value,
    }
    if event.kind is EventKind.TASK_CREATED:
        return common | {"type": "meta", "taskId": event.task_id, **event.data}
    content: JsonMap = {"event": event.kind.value, "data": event.data}
    if "text" not in event.data:
        return common | {"type": "event"} | content
    # A person or the brain spoke: in a reply, or in a decision.
    rest = {name: part for name, part in event.data.items() if name != "text"}
    role = _SPEAKS.get(event.actor, "system")
    return (
        common
        | {"type": "turn", "role": role, "content": event.data["text"]}
        | content
        | {"data": rest}
    )
