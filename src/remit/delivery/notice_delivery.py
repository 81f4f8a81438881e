"""One message with notices: sent once, settled by the answer, looked up if unknown.

Only a channel that recognises a message by its key, or can look it up, resolves an unknown send. A
message that never left may be sent again; one that may have arrived is not.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, Protocol

from msgspec import Struct

from remit.channels.push import PushContent, PushNotifier
from remit.delivery import notice_text
from remit.delivery.courier import PATIENCE, ask
from remit.delivery.notice_text import NoticeWords
from remit.failpoint import failpoint
from remit.model import delivery
from remit.model.conversation import PUSH, Notice, NoticeKind, NoticeState
from remit.model.ids import Ids, ReviewId
from remit.model.permit import Reach, UnclearRecipient
from remit.ports import (
    ButtonChannel,
    Channel,
    Clock,
    ConnectingChannel,
    ReconcilingChannel,
    implements,
)
from remit.settings import NoticeSettings
from remit.store import notices
from remit.store.database import Database
from remit.store.notices import NoticeResult
from remit.system.background import Background
from remit.system.first_byte import LateClaim

MOST_TRIES: Final = 6
_LOCKED_PAUSE_SECONDS: Final = 900.0  # seconds until a locked channel is tried again
_PAUSES_SECONDS: Final = (30.0, 60.0, 300.0, 900.0, 3600.0)
_LOOKUP_PAUSE_SECONDS: Final = 60.0  # seconds between two lookups of an unknown send
_NO_BROWSER: Final = "No browser listens."


class OfferButtons(Protocol):
    """Makes the buttons of an open question, for one chat."""

    async def __call__(
        self, review_id: ReviewId, channel: str, address: str, *, whole: bool = True
    ) -> tuple[delivery.ActionButton, ...]: ...


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
    offer: OfferButtons | None = None


class NoticeMessage(Struct, frozen=True):
    found: tuple[Notice, ...]
    over: str
    body: str
    day: date | None = None  # the day of a digest
    whole: bool = True  # whether everything is shown that a yes would let go

    @property
    def key(self) -> str:
        return self.found[0].id


class NoticeDelivery:
    def __init__(self, around: NoticeContext, patience: float = PATIENCE) -> None:
        self._around = around
        self._db, self._clock = around.db, around.clock
        self._patience = patience

    def claims_late(self, over: str) -> bool:
        """Whether a message is claimed when its connection stands, beside other processes."""
        late = over == PUSH or implements(self._around.channels.get(over), ConnectingChannel)
        return late and getattr(self._db, "shared", False)

    async def send(self, message: NoticeMessage, claim: LateClaim[None]) -> bool:
        """Send a message and record the answer; raises if it is another's.

        False: a digest was refused; it never left and its claim is released.
        """
        answer = await (self._pushed(message) if message.over == PUSH else self._sent(message))
        failpoint("notice:answered")
        await claim.result()
        return await self._settle(message, answer)

    async def _pushed(self, message: NoticeMessage) -> delivery.Answer | None:
        first = message.found[0]
        shown = PushContent(
            message.body,
            notice_text.place(message.found),
            # A later push with the same tag replaces this one on the screen.
            first.telling.href.rpartition("/")[2] if len(message.found) == 1 else "many",
            any(each.news is NoticeKind.QUESTION for each in message.found),
            max(each.made for each in message.found),
        )

        async def still() -> bool:
            # Beside other processes: and it is still this one that sends notices.
            ask = self._db.write if self.claims_late(PUSH) else self._db.read
            return await ask(notices.is_wanted, first, self._clock.now())

        took = await self._around.push.tell(shown, still)
        if took is None:
            return None
        return (
            delivery.Accepted(f"{took} browsers")
            if took
            else delivery.Refused("No browser's service took it.")
        )

    async def _sent(self, message: NoticeMessage) -> delivery.Answer:
        reach = self._around.reach(message.over)
        if isinstance(reach, UnclearRecipient):
            return delivery.Refused(reach.sentence)
        attempt = message.found[0].attempts + 1
        channel = self._around.channels.get(message.over)
        buttons = await self._buttons(message, channel, reach.address)
        parcel = delivery.Parcel(message.key, reach.address, message.body, attempt, buttons=buttons)
        return await ask(channel, message.over, parcel, self._patience)

    async def _buttons(
        self, message: NoticeMessage, channel: object, address: str | None
    ) -> tuple[delivery.ActionButton, ...]:
        """The buttons of the one question in a message, if its channel shows them."""
        first = message.found[0]
        if len(message.found) > 1 or not first.telling.asks or self._around.offer is None:
            return ()
        if not implements(channel, ButtonChannel):
            return ()
        if not await channel.takes_buttons(address, message.body):
            return ()
        review = ReviewId(first.telling.href.removeprefix("/inbox/"))
        return await self._around.offer(review, message.over, address or "", whole=message.whole)

    async def _settle(self, message: NoticeMessage, answer: delivery.Answer | None) -> bool:
        now = self._clock.now()
        never_left = isinstance(answer, delivery.Locked) or (
            isinstance(answer, delivery.SendRetry) and not answer.doubtful
        )
        if never_left and isinstance(answer, delivery.SendRetry | delivery.Locked):
            await self._again(message, answer, now)
            return True
        if message.day is not None and isinstance(answer, delivery.Refused):
            why, day = answer.why, message.day
            await self._db.write(notices.release_notices, message.key, now, why, day=day)
            return False
        await self._db.write(
            notices.settle_notices, message.key, self._result_of(message, answer, now), now
        )
        return True

    def _result_of(
        self, message: NoticeMessage, answer: delivery.Answer | None, now: datetime
    ) -> NoticeResult:
        match answer:
            case None:
                return NoticeResult(NoticeState.DROPPED, _NO_BROWSER)
            case delivery.Accepted(ref):
                return NoticeResult(NoticeState.SENT, receipt=ref)
            case delivery.Refused(why):
                return NoticeResult(NoticeState.FAILED, why)
            case delivery.Unknown(why) | delivery.SendRetry(why) | delivery.Locked(why):
                can_look_up = self._reconciling_channel(message.over) is not None
                due = now + timedelta(seconds=_LOOKUP_PAUSE_SECONDS) if can_look_up else None
                return NoticeResult(NoticeState.UNKNOWN, why, due=due)

    async def _again(
        self, message: NoticeMessage, answer: delivery.SendRetry | delivery.Locked, now: datetime
    ) -> None:
        """Schedule a retry of a message that never left, up to a limit."""
        tries = message.found[0].attempts + 1
        spends = not isinstance(answer, delivery.SendRetry) or answer.spends
        if spends and tries >= MOST_TRIES:
            settled = NoticeResult(NoticeState.FAILED, answer.why)
            await self._db.write(notices.settle_notices, message.key, settled, now)
            return
        pause = _PAUSES_SECONDS[min(tries, len(_PAUSES_SECONDS)) - 1]
        if isinstance(answer, delivery.Locked):
            pause = _LOCKED_PAUSE_SECONDS
        elif answer.after is not None:
            pause = max(answer.after, 1.0)
        due = now + timedelta(seconds=pause)
        await self._db.write(
            notices.release_notices, message.key, due, answer.why, spends=spends, day=message.day
        )

    # A doubt ------------------------------------------------------------------------------------

    def _reconciling_channel(self, way: str) -> ReconcilingChannel | None:
        """Return the channel if it can look up a message or recognise its key."""
        channel = self._around.channels.get(way)
        if channel is None or channel.keeps not in (
            delivery.SendGuarantee.KEY,
            delivery.SendGuarantee.LOOKUP,
        ):
            return None
        able: object = channel
        return able if implements(able, ReconcilingChannel) else None

    async def look_into(self, each: Notice, now: datetime) -> None:
        """Look up an unknown message; all notices in it are settled together."""
        if each.parcel != each.id:
            return
        channel, over = self._reconciling_channel(each.over or ""), each.over or ""
        found = await self._found(channel, each, over) if channel else None
        match found:
            case delivery.Accepted(ref):
                settled = NoticeResult(NoticeState.SENT, receipt=ref)
            case delivery.Refused(why):
                settled = NoticeResult(NoticeState.FAILED, why)
            case delivery.SendRetry(why):
                await self._db.write(notices.release_notices, each.id, now, why)
                return
            case _:
                settled = NoticeResult(
                    NoticeState.UNKNOWN, each.why, due=_next_look(channel, each, now)
                )
        await self._db.write(notices.settle_notices, each.id, settled, now)

    async def _found(
        self, channel: ReconcilingChannel, each: Notice, over: str
    ) -> delivery.Answer | None:
        reach = self._around.reach(over)
        if isinstance(reach, UnclearRecipient):
            return None
        parcel = delivery.Parcel(
            each.id, reach.address, each.body or "", each.attempts, each.claimed
        )
        with suppress(Exception):  # a failed lookup found nothing
            async with asyncio.timeout(self._patience):
                return await channel.find(parcel)
        return None


def _next_look(channel: ReconcilingChannel | None, each: Notice, now: datetime) -> datetime | None:
    if channel is None or each.claimed is None:
        return None
    until = each.claimed + timedelta(seconds=channel.grace)
    return now + timedelta(seconds=_LOOKUP_PAUSE_SECONDS) if now < until else None
