"""What was understood: when it runs, to whom it goes, and what became of every clause."""

import os
from collections.abc import Collection, Sequence
from typing import Final, cast
from zoneinfo import ZoneInfo

from remit.cli import clock, find, out, words
from remit.cli.contact_book import contacts_of
from remit.cli.out import Ink, Piece
from remit.intake import zone as zones
from remit.intake.permits import asks_first
from remit.model import rhythm
from remit.model.codec import JsonMap, moment
from remit.model.ids import TaskId
from remit.model.review import Answered
from remit.model.task import Task
from remit.settings import Settings
from remit.store import permissions, tasks
from remit.store.glance import glance

NO_TASK: Final = {
    "question": "It is a question; nothing was asked to be done.",
    "thanks": "You are welcome.",
    "greeting": "Hello. Say what is to be done.",
    "statement": "Noted by nobody: it tells something and asks for nothing.",
    "control": "It is about a task that is there: see `remit ls`, `remit cancel`, `remit pause`.",
    "chatter": "It asks for nothing to be done.",
}

_READS: Final = "The model reads it now; with --wait you see here what it becomes."
_READS_LATER: Final = "The model reads it as soon as Remit is up."


def show(settings: Settings, told: JsonMap, *, serves: bool, read: bool) -> None:
    """Print the receipt; `read` says that words were read, so that each clause is accounted for."""
    zone = zones.owners(settings.zone, os.environ).zone
    shown = [TaskId(str(each["id"])) for each in maps(told, "tasks")]
    with glance(settings.database) as tx:
        found = [tasks.get(tx, task_id) for task_id in shown]
        refs = {task_id: find.short(tx, task_id) for task_id in shown}
        standing = permissions.every(tx)
    contacts = contacts_of(settings)
    for n, task in enumerate(found):
        if n:
            out.line()
        if task.pending_reading is not None:
            _being_read(task, serves=serves)
            continue
        asks = {each.id for each in task.delivery if asks_first(task, each, contacts, standing)}
        rows = _rows(task, zone, asks, serves=serves)
        out.table(rows[:-1] + (_clauses(told, task.id) if read else []) + rows[-1:])
    if not found:
        _nothing(told)
    _questions(told)
    for sentence in cast("Sequence[str]", told.get("alike", ())):
        out.line(Ink(sentence, "yellow"))
    for task in found:
        out.say(Ink(f"See it with: remit show {refs[task.id]}", "dim"))


def _being_read(task: Task, *, serves: bool) -> None:
    out.line("Your message is stored. ", _READS if serves else _READS_LATER)
    out.table([[Ink("Task", "dim"), Ink(task.title, "bold")], [Ink("Id", "dim"), str(task.id)]])


def rehearse(told: JsonMap, zone: ZoneInfo) -> None:
    """Print what would become of a message."""
    for draft in maps(told, "tasks"):
        out.line(Ink(str(draft["title"]), "bold"))
        if draft["scheduled_for"]:
            out.line("  at ", zones.shown(moment(str(draft["scheduled_for"])), zone))
        for clause in maps(draft, "clauses"):
            out.line("  ", Ink(f"{clause['became'] or 'asked':<11}", "dim"), str(clause["text"]))
    if not told["tasks"]:
        _nothing(told)
    _questions(told)


def maps(told: JsonMap, name: str) -> list[JsonMap]:
    """A list of objects in what was told."""
    return cast("list[JsonMap]", told[name])


def _rows(
    task: Task, zone: ZoneInfo, asks: Collection[str | None], *, serves: bool
) -> list[list[Piece]]:
    """What was understood, when it runs, to whom it goes; `asks` are the sends asked about."""
    rows: list[list[Piece]] = [[Ink("Task", "dim"), Ink(task.title, "bold")]]
    if task.plan.precomposed:
        rows.append([Ink("Work", "dim"), "none: your text goes out as it is"])
    rows += [[Ink("Work", "dim"), item.description] for item in task.work]
    for delivery in task.delivery:
        rows.append([Ink("Goes to", "dim"), words.to_whom(delivery)])
        if delivery.content is not None:
            rows.append([Ink("Text", "dim"), delivery.content])
        if delivery.id in asks:
            rows.append([Ink("", ""), "you are asked before it is sent"])
    rows += [[Ink("Limit", "dim"), each.words] for each in task.conditions]
    rows.append([Ink("Runs", "dim"), _when(task, zone, serves=serves)])
    if task.repeats is not None:
        rows.append([Ink("Repeats", "dim"), rhythm.in_words(task.repeats)])
    if task.rule is not None and task.rule.name == "owner":
        rows.append([Ink("Priority", "dim"), f"{task.priority.value}, as you said"])
    rows.append([Ink("Id", "dim"), str(task.id)])
    return rows


def _when(task: Task, zone: ZoneInfo, *, serves: bool) -> str:
    if task.gaps:
        return "once you have answered"
    if task.scheduled_for is None:
        return "now" if serves else "as soon as Remit is up"
    at, now = zones.shown(task.scheduled_for, zone), clock.now()
    return f"{at} ({near})" if (near := words.near(task.scheduled_for, now)) else at


def _clauses(told: JsonMap, task_id: str) -> list[list[Piece]]:
    """Every clause of a task with what became of it."""
    mine = [clause for clause in maps(told, "clauses") if clause["taskId"] == task_id]
    rows: list[list[Piece]] = []
    for n, clause in enumerate(mine):
        head = Ink("Clauses" if n == 0 else "", "dim")
        rows.append([head, f"{_became(clause)}: {clause['text']}{_why(clause)}"])
    return rows


def _became(clause: JsonMap) -> str:
    return str(clause["became"] or "asked")


def _why(clause: JsonMap) -> str:
    asked = clause.get("asked")
    if asked:
        return f" ({asked})" if clause["became"] is None else f" (asked: {asked})"
    return f" ({clause['why']})" if clause["why"] else ""


def _nothing(told: JsonMap) -> None:
    out.line(Ink("No task. ", "bold"), NO_TASK.get(str(told["answer"]), NO_TASK["chatter"]))
    for clause in maps(told, "clauses"):
        out.line("  ", Ink(f"{_became(clause)}: ", "dim"), str(clause["text"]), _why(clause))


def _questions(told: JsonMap) -> None:
    for asked in maps(told, "questions"):
        options = cast("Sequence[str]", asked["options"])
        approves = Answered.APPROVE in options
        may = f" ({' or '.join(options)})" if options and not approves else ""
        out.line(Ink(f"Asks you ({asked['about']}): {asked['question']}{may}", "yellow"))
        if asked["id"] and approves:
            out.line(f"  {asked['clause']}")
            out.line(f"  remit approve {asked['id']}, or remit decline {asked['id']}")
        elif asked["id"]:
            out.line(f'  remit answer {asked["id"]} "…"')
