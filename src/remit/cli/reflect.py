"""`remit reflect`, and `remit rules history` and `revert`: what was learned, and how to undo it."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

from remit import settings as app_settings
from remit.cli import clock, codes, out, remit_client, words
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Piece, StyledText, Timeout, flag
from remit.cli.request_key import new_key
from remit.cli.task import CommandTally
from remit.model.codec import JsonMap, stamp
from remit.model.ids import TaskId
from remit.model.likeness import REFLECT, FileVersion, changes_in_force
from remit.operations.settings_arguments import LookBack, Revert
from remit.operations.shapes import lesson_history
from remit.reflect import harvest
from remit.reflect.harvest import FOLDER
from remit.reflect.statistics import MIN_CASES
from remit.settings import Settings
from remit.store import reflections, series, tasks
from remit.store.database import Tx
from remit.store.read_only import open_read_only

app = CommandGroup("reflect")
_MOST = 1_000
_BY_COUNTING = "counting alone; [reflect] model asks one"


@app.default
@app.command()
def status(*, json: AsJson = False) -> int:
    """Show how many ended tasks are recorded, when the next reflection is, and what was learned."""
    settings = app_settings.load()
    days, count = _count_reflections(settings.home / FOLDER)
    with open_read_only(settings.database) as tx:
        held, due = len(changes_in_force(reflections.versions(tx))), _due(tx)
    if json:
        content: JsonMap = {"lines": count, "days": days, "next": stamp(due) if due else None}
        out.emit(content | {"model": settings.reflect.model, "holds": held})
        return codes.DONE
    by_model = "counting, and a model"
    for name, text in (
        ("Written", f"{words.count(count, 'ended task')} on {words.count(days, 'day')}, {FOLDER}/"),
        ("Next look", words.planned_words(due, clock.now()) if due else _no_night(settings)),
        ("By", by_model if settings.reflect.model else _BY_COUNTING),
        ("Learned", f"{words.count(held, 'change')} in force; `remit rules history` lists them"),
    ):
        out.line(StyledText(f"{name:<10}", "dim"), text)
    return codes.DONE


@app.command()
def now(*, timeout: Timeout = None, json: AsJson = False) -> int:
    """Reflect now. Each lesson is a question to you; nothing changes without your yes.

    If no Remit runs here, this command does the work itself, until it asks or ends.
    """
    tally = CommandTally(app_settings.load(), json)
    with remit_client.open_client(tally.settings, works=True) as way:
        task = TaskId(str(way.ask(LookBack(), new_key())["id"]))
        tally.wait_for(way, task, timeout=timeout, after=0)
    return tally.end()


def _no_night(settings: Settings) -> str:
    if not settings.reflect.nightly:
        return "none: [reflect] nightly is false"
    return f"none yet: the nights begin once {MIN_CASES} tasks have ended while Remit is up"


def _due(tx: Tx) -> datetime | None:
    """Return when the next nightly reflection is."""
    found = [
        each
        for each in tasks.of_agent(tx, REFLECT, _MOST)
        if not each.ended and each.started_at is None and each.series_id is not None
    ]
    times = [each.scheduled_for for each in found if each.scheduled_for is not None]
    paused = [s for each in found if each.series_id and (s := series.get(tx, each.series_id))]
    if any(each.paused_at is not None for each in paused):
        return None
    return min(times, default=None)


def _count_reflections(folder: Path) -> tuple[int, int]:
    files = sorted(folder.glob("[0-9]*.jsonl")) if folder.exists() else []
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    count = sum(harvest.read(line) is not None for text in texts for line in text.splitlines())
    return len(files), count


def rules_history(*, json: AsJson = False) -> int:
    """What lessons changed, newest first."""
    with open_read_only(app_settings.load().database) as tx:
        found = reflections.versions(tx)
    holds = {each.no for each in changes_in_force(found)}
    rows = [_version_row(each, holds) for each in reversed(found)]
    empty = "Nothing was changed yet; `remit reflect now` looks for something to learn."
    return out.listing(
        json, lesson_history(found), rows, ("NO", "WHEN", "FILE", "HOLDS", "WHY"), empty
    )


def revert_rules(
    change: Annotated[int | None, flag("The number of a change; default: the latest.")] = None,
    /,
    *,
    force: Annotated[bool, flag("Even if the file has changed since; its text is kept.")] = False,
    json: AsJson = False,
) -> int:
    """Take a change of the rules back."""
    made = remit_client.ask(Revert(change, force))
    if json:
        out.emit(made)
        return codes.DONE
    out.line(StyledText(f"{made['file']}: ", "dim"), StyledText(f"{made['why']}.", "green"))
    out.hint("It counts from the next task on, and is not proposed again for 30 days.")
    return codes.DONE


def _version_row(each: FileVersion, holds: set[int]) -> list[Piece]:
    mark = StyledText("yes", "green") if each.no in holds else StyledText("no", "dim")
    when = StyledText(words.local(each.made_at), "dim")
    return [str(each.no), when, each.file.value, mark, each.why]
