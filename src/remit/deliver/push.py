"""Tells browsers that something needs their owner, when no page of Remit is open.

It follows the journal: a question that was opened, a task that failed, and nothing else. How far it
came is kept before anything is sent, so that no start says a thing twice; what is older than a
quarter of an hour is not said at all. The inbox has everything in any case, so a push that fails is
tried a few times and then let go. Nobody ever waits for one.
"""

import asyncio
import hashlib
import importlib.util
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from remit.deliver import place
from remit.errors import BadInput, Conflict, NotFound, RemitError
from remit.journal.follow import Journal
from remit.model.event import Event, Kind
from remit.model.ids import ReviewId
from remit.model.status import Status
from remit.ports import Clock
from remit.settings import Notices
from remit.store import push, reviews, tasks
from remit.store.database import Database, Tx
from remit.store.push import Subscription
from remit.store.secrets import Secrets

if TYPE_CHECKING:
    from remit.deliver.push_line import Came, Note, Sender

SECRET: Final = "push_key"  # noqa: S105 - the name of one
NEEDS: Final = "Push needs one more package: pip install 'remit[push]', then start Remit again."
FRESH: Final = timedelta(minutes=15)
MOST_TITLE: Final = 60
PAUSES: Final = (60.0, 600.0)  # seconds after the first try and the second; then it is let go
_NAMED: Final = 3  # so many at once are told one by one; more are told as one
_MOST_AT_ONCE: Final = 64
_AFTER_TROUBLE: Final = 30.0
_NOBODY: Final = "mailto:nobody@example.org"
_LOG: Final = logging.getLogger("remit.push")


@dataclass(frozen=True, slots=True)
class Around:
    """What it stands on."""

    db: Database
    journal: Journal
    clock: Clock
    kept: Callable[[], Secrets]  # opened only by who pushes: a keyring loads slowly
    hide: Callable[[str], str]
    agent: str
    notices: Notices


def is_there() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec("cryptography") is not None


class Push:
    """Who is told, and the loop that tells. `private` lets it speak to one's own network."""

    def __init__(self, around: Around, *, there: bool | None = None, private: bool = False) -> None:
        self.possible: Final = is_there() if there is None else there
        self._around = around
        self._db, self._clock = around.db, around.clock
        self._private = private
        self._making = asyncio.Lock()
        self._seen: int | None = None
        self._loop: asyncio.Task[None] | None = None
        self._sends: set[asyncio.Task[None]] = set()

    # Who is told --------------------------------------------------------------------------------

    async def public_key(self) -> str:
        """What a browser is to know us by; the pair is made at the first time."""
        self._need()
        from remit.deliver import push_seal  # noqa: PLC0415 - the extra

        return push_seal.public_of(await self._key())

    async def subscribe(self, sign_in: str, endpoint: str, p256dh: str, auth: str) -> None:
        """Tell this browser from now on, as long as it is signed in."""
        self._need()
        from remit.deliver import push_seal  # noqa: PLC0415 - the extra

        spot = place.read(endpoint, private=self._private)
        if isinstance(spot, place.Barred):
            raise BadInput(f"endpoint cannot be used. {spot.why}", field="endpoint")
        if spot.literal is not None and place.reserved(spot.literal, private=self._private):
            raise BadInput("endpoint leads to no push service on the net.", field="endpoint")
        push_seal.check(p256dh, auth)
        new = Subscription(
            id=hashlib.sha256(endpoint.encode()).hexdigest(),
            endpoint=endpoint,
            p256dh=p256dh,
            auth=auth,
            sign_in=sign_in,
            created_at=self._clock.now(),
        )
        await self._db.write(push.put, new)

    async def unsubscribe(self, sign_in: str) -> None:
        await self._db.write(push.drop_of, sign_in)

    async def is_on(self, sign_in: str) -> bool:
        return bool(await self._db.read(push.of_sign_in, sign_in))

    def _need(self) -> None:
        if not self.possible:
            raise Conflict(NEEDS)

    async def _key(self) -> str:
        """Ours, made once; whoever drops the secret has every browser ask anew."""
        from remit.deliver import push_seal  # noqa: PLC0415 - the extra

        async with self._making:
            kept = await asyncio.to_thread(self._around.kept)
            with suppress(NotFound):
                return await asyncio.to_thread(kept.get, SECRET)
            await asyncio.to_thread(kept.put, SECRET, push_seal.new_key())
            return await asyncio.to_thread(kept.get, SECRET)

    # The loop -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin beside everything else."""
        if self.possible and self._loop is None:
            self._loop = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop; what was not taken yet is let go."""
        running = [*self._sends, *([self._loop] if self._loop else [])]
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._seen is not None:
            with suppress(RemitError):  # then the next start reads a little more, and says nothing
                await self._db.write(push.mark, self._seen)

    async def _watch(self) -> None:
        while True:
            try:
                await self._follow()
            except Exception:  # noqa: BLE001 - a push that cannot be sent must stop nothing
                _LOG.warning("Browsers could not be told what needs you; it is tried again.")
            await self._clock.sleep(_AFTER_TROUBLE)

    async def _follow(self) -> None:
        self._seen = await self._db.write(push.begin)
        async for page in self._around.journal.pages(self._seen):
            upto = page[-1].seq
            telling = [each for each in page if _tells(each) and self._is_fresh(each)]
            if telling:
                # First, and then the bytes: what is cut off in between is not said twice.
                await self._db.write(push.mark, upto)
                await self._tell(telling)
            self._seen = upto

    def _is_fresh(self, event: Event) -> bool:
        return self._clock.now() - event.at <= FRESH

    async def _tell(self, telling: Sequence[Event]) -> None:
        listening = await self._db.read(push.every, self._clock.now())
        if not listening:
            return
        sender = await self._sender()
        notes = [(each, note) for each in telling if (note := await self._note(each))]
        if len(notes) > _NAMED:
            notes = [(notes[0][0], self._many())]
        for event, note in notes:
            for to in listening:
                self._begin(self._send(sender, to, event, note))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        """Beside everything else, and never more than a few at once."""
        if len(self._sends) >= _MOST_AT_ONCE:
            work.close()
            return
        sending = asyncio.create_task(work)
        self._sends.add(sending)
        sending.add_done_callback(self._ended)

    def _ended(self, sending: "asyncio.Task[None]") -> None:
        self._sends.discard(sending)
        if not sending.cancelled() and sending.exception() is not None:
            _LOG.warning("A browser could not be told that something needs you.")

    async def _send(self, sender: "Sender", to: Subscription, event: Event, note: "Note") -> None:
        from remit.deliver import push_line  # noqa: PLC0415 - the extra

        for pause in (*PAUSES, None):
            came, wait = await push_line.send(sender, to, note, self._clock.now())
            if came is not push_line.Came.LATER or pause is None:
                await self._settle(to, came)
                return
            await self._clock.sleep(max(pause, wait or 0.0))
            if not await self._db.read(_still, to.id, event, self._clock.now()):
                return

    async def _settle(self, to: Subscription, came: "Came") -> None:
        from remit.deliver.push_line import Came  # noqa: PLC0415 - the extra

        match came:
            case Came.TAKEN:
                await self._db.write(push.praise, to.id, self._clock.now())
            case Came.GONE:
                await self._db.write(push.drop, to.id)
            case Came.LATER | Came.LOST:
                await self._db.write(push.blame, to.id)

    # What is said -------------------------------------------------------------------------------

    async def _sender(self) -> "Sender":
        from remit.deliver.push_line import Sender  # noqa: PLC0415 - the extra

        contact = self._around.notices.push_contact or _NOBODY
        return Sender(await self._key(), contact, self._private)

    async def _note(self, event: Event) -> "Note | None":
        """What is said of an event; None if it is settled by now."""
        from remit.deliver.push_line import Note  # noqa: PLC0415 - the extra

        title = await self._db.read(_title, event)
        if title is None:
            return None
        asks = event.kind is Kind.REVIEW_OPENED
        about = str(event.data["review"]) if asks else str(event.task_id)
        href = f"/inbox/{about}" if asks else f"/tasks/{about}"
        return Note("Remit", self._words(title, asks=asks), href, about, urgent=asks)

    def _words(self, title: str, *, asks: bool) -> str:
        said = f"{self._around.agent} needs you" if asks else "A task failed"
        if self._around.notices.push != "title":
            return f"{said}."
        return f"{said}: {_cut(self._around.hide(title))}"

    def _many(self) -> "Note":
        from remit.deliver.push_line import Note  # noqa: PLC0415 - the extra

        body = f"Several tasks of {self._around.agent} need you."
        return Note("Remit", body, "/inbox", "many", urgent=True)


def _tells(event: Event) -> bool:
    if event.kind is Kind.TASK_MOVED:
        return event.data["to"] == Status.FAILED
    return event.kind is Kind.REVIEW_OPENED


def _title(tx: Tx, event: Event) -> str | None:
    """The title of the task; None if nothing waits for its owner any more."""
    if event.task_id is None:
        return None
    if event.kind is Kind.REVIEW_OPENED:
        review = reviews.get(tx, ReviewId(str(event.data["review"])))
        if review.decision is not None:
            return None
    return tasks.get(tx, event.task_id).title


def _still(tx: Tx, ident: str, event: Event, now: datetime) -> bool:
    """Whether that browser is still to be told that."""
    return push.find(tx, ident, now) is not None and _title(tx, event) is not None


def _cut(title: str) -> str:
    line = "".join(char for char in " ".join(title.split()) if char.isprintable())
    return line if len(line) <= MOST_TITLE else line[: MOST_TITLE - 1].rstrip() + "…"
