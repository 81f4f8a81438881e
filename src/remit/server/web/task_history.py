"""The history of a task: its steps, times and cost; specialists; one attempt as bars."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.gate import OPEN
from remit.journal import event_words
from remit.model.codec import Json
from remit.model.reply import AttemptOutcome, SpecialistAttempt
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.server.page_language import retell, say
from remit.server.web import words


class TryRow(Struct, frozen=True):
    n: int
    agent: str
    kind: str
    icon: str
    word: str
    why: str
    failed: tuple[str, ...]
    at: datetime
    took: timedelta


def rows(found: Sequence[SpecialistAttempt], zone: tzinfo | None) -> tuple[TryRow, ...]:
    """Return each attempt, first one first."""
    return tuple(_row(n, each, zone) for n, each in enumerate(found, 1))


def _row(n: int, attempt: SpecialistAttempt, zone: tzinfo | None) -> TryRow:
    kind, icon, word = WORDS[attempt.outcome]
    at, took = attempt.started_at.astimezone(zone), attempt.ended_at - attempt.started_at
    failed = tuple(dict.fromkeys(attempt.failed))
    return TryRow(n, attempt.agent, kind, icon, word, attempt.error or "", failed, at, took)


WORDS: Final = {
    AttemptOutcome.SUCCESS: ("ok", "done", "Did it"),
    AttemptOutcome.NEEDS_OWNER: ("you", "you", "Asked you"),
    AttemptOutcome.RATE_LIMIT: ("idle", "clock", "Reached a limit"),
    AttemptOutcome.BAD_OUTPUT: ("bad", "fail", "Left nothing to check"),
    AttemptOutcome.VERIFICATION_FAILED: ("bad", "fail", "Did not pass"),
    AttemptOutcome.CONTEXT_OVERFLOW: ("bad", "fail", "Too long for it"),
    AttemptOutcome.CRASH: ("bad", "fail", "Crashed"),
    AttemptOutcome.TIMEOUT: ("bad", "clock", "Took too long"),
}


_MOST: Final = 60  # lines; the task's own page has them all
_SETTLED: Final = {
    "accepted": ("ok", "send"),
    "retry": ("idle", "clock"),
    "refused": ("bad", "fail"),
    "unknown": ("you", "alert"),
}


class TrailLine(Struct, frozen=True):
    kind: str
    icon: str
    words: str
    at: datetime


class TaskTrail(Struct, frozen=True):
    lines: tuple[TrailLine, ...]
    took: timedelta
    calls: int
    cents: int
    end: str = ""  # the note on its end
    edited: bool = False  # the owner changed the text, or where it goes, after it was checked


class ToolUse(Struct, frozen=True):
    """A tool that was used: its name, and whether it failed."""

    tool: str
    failed: bool = False


Calls = Mapping[str, Sequence[ToolUse]]  # by the step's name, one for each round


def trail(events: Sequence[Event], steps: Mapping[str, Json], cents: int) -> TaskTrail:
    """Return a task's events as readable lines; `steps` says which tools were used."""
    tools = {name: used[-1].tool for name, used in tools_used([steps]).items()}
    lines = [line for event in events for line in _lines(event, tools)]
    calls = sum(name in tools for name in _names(events))
    return TaskTrail(tuple(lines[-_MOST:]), _took(events), calls, cents, end(events))


def end(events: Sequence[Event]) -> str:
    """Return the recorded reason of a failure."""
    moved = [each.data for each in events if each.kind is EventKind.TASK_MOVED]
    return str(moved[-1].get("note") or moved[-1].get("summary") or "") if moved else ""


def _lines(event: Event, tools: Mapping[str, str]) -> Iterator[TrailLine]:
    data = event.data
    match event.kind:
        case EventKind.STEP_DONE:
            yield from _step(event, tools)
        case EventKind.REVIEW_OPENED:
            question = words.first_line(retell(str(data["question"])), 120)
            yield TrailLine("you", "you", say("Stopped and asked you: {0}", question), event.at)
        case EventKind.REVIEW_DECIDED if not data.get("closed"):
            text = words.first_line(str(data.get("text") or ""), 100)
            sentence = event_words.decision(str(data["answer"]), str(data.get("by", "owner")))
            yield TrailLine(
                "ok", "user", f"{sentence}: {text}" if text else f"{sentence}.", event.at
            )
        case EventKind.DELIVERY_SETTLED:
            kind, icon = _SETTLED.get(str(data["answer"]), ("idle", "send"))
            sentence = event_words.SETTLED.get(str(data["answer"]), "Tried to send")
            yield TrailLine(kind, icon, _because(sentence, data.get("note")), event.at)
        case EventKind.TASK_MOVED if data.get("to") == Status.FAILED:
            yield TrailLine("bad", "fail", _because("Failed", data.get("note")), event.at)
        case EventKind.RUN_ENDED if data.get("outcome") in ("crashed", "retry"):
            yield TrailLine("bad", "fail", _because("Did not work out", data.get("note")), event.at)
        case _:
            return


def _step(event: Event, tools: Mapping[str, str]) -> Iterator[TrailLine]:
    name = str(event.data["step"])
    thought, letter, _ = str(event.data.get("text") or "").partition(OPEN)
    text = words.first_line(thought, 120)
    if name in tools:
        used = say("Used {0}: {1}", tools[name], text) if text else say("Used {0}", tools[name])
        yield TrailLine("ok", "done", used, event.at)
    elif "agent" in event.data:
        kind, icon, ended = WORDS[AttemptOutcome(str(event.data["outcome"]))]
        ended, icon = ("says that it is done", "user") if kind == "ok" else (ended.lower(), icon)
        sentence = f"{event.data['agent']} {ended}"
        yield TrailLine("run" if kind == "ok" else kind, icon, _because(sentence, text), event.at)
    elif name.startswith("execute_tool") and (text or letter):
        yield TrailLine("ok", "done", text or "Wrote the text", event.at)
    elif name.partition(":")[0] == "verify":
        yield TrailLine("ok", "shield", event_words.STEPS["verify"], event.at)
    elif name == "retrieve_context":
        yield TrailLine("ok", "done", event_words.STEPS["retrieve_context"], event.at)


def tools_used(rounds: Iterable[Mapping[str, Json]]) -> dict[str, list[ToolUse]]:
    """Return which tools the steps of each round used, in order."""
    found: dict[str, list[ToolUse]] = {}
    for steps in rounds:
        for name, output in steps.items():
            if name.startswith("use:") and ":begin:" not in name:
                failed = isinstance(output, dict) and bool(output.get("failed"))
                found.setdefault(name, []).append(ToolUse(_tool_of(name, steps), failed))
    return found


def _tool_of(step: str, steps: Mapping[str, Json]) -> str:
    _, turn, n, *_ = step.split(":")
    reply = steps.get("execute_tool" if turn == "0" else f"execute_tool:{turn}")
    calls = reply.get("calls") if isinstance(reply, dict) else None
    call = calls[int(n)] if isinstance(calls, list) and int(n) < len(calls) else None
    return str(call["tool"]) if isinstance(call, dict) else "tool"


def _names(events: Sequence[Event]) -> Iterator[str]:
    return (str(each.data["step"]) for each in events if each.kind is EventKind.STEP_DONE)


def _took(events: Sequence[Event]) -> timedelta:
    """Return the time from the first start to the last event."""
    begun = next((each.at for each in events if each.kind is EventKind.STEP_DONE), None)
    return events[-1].at - begun if begun else timedelta(0)


def _because(text: str, note: Json) -> str:
    return f"{text}: {words.first_line(str(note), 120)}" if note else f"{text}."


# One attempt as bars on a time axis: what was done when, and for how long -------------------------

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
        return time_span(self.ended - self.began)


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
    step = _step_of_marks(end - start)
    whole = step * TICKS
    drawn = tuple(_draw(bar, start, whole) for bar in shown)
    marks = tuple((100 * n / TICKS, time_span(step * n)) for n in range(TICKS + 1))
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


def _step_of_marks(length: timedelta) -> timedelta:
    """Return the smallest even distance between marks with which everything fits."""
    need = length / TICKS
    if need < timedelta(seconds=1):
        tenths = (1, 2, 5, 10)
        fits = (timedelta(milliseconds=100 * n) for n in tenths)
        return next((each for each in fits if each >= need), timedelta(seconds=1))
    seconds = next((each for each in _MARKS if timedelta(seconds=each) >= need), 0)
    days = -(-need // timedelta(days=1))
    return timedelta(seconds=seconds) if seconds else timedelta(days=days)


def time_span(length: timedelta) -> str:
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
