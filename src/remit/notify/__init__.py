"""Which events notify the owner, in what words, where and when.

An owner who has just written in a conversation is told there only. In quiet hours only urgent
notices go out; the others wait for their end and come as one message. Conversations are not
affected by quiet hours.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.language.sentences import (
    message_language,
    notice_sentence,
    task_language,
    text_in_language,
)
from remit.model.conversation import (
    CONVERSATION,
    DIGEST,
    PUSH,
    NoticeContent,
    NoticeKind,
    PlannedNotice,
)
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.likeness import is_reflection
from remit.model.permit import QuietHours
from remit.model.run import Event, EventKind
from remit.model.status import TERMINAL, Actor, Status
from remit.model.task import Task
from remit.settings import NoticeSettings

_MAX_RESULT_CHARACTERS: Final = 4_000  # characters of a result


class TerminalRemark(Struct, frozen=True):
    """One line about a task, for the terminal that Remit runs in."""

    task_id: TaskId
    text: str
    urgent: bool = False


def remark(event: Event, title: str) -> TerminalRemark | None:
    """Return one line for the terminal, or None: most events print nothing."""
    data, text = event.data, None
    match event.kind:
        case EventKind.REVIEW_OPENED:
            text = f"{title}: {data['question']}"
        case EventKind.TASK_MOVED if data["to"] in TERMINAL:
            silent = data.get("quiet") or data.get("repeated")
            text = None if silent else f"{title}: {_end_sentence(event)}"
        case EventKind.DELIVERY_REPORTED if data["answer"] == "refused":
            text = f"{title}: a message did not arrive. {data.get('note', '')}".rstrip()
        case EventKind.TASK_UPDATED if data.get("what") == "twin":
            text = str(data["said"])
        case _:
            pass
    if event.task_id is None or text is None:
        return None
    urgent = event.kind in (EventKind.REVIEW_OPENED, EventKind.DELIVERY_REPORTED)
    return TerminalRemark(event.task_id, text, urgent)


def news(event: Event) -> NoticeKind | None:
    """Return the kind of notice for an event, or None.

    Questions of intake are in its answer, and the owner knows what the owner cancelled.
    """
    data, kind = event.data, None
    match event.kind:
        case EventKind.REVIEW_OPENED if event.actor is not Actor.INTAKE:
            kind = NoticeKind.QUESTION
        case EventKind.TASK_MOVED:
            kind = _kind_of_move(event)
        case EventKind.DELIVERY_REPORTED if data["answer"] == "refused":
            kind = NoticeKind.LOST
        case EventKind.TASK_UPDATED if data.get("what") == "slots skipped":
            kind = NoticeKind.MISSED
        case EventKind.CALENDAR_NOTED if not data.get("task"):  # else it is told of with that task
            kind = _NOTED.get(str(data.get("what")))
        case EventKind.LOOP_FAILED:
            kind = NoticeKind.FAILED
        case _:
            pass
    return kind


def telling(event: Event, task: Task | None) -> NoticeContent | None:
    """Return the content of a notice about an event; None if there is none."""
    found = news(event)
    if found is None or (found is NoticeKind.DONE and task is not None and is_reflection(task)):
        return None  # a reflection has asked about what it found
    title = _title(event, task)
    return NoticeContent(
        news=found,
        about=_notice_key(event, found),
        title=title,
        line=text_in_language(_line(event, found), task_language(task)),
        href=_href(event, found),
        text=notice_text(found, event, task, title),
        seq=event.seq,
        task_id=event.task_id,
    )


def _title(event: Event, task: Task | None) -> str:
    if event.kind is EventKind.LOOP_FAILED:
        return f"Background work: {event.data['loop']}"
    return task.title if task else str(event.data.get("title") or event.data.get("uid") or "")


def notice_text(news: NoticeKind, event: Event, task: Task | None, title: str) -> str:
    """Return the text in the conversation; a result for the owner is shown in full."""
    if news is NoticeKind.DONE and task is not None:
        again = [f"“{task.title}” works again."] if event.data.get("recovered") else []
        if event.data.get("quiet"):
            still = f"Still watching “{task.title}”: nothing to report for a week."
            return text_in_language("\n\n".join(again) or still, task_language(task))
        text = text_in_language("\n\n".join([*again, _done_sentence(task)]), task_language(task))
        return "\n\n".join([text, *_results(task)])
    where = str(event.data.get("account", ""))
    words = _SAYS[news].format(title=title, why=_line(event, news), where=where).rstrip()
    return text_in_language(words, task_language(task))


def many(found: Sequence[NoticeContent]) -> str:
    """Return several of one kind in one turn: their number, and the first ones."""
    language = message_language("\n".join(each.title for each in found))
    shown = [f"- {each.text}" for each in found[:_SHOWN]]
    left = len(found) - _SHOWN
    more = [notice_sentence("- and {0} more", language, left)] if left > 0 else []
    head = notice_sentence(_MANY[found[0].news], language, len(found))
    return "\n".join([f"{head}:", *shown, *more])


def _kind_of_move(event: Event) -> NoticeKind | None:
    missed = NoticeKind.MISSED if event.data.get("fate") else None
    if event.data.get("repeated"):
        return None  # the owner knows since the first of these failures
    speaks = event.data.get("recovered") or event.data.get("stillWatching")
    if event.data.get("quiet") and not speaks:
        return None
    return _ENDS.get(str(event.data["to"]), missed)


def _line(event: Event, news: NoticeKind) -> str:
    data = event.data
    if event.kind is EventKind.LOOP_FAILED:
        return (
            f"{str(data['why']).removesuffix('.')}. Remit has started it again;"
            " `remit doctor` says whether it keeps failing."
        )
    match news:
        case NoticeKind.QUESTION:
            return str(data["question"])
        case NoticeKind.DONE | NoticeKind.FAILED:
            return str(data.get("note") or data.get("summary") or "")
        case NoticeKind.MISSED:
            return _missed_sentence(event)
        case _:
            return str(data.get("note") or data.get("why") or "")


def _missed_sentence(event: Event) -> str:
    """Return how many runs were missed, and why."""
    slots = event.data.get("slots")
    if isinstance(slots, int):
        runs = "One run was" if slots == 1 else f"{slots} runs were"
        return f"{runs} left out: {event.data['why']}."
    if event.kind is EventKind.CALENDAR_NOTED:
        return f"A run was left out: {event.data['why']}."
    return str(event.data.get("note") or "")


def _notice_key(event: Event, news: NoticeKind) -> str:
    """Return the identity of a notice: one version of a calendar event is refused once."""
    if news is not NoticeKind.REFUSED:
        return f"event:{event.seq}"
    names = ("account", "calendar", "path", "uid", "etag")
    whole = "\x1f".join(str(event.data.get(name, "")) for name in names)
    return "refused:" + hashlib.sha256(whole.encode()).hexdigest()


def _href(event: Event, news: NoticeKind) -> str:
    if news is NoticeKind.QUESTION:
        return f"/inbox/{event.data['review']}"
    if news is NoticeKind.REFUSED:
        return "/schedule#refused"
    if event.kind is EventKind.LOOP_FAILED:
        return "/settings"
    return f"/tasks/{event.task_id}" if event.task_id else "/schedule"


def _done_sentence(task: Task) -> str:
    language = task_language(task)
    you = notice_sentence("you", language)
    went = [
        notice_sentence("{0} to {1}", language, each.channel, each.recipient or you)
        for each in task.delivery
        if each.status is DeliveryStatus.SENT and not _is_here(each)
    ]
    sent = f" Sent: {', '.join(dict.fromkeys(went))}." if went else ""
    result = "" if task.delivery else f" {task.result_summary or ''}".rstrip()
    return f"“{task.title}” is done.{sent}{result}"


def _results(task: Task) -> list[str]:
    """Return the results the owner should read on the dashboard."""
    mine = [each.body or each.content or "" for each in task.delivery if _is_here(each)]
    return [
        text if len(text) <= _MAX_RESULT_CHARACTERS else text[:_MAX_RESULT_CHARACTERS] + "…"
        for text in mine
        if text
    ]


def _is_here(delivery: Delivery) -> bool:
    return delivery.channel == "dashboard" and delivery.recipient is None


def _end_sentence(event: Event) -> str:
    to = Status(str(event.data["to"]))
    text = event.data.get("note") or event.data.get("summary")
    return f"{to.value}. {text}" if text else f"{to.value}."


_SHOWN: Final = 5
_SAYS: Final = {
    NoticeKind.QUESTION: "“{title}” needs you: {why}",
    NoticeKind.DONE: "“{title}” is done.",
    NoticeKind.FAILED: "“{title}” failed. {why}",
    NoticeKind.LOST: "A message of “{title}” did not arrive. {why}",
    NoticeKind.MISSED: "“{title}”: {why}",
    NoticeKind.REFUSED: "“{title}” in your calendar {where} could not be read. {why}",
}
_ENDS: Final = {Status.COMPLETED.value: NoticeKind.DONE, Status.FAILED.value: NoticeKind.FAILED}
_NOTED: Final = {"skipped": NoticeKind.MISSED, "refused": NoticeKind.REFUSED}
_MANY: Final = {
    NoticeKind.MISSED: "{0} runs were missed or left out",
    NoticeKind.REFUSED: "{0} calendar events could not be read",
}


_DAY = timedelta(days=1)


class NoticeMoment(Struct, frozen=True):
    """The situation when a notice is decided."""

    now: datetime
    here: str | None  # where the owner has just written
    digested: date | None  # the day of the last digest
    listens: bool = True  # whether a browser subscribed to push


class NoticeRules(Struct, frozen=True):
    """Plans where and when notices go. The settings are read each time: they may change."""

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
