"""Forms of the task list: one thing for many tasks, with a preview; and saved views."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Final, Literal, cast

from msgspec import Struct
from pydantic import BeforeValidator, Field

from remit.model.codec import Json, JsonMap, stamp
from remit.model.ids import TaskId
from remit.operations import upkeep
from remit.operations.arguments import Bulk
from remit.operations.filters import BULK
from remit.operations.settings_arguments import NewView, RemoveView
from remit.operations.table import perform
from remit.server.bodies import RequestBody, as_list, model_of
from remit.server.call import Call, CallResult, form
from remit.server.page_language import say
from remit.server.web import listing, shell, words
from remit.server.web.listing import ListAddress
from remit.store import task_filter, tasks
from remit.store.database import Tx

_MOMENT: Final = timedelta(milliseconds=1)


class BulkForm(RequestBody):
    """The selection in the list: some rows, or all that match the filter."""

    action: Literal["run", "pause", "resume", "retry", "cancel", "delete"]
    id: Annotated[
        list[Annotated[str, Field(max_length=60)]],
        BeforeValidator(as_list, json_schema_input_type=list[str]),
        Field(default_factory=list, max_length=10_000),
    ]
    every: Annotated[str, Field(max_length=10)] = ""
    q: Annotated[str, Field(max_length=2_000)] = ""
    back: Annotated[str, Field(max_length=2_000)] = "/tasks"
    sure: Annotated[str, Field(max_length=10)] = ""


class BulkAction(Struct, frozen=True):
    ask: str  # with the number of tasks
    button: str
    past: str
    note: str = ""
    danger: bool = False


VERBS: Final[Mapping[str, BulkAction]] = {
    "run": BulkAction("Run {} now?", "Run now", "started"),
    "pause": BulkAction("Pause {}?", "Pause", "paused", "One at work stops at its next boundary."),
    "resume": BulkAction("Resume {}?", "Resume", "resumed"),
    "retry": BulkAction(
        "Try {} again?",
        "Retry",
        "tried again",
        "Each becomes a new task. What was sent before is not sent again.",
    ),
    "cancel": BulkAction(
        "Cancel {}?",
        "Cancel them",
        "cancelled",
        "A cancelled task does not go on; it can be tried again.",
        danger=True,
    ),
    "delete": BulkAction(
        "Delete {}?",
        "Delete",
        "deleted",
        "They are hidden from every list. One at work is cancelled first.",
        danger=True,
    ),
}


async def act(call: Call) -> CallResult:
    """Show what would happen; after confirmation, do it."""
    body = call.read(BulkForm)
    if not body.id and not body.every:
        return shell.elsewhere(back_to_list(body.back))
    # A confirmation covers the tasks that matched then, not later ones.
    q = body.q if body.sure or not body.every else _until_now(call, body.q)
    answer = await _asked(call, body, q)
    if body.sure:
        did, refused = _number(answer["done"]), _number(answer["refused"])
        return shell.elsewhere(_with(back_to_list(body.back), f"{body.action}.{did}.{refused}"))
    return await _preview(call, body.model_copy(update={"q": q}), answer)


async def _asked(call: Call, body: BulkForm, q: str) -> JsonMap:
    """Through the same door as programs: one guarded move for each, or what would be refused."""
    ids, line = (None, q) if body.every else (body.id, None)
    return (await perform(call, Bulk(body.action, ids, line, not body.sure))).content


async def _preview(call: Call, body: BulkForm, content: JsonMap) -> CallResult:
    refused = cast("Sequence[Mapping[str, str]]", content["results"])
    names = await call.house.db.read(_titles, [TaskId(each["id"]) for each in refused])
    verb, fit = VERBS[body.action], _number(content["done"])
    values: dict[str, object] = {
        "body": body,
        "verb": verb,
        "ask": say(verb.ask).format(_tasks(fit)),
        "fit": fit,
        "more": content["more"],
        "first": content["first"],
        "refused": _number(content["refused"]),
        "why": [(names[each["id"]], each["why"]) for each in refused],
        "back": back_to_list(body.back),
    }
    if call.part:
        return shell.part("parts/bulk.html", values)
    return await shell.page(call, "pages/bulk.html", values)


def _titles(tx: Tx, found: Sequence[TaskId]) -> dict[str, str]:
    return {each: tasks.get(tx, each).title for each in found}


def _until_now(call: Call, q: str) -> str:
    if listing.line_value(q, "until"):
        return q
    return listing.changed_line(q, {"until": stamp(call.house.clock.now() + _MOMENT)})


def _with(back: str, done: str) -> str:
    return f"{back}{'&' if '?' in back else '?'}done={done}"


def _tasks(n: int) -> str:
    return say("1 task") if n == 1 else say("{0} tasks", words.count(n))


def _number(found: Json) -> int:
    return cast("int", found)


class RemoveViewForm(RequestBody):
    name: Annotated[str, Field(max_length=200)]
    back: Annotated[str, Field(max_length=2_000)] = "/tasks"


async def view_named(call: Call, q: str) -> str:
    """Return the name of the view with exactly this filter, if any."""
    found = await call.house.db.read(task_filter.saved_views)
    return next((each.name for each in found if each.filter == q), "")


async def keep_view(call: Call) -> CallResult:
    view = call.arguments(NewView)
    await perform(call, view)
    return shell.elsewhere(ListAddress(q=view.filter).href())


async def drop_view(call: Call) -> CallResult:
    body = call.read(RemoveViewForm)
    await perform(call, RemoveView(body.name))
    return shell.elsewhere(back_to_list(body.back))


def back_to_list(text: str) -> str:
    """Return an address of the list only; any other leads there."""
    return text if text == "/tasks" or text.startswith("/tasks?") else "/tasks"


ROUTES: Final = (
    form("/tasks/bulk", act, BulkForm, BULK),
    form("/tasks/views", keep_view, model_of(NewView), upkeep.SAVE_VIEW),
    form("/tasks/views/delete", drop_view, RemoveViewForm, upkeep.REMOVE_VIEW),
)
