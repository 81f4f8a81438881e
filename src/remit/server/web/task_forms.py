"""Forms about a task: to order one, to edit it before it begins, and the buttons of its page."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, cast

from msgspec import Meta
from msgspec.structs import replace

from remit.errors import BadInput, Conflict, OutOfDate
from remit.intake.message import MessageResult, message_result_to_json
from remit.language.order_words import SmallTalk
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.task import Priority, Task
from remit.operations import messages, tasks
from remit.operations.arguments import (
    DeleteTask,
    EditTask,
    NewConversation,
    NewDelivery,
    NewMessage,
    NewTask,
    NewTurn,
    RetryTask,
)
from remit.operations.messages import hear_message
from remit.operations.table import perform
from remit.server.bodies import FileNames, RequestBody
from remit.server.call import Call, CallResult
from remit.server.routes import form, page
from remit.server.tasks import named_files
from remit.server.web import section_forms, shell, task_sections, words
from remit.store import tasks as stored
from remit.store.database import Tx

# The start page, and ordering a task --------------------------------------------------------------

_LONGEST_ORDER: Final = 20_000


class OrderForm(RequestBody, frozen=True):
    """What shall be done; with a project, on its code."""

    text: Annotated[str, Meta(max_length=_LONGEST_ORDER)] = ""
    project: Annotated[str, Meta(max_length=100)] = ""
    file: FileNames = ()


@page("/")
async def start_page(call: Call) -> CallResult:
    first = not call.app.thinks and section_forms.is_first_run(call.app.settings)
    return shell.redirect("/welcome" if first else "/inbox")


@page("/new")
async def order_page(call: Call) -> CallResult:
    """Return a page that only asks what shall be done."""
    return await _order_page(call, {"text": "", "wrong": None, "heard": None})


async def _order_again(call: Call, given: OrderForm, wrong: BadInput | Conflict) -> CallResult:
    """Show the form again, with what was typed."""
    if isinstance(wrong, Conflict):
        raise wrong
    values = {"text": given.text, "wrong": str(wrong), "heard": None, "project": given.project}
    if call.part:
        return shell.part("parts/handed.html", values, 422)
    return await _order_page(call, values, 422)


@form("/new", hear_message, files=True, refused=_order_again)
async def add_order(call: Call, given: OrderForm) -> CallResult:
    """Read the words, store what they ask for, and show what was understood."""
    result = await _take_order(call, given)
    if not result.tasks and (result.order is not None or result.answer is SmallTalk.QUESTION):
        return await _open_conversation(call, given)
    if call.part:
        return shell.part("parts/handed.html", {"wrong": None, **_receipt(result)})
    return await _order_page(call, {"text": "", "wrong": None, **_receipt(result)})


async def _open_conversation(call: Call, given: OrderForm) -> CallResult:
    """Open a conversation with words that are no new task: a question, or about a task."""
    files = await named_files(call, given.file)
    talk = str((await perform(call, NewConversation())).content["id"])
    await perform(call, NewTurn(talk, given.text, attachments=files, patience=0.0))
    return shell.redirect(f"/conversations/{talk}#end")


@page("/new/{id}", "toast")
async def order_receipt(call: Call) -> CallResult:
    """Return the receipt of a stored message again: it may have been read meanwhile."""
    result = await call.app.intake.became(call.task_id)
    if call.flag("toast"):
        return shell.part("parts/handed.html", {"wrong": None, **_receipt(result)})
    return shell.part("parts/receipt.html", await _order_frame(call) | _receipt(result))


async def _order_frame(call: Call) -> dict[str, object]:
    around = await shell.frame(call)
    return {"shell": around, "now": around.now}


async def _take_order(call: Call, given: OrderForm) -> MessageResult:
    """Return what the words became; work on a project is always one task."""
    files = await named_files(call, given.file)
    if not given.project:
        answer = await perform(call, NewMessage(given.text, attachments=files))
        return cast("MessageResult", answer.value)
    made = await perform(call, NewTask(given.text, project=given.project, attachments=files))
    return MessageResult((cast("Task", made.value),))


async def _order_page(call: Call, values: Mapping[str, object], status: int = 200) -> CallResult:
    known: dict[str, object] = {"projects": sorted(call.app.settings.projects), "project": ""}
    return await shell.page(call, "pages/new.html", {**known, **values}, status)


def _receipt(result: MessageResult) -> dict[str, object]:
    return {"heard": message_result_to_json(result), "tasks": result.tasks, "card": result.card}


# The page of a task -------------------------------------------------------------------------------

_LONGEST: Final = 100_000


class RetryForm(RequestBody, frozen=True):
    """New instructions for a retry."""

    instructions: Annotated[str, Meta(max_length=_LONGEST)] = ""


@form("/tasks/{id}/delete", tasks.delete_task)
async def remove(call: Call, asked: DeleteTask) -> CallResult:
    """Delete the task and go to the list; there an ended one can be restored."""
    task = await call.app.db.read(stored.get, call.task_id)
    await perform(call, asked)
    return shell.redirect(f"/tasks?gone={task.id}" if task.ended else "/tasks")


@page("/tasks/{id}/delete")
async def confirm(call: Call) -> CallResult:
    """Ask for confirmation, for browsers without scripts."""
    task = await call.app.db.read(stored.get, call.task_id)
    return await shell.page(call, "pages/task_delete.html", {"task": task})


@page("/tasks/{id}/again")
async def again(call: Call) -> CallResult:
    """Show a form with the current instructions."""
    task = await call.app.db.read(stored.get, call.task_id)
    if not task.ended:
        sentence = f"Task {task.id} is {task.status}; only an ended task can be tried again."
        raise Conflict(sentence)
    return await shell.page(call, "pages/task_again.html", {"task": task})


@form("/tasks/{id}/retry", tasks.retry_task)
async def retry(call: Call, given: RetryForm) -> CallResult:
    """Try it again as a new task; the old one stays as it is."""
    answer = await perform(call, RetryTask(call.task_id, given.instructions))
    return shell.redirect(f"/tasks/{answer.content['id']}")


# Where it is talked about; if that is gone, somewhere new with a word of the task.
ask: Final = shell.form_of("/tasks/{id}/ask", messages.talk_about_task, "/conversations/{id}")
pause: Final = shell.form_of("/tasks/{id}/pause", tasks.pause_task, "/tasks/{id}")
resume: Final = shell.form_of("/tasks/{id}/resume", tasks.resume_task, "/tasks/{id}")
cancel: Final = shell.form_of("/tasks/{id}/cancel", tasks.cancel_task, "/tasks/{id}")
run: Final = shell.form_of("/tasks/{id}/run", tasks.run_task, "/tasks/{id}")
undo: Final = shell.form_of("/tasks/{id}/undo", tasks.undo_task, "/tasks/{id}")
restore: Final = shell.form_of("/tasks/{id}/restore", tasks.restore_task, "/tasks/{id}")
_TITLE: Final = 500


class NewEdit(RequestBody, frozen=True, kw_only=True):
    """The form as sent, with the version it was made from."""

    title: Annotated[str, Meta(max_length=_TITLE)] = ""
    instructions: Annotated[str, Meta(max_length=_LONGEST)] = ""
    at: Annotated[str, Meta(max_length=40)] = ""  # on the owner's clock
    priority: Priority
    # One of each for every delivery; an empty recipient is the owner.
    channel: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    to: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    text: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    version: Annotated[str, Meta(max_length=100)]


@page("/tasks/{id}/edit")
async def edit_page(call: Call) -> CallResult:
    """The task as it is now."""
    task, version = await call.app.db.read(_read, call.task_id)
    return await shell.page(call, "pages/task_edit.html", _values(call, task, version))


async def _edited_again(call: Call, edit: NewEdit, wrong: BadInput | Conflict) -> CallResult:
    """Return the form with the typed text, so that nothing is lost."""
    task, version = await call.app.db.read(_read, call.task_id)
    clash, why = isinstance(wrong, OutOfDate), str(wrong)
    if clash:
        why = "This task changed while you edited it. Below is what you wrote; on the right is"
        why = f"{why} what it is now."
    values = _values(call, task, version) | {
        "title": edit.title,
        "instructions": edit.instructions,
        "at": edit.at,
        "priority": edit.priority,
        "parts": list(zip(edit.channel, edit.to, edit.text, strict=False)),
        "wrong": why,
        "clash": clash,
    }
    status = 412 if clash else 409 if isinstance(wrong, Conflict) else 422
    return await shell.page(call, "pages/task_edit.html", values, status)


@form("/tasks/{id}/edit", tasks.edit_task, refused=_edited_again)
async def save(call: Call, edit: NewEdit) -> CallResult:
    """Change it, if it is still what the owner saw."""
    task, _ = await call.app.db.read(_read, call.task_id)
    change = _change(call, task, edit)
    if change != EditTask(task.id):
        await perform(replace(call, if_match=f'"{edit.version}"'), change)
    return shell.redirect(f"/tasks/{task.id}")


def _read(tx: Tx, task_id: TaskId) -> tuple[Task, str]:
    return stored.get(tx, task_id), stored.version(tx, task_id)


def _values(call: Call, task: Task, version: str) -> dict[str, object]:
    planned = task.scheduled_for
    local = planned.astimezone(call.app.zone) if planned else None
    return {
        "task": task,
        "version": version,
        "title": task.title,
        "instructions": task.instructions,
        "at": f"{local:%Y-%m-%dT%H:%M}" if local else "",
        "priority": task.priority,
        "priorities": [(each.value, task_sections.PRIORITIES[each.value]) for each in Priority],
        "parts": [
            (each.channel, each.recipient or "", each.content or "") for each in task.delivery
        ],
        "deliveries": task.delivery,
        "called": task_sections.channel_labels(call.app.settings.channels),
        "people": call.app.permits.names(),
        "least": f"{shell.local_now(call):%Y-%m-%dT%H:%M}",
        "zone": call.app.zone,
        "wrong": None,
        "clash": False,
    }


def _change(call: Call, task: Task, edit: NewEdit) -> EditTask:
    """Return the fields that differ from the task; the others stay."""
    title, text = edit.title.strip(), edit.instructions.strip()
    if not title or not text:
        missing = "title" if not title else "instructions"
        raise BadInput(f"The {missing} may not be empty.", field=missing)
    at = words.wall(edit.at, call.app.zone, "at") if edit.at else None
    if at and not _is_same_minute(at, task.scheduled_for):
        words.check_to_come(at, shell.local_now(call), "at")
    return EditTask(
        id=task.id,
        title=title if title != task.title else None,
        instructions=text if text != task.instructions.strip() else None,
        scheduled_for=at.isoformat()
        if at and not _is_same_minute(at, task.scheduled_for)
        else None,
        priority=edit.priority if edit.priority is not task.priority else None,
        delivery=_delivery(task, edit),
    )


def _is_same_minute(at: datetime, planned: datetime | None) -> bool:
    """Whether two times are equal to the minute: the form has no seconds."""
    return planned is not None and abs((at - planned).total_seconds()) < 60  # noqa: PLR2004


def _delivery(task: Task, edit: NewEdit) -> list[NewDelivery] | None:
    """Return the deliveries if they differ; one without a text keeps none."""
    if not len(task.delivery) == len(edit.channel) == len(edit.to) == len(edit.text):
        return None
    rows = zip(task.delivery, edit.channel, edit.to, edit.text, strict=True)
    changed = [
        NewDelivery(channel, to.strip() or None, _text(each, text))
        for each, channel, to, text in rows
    ]
    was = [NewDelivery(each.channel, each.recipient, each.content) for each in task.delivery]
    return changed if changed != was else None


def _text(delivery: Delivery, text: str) -> str | None:
    words = text.replace("\r\n", "\n").strip()
    if delivery.content is not None and not words:
        raise BadInput("Write the message first.", field="text")
    return delivery.content if words == (delivery.content or "").strip() else words
