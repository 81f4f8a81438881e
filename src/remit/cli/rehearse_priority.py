"""`remit rehearse priority`: which priority a task would get, and by which rule."""

import json as text_json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

from msgspec import Struct, field

from remit import settings as house_settings
from remit.cli import clock, out
from remit.cli.out import AsJson, flag, free, number_flag
from remit.cli.rules import in_file, in_other
from remit.errors import BadInput, NotFound
from remit.intake import recipients as zones
from remit.intake.admit import check_text
from remit.model import ids
from remit.model.codec import JsonMap, from_json
from remit.model.delivery import Delivery
from remit.model.ids import SessionId, TaskId
from remit.model.task import Creator, Source, SourceKind, Taint, Task, TaskType
from remit.plan.draft import ranked

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
    rules: Annotated[str | None, flag("Rules that are not in force yet; else yours.")] = None,
    score: Annotated[float | None, _SCORE] = None,
    json: AsJson = False,
) -> int:
    """Say how urgent a task would be, and by which rule; no model is asked."""
    settings = house_settings.load()
    found = in_file(settings) if rules is None else in_other(rules)
    made = _task(_read_task(task))
    zone = zones.owners(settings.zone, os.environ).zone
    scorer = None if score is None else _TypedScore(score)
    match = found.find(made, zone, score)
    ranking = ranked(made, found, zone, scorer)
    level, rule = ranking.priority.value, ranking.rule
    line = match.rule.line if match.rule else None
    by: JsonMap = {"name": rule.name, "because": rule.because, "line": line}
    asks = ["A model would be asked how urgent it is; --score says what it would answer."]
    return out.done(
        json,
        {"priority": level, "rule": by, "asksScore": match.unsure},
        *asks if match.unsure else (),
        data=f"{level} by the rule {rule.name!r}: {rule.because}.",
    )


def _task(content: JsonMap) -> Task:
    fields = {name: value for name, value in content.items() if name not in _IGNORED}
    sketch = from_json(SketchedTask, fields, "The task")
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
        text = sys.stdin.read(_MOST) if file == "-" else _text(Path(file))
        found = text_json.loads(text)
    except FileNotFoundError:
        raise NotFound("file", file) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{file} is no JSON that can be read: {error}.", field="task") from None
    if not isinstance(found, dict):
        raise BadInput(f"{file} must hold one task, as a JSON object.", field="task")
    return found


def _text(path: Path) -> str:
    with path.open(encoding="utf-8") as opened:
        return opened.read(_MOST)
