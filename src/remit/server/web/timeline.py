"""One attempt as bars on a time axis: what was done when, and for how long."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.model.reply import AttemptOutcome
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.server.page_language import retell, say
from remit.server.web import words
from remit.server.web.task_history import Calls

MOST_BARS: Final = 40
TICKS: Final = 5
_MARKS: Final = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400)
_SHORT: Final = timedelta(seconds=10)
_NEAR_END: Final = 86.0  # percent; beyond that the label is before the bar
_ROOM: Final = 14.0  # percent that the label needs
_THINNEST: Final = 0.4  # percent


class TimelineBar(Struct, frozen=True):
    """A piece of work: from when to when, and its result."""

    label: str
    began: datetime
    ended: datetime
    kind: str = "ok"

    @property
    def took(self) -> str:
        return span(self.ended - self.began)


class PlacedBar(Struct, frozen=True):
    """A bar with its place in percent of the width."""

    bar: TimelineBar
    x: float
    width: float

    @property
    def side(self) -> str:
        """Where its label is: after it, before it, or inside if neither fits."""
        if self.x + self.width <= _NEAR_END:
            return "behind"
        return "before" if self.x >= _ROOM else "in"

    @property
    def edge(self) -> float:
        """Where its label begins or ends."""
        return self.x if self.side == "before" else self.x + self.width


class TimelineChart(Struct, frozen=True):
    rows: tuple[PlacedBar, ...]
    marks: tuple[tuple[float, str], ...]  # percent, and its label
    left_out: int
    words: str  # the same for screen readers


def chart(bars: Sequence[TimelineBar], name: str) -> TimelineChart | None:
    """Return the chart; None if there is nothing to draw."""
    if not bars:
        return None
    shown = bars[-MOST_BARS:]
    start, end = shown[0].began, max(bar.ended for bar in shown)
    step = _step(end - start)
    whole = step * TICKS
    drawn = tuple(_draw(bar, start, whole) for bar in shown)
    marks = tuple((100 * n / TICKS, span(step * n)) for n in range(TICKS + 1))
    text = ", ".join(f"{retell(bar.label)} {bar.took}" for bar in shown)
    return TimelineChart(
        drawn, marks, len(bars) - len(shown), say("Timeline of {0}: {1}", retell(name), text)
    )


def bars(
    own: Sequence[Event], ended_at: datetime | None, now: datetime, calls: Calls
) -> tuple[TimelineBar, ...]:
    """Return what one attempt did. Each piece begins where the previous one ended."""
    found: list[TimelineBar] = []
    if not own:
        return ()
    last, doing = own[0].at, _doing(own[0])
    for event in own:
        bar = _bar(event, last, calls)
        doing = _doing(event) or doing
        if bar is not None:
            found.append(bar)
            last = event.at
        if event.kind is EventKind.DELIVERY_CLAIMED:
            last = event.at
    if ended_at is None:
        found.append(TimelineBar(doing, last, max(now, last), "run"))
    return tuple(found)


def _bar(event: Event, last: datetime, calls: Calls) -> TimelineBar | None:
    if event.kind is EventKind.DELIVERY_SETTLED:
        kind = {"accepted": "ok", "retry": "you"}.get(str(event.data.get("answer")), "bad")
        return TimelineBar("Send", last, event.at, kind)
    if event.kind is EventKind.RUN_ENDED and event.data.get("outcome") in ("retry", "crashed"):
        return TimelineBar("Did not work out", last, event.at, "bad")
    if event.kind is EventKind.TASK_MOVED and event.data.get("to") == Status.FAILED:
        return TimelineBar("Failed", last, event.at, "bad")
    if event.kind is not EventKind.STEP_DONE:
        return None
    label, kind = _bar_label(str(event.data["step"]), calls)
    if "agent" in event.data:
        label = str(event.data["agent"])
        kind = "ok" if event.data.get("outcome") == AttemptOutcome.SUCCESS else "bad"
    return TimelineBar(label, last, event.at, kind) if label else None


def _bar_label(step: str, calls: Calls) -> tuple[str, str]:
    name, _, place = step.partition(":")
    if name == "may" or ":begin:" in step:
        return "", ""
    if name == "execute_tool":
        return (say("Think, turn {0}", int(place) + 1) if place.isdecimal() else "Think"), "ok"
    if name == "use":
        known = calls.get(step, ())
        return (known[-1].tool, "bad" if known[-1].failed else "run") if known else ("Tool", "run")
    return ("", "") if name in _UNSEEN else _STEPS.get(name, (name, "ok"))


def _doing(event: Event) -> str:
    """Return what is done after a move."""
    return _NOW.get(str(event.data.get("to")), "") if "to" in event.data else ""


def _draw(bar: TimelineBar, start: datetime, whole: timedelta) -> PlacedBar:
    x = 100 * (bar.began - start) / whole
    width = 100 * (bar.ended - bar.began) / whole
    return PlacedBar(bar, round(min(x, 100 - _THINNEST), 2), round(max(width, _THINNEST), 2))


def _step(length: timedelta) -> timedelta:
    """Return the smallest even distance between marks with which everything fits."""
    need = length / TICKS
    if need < timedelta(seconds=1):
        tenths = (1, 2, 5, 10)
        fits = (timedelta(milliseconds=100 * n) for n in tenths)
        return next((each for each in fits if each >= need), timedelta(seconds=1))
    seconds = next((each for each in _MARKS if timedelta(seconds=each) >= need), 0)
    days = -(-need // timedelta(days=1))
    return timedelta(seconds=seconds) if seconds else timedelta(days=days)


def span(length: timedelta) -> str:
    """Return 0.2 s, 48 s, 1 min 32 s, 3 h 5 min."""
    seconds = length.total_seconds()
    if length < _SHORT and seconds != round(seconds):
        return f"{seconds:.1f} s"
    return words.span(length)


_STEPS: Final = {
    "plan_step": ("Plan", "idle"),
    "retrieve_context": ("Recall", "idle"),
    "verify": ("Check", "ok"),
    "workspace": ("Open the folder", "idle"),
    "look": ("Look at it", "idle"),
    "contract": ("Contract", "idle"),
    "rest": ("Rest", "idle"),
    "keep_work": ("Keep", "ok"),
    "publish": ("Publish", "ok"),
    "merge": ("Merge", "ok"),
    "put_off": ("Put off", "idle"),
    "tidy": ("Tidy up", "idle"),
    "lesson": ("Lesson", "ok"),
}
_UNSEEN: Final = frozenset({"agreed", "kept_at", "diff", "owe"})  # notes, which take no time
_NOW: Final = {
    Status.RUNNING.value: "Think",
    Status.VERIFYING.value: "Check",
    Status.DELIVERING.value: "Send",
}
