"""`remit why`: which rule set a task's priority, and how it got its status."""

import os
from datetime import datetime
from typing import Final

from remit.cli import clock, event_text, out, proof, words
from remit.cli.database import database_of
from remit.cli.out import AsJson, Id, StyledText
from remit.model.codec import Json, JsonMap, stamp, to_json
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.model.run import Event
from remit.model.status import Status
from remit.model.task import Task
from remit.model.view import limit_sentences
from remit.store import events, reviews, tasks
from remit.store.database import Tx
from remit.store.read_only import glance

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
    """Say why a task has its priority and its state, step by step, from the journal."""
    with glance(database_of(os.environ)) as tx:
        task_id = words.find_task(tx, id)
        task, happened = tasks.get(tx, task_id), events.of_task(tx, task_id)
        now, rank, proven = clock.now(), _priority(task), list(proof.proof_sentences(tx, task))
        because = _state_sentence(task, _open(tx, task_id), now)
        if json:
            steps: list[Json] = [_event_json(event) for event in happened]
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
        for sentence in (*limit_sentences(task), *proven):
            out.line(sentence)
        out.line()
        for event in happened:
            out.line(StyledText(f"{words.local(event.at)}  ", "dim"), event_text.styled(event))
    return 0


def _open(tx: Tx, task_id: TaskId) -> Review | None:
    asked = (r for r in reviews.of_task(tx, task_id) if r.decision is None)
    return next(asked, None)


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
        return f"It is planned for {words.planned(planned, now)}."
    if task.ended and task.result_summary:
        return f"It is {task.status.value}: {task.result_summary}"
    tries = f", after {words.count(task.attempts, 'failed attempt')}" if task.attempts else ""
    return f"It is {words.status_word(task.status)}{tries}{_STANDS.get(task.status, '')}."


def _event_json(event: Event) -> Json:
    return {
        "at": stamp(event.at),
        "actor": event.actor.value,
        "event": event.kind.value,
        "said": event_text.sentence(event),
    }
