"""`remit rules` and `remit rehearse priority`: the rules of priority, and what they decide."""

import json as text_json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from remit import settings as app_settings
from remit.cli import clock, codes, out, words
from remit.cli.commands import CommandGroup
from remit.cli.lookup import read_file
from remit.cli.out import AsJson, Piece, StyledText, flag, free, number_flag
from remit.errors import BadInput, NotFound
from remit.model import ids
from remit.model.codec import JsonMap, from_json
from remit.model.delivery import Delivery
from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Source, SourceKind, Taint, Task, TaskType
from remit.operations.shapes import priority_rules_to_json
from remit.plan import PriorityTrial, rank_task, try_rules
from remit.plan import priority as plan_priority
from remit.plan.priority import MAX_CHARS, PriorityRules
from remit.settings import Settings
from remit.settings import parts as kept
from remit.store import queue, search, tasks
from remit.store.read_only import open_read_only
from remit.store.search import TaskFilter

_SHOWN: Final = 50  # changes shown to a person
_COLOURS: Final = {"critical": "red", "high": "yellow", "med": "cyan", "low": "dim"}
_NO_SCORE: Final = (
    "A rule asks for llm_score, but nobody is asked: set score = true under [priority]."
)

app = CommandGroup("rules")
app.commands |= {"history": "reflect:rules_history", "revert": "reflect:revert_rules"}


@app.default
@app.command()
def ls(*, json: AsJson = False) -> int:
    """List the priority rules in order; the first that fits decides."""
    settings = app_settings.load()
    found = in_file(settings)
    if json:
        out.emit(priority_rules_to_json(found))
        return codes.DONE
    rows: list[list[Piece]] = []
    for rule in found.rules:
        level = StyledText(rule.priority.value, _COLOURS[rule.priority.value])
        rows.append([str(rule.line), rule.name, level, rule.when.said])
    rows.append(["", "default", found.default.value, "if none of them holds"])
    out.table(rows, ("LINE", "RULE", "PRIORITY", "WHEN"))
    _hints(settings, found)
    return codes.DONE


@app.command()
def check(
    file: Annotated[str | None, flag("A rules file; default: yours.")] = None,
    /,
    *,
    json: AsJson = False,
) -> int:
    """Check a rules file; name the line that is wrong, and why."""
    settings = app_settings.load()
    found = in_file(settings) if file is None else in_other(file)
    if json:
        out.emit({"file": found.file or None, "rules": len(found.rules), "right": True})
        return codes.DONE
    out.line(
        StyledText("ok ", "green"),
        f"{found.file or _OURS}: {words.count(len(found.rules), 'rule')}",
    )
    _hints(settings, found)
    return codes.DONE


@app.command("test")
def try_out(
    task: Annotated[str, flag("A task, or all.")],
    /,
    *,
    file: Annotated[str | None, flag("Another rules file to try; default: yours.")] = None,
    json: AsJson = False,
) -> int:
    """Show which priority the rules would give existing tasks; nothing changes."""
    from remit.brain.score import score_key  # noqa: PLC0415 - loads asyncio

    settings = app_settings.load()
    rules = in_file(settings) if file is None else in_other(file)
    zone = _zone(settings)
    with open_read_only(settings.database) as tx:
        every = words.every_task(tx, TaskFilter(limit=search.MOST))
        chosen = every if task == "all" else [tasks.get(tx, words.find_task(tx, task))]
        tried = try_rules(chosen, rules, zone, lambda each: queue.get_score(tx, score_key(each)))
        if task == "all":
            _tell_all(tried, json=json)
        else:
            _tell_one(next(iter(tried), None), json=json)
    return codes.DONE


def in_file(settings: Settings) -> PriorityRules:
    """Return the owner's rules from the file; without one, the built-in ones."""
    text = kept.text(settings.home / kept.PRIORITY, kept.PRIORITY, MAX_CHARS)
    return (
        plan_priority.default_rules()
        if text is None
        else plan_priority.load_rules(text, kept.PRIORITY)
    )


def in_other(file: str) -> PriorityRules:
    text = kept.text(Path(file), file, MAX_CHARS)
    if text is None:
        raise NotFound("file", file)
    return plan_priority.load_rules(text, file)


def _hints(settings: Settings, found: PriorityRules) -> None:
    if not found.file:
        out.hint(f"These come with Remit; your own go into {kept.PRIORITY}.")
    if found.asks_score and not settings.priority.score:
        out.hint(_NO_SCORE)


def _tell_all(tried: Iterable[PriorityTrial], *, json: bool) -> None:
    seen, changed = 0, []
    for each in tried:
        seen += 1
        if each.changes:
            changed.append(each)
    if json:
        changes: JsonMap = {"changes": [_change(each) for each in changed]}
        out.emit({"tasks": seen, "changed": len(changed)} | changes)
        return
    out.line(StyledText(f"{len(changed):,} of {seen:,} would change", "bold"))
    rows: list[list[Piece]] = []
    for each in changed[:_SHOWN]:
        ranks = f"{each.task.priority.value} → {each.now.priority.value}"
        rows.append([StyledText(each.task.id, "dim"), ranks, each.now.rule.name, each.task.title])
    out.listing(False, {}, rows)
    if len(changed) > _SHOWN:
        out.hint(f"… and {len(changed) - _SHOWN:,} more; --json tells all of them.")


def _tell_one(found: PriorityTrial | None, *, json: bool) -> None:
    if found is None:
        sentence = "No rule ranks it: somebody said its priority, or nobody has looked at it yet."
        raise BadInput(sentence, field="task")
    if json:
        out.emit({"changes": found.changes, **_change(found)})
        return
    now = found.now
    would = "would be" if found.changes else "would still be"
    out.line(StyledText(found.task.title, "bold"))
    out.line(f"It {would} {now.priority.value} by the rule {now.rule.name!r}: {now.rule.because}.")


def _change(each: PriorityTrial) -> JsonMap:
    return {
        "id": each.task.id,
        "title": each.task.title,
        "was": each.task.priority.value,
        "wasBy": each.task.rule.name if each.task.rule else None,
        "now": each.now.priority.value,
        "nowBy": each.now.rule.name,
        "because": each.now.rule.because,
    }


_OURS: Final = "the rules that come with Remit"


_SCORE: Final = number_flag("How urgent a model would find it, from 0 to 1.", least=0, most=1)
_MOST: Final = 1_000_000  # letters
# Fields of S4's task that say nothing about urgency.
_IGNORED: Final = (
    *("task_id", "priority", "status", "subtasks", "assigned_agent", "last_updated"),
    *("tool_output", "result_summary", "cancel_reason"),
)


class SketchedTask(Struct, frozen=True):
    """A task as S4 writes it, with other fields that rules may test."""

    objective: str
    source: str = "manual:rehearsal"
    instructions: str = ""
    context: JsonMap = field(default_factory=dict)
    created_at: datetime | None = None
    created_by: Creator = Creator.USER
    taint: Taint = Taint.OWNER
    series_id: str | None = None
    channels: tuple[str, ...] = ()


class _TypedScore(Struct, frozen=True):
    score: float
    why: str = "as you said"


def priority(
    task: Annotated[str, free("A file with a task as S4 writes it; - reads it from stdin.")],
    /,
    *,
    rules: Annotated[str | None, flag("Another rules file to try; default: yours.")] = None,
    score: Annotated[float | None, _SCORE] = None,
    json: AsJson = False,
) -> int:
    """Say how urgent a task would be, and by which rule; no model is asked."""
    settings = app_settings.load()
    found = in_file(settings) if rules is None else in_other(rules)
    made = _task(_read_task(task))
    zone = _zone(settings)
    scorer = None if score is None else _TypedScore(score)
    match = found.find(made, zone, score)
    ranking = rank_task(made, found, zone, scorer)
    level, rule = ranking.priority.value, ranking.rule
    line = match.rule.line if match.rule else None
    by: JsonMap = {"name": rule.name, "because": rule.because, "line": line}
    asks = ["A model would be asked how urgent it is; --score says what it would answer."]
    return out.print_result(
        json,
        {"priority": level, "rule": by, "asksScore": match.unsure},
        *asks if match.unsure else (),
        data=f"{level} by the rule {rule.name!r}: {rule.because}.",
    )


def _task(content: JsonMap) -> Task:
    fields = {name: value for name, value in content.items() if name not in _IGNORED}
    sketch = from_json(SketchedTask, fields, "The task")
    from remit.intake.admit import check_text  # noqa: PLC0415 - the reader of messages

    check_text(sketch.objective)
    kind, _, ref = sketch.source.partition(":")
    if kind not in list(SourceKind):
        sentence = f"source begins with {kind!r:.60}; it may be {', '.join(SourceKind)}."
        raise BadInput(sentence, field="source")
    at = sketch.created_at or clock.now()
    return Task(
        id=TaskId("task-rehearsal"),
        type=TaskType.IMMEDIATE,
        source=Source(SourceKind(kind), ref),
        title=sketch.objective,
        instructions=sketch.instructions or sketch.objective,
        created_at=at,
        last_updated=at,
        created_by=sketch.created_by,
        session_id=SessionId("ses-rehearsal"),
        context=sketch.context,
        series_id=ids.series_id(sketch.series_id) if sketch.series_id else None,
        delivery=tuple(Delivery(channel) for channel in sketch.channels),
        taint=sketch.taint,
    )


def _read_task(file: str) -> JsonMap:
    try:
        found = text_json.loads(read_file(file, "task", _MOST))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file} is no JSON that can be read: {error}.", field="task") from None
    if not isinstance(found, dict):
        raise BadInput(f"{file} must hold one task, as a JSON object.", field="task")
    return found


def _zone(settings: Settings) -> ZoneInfo:
    from remit.system import owner_zone  # noqa: PLC0415

    return owner_zone.find_owner_zone(settings.zone).zone
