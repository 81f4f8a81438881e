"""Events of calendars that start nothing, seen by the owner."""

from typing import Annotated, Final

from pydantic import Field

from remit.model.caller import Scope
from remit.server.bodies import Body
from remit.server.call import Answer, Call, Route
from remit.server.problem import Problem, Refused
from remit.server.web import shell
from remit.store import calendars

HREF: Final = "/schedule#refused"


class Seen(Body):
    """Which one."""

    account: Annotated[str, Field(max_length=200)]
    calendar: Annotated[str, Field(max_length=2000)]
    path: Annotated[str, Field(max_length=2000)]


async def see(call: Call) -> Answer:
    """The owner knows of it; if the event changes, it is told anew."""
    said = call.read(Seen)
    found = await call.house.db.write(calendars.see, said.account, said.calendar, said.path)
    if not found:
        sentence = "That event is not refused any more; look again."
        raise Refused(Problem("not-found", sentence))
    return shell.elsewhere(HREF)


ROUTES: Final = (
    Route(
        method="POST",
        path="/schedule/refused",
        does=see,
        says="An event that starts nothing was seen",
        gives="Page",
        page=True,
        body=Seen,
        scope=Scope.APPROVE,
    ),
)
