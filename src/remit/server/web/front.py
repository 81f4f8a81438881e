"""The start page, the new-task form, the agent box, the command palette, and problems."""

from collections.abc import Mapping
from typing import Annotated, Final, cast

from msgspec import Meta
from starlette.responses import Response

from remit.errors import BadInput, Conflict
from remit.intake.message import MessageResult, message_result_to_json
from remit.language.order_words import SmallTalk
from remit.model.codec import Json
from remit.model.task import Task
from remit.operations.arguments import NewConversation, NewMessage, NewTask, NewTurn
from remit.operations.messages import hear_message
from remit.operations.table import perform
from remit.server import static
from remit.server.bodies import FileNames, RequestBody
from remit.server.call import Call, CallResult
from remit.server.problem import KINDS, Problem
from remit.server.routes import form, page
from remit.server.tasks import named_files
from remit.server.web import section_forms, shell, words
from remit.store import search

_FOUND: Final = 8
_TELLING: Final = 5  # characters; fewer are not searched
_TEXT: Final = 20_000


class OrderForm(RequestBody, frozen=True):
    """What shall be done; with a project, on its code."""

    text: Annotated[str, Meta(max_length=_TEXT)] = ""
    project: Annotated[str, Meta(max_length=100)] = ""
    file: FileNames = ()


@page("/")
async def front(call: Call) -> CallResult:
    first = not call.app.thinks and section_forms.is_first_run(call.app.settings)
    return shell.redirect("/welcome" if first else "/inbox")


@page("/new")
async def new_page(call: Call) -> CallResult:
    """Return a page that only asks what shall be done."""
    return await _new(call, {"text": "", "wrong": None, "heard": None})


async def _order_again(call: Call, given: OrderForm, wrong: BadInput | Conflict) -> CallResult:
    """Show the form again, with what was typed."""
    if isinstance(wrong, Conflict):
        raise wrong
    values = {"text": given.text, "wrong": str(wrong), "heard": None, "project": given.project}
    if call.part:
        return shell.part("parts/handed.html", values, 422)
    return await _new(call, values, 422)


@form("/new", hear_message, files=True, refused=_order_again)
async def add_order(call: Call, given: OrderForm) -> CallResult:
    """Read the words, store what they ask for, and show what was understood."""
    result = await _take_order(call, given)
    if not result.tasks and (result.order is not None or result.answer is SmallTalk.QUESTION):
        return await _open_conversation(call, given)
    if call.part:
        return shell.part("parts/handed.html", {"wrong": None, **_receipt(result)})
    return await _new(call, {"text": "", "wrong": None, **_receipt(result)})


async def _open_conversation(call: Call, given: OrderForm) -> CallResult:
    """Open a conversation with words that are no new task: a question, or about a task."""
    files = await named_files(call, given.file)
    talk = str((await perform(call, NewConversation())).content["id"])
    await perform(call, NewTurn(talk, given.text, attachments=files, patience=0.0))
    return shell.redirect(f"/conversations/{talk}#end")


@page("/new/{id}", "toast")
async def received(call: Call) -> CallResult:
    """Return the receipt of a stored message again: it may have been read meanwhile."""
    result = await call.app.intake.became(call.task_id)
    if call.flag("toast"):
        return shell.part("parts/handed.html", {"wrong": None, **_receipt(result)})
    return shell.part("parts/receipt.html", await _around(call) | _receipt(result))


async def _around(call: Call) -> dict[str, object]:
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


async def _new(call: Call, values: Mapping[str, object], status: int = 200) -> CallResult:
    known: dict[str, object] = {"projects": sorted(call.app.settings.projects), "project": ""}
    return await shell.page(call, "pages/new.html", {**known, **values}, status)


@page("/agent")
async def agent(call: Call) -> CallResult:
    return shell.part("parts/agent.html", {"shell": await shell.frame(call)})


@page("/palette", "q")
async def palette(call: Call) -> CallResult:
    """Return tasks that match what is typed."""
    wanted = search.TaskFilter(text=call.text("q") or "", limit=_FOUND)
    page = await call.app.db.read(search.page, wanted)
    found: list[Json] = [_line(task) for task in page.tasks]
    known = {task.id for task in page.tasks}
    near = await _similar_tasks(call, wanted.text or "") if len(found) < _FOUND else []
    alike: list[Json] = [_line(task) for task in near if task.id not in known]
    return CallResult({"tasks": found, "alike": alike[: _FOUND - len(found)]})


async def _similar_tasks(call: Call, text: str) -> list[Task]:
    """Return tasks similar to what is typed."""
    if len(text) < _TELLING:
        return []
    return [each.task for each in await call.app.recollection.finder.find(text, _FOUND)]


def _line(task: Task) -> Json:
    return {"title": task.title, "href": f"/tasks/{task.id}", "kind": words.state(task).kind}


def _receipt(result: MessageResult) -> dict[str, object]:
    return {"heard": message_result_to_json(result), "tasks": result.tasks, "card": result.card}


@page("/sw.js", public=True)
async def worker(_: Call) -> CallResult:
    """Return the service worker; only at the root can it speak for every page."""
    text = static.files()["js/sw.js"].raw.decode()
    return CallResult(text, media="text/javascript")


def problem_page(problem: Problem) -> Response:
    """Return a problem as a page: what is wrong, and the way back."""
    status, title = KINDS[problem.name]
    values = {"title": title, "detail": problem.detail, "status": status}
    html = shell.render("pages/problem.html", values)
    return Response(html, status, headers=dict(problem.headers), media_type="text/html")
