"""`remit add`: create tasks from a message, and print a receipt of what was understood."""

import base64
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from msgspec.structs import replace

from remit import settings as app_settings
from remit.cli import clock, codes, out, receipt, remit_client
from remit.cli.lookup import read_file, typed_text
from remit.cli.out import AsJson, Timeout, Wait, flag, free
from remit.cli.remit_client import RemitClient
from remit.cli.request_key import new_key
from remit.cli.show import task_to_json
from remit.cli.task import moment, show_result, wait_for_rest
from remit.errors import BadInput, KeyReused
from remit.intake.message import MessageResult, message_result_to_json
from remit.language.sentences import in_language
from remit.model.codec import Json, JsonMap, stamp
from remit.model.ids import TaskId
from remit.model.recurrence import Repeats
from remit.model.task import Priority, Task
from remit.operations.arguments import NewDelivery, NewMessage, NewRepeats, NewTask, NewWatch
from remit.operations.settings_arguments import KeepFile
from remit.settings import Settings
from remit.store import messages, tasks
from remit.store.read_only import by_key, open_read_only

_TEXT: Final = ("--text", "-t")
_WORK: Final = ("--work", "-w")
_WATCH: Final = "Run only if this changed: an address, command:NAME, folder:/path, calendar:NAME."
_WATCH_FOR: Final = "Which part of it counts: a pattern, or a JSON pointer: /price."


def add(  # noqa: PLR0913 - all that a person may say at once
    text: Annotated[str, free("What is to be done, in your words; - reads it from stdin.")],
    /,
    *,
    content: Annotated[str | None, flag("Send exactly this text; no model writes.", *_TEXT)] = None,
    to: Annotated[str | None, flag("The recipient; default: you.")] = None,
    channel: Annotated[str | None, flag("The channel; default: dashboard.")] = None,
    work: Annotated[tuple[str, ...], flag("One thing to work on; repeatable.", *_WORK)] = (),
    at: Annotated[str | None, flag("The time, with offset: 2026-02-22T15:30:00+01:00.")] = None,
    in_: Annotated[str | None, flag("After this long: 90s, 2h30m, 3d.", "--in")] = None,
    every: Annotated[str | None, flag("How often: 2h, or 'weekday at 8:30'.")] = None,
    cron: Annotated[str | None, flag("How often, as a cron line: '30 8 * * 1-5'.")] = None,
    tz: Annotated[str | None, flag("The zone of --every and --cron; default: yours.")] = None,
    priority: Annotated[Priority | None, flag("How urgent; default: the rules decide.")] = None,
    watch: Annotated[str | None, flag(_WATCH)] = None,
    watch_for: Annotated[str | None, flag(_WATCH_FOR)] = None,
    project: Annotated[str | None, flag("Work on the code of this project.")] = None,
    files: Annotated[str | None, flag("Files of it that will change: src/a.py,src/b.py.")] = None,
    prd: Annotated[str | None, flag("A story of a document: docs/prd.md#US-1.")] = None,
    file: Annotated[tuple[Path, ...], flag("A file to attach; repeatable.")] = (),
    key: Annotated[str | None, flag("Your own key: the same key returns the same task.")] = None,
    as_is: Annotated[bool, flag("Make one task; do not read the words.", "--as-is")] = False,
    dry_run: Annotated[bool, flag("Only show what would happen.", "--dry-run")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
    json: AsJson = False,
) -> int:
    """Entrust something, in your own words, and get a receipt of what was understood."""
    settings, when = app_settings.load(), moment(at, in_)
    often = _repeats(settings, every, cron, tz, when)
    start = stamp(when) if when and not often else None
    words, repeats = typed_text(text), NewRepeats.from_series(often)
    order = NewMessage(words, start, repeats, priority, dry_run, wait)
    order, on = replace(order, watch=_watch(watch, watch_for)), _project_fields(project, files, prd)
    order = replace(order, attachments={} if dry_run else _upload_files(settings, file))
    given: NewTask | NewMessage = order
    if as_is or work or on.project or (channel, content, to) != (None, None, None):
        given = _unread_task(on, order, work, NewDelivery(channel or "dashboard", to, content))
    stays = partial(_wait, timeout=timeout) if wait else _receipt
    return (_rehearse if dry_run else stays)(settings, key, given, json=json)


def _upload_files(settings: Settings, paths: tuple[Path, ...]) -> dict[str, str]:
    """Keep files; return how a task names them."""
    found = dict[str, str]()
    if not paths:
        return found
    with remit_client.open_client(settings) as way:
        for path in paths:
            content = base64.b64encode(read_file(path, "file", wrong_value=True)).decode()
            answer = way.ask(KeepFile(path.name, content))
            found[str(answer["name"])] = str(answer["sha256"])
    return found


def _unread_task(
    on: NewTask, order: NewMessage, work: tuple[str, ...], delivery: NewDelivery
) -> NewTask:
    """One task with these words, which are not read."""
    return replace(
        on,
        text=order.text,
        work=[*work],
        delivery=[delivery],
        scheduled_for=order.scheduled_for,
        repeats=order.repeats,
        priority=order.priority,
        watch=order.watch,
        attachments=order.attachments,
    )


def _watch(place: str | None, part: str | None) -> NewWatch | None:
    if place is None:
        if part is not None:
            raise BadInput("--watch-for needs --watch: say what to look at.", field="watch")
        return None
    return NewWatch(place, part or "")


def _receipt(
    settings: Settings, key: str | None, order: NewTask | NewMessage, *, json: bool
) -> int:
    with remit_client.open_client(settings) as way:
        answer = _receipt_of_key(settings, key, order) or _submit(settings, way, key, order)
        serves = way.serves
    if json:
        out.emit(answer)
    else:
        receipt.show(settings, answer, serves=serves, read=isinstance(order, NewMessage))
    if answer["tasks"] and not serves:
        language = receipt.language_of_receipt(answer)
        out.say(in_language(remit_client.NOBODY, language))
    return codes.DONE


def _submit(
    settings: Settings, way: RemitClient, key: str | None, order: NewTask | NewMessage
) -> JsonMap:
    ref = f"key:{key}" if key else new_key()
    if isinstance(order, NewMessage):
        return way.hear(order, ref)
    return _stored_receipt(settings, [TaskId(str(way.ask(order, ref)["id"]))])


def _stored_receipt(settings: Settings, found: list[TaskId]) -> JsonMap:
    """Return the stored receipt of some tasks."""
    with open_read_only(settings.database) as tx:
        made = [tasks.get(tx, task_id) for task_id in found]
        asked = messages.questions(tx, made)
    return message_result_to_json(MessageResult(tuple(made), tuple(asked)))


def _rehearse(
    settings: Settings, key: str | None, order: NewTask | NewMessage, *, json: bool
) -> int:
    """Print what would happen; nothing is stored, and no directory is made."""
    del key
    if isinstance(order, NewTask):
        if order.project is not None:
            sentence = "--dry-run reads your words; what would prove work on a project, `remit"
            raise BadInput(f"{sentence} rehearse contract` says.", field="dry-run")
        sentence = "--dry-run reads your words; with --text, --to, --channel, --work or --as-is"
        raise BadInput(f"{sentence} there is nothing to read.", field="dry-run")
    result = remit_client.rehearse(settings, order)
    if json:
        out.emit(result)
    else:
        receipt.rehearse(result, receipt.owners_zone(settings))
    return codes.WAITS if result["questions"] else codes.DONE


def _wait(
    settings: Settings,
    key: str | None,
    order: NewTask | NewMessage,
    *,
    timeout: float | None,
    json: bool,
) -> int:
    """Wait until every task rests; the exit code is the worst of them."""
    with remit_client.open_client(settings, works=True) as way:
        answer = _receipt_of_key(settings, key, order) or _submit(settings, way, key, order)
        ended = [
            _wait_for(settings, way, TaskId(str(each["id"])), timeout)
            for each in receipt.maps(answer, "tasks")
        ]
    if json:
        with open_read_only(settings.database) as tx:
            shown: list[Json] = [task_to_json(tx, task.id) for task in ended]
        out.emit({**answer, "tasks": shown})
    elif not ended:
        receipt.show(settings, answer, serves=True, read=True)
    for task in () if json else ended:
        show_result(settings, task)
    return _worst_code(ended)


def _wait_for(settings: Settings, way: RemitClient, task_id: TaskId, timeout: float | None) -> Task:
    out.say(f"Task {task_id} was added.")
    return wait_for_rest(settings, way, task_id, timeout=timeout, after=1)


def _worst_code(ended: list[Task]) -> int:
    found = [codes.of_status(task.status) for task in ended]
    failed = [code for code in found if code not in (codes.DONE, codes.WAITS)]
    return max(failed or found, default=codes.DONE)


def _receipt_of_key(
    settings: Settings, key: str | None, order: NewTask | NewMessage
) -> "JsonMap | None":
    """What the key became before; other words under the same key are a mistake, and said."""
    if key is None:
        return None
    with open_read_only(settings.database) as tx:
        found = by_key(tx, key)
        task = tasks.get(tx, found[0]) if found else None
    if task is None:
        return None
    if task.request is None or task.request.text != (order.text or "").strip():
        raise KeyReused(key)
    out.hint("Nothing new: this key stands for a task that is there.")
    return _stored_receipt(settings, found)


def _project_fields(project: str | None, files: str | None, prd: str | None) -> NewTask:
    """The code that is to be worked on, if any is."""
    if project is not None:
        return NewTask(project=project, files=(files or "").split(","), prd=prd or False)
    if files is not None or prd is not None:
        name = "files" if files is not None else "prd"
        raise BadInput(f"--{name} is about a project; say which one with --project.", field=name)
    return NewTask()


def _repeats(
    settings: Settings, every: str | None, cron: str | None, tz: str | None, at: datetime | None
) -> Repeats | None:
    """Return how often; --at or --in give the first time."""
    if every is None and cron is None:
        if tz is not None:
            raise BadInput("--tz is the zone of --every or --cron; say one.", field="tz")
        return None
    from remit.operations import series_format  # noqa: PLC0415 - the reader of times

    found = series_format.read_frequency(settings, every, cron, tz, clock.now())
    return found if at is None else replace(found, first=at)
