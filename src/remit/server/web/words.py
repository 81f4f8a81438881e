"""Words of the pages: statuses, channels, sources, money and time."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.plan import ItemStatus, WorkItem
from remit.model.status import Reason, Status
from remit.model.task import SourceKind, Task


class StatusLook(Struct, frozen=True):
    """A status has an icon, a word and a colour, never colour alone."""

    kind: str  # the colour: you, run, ok, bad, plan, idle
    word: str
    icon: str


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
_READING: Final = StatusLook("run", "Being read", "run")
_PLANNED: Final = StatusLook("plan", "Scheduled", "clock")
_ICONS: Final = {"whatsapp": "wa", "email": "mail", "dashboard": "screen", "webhook": "link"}
_SOURCES: Final = {
    SourceKind.CALDAV: ("calendar", "Calendar"),
    SourceKind.CONVERSATION: ("chat", "Conversation"),
    SourceKind.WEBHOOK: ("link", "Webhook"),
    SourceKind.MANUAL: ("user", "By hand"),
    SourceKind.EMAIL: ("mail", "Email"),
    SourceKind.WHATSAPP: ("wa", "WhatsApp"),
    SourceKind.AGENT: ("bolt", "Agent"),
}
# All icons a row may show, so that a page defines each once.
ICONS: Final = (
    *sorted(
        {each.icon for each in (*_STATES.values(), _ASKS, _LOOK, _PLANNED)}
        | {*_ICONS.values(), "send", "shield"}
        | {icon for icon, _ in _SOURCES.values()}
    ),
)


def state(task: Task) -> StatusLook:
    """Return a task's state, in one word."""
    if task.pending_reading is not None and task.status is Status.NEW:
        return _READING
    if task.status is Status.NEW and task.gaps:
        return _ASKS
    if task.status is Status.NEEDS_REVIEW and task.reason is Reason.DELIVERABLE:
        return _LOOK
    if task.status is Status.READY and task.scheduled_for is not None:
        return _PLANNED
    return _STATES[task.status]


def channel_icon(channel: str) -> str:
    """Return the icon by kind, or by the word in the name (`ninas_whatsapp`)."""
    return next((icon for word, icon in _ICONS.items() if word in channel), "send")


def source(task: Task) -> tuple[str, str]:
    """Return its icon and its word."""
    return _SOURCES[task.source.kind]


def done(work: tuple[WorkItem, ...]) -> int:
    return sum(item.status is ItemStatus.COMPLETED for item in work)


def money(cents: float | None) -> str:
    return "" if cents is None else f"${cents / 100:,.2f}"


def count(number: int) -> str:
    return f"{number:,}"


def first_line(text: str | None, most: int = 160) -> str:
    lines = (text or "").strip().splitlines()
    line = lines[0] if lines else ""
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def clock(at: datetime) -> str:
    return f"{at:%H:%M}"


def day(at: datetime, now: datetime) -> str:
    """Return Today 08:15, Yesterday 08:15, Mon 3 Mar 08:15."""
    apart = (at.date() - now.date()).days
    near = {0: "Today", -1: "Yesterday", 1: "Tomorrow"}
    if apart in near:
        return f"{near[apart]} {at:%H:%M}"
    year = "" if at.year == now.year else f" {at.year}"
    return f"{at:%a} {at.day} {at:%b}{year} {at:%H:%M}"


def ago(at: datetime, now: datetime) -> str:
    """Return 4 min ago, in 12 min, now. The browser's script says the same."""
    seconds = round((now - at).total_seconds())
    near = span(timedelta(seconds=abs(seconds)), rough=True)
    if abs(seconds) < _NOW:
        return "now"
    return f"{near} ago" if seconds > 0 else f"in {near}"


def span(length: timedelta, *, rough: bool = False) -> str:
    """Return 48 s, 1 min 32 s, 3 h, 2 days; `rough`: only the largest unit."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, _MINUTE)
    if minutes < _MINUTE:
        return f"{minutes} min" if rough or not rest else f"{minutes} min {rest} s"
    hours, rest = divmod(minutes, _MINUTE)
    if hours < _DAY:
        return f"{hours} h" if rough or not rest else f"{hours} h {rest} min"
    days = hours // _DAY
    return "1 day" if days == 1 else f"{days} days"


_NOW: Final = 20  # seconds
_MINUTE: Final = 60
_DAY: Final = 24
