"""The history of a task up to its current status: steps, times, durations, cost."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.gate import OPEN
from remit.journal import event_words
from remit.model.codec import Json
from remit.model.event import Event, EventKind
from remit.model.specialist import AttemptOutcome
from remit.model.status import Status
from remit.server.web import specialist_tries, words

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


def trail(events: Sequence[Event], steps: Mapping[str, Json], cents: int) -> TaskTrail:
    """Return a task's events as readable lines; `steps` says which tools were used."""
    tools = dict(_tools(steps))
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
            question = words.first_line(str(data["question"]), 120)
            yield TrailLine("you", "you", f"Stopped and asked you: {question}", event.at)
        case EventKind.REVIEW_DECIDED if not data.get("closed"):
            text = words.first_line(str(data.get("text") or ""), 100)
            said = event_words.decision(str(data["answer"]))
            yield TrailLine("ok", "user", f"{said}: {text}" if text else f"{said}.", event.at)
        case EventKind.DELIVERY_SETTLED:
            kind, icon = _SETTLED.get(str(data["answer"]), ("idle", "send"))
            said = event_words.SETTLED.get(str(data["answer"]), "Tried to send")
            yield TrailLine(kind, icon, _because(said, data.get("note")), event.at)
        case EventKind.TASK_MOVED if data.get("to") == Status.FAILED:
            yield TrailLine("bad", "fail", _because("Failed", data.get("note")), event.at)
        case EventKind.RUN_ENDED if data.get("outcome") in ("crashed", "retry"):
            yield TrailLine("bad", "fail", _because("Did not work out", data.get("note")), event.at)
        case _:
            return


def _step(event: Event, tools: Mapping[str, str]) -> Iterator[TrailLine]:
    name = str(event.data["step"])
    thought, letter, _ = str(event.data.get("text") or "").partition(OPEN)
    said = words.first_line(thought, 120)
    if name in tools:
        used = f"Used {tools[name]}: {said}" if said else f"Used {tools[name]}"
        yield TrailLine("ok", "done", used, event.at)
    elif "agent" in event.data:
        kind, icon, ended = specialist_tries.WORDS[AttemptOutcome(str(event.data["outcome"]))]
        ended, icon = ("says that it is done", "user") if kind == "ok" else (ended.lower(), icon)
        told = f"{event.data['agent']} {ended}"
        yield TrailLine("run" if kind == "ok" else kind, icon, _because(told, said), event.at)
    elif name.startswith("execute_tool") and (said or letter):
        yield TrailLine("ok", "done", said or "Wrote the text", event.at)
    elif name.partition(":")[0] == "verify":
        yield TrailLine("ok", "shield", event_words.STEPS["verify"], event.at)
    elif name == "retrieve_context":
        yield TrailLine("ok", "done", event_words.STEPS["retrieve_context"], event.at)


def _tools(steps: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield which tool each step used: a reply lists its calls, in order."""
    for name, output in steps.items():
        calls = output.get("calls") if isinstance(output, dict) else None
        turn = name.partition(":")[2] or "0"
        for n, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                yield f"use:{turn}:{n}", str(call.get("tool"))
                yield f"use:{turn}:{n}:0", str(call.get("tool"))


def _names(events: Sequence[Event]) -> Iterator[str]:
    return (str(each.data["step"]) for each in events if each.kind is EventKind.STEP_DONE)


def _took(events: Sequence[Event]) -> timedelta:
    """Return the time from the first start to the last event."""
    begun = next((each.at for each in events if each.kind is EventKind.STEP_DONE), None)
    return events[-1].at - begun if begun else timedelta(0)


def _because(said: str, note: Json) -> str:
    return f"{said}: {words.first_line(str(note), 120)}" if note else f"{said}."
