"""What happened to a task as readable lines: a time, a word, a sentence."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.journal import event_words
from remit.model import deferred
from remit.model.codec import JsonMap
from remit.model.reply import AttemptOutcome
from remit.model.run import Event, EventKind
from remit.model.status import Actor, Status
from remit.server.web import task_history
from remit.server.web.task_history import Calls, ToolUse
from remit.store.events import event_text_on_behalf

_TAGS: Final = str.maketrans("\u2039\u203a", "<>")
LONGEST: Final = 4000  # characters of one line; the export has the rest


class LogKind(StrEnum):
    """Which lines are requested."""

    ALL = "all"
    TOOLS = "tools"
    THINKING = "thinking"
    ERRORS = "errors"


class LogLine(Struct, frozen=True):
    """One line of the log; `n` is its place and its anchor on the page."""

    n: int
    at: datetime
    word: str
    text: str
    show: LogKind = LogKind.ALL  # its kind, besides a plain line
    kind: str = ""  # its colour
    error: bool = False

    def fits(self, wanted: LogKind, text: str) -> bool:
        if text and text.casefold() not in f"{self.word} {self.text}".casefold():
            return False
        return (
            wanted is LogKind.ALL
            or self.show is wanted
            or (wanted is LogKind.ERRORS and self.error)
        )


def lines(events: Iterable[Event], calls: Calls) -> list[LogLine]:
    """Return every event as a line, in order, without repeating progress in its step."""
    log_lines, text = list[LogLine](), ""
    used: dict[str, int] = {}
    for event in events:
        if event.kind is EventKind.RUN_SAID:
            text += str(event.data.get("text", ""))
        line = (
            _step(event, text, calls, used) if event.kind is EventKind.STEP_DONE else _line(event)
        )
        if str(event.data.get("step", "")).startswith("execute_tool"):
            text = ""
        if line is not None:
            log_lines.append(line)
    return log_lines


def _line(event: Event) -> LogLine:
    if tell := event_words.SENTENCES.get(event.kind):
        word, kind = _LOOKS.get(event.kind, _plain)(event.data)
        text = event_words.with_stop(tell(event.data))
    else:
        word, text, kind = _TELL[event.kind](event.data, event.actor)
    if event.actor is Actor.AGENT:
        word, text = "agent", event_text_on_behalf(event, text)
    show = LogKind.THINKING if event.kind is EventKind.RUN_SAID else LogKind.ALL
    return LogLine(event.n, event.at, word, _cut(text), show, kind, kind == "bad")


def _step(event: Event, words: str, calls: Calls, used: dict[str, int]) -> LogLine | None:
    name, text = str(event.data["step"]), str(event.data.get("text", ""))
    if name.startswith("may:") or ":begin:" in name:
        return None
    if name.startswith("use:"):
        known = calls.get(name, ())
        turn = used[name] = used.get(name, -1) + 1
        tool = known[min(turn, len(known) - 1)] if known else ToolUse("tool")
        kind = "bad" if tool.failed else "run"
        words = _cut(text or "Done.")
        return LogLine(event.n, event.at, tool.tool, words, LogKind.TOOLS, kind, tool.failed)
    if "agent" in event.data:
        kind, _, ended = task_history.WORDS[AttemptOutcome(str(event.data["outcome"]))]
        ended, kind = ("Says that it is done", "run") if kind == "ok" else (ended, kind)
        whole = _cut(f"{ended}: {text}" if text else f"{ended}.")
        return LogLine(event.n, event.at, str(event.data["agent"]), whole, LogKind.TOOLS, kind)
    if name.startswith("execute_tool"):
        text = "\n".join(filter(None, (str(event.data.get("fallback_note", "")), text)))
        return _thought_line(event, text, words)
    plain = name.partition(":")[0]
    sentence = f"{event_words.STEPS.get(plain, f'Did {name}')}."
    return LogLine(event.n, event.at, _WORDS.get(plain, "step"), sentence)


def _thought_line(event: Event, text: str, words: str) -> LogLine | None:
    if "ask" in event.data:
        return LogLine(event.n, event.at, "thinking", "Cannot go on without you.", LogKind.THINKING)
    # Tags in progress texts are broken.
    same, plain = text.strip(), words.translate(_TAGS).strip()
    if same and same in plain:
        return None
    if plain and same.startswith(plain):
        text = same.removeprefix(plain)
    return LogLine(event.n, event.at, "thinking", _cut(text or "Thought."), LogKind.THINKING)


def _cut(text: str) -> str:
    text = text.strip()
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]}… ({left:,} more characters in the export)"


Told = tuple[str, str, str]  # a word, a sentence, a colour


def _creation_line(data: JsonMap, _: Actor) -> Told:
    source = str(data.get("source", "")).partition(":")[0]
    text = "You created it." if source == "manual" else f"It came in by {source}."
    return "task", text, ""


def _move_line(data: JsonMap, actor: Actor) -> Told:
    to = Status(str(data["to"]))
    note = data.get("note") or data.get("summary")
    if actor is Actor.PRIORITISE and to is Status.READY:
        return "task", f"Ready, with priority {data['priority']} by the rule {data['rule']}.", ""
    if actor is Actor.ENGINE:
        return "task", f"Started: {to.value}.", "run"
    if "crashes" in data:
        return "error", f"The process died {data['crashes']} times while it ran.", "bad"
    stands = "Not proven, goes back" if note and to is Status.RUNNING else _STANDS[to]
    text = f"{stands}: {note}" if note else f"{stands}."
    return ("error" if to is Status.FAILED else "task"), text, _COLOURS.get(to, "")


def _plain(_: JsonMap) -> tuple[str, str]:
    return "note", ""


def _update_look(data: JsonMap) -> tuple[str, str]:
    what = data.get("what")
    if deferred.deferred_sentence(data):
        return "task", "bad" if data.get("overall") == "fail" else ""
    if "wish" not in data and (what == "twin" or "task" in data):
        return "alike" if what == "twin" else "task", ""
    return "you", ""


def _settlement_look(data: JsonMap) -> tuple[str, str]:
    kind = {"accepted": "ok", "retry": "you"}.get(str(data["answer"]), "bad")
    return ("error" if kind == "bad" else "send"), kind


def _report_look(data: JsonMap) -> tuple[str, str]:
    return ("send", "ok") if data.get("answer") == "accepted" else ("error", "bad")


def _end_line(data: JsonMap, _: Actor) -> Told:
    note = data.get("note")
    if data.get("outcome") == "crashed":
        died = f"The process died here (crash {data['crashes']}); it goes on from there."
        return "error", died, "bad"
    if data.get("outcome") == "parked":
        parked = (
            f"Looked at again later: {note}" if note else "Stopped; it goes on where Remit runs."
        )
        return "task", parked, ""
    again = " It is tried again." if isinstance(data.get("due"), int) else ""
    return (
        "error",
        f"Did not work out: {event_words.with_stop(str(note or 'no reason given'))}{again}",
        "bad",
    )


def _progress_line(data: JsonMap, _: Actor) -> Told:
    done = data.get("done")
    ticked = ", ".join(str(n) for n in done) if isinstance(done, list) else ""
    text = str(data.get("text", ""))
    if ticked and not text:
        return "work", f"Did work item {ticked}.", "ok"
    return "thinking", text or "Thinks.", ""


def _decision_line(data: JsonMap, _: Actor) -> Told:
    word, kind = ("note", "") if data.get("closed") else ("you", "you")
    return word, event_words.decision_sentence(data), kind


_WORDS: Final = {"plan_step": "plan", "retrieve_context": "recall", "verify": "check"}
_STANDS: Final = {
    Status.NEW: "New",
    Status.READY: "Ready",
    Status.RUNNING: "Works on it",
    Status.VERIFYING: "Checks the work",
    Status.DELIVERING: "Sends what passed",
    Status.NEEDS_REVIEW: "Waits for you",
    Status.PAUSED: "Paused",
    Status.COMPLETED: "Completed",
    Status.FAILED: "Failed",
    Status.CANCELLED: "Cancelled",
}
_COLOURS: Final = {Status.COMPLETED: "ok", Status.FAILED: "bad", Status.NEEDS_REVIEW: "you"}
_TELL: Final[Mapping[EventKind, Callable[[JsonMap, Actor], Told]]] = {
    EventKind.TASK_CREATED: _creation_line,
    EventKind.TASK_MOVED: _move_line,
    EventKind.RUN_STARTED: lambda *_: ("task", "Goes on.", "run"),
    EventKind.RUN_ENDED: _end_line,
    EventKind.RUN_SAID: _progress_line,
    EventKind.REVIEW_OPENED: lambda data, _: ("asks", str(data["question"]), "you"),
    EventKind.REVIEW_DECIDED: _decision_line,
}
# A word and a colour for what is told the same everywhere.
_LOOKS: Final[Mapping[EventKind, Callable[[JsonMap], tuple[str, str]]]] = {
    EventKind.TASK_UPDATED: _update_look,
    EventKind.DELIVERY_CLAIMED: lambda _: ("send", "run"),
    EventKind.DELIVERY_SETTLED: _settlement_look,
    EventKind.DELIVERY_SPLIT: lambda _: ("send", ""),
    EventKind.DELIVERY_REPORTED: _report_look,
}
