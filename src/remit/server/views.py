"""View routes: filters that the owner named."""

from typing import Final

from remit.errors import BadInput
from remit.model.codec import JsonMap, stamp
from remit.server import filters, listing
from remit.server.bodies import EmptyBody, NewView
from remit.server.call import Call, CallResult, Route
from remit.store import task_filter
from remit.store.task_filter import SavedView

_WHOSE: Final = "saved filters are for people"


async def list_views(call: Call) -> CallResult:
    found = await call.house.db.read(task_filter.saved_views)
    return CallResult({"views": [_told(each) for each in found]})


async def keep(call: Call) -> CallResult:
    """Store a valid filter; the same name replaces it."""
    body = call.read(NewView)
    call.access.check_person(_WHOSE)
    name = body.name.strip()
    if not name or "/" in name or not name.isprintable():
        raise BadInput("name must be one line that can be read, without a slash.", field="name")
    filters.typed(body.filter, listing.filter_context(call.house))  # raises for an invalid filter
    now = call.house.clock.now()
    await call.house.db.write(task_filter.save_view, name, body.filter, now)
    found = await call.house.db.read(task_filter.saved_views)
    return CallResult(_told(next(each for each in found if each.name == name)))


async def drop(call: Call) -> CallResult:
    call.read(EmptyBody)
    call.access.check_person(_WHOSE)
    await call.house.db.write(task_filter.delete_view, call.path["name"])
    return await list_views(call)


def _told(view: SavedView) -> JsonMap:
    return {"name": view.name, "filter": view.filter, "createdAt": stamp(view.created_at)}


ROUTES: Final = (
    Route(
        method="GET", path="/api/views", does=list_views, says="Filters with a name", gives="Views"
    ),
    Route(
        method="POST",
        path="/api/views",
        does=keep,
        says="Keep a filter under a name; the same name again replaces it",
        gives="View",
        body=NewView,
    ),
    Route(
        method="DELETE",
        path="/api/views/{name}",
        does=drop,
        says="Forget a view; the tasks stay",
        gives="Views",
        body=EmptyBody,
        reveals=True,
    ),
)
