"""Web push: notifies the owner's browsers while no page of Remit is open.

The notice sender decides what is sent, and that it is sent once. The inbox shows everything anyway,
so a push that fails is tried a few times and then dropped. Nothing waits for a push.
"""

import asyncio
import hashlib
import importlib.util
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from remit.errors import BadInput, Conflict, NotFound
from remit.ports import Clock
from remit.settings import NoticeSettings
from remit.store import callers
from remit.store.callers import PushSubscription
from remit.store.database import Database
from remit.store.secrets import Secrets
from remit.system import address_rules, first_byte

if TYPE_CHECKING:
    from remit.channels.push.push_client import PushResult, PushSender

SECRET: Final = "push_key"  # noqa: S105 - the name of one
NEEDS: Final = "Push needs one more package: pip install 'remit[push]', then start Remit again."
RETRY_SECONDS: Final = (
    60.0,
    600.0,
)  # seconds after the first and the second attempt; then it is dropped
_NOBODY: Final = "mailto:nobody@example.org"

Still: TypeAlias = Callable[[], Awaitable[bool]]


class PushContext(Struct, frozen=True):
    """Database, clock, secrets and settings for push notifications."""

    db: Database
    clock: Clock
    kept: Callable[[], Secrets]  # opened only when pushing: a keyring loads slowly
    wishes: Callable[[], NoticeSettings]


class PushContent(Struct, frozen=True):
    """A notification in a browser; a later one with the same `about` replaces it."""

    body: str
    href: str
    about: str
    urgent: bool
    since: datetime


def is_installed() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec("cryptography") is not None


class PushNotifier:
    """Subscribes browsers and pushes to them. `private` allows the own network."""

    def __init__(
        self, around: PushContext, *, there: bool | None = None, private: bool = False
    ) -> None:
        self.possible: Final = is_installed() if there is None else there
        self._around = around
        self._db, self._clock = around.db, around.clock
        self._private = private
        self._making = asyncio.Lock()

    # Who is told --------------------------------------------------------------------------------

    async def public_key(self) -> str:
        """Return our public key; the pair is made at first use."""
        self._need()
        from remit.channels.push import push_client  # noqa: PLC0415 - the extra

        return push_client.public_of(await self._key())

    async def subscribe(self, sign_in: str, endpoint: str, p256dh: str, auth: str) -> None:
        """Notify this browser from now on, while it is signed in."""
        self._need()
        from remit.channels.push import push_client  # noqa: PLC0415 - the extra

        spot = address_rules.read_address(endpoint, private=self._private)
        if isinstance(spot, address_rules.BlockedAddress):
            raise BadInput(f"endpoint cannot be used. {spot.why}", field="endpoint")
        if spot.literal is not None and address_rules.reserved_kind(
            spot.literal, private=self._private
        ):
            raise BadInput("endpoint leads to no push service on the net.", field="endpoint")
        push_client.check(p256dh, auth)
        new = PushSubscription(
            id=hashlib.sha256(endpoint.encode()).hexdigest(),
            endpoint=endpoint,
            p256dh=p256dh,
            auth=auth,
            sign_in=sign_in,
            created_at=self._clock.now(),
        )
        await self._db.write(callers.put_push, new)

    async def unsubscribe(self, sign_in: str) -> None:
        await self._db.write(callers.drop_pushes, sign_in)

    async def is_on(self, sign_in: str) -> bool:
        return bool(await self._db.read(callers.pushes_of_sign_in, sign_in))

    def _need(self) -> None:
        if not self.possible:
            raise Conflict(NEEDS)

    async def _key(self) -> str:
        """Return our key, made once; without it every browser must subscribe again."""
        from remit.channels.push import push_client  # noqa: PLC0415 - the extra

        async with self._making:
            kept = await asyncio.to_thread(self._around.kept)
            with suppress(NotFound):
                return await asyncio.to_thread(kept.get, SECRET)
            await asyncio.to_thread(kept.put, SECRET, push_client.new_key())
            return await asyncio.to_thread(kept.get, SECRET)

    # Telling ------------------------------------------------------------------------------------

    async def tell(self, shown: PushContent, still: Still) -> int | None:
        """Push to every browser that was subscribed at the time; None if there is none.

        Returns how many accepted it. A busy service is retried while `still` holds.
        """
        if not self.possible:
            return None
        every = await self._db.read(callers.pushes, self._clock.now())
        listening = [each for each in every if each.created_at <= shown.since]
        if not listening:
            return None
        sender = await self._sender()
        sends = (self._send(sender, to, shown, still) for to in listening)
        return sum(await asyncio.gather(*sends))

    async def _send(
        self, sender: "PushSender", to: PushSubscription, shown: PushContent, still: Still
    ) -> bool:
        """Whether the browser's service accepted it."""
        from remit.channels.push import push_client  # noqa: PLC0415 - the extra

        later = push_client.PushResult.LATER
        result, wait = await push_client.send(sender, to, shown, self._clock.now())
        for pause in RETRY_SECONDS:
            if result is not later:
                break
            await self._clock.sleep(max(pause, wait or 0.0))
            with first_byte.claim_anew():
                listens = await self._db.read(callers.push_of, to.id, self._clock.now()) is not None
                if not listens or not await still():
                    return False
                result, wait = await push_client.send(sender, to, shown, self._clock.now())
        await self._settle(to, result)
        return result is push_client.PushResult.TAKEN

    async def _settle(self, to: PushSubscription, result: "PushResult") -> None:
        from remit.channels.push.push_client import PushResult  # noqa: PLC0415 - the extra

        match result:
            case PushResult.TAKEN:
                await self._db.write(callers.note_push, to.id, self._clock.now())
            case PushResult.GONE:
                await self._db.write(callers.drop_push, to.id)
            case PushResult.LATER | PushResult.LOST:
                await self._db.write(callers.note_failed_push, to.id)

    async def _sender(self) -> "PushSender":
        from remit.channels.push.push_client import PushSender  # noqa: PLC0415 - the extra

        contact = self._around.wishes().push_contact or _NOBODY
        return PushSender(await self._key(), contact, self._private)
