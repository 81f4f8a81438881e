"""`remit show` and `remit files`: a task as a card, its times, runs, questions and files."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

from remit import settings as app_settings
from remit.cli import clock, out, proof, words
from remit.cli.lookup import database_of
from remit.cli.out import AsJson, Ids, StyledText, clean, cut, flag, free, width
from remit.errors import BadInput, NotFound
from remit.journal import event_words
from remit.model.codec import Json, JsonMap, to_json
from remit.model.contract import ItemStatus
from remit.model.deferred import project_of
from remit.model.delivery import DeliveryStatus
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.model.run import Run
from remit.model.status import TERMINAL, Status
from remit.model.task import Task
from remit.model.task_file import TaskFile
from remit.model.view import JsonView, delivery_status
from remit.model.view import show as view
from remit.operations.shapes import review_to_json
from remit.specialist import SavedWork, find_saved_work
from remit.store import reviews, runs, spending, tasks
from remit.store.database import Tx
from remit.store.inbox import WaitingReview
from remit.store.read_only import open_read_only
from remit.system.files import home_of

if TYPE_CHECKING:
    from remit.files.kept_files import KeptFiles

LEAST: Final = 46
MOST: Final = 96
_WORK: Final = {
    ItemStatus.PENDING: "pending",
    ItemStatus.COMPLETED: "done",
    ItemStatus.FAILED: "failed",
}
_DELIVERY: Final = {
    "pending": "pending",
    "completed": "sent",
    "failed": "refused",
    "needs_review": "needs review",
    "silent": "nothing to report",
}


def card_lines(task: Task, why: str | None = None) -> list[str]:
    """Render the card; `why` is what it waits for."""
    title = f"-- Task: {clean(task.title)} "
    inside = [clean(line) for line in _card_body(task, why)]
    wide = max(LEAST, width(title) + 2, *(width(line) + 2 for line in inside))
    wide = min(wide, MOST)
    head = cut(title.rstrip(), wide - 3) + " "
    return [
        "+" + head + "-" * (wide - width(head)) + "+",
        *("| " + _fit(line, wide - 1) + "|" for line in inside),
        "+" + "-" * wide + "+",
    ]


def _card_body(task: Task, why: str | None) -> Iterator[str]:
    yield ""
    if task.work:
        yield "Work:"
        yield from (f"  [{_WORK[item.status]}] {_one_line(item.description)}" for item in task.work)
        yield ""
    if task.delivery:
        yield "Delivery:"
        yield from _deliveries(task, why)
        yield ""
    status = task.status.value
    if task.status is Status.PAUSED and task.resume_to:
        status += f" (was {task.resume_to.value})"
    yield f"Status: {status}"


def _deliveries(task: Task, why: str | None) -> Iterator[str]:
    for delivery in task.delivery:
        word = "silent" if task.was_silent else delivery_status(delivery, task)
        to = f" to {delivery.recipient}" if delivery.recipient else ""
        note = delivery.reason
        if word == "needs_review" and delivery.status is DeliveryStatus.PENDING:
            note = why
        text = f" - {_one_line(note)}" if note and word != "completed" else ""
        yield f"  [{_DELIVERY[word]}] {delivery.channel}{to}{text}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fit(line: str, wide: int) -> str:
    shown = cut(line, wide - 1)
    return shown + " " * (wide - width(shown))


def show(*ids: Ids, json: AsJson = False) -> int:
    """Show everything about a task: card, times, runs and questions."""
    with open_read_only(database_of(os.environ)) as tx:
        wanted = [words.find_task(tx, word) for word in words.typed_ids(ids)]
        if json:
            _emit([task_to_json(tx, task_id) for task_id in wanted])
            return 0
        for place, task_id in enumerate(wanted):
            if place:
                out.line()
            _print(tx, task_id, clock.now())
    return 0


def task_to_json(tx: Tx, task_id: TaskId) -> JsonMap:
    """Return everything about a task, as published."""
    task, legs = tasks.get(tx, task_id), runs.of_task(tx, task_id)
    undo, used = app_settings.load().deliver.undo, spending.told_apart(tx, task_id)
    asked = [WaitingReview(each, task, used) for each in reviews.of_task(tx, task_id)]
    return {
        **view(task, JsonView.S3),
        "runs": [to_json(leg) for leg in legs],
        "reviews": [review_to_json(each, undo) for each in asked],
        **proof.facts(tx, task),
        "putAway": _put_away(task),
    }


def _put_away(task: Task) -> "JsonMap | None":
    """Return where code work was saved after its worktree was removed."""
    kept = _saved_work(task)
    return {"branch": kept.branch, "repository": kept.repo} if kept else None


def _saved_work(task: Task) -> SavedWork | None:
    over = project_of(task) and task.status in TERMINAL
    return find_saved_work(home_of(os.environ) / "worktrees", task.id) if over else None


def _emit(found: Sequence[JsonMap]) -> None:
    payload: JsonMap = {"task": found[0]} if len(found) == 1 else {"tasks": list[Json](found)}
    out.emit(payload)


def _print(tx: Tx, task_id: TaskId, now: datetime) -> None:
    task = tasks.get(tx, task_id)
    asked = reviews.of_task(tx, task_id)
    waiting = [review for review in asked if review.decision is None]
    for drawn in card_lines(task, waiting[0].question if waiting else None):
        out.line(drawn)
    out.line()
    _print_facts(task, now)
    _print_texts(task)
    proof.show(tx, task)
    _print_runs(runs.of_task(tx, task_id, 10))
    for review in waiting:
        _print_question(
            review, words.short_id(tx, task_id) if len(waiting) == 1 else str(review.id)
        )
    _print_decisions([review for review in asked if review.decision is not None])


def _print_facts(task: Task, now: datetime) -> None:
    rule = f" ({task.rule.because})" if task.rule else ""
    facts = [
        ("Id", str(task.id)),
        ("From", f"{task.source.kind.value} {task.source.ref}"),
        *([("Project", project)] if (project := project_of(task)) else []),
        ("Priority", f"{task.priority.value}{rule}"),
        ("Created", words.local(task.created_at)),
    ]
    for name, moment in (
        ("Planned", task.scheduled_for),
        ("Started", task.started_at),
        ("Ended", task.completed_at),
        ("Deleted", task.deleted_at),
    ):
        if moment is not None:
            facts.append((name, f"{words.local(moment)} ({words.relative(moment, now)})"))
    if task.spent.tokens:
        money = f", ${task.spent.cents / 100:,.2f}" if task.spent.cents else ""
        facts.append(("Cost", f"{task.spent.tokens:,} tokens{money}"))
    if (kept := _saved_work(task)) is not None:
        facts.append(("Work", f"put away on {kept.branch}; {kept.command}"))
    if task.retry_of:
        facts.append(("Retry of", str(task.retry_of)))
    left_out = task.context.get("left_out")
    if isinstance(left_out, list):
        facts.append(("Left out", f"{', '.join(map(str, left_out))}: sent before"))
    out.table([[StyledText(name, "dim"), value] for name, value in facts])


def _print_texts(task: Task) -> None:
    if task.instructions.strip() != task.title.strip():
        _section("Instructions", task.instructions)
    for delivery in task.delivery:
        if delivery.body is not None:
            done = f"Sent to {words.to_whom(delivery)}"
            _section(done if delivery.sent_at else f"For {words.to_whom(delivery)}", delivery.body)
        elif delivery.content is not None:
            _section(f"To be sent to {words.to_whom(delivery)}", delivery.content)
    if not task.delivery and task.tool_output:
        _section("Result", task.tool_output)


def _print_runs(legs: list[Run]) -> None:
    if not legs:
        return
    out.line()
    out.line(StyledText("Runs", "bold"))
    for leg in reversed(legs):
        spent = (leg.ended_at or leg.started_at) - leg.started_at
        note = f": {leg.note}" if leg.note else ""
        took = f"{spent.total_seconds():.1f} s"
        out.line(f"  {words.local(leg.started_at)}  {leg.outcome or 'at work'}, {took}{note}")


def _print_question(review: Review, ref: str) -> None:
    out.line()
    out.line(StyledText(f"Waits for you ({review.reason.value})", "yellow"))
    _indent(review.question)
    if review.evidence:
        _section("What it is about", review.evidence)
    out.line()
    for way in words.answer_commands(review, ref):
        out.line(f"  {way}")


def _print_decisions(settled: list[Review]) -> None:
    if not settled:
        return
    out.line()
    out.line(StyledText("Decided", "bold"))
    for review in settled:
        decision = review.decision
        if decision is not None and decision.decided_at is not None:
            at = words.local(decision.decided_at)
            text = event_words.decision(decision.answer, decision.by)
            out.line(f"  {at}  {text}: {review.question}")


def _section(title: str, text: str) -> None:
    out.line()
    out.line(StyledText(title, "bold"))
    _indent(text)


def _indent(text: str) -> None:
    for each in text.strip().splitlines() or [""]:
        out.line(f"  {each}")


def list_files(
    task: Annotated[str, free("The task.")],
    /,
    *,
    save: Annotated[str | None, flag("The file to copy, by its name or hash.")] = None,
    to: Annotated[Path | None, flag("Where to copy it; default: this folder.")] = None,
    json: AsJson = False,
) -> int:
    """List the files of a task, in and out; --save copies one."""
    settings = app_settings.load()
    with open_read_only(settings.database) as tx:
        found = tasks.get(tx, words.find_task(tx, task)).files
    if save is not None:
        from remit.store.opening import task_files  # noqa: PLC0415 - loads asyncio

        return _save_file(task_files(settings), found, save, to, json=json)
    if not found:
        out.say("This task has no files.")
    lines = (
        f"{'out' if each.made else 'in':3}  {each.size_text:>9}  {each.sha256[:12]}  {each.name}"
        for each in found
    )
    return out.print_result(json, {"files": [*map(to_json, found)]}, data="\n".join(lines))


def _save_file(
    kept: "KeptFiles", found: tuple[TaskFile, ...], name: str, to: Path | None, *, json: bool
) -> int:
    fits = [each for each in found if each.name == name or each.sha256.startswith(name.lower())]
    if not fits:
        raise NotFound("file", f"{name!r:.60}; `remit files` lists those of a task")
    content = kept.read(fits[-1].sha256)
    if content is None:
        raise BadInput(f"{fits[-1].name} is not kept any more, or is damaged.", field="save")
    target = (to or Path()) / fits[-1].name if to is None or to.is_dir() else to
    try:
        with target.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise BadInput(f"{target} was not written: {error.strerror}.", field="to") from None
    payload = cast("JsonMap", to_json(fits[-1]))
    return out.print_result(json, {"saved": str(target), **payload}, data=str(target))
