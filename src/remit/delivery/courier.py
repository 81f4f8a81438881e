"""Decides whether a message may be sent, claims it, sends it, and records the result.

There is at most one accepted send per delivery and decision. The claim is committed before the
first byte leaves. If the process dies between claim and record, nobody knows whether the message
arrived; then the owner is asked and it is not sent again. One kind of channel gets an unknown
message again without asking: one that recognises it by its key and accepts it once
(`SendGuarantee.KEY`: webhooks, some bridges). Its `find` repeats the send. A yes settles the
delivery; a no concerns only this attempt, and the delivery stays unknown.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.contacts.permits import SendLimits, SendPermission, judge
from remit.errors import RemitError
from remit.failpoint import failpoint
from remit.files.kept_files import KeptFiles
from remit.model.delivery import (
    Accepted,
    Answer,
    Delivery,
    DeliveryStatus,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.permit import Reach, UnclearRecipient
from remit.model.reply import Policy
from remit.model.task import Priority, SourceKind, Task
from remit.model.task_file import FileContent, TaskFile, join_body, split_body
from remit.model.veto import excludes, holds_until
from remit.ports import (
    AddressedChannel,
    Channel,
    ConnectingChannel,
    FileChannel,
    ReconcilingChannel,
    SendLedger,
    ShapingChannel,
    UploadingChannel,
    WindowedFileChannel,
    implements,
)
from remit.system import first_byte
from remit.system.background import LocksByKey

_SENDING: Final = DeliveryStatus.SENDING
MOST_PARTS: Final = 10  # messages that one text may be split into
SEND_SECONDS: Final = 120.0  # seconds a channel may take; after that the result is unknown
LEFT_ALONE_SECONDS: Final = SEND_SECONDS + 30  # so long other workers leave a claim to its worker


class ReadyDelivery(Struct, frozen=True):
    """A text ready to send; `seen`: the owner has seen this exact text, or is its recipient."""

    delivery: Delivery
    reach: Reach
    body: str
    seen: bool = True
    approved_at: datetime | None = None


class DailyLimitReached(Struct, frozen=True):
    """Not sent: it would exceed the owner's daily limit, unless the owner approves it."""

    why: str


class _OverLimit(RemitError):
    """There is no claim, because of the daily limit."""


class Courier:
    """Claims, sends and records.

    Without limits a recipient is an address, and sends to others always ask.
    """

    def __init__(
        self,
        channels: Mapping[str, Channel],
        patience: float = SEND_SECONDS,
        now: Callable[[], datetime] | None = None,
        bounds: SendLimits | None = None,
        files: KeptFiles | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """`shared`: other workers send, too, and one of them may wake up late."""
        self._shared = shared
        self._channels = channels
        self._files = files
        self._patience = patience
        self._now = now
        self._bounds = bounds
        # Two checks at once would both find room for one; sends to other places do not wait.
        self._counting: LocksByKey[tuple[str, str | None]] = LocksByKey()

    def reach(self, delivery: Delivery, words: str | None) -> Reach | UnclearRecipient:
        """Return whom some words mean, and the address, by the current contact book."""
        channel: object = self._channels.get(delivery.channel)
        literal = Reach(words or "", words, owner=words is None)
        if self._bounds is None:
            return literal
        found = self._bounds.people.find(words, delivery.channel)
        if isinstance(found, Reach):
            knows = implements(channel, AddressedChannel) and channel.knows_owner
            return replace(found, address=None) if found.owner and knows else found
        if self.stays(delivery):
            return literal
        takes = channel.takes(words or "") if implements(channel, AddressedChannel) else bool(words)
        return literal if found.stranger and takes else found

    async def leave(
        self, task: Task, delivery: Delivery, reach: Reach, *, asks_first: bool = False
    ) -> SendPermission:
        """Return whether a message may be sent without asking the owner."""
        if barred := excludes(task.conditions, reach.name):
            return SendPermission(Policy.DENY, f"you said: {barred.words}")
        # Sends to the owner need no permission, so none is loaded.
        bounds = None if reach.owner else self._bounds
        standing = await bounds.standing(delivery.channel) if bounds else ()
        return judge(
            reach,
            delivery.channel,
            standing,
            taint=task.taint,
            veto=task.veto,
            asks_first=asks_first,
        )

    def put_off(self, task: Task, ready: "ReadyDelivery") -> SendRetry | None:
        """Return why and how long a message waits: a limit, undo or quiet hours; None if not."""
        if self._now and (held := holds_until(task.conditions, self._now())):
            until, words = held
            return SendRetry(
                f"you said: {words}", (until - self._now()).total_seconds(), spends=False
            )
        if self._bounds is None or self.stays(ready.delivery):
            return None
        if asleep := ready.reach.quiet.until(self._bounds.now(), self._bounds.zone):
            left = (asleep - self._bounds.now()).total_seconds()
            return SendRetry(f"{ready.reach.name} gets nothing at this time", left, spends=False)
        urgent = ready.reach.owner and task.priority in (Priority.HIGH, Priority.CRITICAL)
        quiet = 0.0 if urgent else self._bounds.quiet_left()
        # What is ordered in a conversation can be stopped there like an approval.
        in_talk = task.source.kind is SourceKind.CONVERSATION and not ready.reach.owner
        undo = self._bounds.undo_left(ready.approved_at or (task.created_at if in_talk else None))
        why = "the quiet hours" if quiet > undo else "it can be undone still"
        return SendRetry(why, max(quiet, undo), spends=False) if quiet or undo else None

    def stays(self, delivery: Delivery) -> bool:
        """Whether a message is only stored here and disturbs nobody."""
        channel = self._channels.get(delivery.channel)
        return channel is not None and channel.keeps is SendGuarantee.TRANSACTION

    def most(self, deliveries: Iterable[Delivery]) -> int:
        """Return the longest text that all of these channels accept."""
        known = [self._channels[d.channel] for d in deliveries if d.channel in self._channels]
        # Who sends several messages takes several times as much.
        times = [MOST_PARTS if implements(each, ShapingChannel) else 1 for each in known]
        return min((each.most * n for each, n in zip(known, times, strict=True)), default=100_000)

    def shape(self, delivery: Delivery, text: str) -> str:
        """Return a text as its reader will see it: what the gate judges and the owner approves."""
        channel: object = self._channels.get(delivery.channel)
        words, files = split_body(text)
        return (
            join_body(channel.shape(words), files) if implements(channel, ShapingChannel) else text
        )

    def parts(self, delivery: Delivery, shaped: str) -> tuple[str, ...]:
        """Return the exact messages that a shaped text is sent as, with its files."""
        channel: object = self._channels.get(delivery.channel)
        words, files = split_body(shaped)
        texts = channel.parts(words) if implements(channel, ShapingChannel) else (words,)
        if implements(channel, FileChannel) and channel.files.apart:
            return (*texts, *(each.line for each in files))
        return (*texts[:-1], join_body(texts[-1], files))

    def carries_files(self, delivery: Delivery) -> bool:
        return implements(self._channels.get(delivery.channel), FileChannel)

    def file_problem(self, deliveries: Iterable[Delivery], files: Sequence[TaskFile]) -> str | None:
        """Return why one of these channels does not carry these files, in a sentence."""
        for name in dict.fromkeys(each.channel for each in deliveries):
            channel: object = self._channels.get(name)
            if not implements(channel, FileChannel):
                return f"{name} carries no files. Take out the lines that name one."
            limits = channel.files
            large = next((each for each in files if each.size > limits.each), None)
            if large is not None:
                return f"{large.name} has {large.size:,} bytes; {name} carries {limits.each:,}."
            if len(files) > limits.count or sum(each.size for each in files) > limits.total:
                return f"{name} carries {limits.count} files, and {limits.total:,} bytes together."
        return None

    async def files_refused(self, delivery: Delivery) -> str | None:
        """Return why this recipient can be sent no file now; asked before the words go out."""
        channel: object = self._channels.get(delivery.channel)
        if not implements(channel, WindowedFileChannel):
            return None
        return await channel.refuses_files(delivery.address)

    def waits(self, delivery: Delivery) -> float:
        """Return how many more seconds to wait for news about an unknown send; 0: ask the owner."""
        channel: object = self._channels.get(delivery.channel)
        if self._now is None or delivery.doubted_at is None:
            return 0
        if not implements(channel, ReconcilingChannel):
            return 0
        left = channel.grace - (self._now() - delivery.doubted_at).total_seconds()
        return left if 0 < left <= channel.grace else 0  # ignore a corrected clock

    async def split(
        self, delivery: Delivery, parts: Sequence[str], ledger: SendLedger, *, seen: bool = True
    ) -> DailyLimitReached | None:
        """Split one delivery into several, if today's limit allows it."""
        if seen or self._bounds is None:
            await ledger.split(delivery, parts)
            return None
        async with self._counting[delivery.channel, delivery.address]:
            why = await self._bounds.crowd(delivery)
            if why is None:
                await ledger.split(delivery, parts)
            return DailyLimitReached(why) if why else None

    async def send(
        self, delivery: Delivery, body: str, ledger: SendLedger, *, seen: bool = True
    ) -> Answer | DailyLimitReached:
        """Send one delivery, once, and record the answer.

        `seen`: the owner has seen this exact message; others count towards the daily limit.
        """
        if delivery.in_doubt or delivery.reported is not None:
            return await self.settle(delivery, ledger)
        return await self._send(delivery, body, ledger, seen)

    async def held_by_another(self, delivery: Delivery, ledger: SendLedger) -> float:
        """Return how many more seconds another worker may need to record its send."""
        reported = delivery.reported is not None
        if not self._shared or self._now is None or reported or delivery.status is not _SENDING:
            return 0
        claimed = (await ledger.sends(delivery)).last_at
        gone = (self._now() - claimed).total_seconds() if claimed else LEFT_ALONE_SECONDS
        return min(max(0.0, LEFT_ALONE_SECONDS - gone), LEFT_ALONE_SECONDS)

    async def settle(
        self, delivery: Delivery, ledger: SendLedger, *, asks_channel: bool = True
    ) -> Answer:
        """Resolve a send that may be out, from records or the channel; never send it anew.

        Some channels are asked by passing the message again under its key. Without `asks_channel`
        nothing leaves.
        """
        if delivery.status is DeliveryStatus.SENDING:
            why = "the process ended between the send and its record"
            await ledger.doubt(delivery, why)
            delivery = replace(delivery, status=DeliveryStatus.UNKNOWN, reason=why)
        if delivery.reported is not None:
            await ledger.clear(delivery, delivery.reported.answer)
            return delivery.reported.answer
        if asks_channel:
            return await self._look_up_unknown(delivery, ledger)
        return Unknown(delivery.reason or "nobody knows")

    async def _look_up_unknown(self, delivery: Delivery, ledger: SendLedger) -> Answer:
        """Look up an unknown send; never send it anew."""
        channel: object = self._channels.get(delivery.channel)
        unknown = Unknown(delivery.reason or "nobody knows")
        if not implements(channel, ReconcilingChannel):
            return unknown
        sends = await ledger.sends(delivery)
        alone = sends.out <= 1
        packed = await self._pack_parcel(delivery, delivery.body or "")
        if isinstance(packed, Refused):
            return unknown
        parcel = replace(packed, attempt=sends.last, sent_at=sends.last_at, alone=alone)
        try:
            async with asyncio.timeout(self._patience):
                found = await channel.find(parcel)
        except Exception:  # noqa: BLE001 - who cannot look has found nothing
            return unknown
        # If two sends may be out, a no may refer to either; the other may have arrived.
        if found is None or (isinstance(found, Refused) and not alone):
            return unknown
        await ledger.clear(delivery, found)
        return found

    async def _send(
        self, delivery: Delivery, body: str, ledger: SendLedger, seen: bool
    ) -> Answer | DailyLimitReached:
        channel = self._channels.get(delivery.channel)
        if channel is not None and channel.keeps is SendGuarantee.TRANSACTION:
            await ledger.post(delivery, body)
            return Accepted(channel.name)
        parcel = await self._prepare_parcel(channel, delivery, body)
        if not isinstance(parcel, Parcel):
            if isinstance(parcel, Refused):
                await ledger.clear(delivery, parcel)
            return parcel
        claim = partial(self._claim, delivery, body, ledger, seen)
        connects_first = self._shared and implements(channel, ConnectingChannel)
        try:
            if connects_first:
                parcel = replace(parcel, attempt=(await ledger.sends(delivery)).last + 1)
                attempt, answer = await self._connect_first(channel, parcel, claim)
            else:
                with first_byte.within(first_byte.SECONDS if self._shared else None):
                    parcel = replace(parcel, attempt=(attempt := await claim()))
                    answer = await ask(channel, delivery.channel, parcel, self._patience)
        except _OverLimit as over:
            return DailyLimitReached(str(over))
        if attempt:
            failpoint("send:answered")
            await ledger.settle(delivery, attempt, answer)
        return answer

    async def _connect_first(
        self, channel: Channel | None, parcel: Parcel, claim: Callable[[], Awaitable[int]]
    ) -> tuple[int, Answer]:
        """Connect, then claim, then send: a claim is used within seconds, or not at all."""
        late = first_byte.LateClaim(claim)
        with late.before_first_byte():
            answer = await ask(channel, "", parcel, self._patience)
        every = implements(channel, ConnectingChannel) and channel.counts_every_try
        if isinstance(answer, SendRetry) and not (answer.spends or late.is_made or every):
            return 0, answer  # nothing was tried
        return await late.result(), answer  # raises what kept it from being claimed

    async def _claim(self, delivery: Delivery, body: str, ledger: SendLedger, seen: bool) -> int:
        if seen or self._bounds is None:
            attempt = await ledger.claim(delivery, body)
        else:
            async with self._counting[delivery.channel, delivery.address]:
                why = await self._bounds.crowd(delivery)
                # The claim itself counts, too: no lock of this process keeps others out.
                cap = self._bounds.cap() if self._shared else None
                attempt = 0 if why else await ledger.claim(delivery, body, cap)
                if not attempt:  # if there was room, another process sent one meanwhile
                    raise _OverLimit(why or await self._bounds.crowd(delivery) or "")
        failpoint("send:claimed")
        return attempt

    async def _pack_parcel(self, delivery: Delivery, body: str) -> Parcel | Refused:
        """Return what a channel gets: the words, and the frozen bytes of each file."""
        words, named = split_body(body)
        contents: list[FileContent] = []
        for each in named:
            files = self._files
            kept = await asyncio.to_thread(files.read, each.sha256) if files else None
            if kept is None:
                return Refused(f"The file {each.name} is not kept any more.")
            contents.append(FileContent(each.name, each.type, kept))
        return Parcel(str(delivery.id), delivery.address, words, files=tuple(contents))

    async def _prepare_parcel(
        self, channel: object, delivery: Delivery, body: str
    ) -> Parcel | Answer:
        """Pack a delivery, and upload its files where that comes first; nobody gets anything."""
        parcel = await self._pack_parcel(delivery, body)
        if isinstance(parcel, Refused) or not parcel.files:
            return parcel
        if not implements(channel, FileChannel):
            return Refused(f"{delivery.channel} carries no files.")
        if not implements(channel, UploadingChannel):
            return parcel
        try:
            async with asyncio.timeout(self._patience):
                uploaded = await channel.upload(parcel)
        except Exception as error:  # noqa: BLE001 - an upload reaches nobody, so it may be repeated
            return SendRetry(f"The files could not be uploaded ({type(error).__name__}).")
        failpoint("send:uploaded")
        return replace(parcel, uploads=uploaded) if isinstance(uploaded, tuple) else uploaded


async def ask(channel: Channel | None, name: str, parcel: Parcel, patience: float) -> Answer:
    """Give a channel a parcel, once; an error after that leaves the result unknown."""
    if channel is None:
        return Refused(f"there is no channel {name!r}")
    limit = asyncio.timeout(patience)
    try:
        async with limit:
            first_byte.check()
            return await channel.send(parcel)
    except first_byte.TooLate as late:
        return SendRetry(str(late), spends=False)
    except Exception as error:  # noqa: BLE001 - an adapter that breaks leaves a doubt, not a loss
        if limit.expired():
            return Unknown(f"no answer within {patience:.0f} s")
        return Unknown(f"{type(error).__name__}: {error}")
