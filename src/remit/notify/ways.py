"""Where and when the owner is notified.

An owner who has just written in a conversation is told there only. In quiet hours only urgent
notices go out; the others wait for their end and come as one message. Conversations are not
affected by quiet hours.
"""

from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from remit.model.delivery import DeliveryStatus
from remit.model.notice import CONVERSATION, DIGEST, PUSH, NoticeKind, PlannedNotice
from remit.model.quiet import QuietHours
from remit.model.task import Task
from remit.settings import NoticeSettings

_DAY = timedelta(days=1)


class NoticeMoment(Struct, frozen=True):
    """The situation when a notice is decided."""

    now: datetime
    here: str | None  # where the owner has just written
    digested: date | None  # the day of the last digest
    listens: bool = True  # whether a browser subscribed to push


class NoticeRules(Struct, frozen=True):
    """Where the owner wants notices. The settings are read each time: they may change."""

    wishes: Callable[[], NoticeSettings]
    quiet: QuietHours | None
    zone: tzinfo
    channels: Collection[str]  # that reach the owner

    def posts(
        self, news: NoticeKind, task: Task | None, stands: NoticeMoment
    ) -> tuple[PlannedNotice, ...]:
        """Return every way to send a notice, and when."""
        wanted = self.wishes().ways(news)
        at_once = [way for way in wanted if way != DIGEST]
        elsewhere = any(way != CONVERSATION for way in at_once)
        if at_once and stands.here is not None:
            at_once = self._ways_here(wanted, stands.here)
        if not stands.listens:
            at_once = [way for way in at_once if way != PUSH]
        found = [self._post(news, way, stands) for way in at_once if not _has(task, news, way)]
        if elsewhere and stands.here is not None:
            found = [replace(post, instead=post.way == CONVERSATION) for post in found]
        if DIGEST in wanted:
            found.append(
                PlannedNotice(DIGEST, self.next_digest(stands.now, stands.digested), held=True)
            )
        return tuple(found)

    def next_digest(self, now: datetime, digested: date | None) -> datetime:
        """Return when the next digest is due: on a day without one."""
        day, at = now.astimezone(self.zone).date(), self.wishes().morning
        while _moment(day, at, self.zone) <= now or (digested is not None and day <= digested):
            day += _DAY
        return _moment(day, at, self.zone)

    def _ways_here(self, wanted: Collection[str], here: str) -> list[str]:
        kept = [CONVERSATION] if CONVERSATION in wanted else []
        there = here if here in self.channels else CONVERSATION
        return list(dict.fromkeys([*kept, there]))

    def _post(self, news: NoticeKind, way: str, stands: NoticeMoment) -> PlannedNotice:
        wishes, now = self.wishes(), stands.now
        silent = way == CONVERSATION or stands.here is not None or news.value in wishes.urgent
        until = None if silent or self.quiet is None else self.quiet.until(now, self.zone)
        return PlannedNotice(way, until or now, held=until is not None)


def _has(task: Task | None, news: NoticeKind, way: str) -> bool:
    """Whether the owner has got the result itself that way: then no notice is needed."""
    if task is None or news is not NoticeKind.DONE:
        return False
    sent = (each for each in task.delivery if each.status is DeliveryStatus.SENT)
    return any(each.channel == way and each.recipient is None for each in sent)


def _moment(day: date, at: time, zone: tzinfo) -> datetime:
    """Return a wall time as a moment: in a gap the hour after, of two the first."""
    local = datetime.combine(day, at, zone)
    return datetime.fromtimestamp(local.timestamp(), tz=UTC)
