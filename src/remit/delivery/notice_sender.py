"""Sends decided notices to the owner's browsers and channels, each once.

A notice is claimed on disk before the first byte leaves; then comes the answer, then the record. If
Remit dies in between, the notice is not sent again, unless the channel recognises a message by its
key or can look it up. A notice is neither a task nor an event, so no notice is ever about a notice.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Final

from remit.delivery.courier import SEND_SECONDS
from remit.delivery.notice_delivery import (
    FEW,
    MOST_APPROVED,
    NoticeContext,
    NoticeDelivery,
    NoticeMessage,
)
from remit.errors import NotFound, UnknownName
from remit.failpoint import failpoint
from remit.model.conversation import (
    CONVERSATION,
    DIGEST,
    PUSH,
    SCHEDULED,
    Conversation,
    Notice,
    NoticeContent,
    NoticeKind,
    NoticeState,
    Role,
)
from remit.model.ids import ReviewId
from remit.model.permit import Reach
from remit.model.review import ReviewAnswer
from remit.ports import ShapingChannel, implements
from remit.store import conversations, notices, reviews
from remit.store.conversations import NewTurnRecord
from remit.store.database import Tx
from remit.store.notices import AlreadyClaimed, NoticeResult
from remit.system import first_byte
from remit.system.background import wait_until
from remit.system.first_byte import LateClaim

LOOP: Final = "notices"
FRESH: Final = timedelta(minutes=15)  # older ones are not pushed
STALE: Final = timedelta(days=1)  # older ones are not sent to a channel, except questions
KEPT: Final = timedelta(days=90)
_MINUTE: Final = timedelta(minutes=1)
_MAX_SENDS_AT_ONCE: Final = 16
_POLL: Final = timedelta(seconds=2)  # if another process decides what is sent here
_GRACE_SECONDS: Final = 2.0  # seconds that running sends get at shutdown
_TEST_SECONDS: Final = 20.0  # seconds to wait for a test
_A_DAY: Final = timedelta(days=1)
_OLD: Final = "It was too old to disturb anybody with."
_LOG: Final = logging.getLogger("remit.notices")


class NoticeSender:
    def __init__(self, around: NoticeContext, patience: float = SEND_SECONDS) -> None:
        self._around = around
        self._db, self._clock = around.db, around.clock
        self._delivery = NoticeDelivery(around, patience)
        self._bell = asyncio.Event()
        self._turn = asyncio.Lock()
        self._sends: set[asyncio.Task[None]] = set()
        self._unclaimed: set[str] = set()  # notices on their way that are not claimed yet
        self._pruned: datetime | None = None
        self._recovered = False

    # Beginning and end --------------------------------------------------------------------------

    def start(self) -> None:
        """Start in the background: nothing waits for a notice."""
        self._around.background.start(LOOP, self._watch)

    def ring(self) -> None:
        """Wake the loop: there are notices to send."""
        self._bell.set()

    async def close(self) -> None:
        """Stop. Interrupted sends stay unknown, and the next start records that."""
        await self._around.background.stop(LOOP)
        # A push that waits for a retry is dropped; a running send may finish.
        sends = {each for each in self._sends if each.get_name() != PUSH}
        if sends:
            await asyncio.wait(sends, timeout=_GRACE_SECONDS)
        running = list(self._sends)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def catch_up(self) -> None:
        """Send everything that is due, and wait for the results."""
        while await self._round():
            await self._wait_for_sends()
        await self._wait_for_sends()

    async def test(self, way: str) -> Notice:
        """Send a test notice over one way, and return the result."""
        able = (CONVERSATION, PUSH, *self._around.channels)
        if way not in able:
            sentence = f"There is no way {way!r:.60}; there is {', '.join(able)}."
            raise UnknownName(sentence, field="way")
        now, mark = self._clock.now(), self._around.ids.ulid()
        title = f"This is a test notice of {self._around.words.agent}. Nothing needs doing."
        place = "/settings/notices"
        content = NoticeContent(
            news=NoticeKind.TEST, about=f"test:{mark}", title=title, line="", href=place
        )
        made = Notice(id=f"ntc-{mark}", telling=content, way=way, made=now, due=now)
        await self._db.write(notices.put, made)
        if way == CONVERSATION:
            await self._db.write(_say, self._place(now), made, now)
        else:
            trying = asyncio.create_task(self.catch_up())
            # The caller waits for a limited time; a test still running then says so.
            await asyncio.wait((trying,), timeout=_TEST_SECONDS)
            trying.cancel()
        found = await self._db.read(notices.get, made.id)
        assert found is not None  # noqa: S101 - put in above
        return found

    # The loop -----------------------------------------------------------------------------------

    async def _watch(self) -> None:
        if not self._recovered:  # later, a claimed notice may be one of this process
            await self._db.write(notices.doubt_claimed, self._clock.now())
            self._recovered = True
        while True:
            self._bell.clear()
            await self._round()
            await self._wait_for_next()

    async def _safely(self, work: Coroutine[None, None, object]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - a notice that cannot be told must stop nothing
            _LOG.warning("The owner could not be told something (%s).", type(error).__name__)

    async def _wait_for_next(self) -> None:
        soon = await self._db.read(notices.soonest)
        if getattr(self._db, "shared", False):
            latest = self._clock.now() + _POLL
            soon = min(soon or latest, latest)
        # Where there is no room for more, what is on its way must land first.
        full = len(self._sends) >= _MAX_SENDS_AT_ONCE or self._unclaimed
        least = 1.0 if full else 0.01
        await wait_until(self._bell, self._clock, soon, least)

    async def _wait_for_sends(self) -> None:
        while self._sends:
            await asyncio.wait(self._sends)

    async def _round(self) -> bool:
        """Start sending everything that is due; False if there was nothing."""
        async with self._turn:
            now = self._clock.now()
            await self._prune(now)
            found = await self._db.read(notices.due, now)
            for each in found:
                if each.state is NoticeState.UNKNOWN:
                    await self._delivery.look_into(each, now)
            waiting = [
                each
                for each in found
                if each.state is NoticeState.NEW and each.id not in self._unclaimed
            ]
            begun = False
            by_way = attrgetter("way")
            for way, batch in groupby(sorted(waiting, key=by_way), key=by_way):
                begun |= await self._send_over(way, list(batch), now)
            return begun

    async def _prune(self, now: datetime) -> None:
        if self._pruned is None or not self._pruned <= now < self._pruned + _A_DAY:
            self._pruned = now
            await self._db.write(notices.prune, now - KEPT)

    # One way ------------------------------------------------------------------------------------

    async def _send_over(self, way: str, batch: Sequence[Notice], now: datetime) -> bool:
        left = await self._db.write(_still_wanted, batch, now)
        if way == DIGEST:
            return await self._digest(left, now) if left else False
        begun = False
        for found in await self._group_notices(way, left, now):
            approved = await self._db.read(_text_to_approve, found) if way != PUSH else ""
            links = await self._answer_links(way, found, approved)
            begun |= await self._begin(
                self._message(way, found, approved=approved, links=links), now
            )
        return begun

    async def _answer_links(self, way: str, found: Sequence[Notice], approved: str) -> str:
        """Signed links that open the card of the one question; nothing is done by opening one."""
        first, offer = found[0], self._around.offer
        by_link = getattr(self._around.channels.get(way), "answers_by_link", False)
        if not by_link or offer is None or len(found) > 1 or not first.telling.asks:
            return ""
        reach = self._around.reach(way)
        address = reach.address if isinstance(reach, Reach) else None
        whole = _is_whole(approved)
        review = ReviewId(first.telling.href.removeprefix("/inbox/"))
        buttons = await offer(review, way, address or "", whole=whole)
        return self._around.words.answer_links(first, way, buttons)

    async def _group_notices(
        self, way: str, left: Sequence[Notice], now: datetime
    ) -> list[tuple[Notice, ...]]:
        """Group the notices into messages: held ones together, and many of one kind together."""
        held = tuple(each for each in left if each.held)
        grouped = [held] if held else []
        by_kind = attrgetter("news.value")
        free = sorted((each for each in left if not each.held), key=by_kind)
        for news, run in groupby(free, key=by_kind):
            batch = tuple(run)
            count, last = await self._db.read(
                notices.count_sent_since, way, NoticeKind(news), now - _MINUTE
            )
            if count + len(batch) <= FEW:
                grouped += [(each,) for each in batch]
            elif not count or last is None:
                grouped.append(batch)
            else:
                await self._db.write(notices.hold, batch, last + _MINUTE)
        return grouped

    def _message(
        self,
        way: str,
        found: tuple[Notice, ...],
        day: date | None = None,
        approved: str = "",
        links: str = "",
    ) -> NoticeMessage:
        words = self._around.words
        if way == PUSH:
            named = self._around.wishes().push == "title"
            return NoticeMessage(found, PUSH, words.pushed(found, named=named))
        body = words.digest(found) if day else words.body(found, approved) + links
        channel: object = self._around.channels.get(way)
        whole = _is_whole(approved)
        if not implements(channel, ShapingChannel):
            return NoticeMessage(found, way, body, day, whole)
        shaped = channel.shape(body)
        if approved and len(channel.parts(shaped)) > 1:  # a notice is one message
            shaped, whole = channel.shape(words.body(found)), False
        return NoticeMessage(found, way, shaped, day, whole)

    async def _begin(self, message: NoticeMessage, now: datetime) -> bool:
        """Start the send of a message; False if it is claimed already or no slot is free.

        Beside other processes it leaves soon after the claim, or not at all.
        """
        if len(self._sends) >= _MAX_SENDS_AT_ONCE:
            return False
        claim = LateClaim(partial(self._claim, message, now))
        if self._delivery.claims_late(message.over):
            self._unclaimed |= {each.id for each in message.found}
            with claim.before_first_byte():
                self._start(message, claim)
            return True
        shared = getattr(self._db, "shared", False)
        with first_byte.within(first_byte.SECONDS if shared else None):
            try:
                await claim.result()
            except AlreadyClaimed:
                return False
            self._start(message, claim)
        return True

    async def _claim(self, message: NoticeMessage, now: datetime) -> None:
        found, day = message.found, message.day
        try:
            if not await self._db.write(
                notices.claim_notices, found, message.over, message.body, now, day
            ):
                raise AlreadyClaimed(found[0].id)
        finally:
            self._unclaimed -= {each.id for each in found}
        failpoint("notice:claimed")

    def _start(self, message: NoticeMessage, claim: LateClaim[None]) -> None:
        sending = asyncio.create_task(self._safely(self._send(message, claim)), name=message.over)
        self._sends.add(sending)
        sending.add_done_callback(self._sends.discard)

    async def _send(self, message: NoticeMessage, claim: LateClaim[None]) -> None:
        try:
            left = await self._delivery.send(message, claim)
        except AlreadyClaimed:
            return
        finally:
            self._unclaimed -= {each.id for each in message.found}
        if not left and message.day is not None:
            # It never left, so it can be posted in the conversation.
            await self._say_digest(message.found, message.day, self._clock.now())
        self.ring()

    # The digest ---------------------------------------------------------------------------------

    async def _digest(self, left: Sequence[Notice], now: datetime) -> bool:
        """Send the digest once a day on the first usable way; else post it in the conversation."""
        day = now.astimezone(self._around.zone).date()
        last = await self._db.read(notices.last_digest_day, day)
        if last is not None and last >= day:
            due = self._around.next_digest(now, last)
            await self._db.write(notices.hold, left, due)
            return False
        for way in self._around.wishes().digest_over:
            usable = way in self._around.channels and isinstance(self._around.reach(way), Reach)
            if usable:
                return await self._begin(self._message(way, tuple(left), day), now)
            if way == CONVERSATION:
                break
        return await self._say_digest(left, day, now)

    async def _say_digest(self, found: Sequence[Notice], day: date, now: datetime) -> bool:
        text = self._around.words.digest(found)
        turn = NewTurnRecord(role=Role.ASSISTANT, content=text, key=f"digest:{day.isoformat()}")
        with suppress(AlreadyClaimed):
            return await self._db.write(notices.say_digest, self._place(now), turn, found, day, now)
        return False

    def _place(self, now: datetime) -> Conversation:
        return Conversation(self._around.ids.conversation(), SCHEDULED, now, now)


def _is_whole(approved: str) -> bool:
    """Whether a message shows everything that a yes would let go."""
    return len(approved.strip("\n")) <= MOST_APPROVED


def _text_to_approve(tx: Tx, found: Sequence[Notice]) -> str:
    """The text that a yes to the one question would let go; nothing if there is none."""
    if len(found) != 1 or found[0].news is not NoticeKind.QUESTION:
        return ""
    try:
        review = reviews.get(tx, ReviewId(found[0].telling.href.removeprefix("/inbox/")))
    except NotFound:
        return ""
    return review.evidence if ReviewAnswer.APPROVE in review.options else ""


def _still_wanted(tx: Tx, batch: Sequence[Notice], now: datetime) -> list[Notice]:
    """Return the notices still worth sending: not too old, and not yet known to the owner."""
    fresh = []
    for each in batch:
        most = FRESH if each.way == PUSH else STALE
        keeps = each.way != PUSH and each.news is NoticeKind.QUESTION
        if each.due is not None and now - each.due > most and not keeps and each.way != DIGEST:
            notices.drop(tx, each, _OLD)
        else:
            fresh.append(each)
    return notices.weed(tx, fresh, now)


def _say(tx: Tx, fresh: Conversation, made: Notice, now: datetime) -> None:
    place = conversations.find_by_title(tx, SCHEDULED) or fresh
    turn = NewTurnRecord(role=Role.ASSISTANT, content=made.telling.title, key=made.telling.about)
    conversations.tell(tx, [(place, turn)], 0, now)
    notices.claim_notices(tx, [made], CONVERSATION, turn.content, now)
    notices.settle_notices(tx, made.id, NoticeResult(NoticeState.SENT), now)
