"""Renders what was understood of a message: when, to whom, and what became of every clause."""

import os
from collections.abc import Callable, Sequence
from typing import Final, cast
from zoneinfo import ZoneInfo

from remit.brain.choose import KEY_NAMES
from remit.cli import clock, out, words
from remit.cli.lookup import contacts_of
from remit.cli.out import Piece, StyledText
from remit.contacts.permits import asks_first
from remit.intake.card import CardTask, make_card
from remit.language.sentences import (
    in_language,
    message_language,
    prefer_language,
    sentences,
    time_away_in_language,
)
from remit.model.codec import JsonMap, moment
from remit.model.ids import TaskId
from remit.model.review import ReviewAnswer
from remit.model.task import Task
from remit.settings import Settings
from remit.store import messages, permissions, tasks
from remit.store.read_only import open_read_only
from remit.store.secrets import Secrets, machine_ring
from remit.system.owner_zone import find_owner_zone, show_moment

NO_TASK: Final = {
    "question": "It is a question; nothing was asked to be done.",
    "thanks": "You are welcome.",
    "greeting": "Hello. Say what is to be done.",
    "statement": "It tells something and asks for nothing.",
    "taken_back": "You took it back, so nothing is done.",
    "forbidden": "You said not to, so nothing is sent.",
    "control": "It is about a task that is there: see `remit ls`, `remit cancel`, `remit pause`.",
    "wish": "It is a standing wish: it becomes a rule once you accept it.",
    "chatter": "It asks for nothing to be done.",
}

_NO_MODEL: Final = (
    "No language model is connected, so this will wait for you. `remit setup brain` connects one."
)
_READS: Final = "The model reads it now; with --wait you see here what it becomes."
_READS_LATER: Final = "The model reads it as soon as Remit is up."


_TWO: Final = 2  # from this many open lines on, each has a number


def show(settings: Settings, receipt: JsonMap, *, serves: bool, read: bool) -> None:
    """Print the receipt; `read`: words were read, so each clause is accounted for."""
    zone = owners_zone(settings)
    shown = [TaskId(str(each["id"])) for each in maps(receipt, "tasks")]
    with open_read_only(settings.database) as tx:
        found = [tasks.get(tx, task_id) for task_id in shown]
        refs = {task_id: words.short_id(tx, task_id) for task_id in shown}
        standing, asked = permissions.list_permissions(tx), messages.questions(tx, found)
    contacts = contacts_of(settings)
    sends = ((task, each) for task in found for each in task.delivery)
    asks = {each.id for task, each in sends if asks_first(task, each, contacts, standing)}
    card = make_card(found, zone, asks_first=asks, reviews=asked, running=serves)
    for n, (task, part) in enumerate(zip(found, card.tasks, strict=True)):
        if n:
            out.line()
        if task.pending_reading is not None:
            _being_read(task, card.language, serves=serves)
            continue
        out.table(
            _rows(task, part, card.language)
            + (_clauses(receipt, task.id, card.language) if read else [])
            + [[StyledText("Id", "dim"), str(task.id)]]
        )
    _without_task(receipt, lambda clause: clause["taskId"] is not None, made=bool(found))
    _questions(receipt)
    for sentence in cast("Sequence[str]", receipt.get("alike", ())):
        out.line(StyledText(in_language(sentence, card.language), "yellow"))
    needs_model = any(each.content is None for task in found for each in task.delivery)
    if needs_model and _lacks_model(settings):
        out.line(StyledText(in_language(_NO_MODEL, card.language), "yellow"))
    for task in found:
        out.hint(in_language(f"See it with: remit show {refs[task.id]}", card.language))


def _lacks_model(settings: Settings) -> bool:
    """Whether no language model is set up, as far as can be seen without loading one."""
    brain = settings.brain
    if brain.kind != "auto" or brain.model or brain.think:
        return brain.kind == "none"
    known = {*os.environ, *Secrets(settings.home, machine_ring(settings.home)).names()}
    return known.isdisjoint((*KEY_NAMES, "OLLAMA_BASE_URL"))


def _being_read(task: Task, language: str, *, serves: bool) -> None:
    goes_on = in_language(_READS if serves else _READS_LATER, language)
    out.line(in_language("Your message is stored.", language), " ", goes_on)
    out.table(
        [
            [StyledText(sentences(language)["task"], "dim"), StyledText(task.title, "bold")],
            [StyledText("Id", "dim"), str(task.id)],
        ]
    )


def rehearse(result: JsonMap, zone: ZoneInfo) -> None:
    """Print what would become of a message."""
    for draft in maps(result, "tasks"):
        out.line(StyledText(str(draft["title"]), "bold"))
        if draft["scheduled_for"]:
            out.line("  at ", show_moment(moment(str(draft["scheduled_for"])), zone))
        for clause in maps(draft, "clauses"):
            out.line(
                "  ", StyledText(f"{clause['became'] or 'asked':<11}", "dim"), str(clause["text"])
            )
    of_tasks = [clause for draft in maps(result, "tasks") for clause in maps(draft, "clauses")]
    places = {(clause["start"], clause["end"]) for clause in of_tasks}
    _without_task(
        result,
        lambda clause: (clause["start"], clause["end"]) in places,
        made=bool(result["tasks"]),
    )
    _questions(result)


def maps(content: JsonMap, name: str) -> list[JsonMap]:
    """Return a list of objects in a result."""
    return cast("list[JsonMap]", content[name])


def _rows(task: Task, part: CardTask, language: str) -> list[list[Piece]]:
    """Return the task's part of the card, as a table."""
    rows: list[list[Piece]] = []
    for row in part.rows:
        value = f"{row.value}{_time_away(task, language)}" if row.kind == "runs" else row.value
        rows.append(
            [
                StyledText(row.label, "dim"),
                StyledText(value, "bold") if row.kind == "task" else value,
            ]
        )
    if task.rule is not None and task.rule.name == "owner":
        label = in_language("Priority", language, pages=True)
        value = in_language(f"{task.priority.value}, as you said", language)
        rows.append([StyledText(label, "dim"), value])
    return rows


def owners_zone(settings: Settings) -> ZoneInfo:
    """Return the zone, and write the receipt in the language that is set, if one is."""
    prefer_language(settings.language)
    return find_owner_zone(settings.zone).zone


def _time_away(task: Task, language: str) -> str:
    near = words.distance_words(task.scheduled_for, clock.now()) if task.scheduled_for else ""
    return f" ({time_away_in_language(near, language)})" if near and not task.gaps else ""


def _clauses(receipt: JsonMap, task_id: str, language: str) -> list[list[Piece]]:
    """Return every clause of a task with its outcome."""
    say = sentences(language)
    mine = [clause for clause in maps(receipt, "clauses") if clause["taskId"] == task_id]
    rows: list[list[Piece]] = []
    for n, clause in enumerate(mine):
        head = StyledText(say["clauses"] if n == 0 else "", "dim")
        became = say["became_" + _outcome(clause)]
        rows.append([head, f"{became}: {clause['text']}{_clause_reason(clause, language)}"])
    return rows


def _outcome(clause: JsonMap) -> str:
    return str(clause["became"] or "asked")


def _clause_reason(clause: JsonMap, language: str) -> str:
    asked = clause.get("asked")
    if asked:
        head = "" if clause["became"] is None else f"{sentences(language)['became_asked']}: "
        return f" ({head}{asked})"
    return f" ({in_language(str(clause['why']), language)})" if clause["why"] else ""


def _without_task(receipt: JsonMap, is_shown: Callable[[JsonMap], bool], *, made: bool) -> None:
    """Print the clauses that no task shows, with what became of them."""
    clauses, language = maps(receipt, "clauses"), language_of_receipt(receipt)
    if not made:
        answer = NO_TASK.get(str(receipt["answer"]), NO_TASK["chatter"])
        head = StyledText(f"{in_language('No task.', language)} ", "bold")
        out.line(head, in_language(answer, language))
    for clause in clauses:
        if is_shown(clause):
            continue
        head = StyledText(f"{sentences(language)['became_' + _outcome(clause)]}: ", "dim")
        out.line("  ", head, str(clause["text"]), _clause_reason(clause, language))


def language_of_receipt(receipt: JsonMap) -> str:
    """Return the language of the message that a receipt is about."""
    clauses = maps(receipt, "clauses")
    return message_language(" ".join(str(clause["text"]) for clause in clauses))


def _questions(receipt: JsonMap) -> None:
    asks = in_language("Asks you", language_of_receipt(receipt))
    for asked in maps(receipt, "questions"):
        options = cast("Sequence[str]", asked["options"])
        approves = ReviewAnswer.APPROVE in options
        lines = cast("Sequence[JsonMap]", asked.get("lines", ()))
        may = f" ({' or '.join(options)})" if options and not approves and len(lines) < _TWO else ""
        out.line(StyledText(f"{asks}: {asked['question']}{may}", "yellow"))
        if asked["id"] and approves:
            if not lines:
                out.line(f"  {asked['clause']}")
            out.line(f"  remit approve {asked['id']}, or remit decline {asked['id']}")
        elif asked["id"] and len(lines) >= _TWO:
            out.line(f'  remit answer {asked["id"]} "1: …"')
        elif asked["id"]:
            out.line(f'  remit answer {asked["id"]} "…"')
