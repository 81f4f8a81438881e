"""Words of the pages: statuses, channels, sources, money; times, shown and typed."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import distance
from remit.model.contract import ContractType, ItemStatus, Result, WorkItem
from remit.model.proof import NOT_VERIFIED, is_unverified
from remit.model.status import Reason, Status
from remit.model.task import SourceKind, Task
from remit.server.page_language import say


class StatusLook(Struct, frozen=True):
    """A status has an icon, a word and a colour, never colour alone."""

    kind: str  # the colour: you, run, ok, bad, plan, idle
    word: str
    icon: str


_FORM: Final = frozenset({"form", "no-placeholder", "no-padding", "language"})
_MARKS: Final = re.compile(r"^(?:#{1,6}|[-*+>]) +|\*\*|\B\*(?=\w)|(?<=\w)\*\B")
_ASKS: Final = StatusLook("you", "Needs you", "you")
_LOOK: Final = StatusLook("you", "Needs review", "eye")
_STATES: Final = {
    Status.NEW: StatusLook("idle", "Pending", "pend"),
    Status.READY: StatusLook("idle", "Pending", "pend"),
    Status.RUNNING: StatusLook("run", "Running", "run"),
    Status.VERIFYING: StatusLook("run", "Verifying", "run"),
    Status.DELIVERING: StatusLook("run", "Sending", "run"),
    Status.NEEDS_REVIEW: _ASKS,
    Status.PAUSED: StatusLook("idle", "Paused", "pause"),
    Status.COMPLETED: StatusLook("ok", "Completed", "done"),
    Status.FAILED: StatusLook("bad", "Failed", "fail"),
    Status.CANCELLED: StatusLook("idle", "Cancelled", "x"),
}
_STOPPING: Final = StatusLook("idle", "Stopping", "x")
_READING: Final = StatusLook("run", "Being read", "run")
_PLANNED: Final = StatusLook("plan", "Scheduled", "clock")
# By a word in a channel's name: its icon, its name, and how something goes there.
CHANNELS: Final = {
    "whatsapp": ("wa", "WhatsApp", "on WhatsApp"),
    "telegram": ("send", "Telegram", "on Telegram"),
    "email": ("mail", "Email", "by email"),
    "dashboard": ("screen", "Dashboard", "on the dashboard"),
    "webhook": ("link", "Webhook", "by webhook"),
}
_SOURCES: Final = {
    SourceKind.CALDAV: ("calendar", "Calendar"),
    SourceKind.CONVERSATION: ("chat", "Conversation"),
    SourceKind.WEBHOOK: ("link", "Webhook"),
    SourceKind.MANUAL: ("user", "By hand"),
    SourceKind.EMAIL: ("mail", "Email"),
    SourceKind.WHATSAPP: ("wa", "WhatsApp"),
    SourceKind.AGENT: ("bolt", "Agent"),
}
_OWN_REF: Final = "reflect:"  # Remit's own look at how its tasks ended
# All icons a row may show, so that a page defines each once.
ICONS: Final = (
    *sorted(
        {each.icon for each in (*_STATES.values(), _ASKS, _LOOK, _PLANNED)}
        | {icon for icon, *_ in (*CHANNELS.values(), *_SOURCES.values())}
        | {"send", "shield"}
    ),
)


def state(task: Task) -> StatusLook:
    """Return a task's state, in one word."""
    special = {
        _STOPPING: task.cancel_requested and not task.ended,
        _READING: task.pending_reading is not None and task.status is Status.NEW,
        _ASKS: task.status is Status.NEW and bool(task.gaps),
        _LOOK: task.status is Status.NEEDS_REVIEW and task.reason is Reason.DELIVERABLE,
        _PLANNED: task.status is Status.READY and task.scheduled_for is not None,
    }
    return next((look for look, holds in special.items() if holds), _STATES[task.status])


def verified_words(task: Task, *, edited: bool = False) -> str:
    """Return what was verified, in a few words; never more than was checked.

    `edited`: the owner changed the text after it was checked.
    """
    if task.verdict is None:
        advisory = task.contract is not None and task.contract.type is ContractType.ADVISORY
        return say(NOT_VERIFIED) if advisory else ""
    found = [each for each in task.verdict.findings if each.result is not Result.SKIPPED]
    failed = sum(each.result is Result.FAIL for each in found)
    if failed and not edited:
        return say("{0} of {1} checks failed", failed, len(found))
    if not found or edited or is_unverified(task):
        return say(NOT_VERIFIED)
    if all(each.activity in _FORM for each in found):
        return say("Form checked")
    return say("1 check passed") if len(found) == 1 else say("{0} checks passed", len(found))


def channel_icon(channel: str) -> str:
    """Return the icon by kind, or by the word in the name (`ninas_whatsapp`)."""
    return next((icon for word, (icon, *_) in CHANNELS.items() if word in channel), "send")


def source(task: Task) -> tuple[str, str]:
    """Return its icon and its word."""
    if task.source.ref.startswith(_OWN_REF) and task.source.kind is SourceKind.MANUAL:
        return "bolt", say("Remit itself")
    icon, word = _SOURCES[task.source.kind]
    return icon, say(word)


def count_done(work: tuple[WorkItem, ...]) -> int:
    return sum(item.status is ItemStatus.COMPLETED for item in work)


def money(cents: float | None) -> str:
    return "" if cents is None else f"${cents / 100:,.2f}"


def count(number: int) -> str:
    return f"{number:,}"


def first_line(text: str | None, most: int = 160) -> str:
    lines = (text or "").strip().splitlines()
    line = lines[0] if lines else ""
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def teaser(text: str | None, most: int = 160) -> str:
    """Return the first line without the marks of Markdown."""
    return _MARKS.sub("", first_line(text, most))


def clock(at: datetime) -> str:
    return f"{at:%H:%M}"


def date_words(at: date, form: str) -> str:
    """Return a date in the form of strftime; names of days and months in the reader's language."""
    return at.strftime(_NAME.sub(lambda found: say(at.strftime(found[0])), form))


def day(at: datetime, now: datetime) -> str:
    """Return Today 08:15, Yesterday 08:15, Mon 3 Mar 08:15."""
    apart = (at.date() - now.date()).days
    if apart in _NEAR:
        return f"{say(_NEAR[apart])} {at:%H:%M}"
    year = "" if at.year == now.year else f" {at.year}"
    return date_words(at, f"%a {at.day} %b{year} %H:%M")


def moment(at: datetime, now: datetime) -> str:
    """Return the same inside a sentence: today at 08:15."""
    apart = (at.date() - now.date()).days
    return say(_NEAR_IN_SENTENCE[apart], clock(at)) if apart in _NEAR else day(at, now)


def ago(at: datetime, now: datetime) -> str:
    """Return 4 min ago, in 12 min, now. The browser's script says the same."""
    if abs(round((now - at).total_seconds())) < _NOW:
        return say("now")
    many, unit = distance(at, now)
    near = _days(many) if unit == "d" else f"{many} {unit}"
    return say("in {0}", near) if at > now else say("{0} ago", near)


def check_to_come(at: datetime, now: datetime, field: str) -> None:
    """Refuse a time that is over on the owner's clock."""
    if at <= now:
        when = date_words(at, f"{at.day} %B %Y %H:%M")
        raise BadInput(
            say("{0} is over in {1}; choose a later time.", when, now.tzinfo), field=field
        )


def wall(text: str, zone: tzinfo, field: str = "to") -> datetime:
    """Parse a wall time of the owner; one that does not exist is refused."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        sentence = f"{text!r:.40} is no time; one looks like 2026-03-02T08:30."
        raise BadInput(sentence, field=field) from None
    if moment.tzinfo is not None:
        return moment
    there = moment.replace(tzinfo=zone)
    if there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != moment:
        sentence = f"{moment:%H:%M} is left out on {moment:%d %B %Y}: the clocks go forward then."
        raise BadInput(sentence, field=field)
    return there


def span(length: timedelta) -> str:
    """Return 48 s, 1 min 32 s, 3 h, 2 days."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(minutes, _MINUTE)
    if hours < _DAY:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return _days(hours // _DAY)


def _days(days: int) -> str:
    return say("1 day") if days == 1 else say("{0} days", days)


_NOW: Final = 20  # seconds
_MINUTE: Final = 60
_DAY: Final = 24
_NEAR: Final = {0: "Today", -1: "Yesterday", 1: "Tomorrow"}
_NEAR_IN_SENTENCE: Final = {0: "today at {0}", -1: "yesterday at {0}", 1: "tomorrow at {0}"}
_NAME: Final = re.compile("%[aAbB]")
