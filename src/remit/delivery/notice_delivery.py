"""One message with notices: sent once, settled by the answer, looked up if unknown.

Only a channel that recognises a message by its key, or can look it up, resolves an unknown send. A
message that never left may be sent again; one that may have arrived is not.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.channels.push.sending import PushContent, PushNotifier
from remit.delivery import notice_text
from remit.delivery.courier import PATIENCE, ask
from remit.delivery.notice_text import NoticeWords
from remit.failpoint import failpoint
from remit.model.delivery import (
    Accepted,
    Answer,
    Locked,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.ids import Ids
from remit.model.notice import PUSH, Notice, NoticeKind, NoticeState
from remit.model.permit import Reach, UnclearRecipient
from remit.ports import Channel, Clock, ReconcilingChannel, implements
from remit.settings import NoticeSettings
from remit.store import notices
from remit.store.database import Database
from remit.store.notices import NoticeResult
from remit.system.background import Background

MOST_TRIES: Final = 6
_LOCKED: Final = 900.0  # seconds until a locked channel is tried again
_PAUSES: Final = (30.0, 60.0, 300.0, 900.0, 3600.0)
_LOOK: Final = 60.0  # seconds between two lookups of an unknown send
_NOBODY: Final = "No browser listens."


class NoticeContext(Struct, frozen=True, kw_only=True):
    """What sending notices needs."""

    db: Database
    clock: Clock
    ids: Ids
    zone: tzinfo
    channels: Mapping[str, Channel]
    reach: Callable[[str], Reach | UnclearRecipient]  # the owner's address on a channel
    push: PushNotifier
    words: NoticeWords
    wishes: Callable[[], NoticeSettings]
    next_digest: Callable[[datetime, date | None], datetime]
    background: Background


class NoticeMessage(Struct, frozen=True):
    """One message: its notices and its channel."""

    found: tuple[Notice, ...]
    over: str
    body: str
    day: date | None = None  # the day of a digest

    @property
    def key(self) -> str:
        return self.found[0].id


class NoticeDelivery:
    def __init__(self, around: NoticeContext, patience: float = PATIENCE) -> None:
        self._around = around
        self._db, self._clock = around.db, around.clock
        self._patience = patience

    async def send(self, load: NoticeMessage) -> bool:
        """Send a claimed message and record the answer.

        False: a digest was refused; it never left and its claim is released.
        """
        answer = await (self._pushed(load) if load.over == PUSH else self._sent(load))
        failpoint("notice:answered")
        return await self._settle(load, answer)

    async def _pushed(self, load: NoticeMessage) -> Answer | None:
        first = load.found[0]
        shown = PushContent(
            load.body,
            notice_text.place(load.found),
            _about(load.found),
            any(each.news is NoticeKind.QUESTION for each in load.found),
            max(each.made for each in load.found),
        )

        async def still() -> bool:
            return await self._db.read(notices.is_wanted, first, self._clock.now())

        took = await self._around.push.tell(shown, still)
        if took is None:
            return None
        return Accepted(f"{took} browsers") if took else Refused("No browser's service took it.")

    async def _sent(self, load: NoticeMessage) -> Answer:
        reach = self._around.reach(load.over)
        if isinstance(reach, UnclearRecipient):
            return Refused(reach.sentence)
        attempt = load.found[0].attempts + 1
        parcel = Parcel(load.key, reach.address, load.body, attempt)
        channel = self._around.channels.get(load.over)
        return await ask(channel, load.over, parcel, self._patience)

    async def _settle(self, load: NoticeMessage, answer: Answer | None) -> bool:
        now = self._clock.now()
        never_left = isinstance(answer, Locked) or (
            isinstance(answer, SendRetry) and not answer.doubtful
        )
        if never_left and isinstance(answer, SendRetry | Locked):
            await self._again(load, answer, now)
            return True
        if load.day is not None and isinstance(answer, Refused):
            why, day = answer.why, load.day
            await self._db.write(notices.release_notices, load.key, now, why, day=day)
            return False
        await self._db.write(notices.settle_notices, load.key, self._came(load, answer, now), now)
        return True

    def _came(self, load: NoticeMessage, answer: Answer | None, now: datetime) -> NoticeResult:
        match answer:
            case None:
                return NoticeResult(NoticeState.DROPPED, _NOBODY)
            case Accepted(ref):
                return NoticeResult(NoticeState.SENT, receipt=ref)
            case Refused(why):
                return NoticeResult(NoticeState.FAILED, why)
            case Unknown(why) | SendRetry(why) | Locked(why):
                looks = self._looks(load.over) is not None
                due = now + timedelta(seconds=_LOOK) if looks else None
                return NoticeResult(NoticeState.UNKNOWN, why, due=due)

    async def _again(self, load: NoticeMessage, answer: SendRetry | Locked, now: datetime) -> None:
        """Schedule a retry of a message that never left, up to a limit."""
        tries = load.found[0].attempts + 1
        spends = not isinstance(answer, SendRetry) or answer.spends
        if spends and tries >= MOST_TRIES:
            settled = NoticeResult(NoticeState.FAILED, answer.why)
            await self._db.write(notices.settle_notices, load.key, settled, now)
            return
        pause = _PAUSES[min(tries, len(_PAUSES)) - 1]
        if isinstance(answer, Locked):
            pause = _LOCKED
        elif answer.after is not None:
            pause = max(answer.after, 1.0)
        due = now + timedelta(seconds=pause)
        await self._db.write(
            notices.release_notices, load.key, due, answer.why, spends=spends, day=load.day
        )

    # A doubt ------------------------------------------------------------------------------------

    def _looks(self, way: str) -> ReconcilingChannel | None:
        """Return the channel if it can look up a message or recognise its key."""
        channel = self._around.channels.get(way)
        if channel is None or channel.keeps not in (SendGuarantee.KEY, SendGuarantee.LOOKUP):
            return None
        able: object = channel
        return able if implements(able, ReconcilingChannel) else None

    async def look_into(self, each: Notice, now: datetime) -> None:
        """Look up an unknown message; all notices in it are settled together."""
        if each.parcel != each.id:
            return
        channel, over = self._looks(each.over or ""), each.over or ""
        found = await self._found(channel, each, over) if channel else None
        match found:
            case Accepted(ref):
                settled = NoticeResult(NoticeState.SENT, receipt=ref)
            case Refused(why):
                settled = NoticeResult(NoticeState.FAILED, why)
            case SendRetry(why):
                await self._db.write(notices.release_notices, each.id, now, why)
                return
            case _:
                settled = NoticeResult(
                    NoticeState.UNKNOWN, each.why, due=_next_look(channel, each, now)
                )
        await self._db.write(notices.settle_notices, each.id, settled, now)

    async def _found(self, channel: ReconcilingChannel, each: Notice, over: str) -> Answer | None:
        reach = self._around.reach(over)
        if isinstance(reach, UnclearRecipient):
            return None
        parcel = Parcel(each.id, reach.address, each.body or "", each.attempts, each.claimed)
        with suppress(Exception):  # a failed lookup found nothing
            async with asyncio.timeout(self._patience):
                return await channel.find(parcel)
        return None


def _about(found: Sequence[Notice]) -> str:
    """Return the tag by which a later push replaces an earlier one on the screen."""
    return found[0].telling.href.rpartition("/")[2] if len(found) == 1 else "many"


def _next_look(channel: ReconcilingChannel | None, each: Notice, now: datetime) -> datetime | None:
    if channel is None or each.claimed is None:
        return None
    until = each.claimed + timedelta(seconds=channel.grace)
    return now + timedelta(seconds=_LOOK) if now < until else None
