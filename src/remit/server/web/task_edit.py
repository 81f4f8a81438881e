"""Edits a task that has not begun; reports if it changed in the meantime."""

from datetime import datetime
from typing import Annotated, Final

from msgspec.structs import replace
from pydantic import BeforeValidator, Field

from remit.errors import BadInput, Conflict, OutOfDate
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.task import Priority, Task
from remit.operations import tasks as operations
from remit.operations.arguments import EditTask, NewDelivery
from remit.operations.table import perform
from remit.server.bodies import RequestBody, as_list
from remit.server.call import Call, CallResult, form, page
from remit.server.web import shell, task_sections
from remit.store import tasks as stored
from remit.store.database import Tx

_LONGEST: Final = 100_000
_TITLE: Final = 500


class NewEdit(RequestBody):
    """The form as sent, with the version it was made from."""

    title: Annotated[str, Field(max_length=_TITLE)] = ""
    instructions: Annotated[str, Field(max_length=_LONGEST)] = ""
    at: Annotated[str, Field(max_length=40)] = ""  # on the owner's clock
    priority: Priority
    to: Annotated[tuple[str, ...], BeforeValidator(as_list), Field(max_length=50)] = ()
    version: Annotated[str, Field(max_length=100)]


async def edit_page(call: Call) -> CallResult:
    """The task as it is now."""
    task, version = await call.house.db.read(_read, call.task_id)
    return await shell.page(call, "pages/task_edit.html", _values(call, task, version))


async def save(call: Call) -> CallResult:
    """Change it, if it is still what the owner saw."""
    said = call.read(NewEdit)
    task, version = await call.house.db.read(_read, call.task_id)
    try:
        change = _change(call, task, said)
        if change != EditTask(task.id):
            await perform(replace(call, if_match=f'"{said.version}"'), change)
    except OutOfDate:
        told = "This task changed while you edited it. Below is what you wrote; on the right is"
        return await _again(call, task, version, said, f"{told} what it is now.", 412)
    except Conflict as wrong:
        return await _again(call, task, version, said, str(wrong), 409)
    except BadInput as wrong:
        return await _again(call, task, version, said, str(wrong), 422)
    return shell.elsewhere(f"/tasks/{task.id}")


def _read(tx: Tx, task_id: TaskId) -> tuple[Task, str]:
    return stored.get(tx, task_id), stored.version(tx, task_id)


def _values(call: Call, task: Task, version: str) -> dict[str, object]:
    planned = task.scheduled_for
    local = planned.astimezone(call.house.zone) if planned else None
    return {
        "task": task,
        "version": version,
        "title": task.title,
        "instructions": task.instructions,
        "at": f"{local:%Y-%m-%dT%H:%M}" if local else "",
        "priority": task.priority,
        "priorities": [(each.value, task_sections.PRIORITIES[each.value]) for each in Priority],
        "to": [each.recipient or "" for each in _others(task)],
        "others": _others(task),
        "called": task_sections.called(call.house.settings.channels),
        "zone": call.house.zone,
        "wrong": None,
        "clash": False,
    }


async def _again(
    call: Call, task: Task, version: str, said: NewEdit, wrong: str, status: int
) -> CallResult:
    """Return the form with the typed text, so that nothing is lost."""
    values = _values(call, task, version) | {
        "title": said.title,
        "instructions": said.instructions,
        "at": said.at,
        "priority": said.priority,
        "to": list(said.to) or [each.recipient or "" for each in _others(task)],
        "wrong": wrong,
        "clash": status == 412,  # noqa: PLR2004
    }
    return await shell.page(call, "pages/task_edit.html", values, status)


def _others(task: Task) -> list[Delivery]:
    """Return deliveries to other people; those to the owner need no name."""
    return [each for each in task.delivery if each.recipient is not None]


def _change(call: Call, task: Task, said: NewEdit) -> EditTask:
    """What differs from how it is; the rest is not touched."""
    title, words = said.title.strip(), said.instructions.strip()
    if not title or not words:
        missing = "title" if not title else "instructions"
        raise BadInput(f"The {missing} may not be empty.", field=missing)
    at = _moment(call, said.at)
    return EditTask(
        id=task.id,
        title=title if title != task.title else None,
        instructions=words if words != task.instructions.strip() else None,
        scheduled_for=at.isoformat() if at and not _same(at, task.scheduled_for) else None,
        priority=said.priority if said.priority is not task.priority else None,
        delivery=_delivery(task, said),
    )


def _moment(call: Call, text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text) if text else None
    except ValueError:
        sentence = f"{text!r:.60} is no time; one looks like 2026-03-02T08:30."
        raise BadInput(sentence, field="at") from None
    return at.replace(tzinfo=call.house.zone) if at and at.tzinfo is None else at


def _same(at: datetime, planned: datetime | None) -> bool:
    """Whether two times are equal to the minute: the form has no seconds."""
    return planned is not None and abs((at - planned).total_seconds()) < 60  # noqa: PLR2004


def _delivery(task: Task, said: NewEdit) -> list[NewDelivery] | None:
    names = iter(said.to)
    changed = [
        each if each.recipient is None else replace(each, recipient=next(names, "").strip())
        for each in task.delivery
    ]
    if not said.to or changed == [*task.delivery]:
        return None
    if any(each.recipient == "" for each in changed):
        raise BadInput("Say to whom each of them goes.", field="to")
    return [NewDelivery(each.channel, each.recipient, each.content) for each in changed]


ROUTES: Final = (
    page("/tasks/{id}/edit", edit_page, "Change a task that has not begun"),
    form("/tasks/{id}/edit", save, "Change a task that has not begun", NewEdit, operations.EDIT),
)
