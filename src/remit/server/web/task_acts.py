"""Form handlers of the task page; each redirects back to the page."""

from typing import Annotated, Final

from pydantic import Field

from remit.errors import Conflict
from remit.operations import messages, tasks
from remit.operations.arguments import DeleteTask, RetryTask, TalkAboutTask
from remit.operations.operation import Operation
from remit.operations.table import perform
from remit.server.bodies import EmptyBody, RequestBody
from remit.server.call import Call, CallResult, Does, form, page
from remit.server.web import shell
from remit.store import tasks as stored

_LONGEST: Final = 100_000


class RetryForm(RequestBody):
    """New instructions for a retry."""

    instructions: Annotated[str, Field(max_length=_LONGEST)] = ""


def _does(operation: Operation) -> Does:
    async def act(call: Call) -> CallResult:
        answer = await operation.perform(call, call.arguments(operation.arguments))
        return shell.elsewhere(f"/tasks/{answer.content['id']}")

    return act


async def remove(call: Call) -> CallResult:
    """Hide it, and go where the others are."""
    await perform(call, call.arguments(DeleteTask))
    return shell.elsewhere("/tasks")


async def confirm(call: Call) -> CallResult:
    """Ask for confirmation, for browsers without scripts."""
    task = await call.house.db.read(stored.get, call.task_id)
    return await shell.page(call, "pages/task_delete.html", {"task": task})


async def again(call: Call) -> CallResult:
    """Show a form with the current instructions."""
    task = await call.house.db.read(stored.get, call.task_id)
    if not task.ended:
        sentence = f"Task {task.id} is {task.status}; only an ended task can be tried again."
        raise Conflict(sentence)
    return await shell.page(call, "pages/task_again.html", {"task": task})


async def retry(call: Call) -> CallResult:
    """Try it again as a new task; the old one stays as it is."""
    said = call.read(RetryForm).instructions
    answer = await perform(call, RetryTask(call.task_id, said))
    return shell.elsewhere(f"/tasks/{answer.content['id']}")


async def ask(call: Call) -> CallResult:
    """Go to where it is talked about; if that is gone, somewhere new with a word of the task."""
    answer = await perform(call, call.arguments(TalkAboutTask))
    return shell.elsewhere(f"/conversations/{answer.content['id']}")


_ACTS: Final = (
    ("pause", tasks.PAUSE, "Stop at the next safe place"),
    ("resume", tasks.RESUME, "Go on where it was"),
    ("cancel", tasks.CANCEL, "End it"),
    ("run", tasks.RUN, "Start at once what was planned for later"),
    ("undo", tasks.UNDO, "Call back what was approved"),
    ("restore", tasks.RESTORE, "Show it again"),
)
ROUTES: Final = (
    *(
        form(f"/tasks/{{id}}/{name}", _does(operation), says, EmptyBody, operation)
        for name, operation, says in _ACTS
    ),
    form(
        "/tasks/{id}/delete", remove, "Hide it; cancel it first if it runs", EmptyBody, tasks.DELETE
    ),
    page("/tasks/{id}/delete", confirm, "Whether it is to be deleted"),
    page("/tasks/{id}/again", again, "Other instructions for another try"),
    form("/tasks/{id}/retry", retry, "Try it again, as a new task", RetryForm, tasks.RETRY),
    form("/tasks/{id}/ask", ask, "Talk about it", EmptyBody, messages.TALK_ABOUT),
)
