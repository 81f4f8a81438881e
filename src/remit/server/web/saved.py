"""Saved views: the current filter under a name in the sidebar."""

from typing import Annotated, Final

from pydantic import Field

from remit.server import views as kept
from remit.server.bodies import NewView, RequestBody
from remit.server.call import Call, CallResult, Route
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
    await kept.keep(call)
    return shell.elsewhere(ListAddress(q=call.read(NewView).filter).href())


async def drop(call: Call) -> CallResult:
    body = call.read(RemoveViewForm)
    await call.house.db.write(task_filter.delete_view, body.name)
    return shell.elsewhere(back(body.back))


def back(text: str) -> str:
    """Return an address of the list only; any other leads there."""
    return text if text == "/tasks" or text.startswith("/tasks?") else "/tasks"


ROUTES: Final = (
    Route(
        method="POST",
        path="/tasks/views",
        does=keep,
        says="Keep a view",
        gives="Page",
        body=NewView,
        page=True,
    ),
    Route(
        method="POST",
        path="/tasks/views/delete",
        does=drop,
        says="Forget a view",
        gives="Page",
        body=RemoveViewForm,
        page=True,
    ),
)
