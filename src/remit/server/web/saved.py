"""Saved views: the current filter under a name in the sidebar."""

from typing import Annotated, Final

from pydantic import Field

from remit.operations import upkeep
from remit.operations.settings_arguments import NewView, RemoveView
from remit.operations.table import perform
from remit.server.bodies import RequestBody, model_of
from remit.server.call import Call, CallResult, form
from remit.server.web import shell
from remit.server.web.listing import ListAddress
from remit.store import task_filter


class RemoveViewForm(RequestBody):
    name: Annotated[str, Field(max_length=200)]
    back: Annotated[str, Field(max_length=2_000)] = "/tasks"


async def named(call: Call, q: str) -> str:
    """Return the name of the view with exactly this filter, if any."""
    found = await call.house.db.read(task_filter.saved_views)
    return next((each.name for each in found if each.filter == q), "")


async def keep(call: Call) -> CallResult:
    view = call.arguments(NewView)
    await perform(call, view)
    return shell.elsewhere(ListAddress(q=view.filter).href())


async def drop(call: Call) -> CallResult:
    body = call.read(RemoveViewForm)
    await perform(call, RemoveView(body.name))
    return shell.elsewhere(back(body.back))


def back(text: str) -> str:
    """Return an address of the list only; any other leads there."""
    return text if text == "/tasks" or text.startswith("/tasks?") else "/tasks"


ROUTES: Final = (
    form("/tasks/views", keep, "Keep a view", model_of(NewView), upkeep.SAVE_VIEW),
    form("/tasks/views/delete", drop, "Forget a view", RemoveViewForm, upkeep.REMOVE_VIEW),
)
