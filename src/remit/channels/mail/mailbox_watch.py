"""Watches a mailbox with IMAP IDLE, and polls it from time to time.

Headers are read first. Of a mail from a stranger no more is read than is stored, so a flood costs
only headers. The mark is moved after a mail was taken in, so an interrupted mail is read again and
recognised.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import Final, ParamSpec, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from remit.channels import ChannelContext
from remit.channels.mail import EmailSettings, receiving
from remit.channels.mail.imap import FolderMark, ImapConnection, MailboxAccount
from remit.channels.mail.mailbox import BouncedMail, Mailbox, ReturnedMail, SentFolderMark
from remit.channels.mail.receiving import IncomingMail, MailHead
from remit.channels.mail.sending import EmailChannel, token_source
from remit.channels.oauth.tokens import SignInWatch
from remit.errors import RemitError, StoreTrouble
from remit.model.codec import JsonMap, from_json, moment, to_json
from remit.model.delivery import DeliveryReport, ProviderReport
from remit.ports import Channel, Clock
from remit.settings.doors import InboundRule
from remit.store import cues
from remit.store.cues import Arrival, InboundMessage
from remit.store.database import Database
from remit.system.background import Background, LoopGroup

P = ParamSpec("P")
T = TypeVar("T")

_LOG: Final = logging.getLogger("remit.doors")
_PAGE: Final = 50  # mails whose headers are fetched together
_RETRY_SECONDS: Final = (5.0, 15.0, 60.0, 300.0)  # seconds between retries of a mailbox


class MailWatchPorts(Struct, frozen=True):
    """How a mailbox watch turns mails into arrivals.

    `arrival_of` turns a header into an arrival without text, or None; `with_text` adds the text;
    `store` stores it.
    """

    arrival_of: Callable[[MailHead], Arrival | None]
    with_text: Callable[[Arrival, IncomingMail], Arrival]
    store: Callable[[Arrival], Awaitable[object]]


class MailWatch(LoopGroup):
    def __init__(  # noqa: PLR0913 - each is another plug
        self,
        name: str,
        door: InboundRule,
        box: MailboxAccount,
        plugs: MailWatchPorts,
        db: Database,
        clock: Clock,
        *,
        background: Background,
    ) -> None:
        super().__init__(background, {f"mailbox:{name}": self._watch_on})
        self._door = name
        self._box = box
        self._plugs = plugs
        self._db = db
        self._clock = clock
        self._authserv_id = door.authserv_id
        self._poll = door.poll

    async def look(self) -> int:
        """Read what came since the last look, and disconnect; return how many mails."""
        async with _MailboxThread(self._box) as thread:
            return await self._read(thread)

    async def _watch_on(self) -> None:
        tries = 0
        while True:
            try:
                async with _MailboxThread(self._box) as thread:
                    while True:
                        await self._read(thread)
                        tries = 0
                        await self._wait(thread)
            except StoreTrouble:
                if tries >= len(_RETRY_SECONDS):
                    raise  # then it is seen that no mail comes in, and why
            except Exception as error:  # noqa: BLE001 - whatever broke, the mailbox is tried again
                await self._complain(error)
            await self._clock.sleep(_RETRY_SECONDS[min(tries, len(_RETRY_SECONDS) - 1)])
            tries += 1

    async def _wait(self, thread: "_MailboxThread") -> None:
        if await thread.do(thread.connection.supports_idle):
            await thread.do(thread.connection.wait, self._poll)
        else:
            await self._clock.sleep(self._poll)

    async def _read(self, thread: "_MailboxThread") -> int:
        before = await self._db.read(cues.mark, self._door)
        mark = from_json(FolderMark, before["mark"]) if before.get("mark") else None
        fresh = await thread.do(thread.connection.unread_since, mark, self._clock.now())
        # After a restore it is unknown which of these were stored before.
        again = {name: value for name, value in before.items() if name == cues.RESTORED}
        said_at = moment(str(again[cues.RESTORED])) if again else None
        for at in range(0, len(fresh.uids), _PAGE):
            page = fresh.uids[at : at + _PAGE]
            await self._take(thread, page, said_at)
            if not fresh.again:
                await self._keep(replace(fresh.mark, uid=page[-1]), again)
        await self._keep(fresh.mark, {})
        return len(fresh.uids)

    async def _take(
        self, thread: "_MailboxThread", uids: Sequence[int], said_at: datetime | None
    ) -> None:
        heads = await thread.do(thread.connection.fetch_headers, uids)
        for uid in uids:
            if uid not in heads:
                continue  # gone meanwhile
            arrival = self._plugs.arrival_of(receiving.head(heads[uid], self._authserv_id))
            if arrival is None:
                continue
            if await self._is_read(arrival):
                # The attachments of a mail that starts nothing are not fetched.
                starts = arrival.fate is cues.CueFate.WAITING
                most = receiving.MAX_BYTES_WITH_FILES if starts else receiving.MAX_BYTES
                raw = await thread.do(thread.connection.fetch_mail, uid, most)
                arrival = await asyncio.to_thread(self._read_letter, arrival, raw)
            await self._take_one(replace(arrival, said_at=said_at or arrival.said_at))

    def _read_letter(self, arrival: Arrival, raw: bytes) -> Arrival:
        return self._plugs.with_text(arrival, receiving.letter(raw, self._authserv_id))

    async def _is_read(self, arrival: Arrival) -> bool:
        """Whether its text is fetched: not in a flood."""
        if arrival.fate is cues.CueFate.WAITING:
            return True
        return not await self._db.read(cues.is_flooded, self._door, self._clock.now())

    async def _take_one(self, arrival: Arrival) -> None:
        """Store one mail; an error must not block the mails after it."""
        try:
            await self._plugs.store(arrival)
        except StoreTrouble:
            raise
        except Exception:  # noqa: BLE001 - see above; it is logged
            _LOG.exception("A mail that came by %s could not be taken in.", self._door)

    async def _keep(self, mark: FolderMark, more: JsonMap) -> None:
        content: JsonMap = {"mark": to_json(mark), **more}
        await self._db.write(cues.keep_mark, self._door, content)

    async def _complain(self, error: Exception) -> None:
        """Log what is wrong once, and store it for display."""
        text = str(error) if isinstance(error, RemitError) else f"{type(error).__name__}."
        why = f"The mailbox on {self._box.account.host} cannot be read: {text.rstrip('.')}."
        with suppress(StoreTrouble):
            before = await self._db.read(cues.mark, self._door)
            if before.get("why") != why:
                _LOG.warning("%s: %s", self._door, why)
                await self._db.write(cues.keep_mark, self._door, before | {"why": why})


class _MailboxThread:
    """A connection with its own thread."""

    def __init__(self, box: MailboxAccount) -> None:
        self.connection = ImapConnection(box)
        self._thread = ThreadPoolExecutor(1, "remit-mail")

    async def __aenter__(self) -> Self:
        try:
            await self.do(self.connection.open)
        except BaseException:
            self._end()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.do(self.connection.close)
        self._end()

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something on the thread; a cancelled caller disconnects."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))
        except asyncio.CancelledError:
            self.connection.hang_up()
            raise

    def _end(self) -> None:
        self.connection.hang_up()
        self._thread.submit(self.connection.close)  # after whatever is still being read
        self._thread.shutdown(wait=False)


BOUNCE_PAUSE_SECONDS: Final = 600.0  # seconds between two looks


class BounceWatch(LoopGroup):
    """Reads the inbox of a mail channel for letters that came back."""

    def __init__(
        self, name: str, box: Mailbox, db: Database, clock: Clock, background: Background
    ) -> None:
        super().__init__(background, {f"returned mail:{name}": self._look_on})
        self._name = name
        self._box = box
        self._db = db
        self._clock = clock
        self._mark: SentFolderMark | None = None  # a restart reads everything again

    async def look(self) -> int:
        """Store the bounces since the last look; return how many were new."""
        returned = await self._box.bounces(self._mark)
        if not isinstance(returned, ReturnedMail):
            return 0  # an unreachable one is asked next time
        reports = [_bounce_report(self._name, each) for each in returned.bounces if each.for_good]
        await self._db.write(cues.take_inbound, reports, self._clock.now())
        self._mark = returned.mark
        return len(reports)

    async def _look_on(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(BOUNCE_PAUSE_SECONDS)


def loops_of(
    section: EmailSettings, channel: Channel, context: ChannelContext, background: Background
) -> list[LoopGroup]:
    """Return the loops that read bounces and renew access tokens."""
    found: list[LoopGroup] = []
    box = channel.mailbox if isinstance(channel, EmailChannel) else None
    if box is not None and context.db is not None:
        args = context.name, box, context.db, context.clock, background
        found.append(BounceWatch(*args))
    if (source := token_source(section, context)) is not None:
        found.append(SignInWatch([(context.name, source)], context.clock, background))
    return found


def _bounce_report(channel: str, bounced: BouncedMail) -> InboundMessage:
    report = ProviderReport(str(bounced.delivery_id), arrived=False, why=bounced.answer.why)
    return InboundMessage(
        ref=f"{channel} report {bounced.delivery_id} failed",
        channel=channel,
        body={"key": str(bounced.delivery_id), "progress": "failed", "why": bounced.answer.why},
        report=DeliveryReport(report, channel, str(bounced.delivery_id)),
    )
