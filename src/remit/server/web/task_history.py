"""The history of a task (steps, times, cost), specialists' attempts, the state of a question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from remit.gate import OPEN
from remit.journal import event_words
from remit.model.codec import Json
from remit.model.delivery import DeliveryStatus
from remit.model.reply import AttemptOutcome, SpecialistAttempt
from remit.model.review import Review, ReviewAnswer, Undo
from remit.model.run import Event, EventKind
from remit.model.status import Status
from remit.model.task import Task
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


class ReviewState(Struct, frozen=True):
    """`left` is how many seconds it can be undone; `back`: it was undone."""

    over: bool
    words: str = ""
    kind: str = "idle"
    icon: str = "done"
    left: int = 0
    back: bool = False


def review_state(review: Review, task: Task, undo: Undo, now: datetime) -> ReviewState:
    """Return the state of a question, in a sentence for whoever has it open."""
    decision = review.decision
    if decision is None:
        return _open(review, task, now)
    at = (decision.decided_at or now).astimezone(now.tzinfo)
    who = event_words.decision(decision.answer, decision.by)
    text = f"{retell(who)}, {words.moment(at, now)}."
    if task.status is Status.PAUSED and task.resume_to is Status.DELIVERING:
        return ReviewState(
            True, f"{text} {say('You called it back: nothing was sent.')}", "you", "back", back=True
        )
    due = undo.due(task, review, decision, at)
    waits = task.status is Status.DELIVERING or task.cancel_requested
    left = round((due - now).total_seconds()) if waits else 0
    if decision.answer is ReviewAnswer.DECLINE:
        return ReviewState(
            True, f"{text} {say('Nothing was sent.')}", "idle", "x", left=max(0, left)
        )
    since = "It goes out in a moment." if left > 0 else _since(task)
    return ReviewState(True, f"{text} {say(since)}", "ok", left=max(0, left))


def ended_state(task: Task, ended: datetime) -> ReviewState:
    """Return the state of an ended task: it waits to be seen."""
    seen = task.seen_at is not None
    return ReviewState(
        seen, say("You have seen this. It ended {0}.", f"{ended:%H:%M}") if seen else ""
    )


def _open(review: Review, task: Task, now: datetime) -> ReviewState:
    if task.ended:
        return ReviewState(
            True, say("The task is {0}; nothing is asked any more.", task.status.value)
        )
    later = review.later_until
    if later is not None and later > now:
        back = words.moment(later.astimezone(now.tzinfo), now)
        return ReviewState(False, say("Postponed. It comes back: {0}.", back), "plan", "snooze")
    if review.draft is not None:
        return ReviewState(False, say("You called it back: nothing was sent."), "you", "back")
    return ReviewState(False)


_SINCE: Final = {
    Status.FAILED: "The task failed since.",
    Status.DELIVERING: "It is on its way.",
    Status.CANCELLED: "The task was cancelled since.",
}


def _since(task: Task) -> str:
    """Return what came of it since."""
    if task.status is Status.COMPLETED:
        sent = any(each.status is DeliveryStatus.SENT for each in task.delivery)
        return "It was sent." if sent else "The task is completed."
    return _SINCE.get(task.status, "The task goes on.")
