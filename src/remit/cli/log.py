"""`remit log` and `remit why`: what happened to a task, and why it stands where it stands."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Final

from remit.cli import clock, out, proof, words
from remit.cli.lookup import PAUSE, EventWatch, database_of
from remit.cli.out import AsJson, Id, StyledText, flag
from remit.journal import event_words
from remit.model.codec import Json, JsonMap, moment, pick_fields, to_json
from remit.model.reply import AttemptOutcome
from remit.model.review import Review
from remit.model.run import Event, EventKind
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.model.view import limit_sentences
from remit.store import events, reviews, rows, tasks
from remit.store.events import event_text_on_behalf
from remit.store.read_only import open_read_only


def log(
    id: Id,  # noqa: A002 - the argument is called so
    /,
    *,
    follow: Annotated[bool, flag("Follow until the task has ended.", "--follow", "-f")] = False,
    json: AsJson = False,
) -> int:
    """Print what happened to a task, line by line."""
    with open_read_only(database_of(os.environ)) as tx:
        watch = EventWatch(tx, words.find_task(tx, id), _emit if json else _Printer())
        while True:
            task = watch.poll()
            if not follow or (task is not None and task.ended):
                return 0
            clock.pause(PAUSE)


def _emit(event: Event) -> None:
    from remit.journal.follow import record  # noqa: PLC0415 - loads asyncio

    out.emit(record(event))


class _Printer:
    """Prints one line per event, and below it what was said, without repeating."""

    def __init__(self) -> None:
        self._heard: Json = None  # the run whose progress was printed

    def __call__(self, event: Event) -> None:
        head, *rest = sentence(event).splitlines() or [""]
        style = styled_sentence(event).style
        when = words.local(event.at)
        out.line(StyledText(f"{when}  {_actor(event):<10}  ", "dim"), StyledText(head, style))
        for each in (*rest, *self._text_of(event).strip().splitlines()):
            out.line(" " * (len(when) + 14), each)

    def _text_of(self, event: Event) -> str:
        text, run = str(event.data.get("text", "")), event.data.get("run")
        if event.kind is EventKind.RUN_SAID:
            self._heard = run if text else self._heard
            return text
        if event.kind is not EventKind.STEP_DONE:
            return ""
        streamed, self._heard = self._heard, None
        return "" if text and streamed == run else text


_STANDS: Final = {
    Status.NEW: ": no Remit has looked at it yet; `remit up` starts one",
    Status.READY: ", and starts as soon as a Remit runs and has a place free",
    Status.PAUSED: "; `remit resume` lets it go on",
}


def why(
    id: Id,  # noqa: A002 - the argument is called so
    /,
    *,
    json: AsJson = False,
) -> int:
    """Explain the priority and status of a task, step by step, from the journal."""
    with open_read_only(database_of(os.environ)) as tx:
        task_id = words.find_task(tx, id)
        task, happened = tasks.get(tx, task_id), events.of_task(tx, task_id)
        now, rank, proven = clock.now(), _priority(task), list(proof.proof_sentences(tx, task))
        because = _state_sentence(task, reviews.waiting_of(tx, task_id), now)
        if json:
            steps: list[Json] = [
                {**pick_fields(each, "at actor"), "event": each.kind.value, "said": sentence(each)}
                for each in happened
            ]
            priority: Json = {"said": rank, "rule": to_json(task.rule)}
            state: Json = {"said": because, "status": task.status.value}
            shown: Json = {"said": list[Json](proven), **proof.facts(tx, task)}
            limits: Json = list[Json](limit_sentences(task))
            found: JsonMap = {"task": task_id, "priority": priority, "state": state, "proof": shown}
            out.emit(found | {"limits": limits, "steps": steps})
            return 0
        out.line(StyledText(task.title, "bold"))
        out.line(because)
        out.line(rank)
        for text in (*limit_sentences(task), *proven):
            out.line(text)
        out.line()
        for event in happened:
            out.line(StyledText(f"{words.local(event.at)}  ", "dim"), styled_sentence(event))
    return 0


def _priority(task: Task) -> str:
    if task.rule is None:
        return f"Its priority is {task.priority.value} for now: no rule has looked at it yet."
    name, because = task.rule.name, task.rule.because
    return f"Its priority is {task.priority.value} by the rule {name!r}: {because}."


def _state_sentence(task: Task, asks: Review | None, now: datetime) -> str:
    """Return why it has its status, in one sentence."""
    planned = task.scheduled_for
    if asks is not None:
        return f"It waits for you ({asks.reason.value}): {asks.question}"
    if task.pending_reading is not None and task.status is Status.NEW:
        return "Its words are not read yet; a model reads them as soon as a Remit runs."
    if task.status in (Status.NEW, Status.READY) and planned and planned > now:
        return f"It is planned for {words.planned_words(planned, now)}."
    if task.ended and task.result_summary:
        return f"It is {task.status.value}: {task.result_summary}"
    tries = f", after {words.count(task.attempts, 'failed attempt')}" if task.attempts else ""
    return f"It is {words.status_word(task.status)}{tries}{_STANDS.get(task.status, '')}."


_STYLE: Final = {
    "completed": "green",
    "failed": "red",
    "needs_review": "yellow",
    "cancelled": "dim",
}


def sentence(event: Event) -> str:
    """Return what happened, for a person."""
    tell = event_words.SENTENCES.get(event.kind)
    text = event_words.with_stop(tell(event.data)) if tell else _TELL[event.kind](event)
    return event_text_on_behalf(event, text)


def styled_sentence(event: Event) -> StyledText:
    """Return the same, coloured by its meaning."""
    if event.kind is EventKind.STEP_DONE:
        return StyledText(sentence(event), "dim")
    moved = event.data.get("to") if event.kind is EventKind.TASK_MOVED else None
    return StyledText(sentence(event), _STYLE.get(str(moved), ""))


def _creation_sentence(event: Event) -> str:
    source = str(event.data.get("source", ""))
    kind = source.partition(":")[0]
    by = "You created it" if kind == "manual" else f"It came in by {kind}"
    planned = event.data.get("scheduledFor")
    return f"{by}, for {words.local(moment(str(planned)))}." if planned else f"{by}."


def _move_sentence(event: Event) -> str:
    data, to = event.data, Status(str(event.data["to"]))
    if event.actor is Actor.PRIORITISE and to is Status.READY:
        return f"Ready, with priority {data['priority']} (rule: {data['rule']})."
    if event.actor is Actor.ENGINE:
        return f"Started: {words.status_word(to)}."
    if event.actor in (Actor.OWNER, Actor.AGENT):
        return _order_sentence(data, to)
    return _end_sentence(data, to)


def _order_sentence(data: JsonMap, to: Status) -> str:
    match to:
        case Status.PAUSED:
            return event_words.with_stop(f"Paused{_because(data)}")
        case Status.CANCELLED:
            return event_words.with_stop(f"Cancelled{_because(data)}")
        case Status.NEEDS_REVIEW:
            return event_words.with_stop(f"Waits for you{_because(data)}")
        case _:
            return f"May go on: {words.status_word(to)}."


def _end_sentence(data: JsonMap, to: Status) -> str:
    text = data.get("note") or data.get("summary")
    if "crashes" in data:
        text = f"the process died {data['crashes']} times while it ran"
    if to is Status.NEEDS_REVIEW:
        return event_words.with_stop(f"Waits for you{_because(data)}")
    word = words.status_word(to).capitalize()
    if to is Status.RUNNING and text:
        word = "Not proven, goes back"
    return event_words.with_stop(f"{word}: {text}" if text else word)


def _actor(event: Event) -> str:
    """Return who did it; what Remit decided itself is stored under the owner's name."""
    by = event.data.get("by")
    is_own = isinstance(by, str) and event_words.went_on_by_itself(by)
    return "remit" if is_own else event.actor.value


def _run_ended(event: Event) -> str:
    data = event.data
    match data.get("outcome"):
        case "crashed":
            return f"The process died here (crash {data['crashes']}); it goes on from there."
        case "parked" if data.get("note"):
            return event_words.with_stop(f"It is looked at again later{_because(data)}")
        case "parked":
            return "Its process was stopped; it goes on where Remit runs."
        case _:
            due = data.get("due")
            again = (
                f" Next try at {words.clock(rows.parse_time(due))}." if isinstance(due, int) else ""
            )
            return event_words.with_stop(f"Did not work out{_because(data)}") + again


def _step(event: Event) -> str:
    if "ask" in event.data:
        return "Cannot go on without you."
    name, _, turn = str(event.data["step"]).partition(":")
    if (note := event_words.step_note(event.data)) is not None:
        return note
    if "agent" in event.data:
        return event_words.with_stop(f"{event.data['agent']} {_attempt_text(event.data)}")
    text = event_words.STEPS.get(name, f"Did {name}")
    recalled = event.data.get("recalled")
    if isinstance(recalled, list) and recalled:
        return f"{text}: {', '.join(map(str, recalled))}."
    nth = "turn" if name == "execute_tool" else "try"
    return f"{text}, {nth} {int(turn) + 1}." if turn.isdecimal() else f"{text}."


def _attempt_text(data: JsonMap) -> str:
    outcome = AttemptOutcome(str(data["outcome"]))
    # A claim counts only as far as it is verified.
    ended = "says that it is done" if outcome is AttemptOutcome.SUCCESS else proof.ENDED[outcome]
    text = str(data.get("text", "")).strip().partition("\n")[0]
    return f"{ended}: {text}" if text else ended


def _progress(event: Event) -> str:
    ticked = event.data.get("done")
    items = [str(n) for n in ticked] if isinstance(ticked, list) else []
    return f"Did work item {', '.join(items)}." if items else "Thinks aloud."


def _review_opened(event: Event) -> str:
    return f"Asks you ({event.data['reason']}): {event.data['question']}"


def _because(data: JsonMap) -> str:
    note = data.get("note")
    return f": {note}" if note else ""


_TELL: Final[Mapping[EventKind, Callable[[Event], str]]] = {
    EventKind.TASK_CREATED: _creation_sentence,
    EventKind.TASK_MOVED: _move_sentence,
    EventKind.RUN_STARTED: lambda event: (
        f"Goes on: {words.status_word(Status(str(event.data['to'])))}."
    ),
    EventKind.RUN_ENDED: _run_ended,
    EventKind.RUN_SAID: _progress,
    EventKind.STEP_DONE: _step,
    EventKind.REVIEW_OPENED: _review_opened,
    EventKind.REVIEW_DECIDED: lambda event: event_words.decision_sentence(event.data),
}
