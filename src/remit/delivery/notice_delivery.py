"""One message with notices: its text; sent once, settled by the answer, looked up if unknown.

A title may come from a stranger's mail or calendar. So it cannot format the message, link anywhere,
or start a line: the only link is to the dashboard.

Only a channel that recognises a message by its key, or can look it up, resolves an unknown send. A
message that never left may be sent again; one that may have arrived is not.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, Protocol, cast
from urllib.parse import quote

from msgspec import Struct

from remit.channels.markdown import plain
from remit.channels.push import PushContent, PushNotifier
from remit.delivery.courier import SEND_SECONDS, ask
from remit.failpoint import failpoint
from remit.language.files import read_toml
from remit.language.sentences import DEFAULT_LANGUAGE, message_language, notice_sentence
from remit.model import delivery
from remit.model.conversation import PUSH, Notice, NoticeKind, NoticeState
from remit.model.delivery import ActionButton
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

FEW: Final = 5  # of one kind in a message; more are only counted
MOST_LINES: Final = 20
MOST_TITLE: Final = 80
MOST_LINE: Final = 160
MOST_PUSHED: Final = 60
MOST_APPROVED: Final = 3_000  # characters of a text that is to be approved
_CUT: Final = "… and {0} more characters. The whole text is in the inbox of the dashboard."
_TICKS: Final = re.compile("`+")
_WORDS: Final = cast("Mapping[str, Mapping[str, str]]", read_toml("notice_words", __package__))


class NoticeWords(Struct, frozen=True):
    """Renders notices: the agent's name, a filter for secrets, and the base of links, if any.

    They are in the owner's language; if none is set, in that of the tasks they are about.
    """

    agent: str
    hide: Callable[[str], str]
    root: Callable[[], str]

    def body(self, found: Sequence[Notice], approved: str = "") -> str:
        """One message with all of these in it; `approved` is what a yes to the one would let go."""
        if len(found) == 1:
            line = self._with_link(self.one(found[0]), found[0].telling.href)
            block = verbatim(self.hide(approved), _language(found))
            return f"{line}\n\n{block}" if approved.strip() else line
        kinds = Counter(each.news for each in found)
        if len(kinds) == 1 and len(found) > FEW:
            news = found[0].news
            return self._with_link(f"{_counts(found)}.", _list_of(news))
        return self.digest(found)

    def answer_links(self, notice: Notice, way: str, buttons: Sequence[ActionButton]) -> str:
        """Return one link per answer to a question; each opens its card."""
        if not self.root():
            return ""
        link = f"{self._link(notice.telling.href)}?by={quote(way)}&answer="
        lines = [f"- [{each.label}]({link}{quote(each.data)})" for each in buttons]
        return "\n".join(("\n", *lines)) if lines else ""

    def digest(self, found: Sequence[Notice]) -> str:
        """Return a digest: counts by kind, then one line each as far as there is room."""
        lines = [f"- {self.one(each)}" for each in found[:MOST_LINES]]
        left = len(found) - MOST_LINES
        more = [notice_sentence("- and {0} more", _language(found), left)] if left > 0 else []
        link = ["", self._link("/inbox")] if self.root() else []
        return "\n".join([f"{self.agent}: {_counts(found)}.", "", *lines, *more, *link])

    def one(self, notice: Notice) -> str:
        """One notice in one line, without its link."""
        content, language = notice.telling, _language([notice])
        title = plain(self.hide(content.title), MOST_TITLE)
        line = plain(self.hide(content.line), MOST_LINE)
        title = title or notice_sentence("Something without a title", language)
        return notice_sentence(_WORDS[content.news.value]["line"], language, title, line).rstrip(
            ": "
        )

    def pushed(self, found: Sequence[Notice], *, named: bool) -> str:
        """Return the lock screen text: that something happened; with `named`, also what."""
        first = found[0]
        if len(found) > 1:
            return f"{_counts(found)}."
        text = _WORDS[first.news.value]["pushed"]
        if first.news is NoticeKind.FAILED and first.telling.task_id is None:
            text = "A part of Remit failed"
        text = notice_sentence(text, _language(found), self.agent)
        title = plain(self.hide(first.telling.title), MOST_PUSHED)
        return f"{text}: {title}" if named and title else f"{text}."

    def _with_link(self, line: str, href: str) -> str:
        return f"{line} {self._link(href)}" if self.root() else line

    def _link(self, href: str) -> str:
        return self.root().rstrip("/") + href


def page_of(found: Sequence[Notice]) -> str:
    """Return the dashboard page for these notices."""
    return found[0].telling.href if len(found) == 1 else _list_of(found[0].news)


def verbatim(text: str, language: str = DEFAULT_LANGUAGE) -> str:
    """A text to the letter, as a block that marks up nothing; cut where there is no more room."""
    shown = text.strip("\n")
    more = "\n\n" + notice_sentence(_CUT, language, f"{len(shown) - MOST_APPROVED:,}")
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    cut = len(shown) > MOST_APPROVED
    return f"{fence}\n{shown[:MOST_APPROVED]}\n{fence}" + (more if cut else "")


def _counts(found: Sequence[Notice]) -> str:
    """Return how many there are of each kind."""
    kinds, language = Counter(each.news for each in found), _language(found)
    forms = ((_WORDS[news.value]["one" if n == 1 else "many"], n) for news, n in kinds.items())
    return ", ".join(notice_sentence(form, language, n) for form, n in forms)


def _language(found: Sequence[Notice]) -> str:
    return message_language(
        "\n".join(f"{each.telling.title}\n{each.telling.line}" for each in found)
    )


def _list_of(news: NoticeKind) -> str:
    places = {NoticeKind.DONE: "/tasks", NoticeKind.MISSED: "/schedule"}
    return places.get(news, "/inbox")


# Sending ------------------------------------------------------------------------------------------

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
    """Everything that sends notices: store, channels, push, words, settings."""

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
    def __init__(self, around: NoticeContext, patience: float = SEND_SECONDS) -> None:
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
        answer = await (
            self._push_message(message) if message.over == PUSH else self._sent(message)
        )
        failpoint("notice:answered")
        await claim.result()
        return await self._settle(message, answer)

    async def _push_message(self, message: NoticeMessage) -> delivery.Answer | None:
        first = message.found[0]
        shown = PushContent(
            message.body,
            page_of(message.found),
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
        found = await self._look_up_notice(channel, each, over) if channel else None
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

    async def _look_up_notice(
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
