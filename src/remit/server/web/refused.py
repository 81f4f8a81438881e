"""Dismisses a refused calendar event."""

from typing import Annotated, Final

from pydantic import Field

from remit.model.caller import Scope
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult, Route
from remit.server.problem import Problem, RequestRefused
from remit.server.web import shell
from remit.store import calendars

HREF: Final = "/schedule#refused"


class RefusalForm(RequestBody):
    """Which one."""

    account: Annotated[str, Field(max_length=200)]
    calendar: Annotated[str, Field(max_length=2000)]
    path: Annotated[str, Field(max_length=2000)]


async def see(call: Call) -> CallResult:
    """Record that the owner knows; if the event changes, it is shown again."""
    said = call.read(RefusalForm)
    found = await call.house.db.write(calendars.see, said.account, said.calendar, said.path)
    if not found:
        sentence = "That event is not refused any more; look again."
        raise RequestRefused(Problem("not-found", sentence))
    return shell.elsewhere(HREF)


ROUTES: Final = (
    Route(
        method="POST",
        path="/schedule/refused",
        does=see,
        says="An event that starts nothing was seen",
        gives="Page",
        page=True,
        body=RefusalForm,
        scope=Scope.APPROVE,
    ),
)
