"""Dismisses a refused calendar event."""

from typing import Final

from remit.operations.settings_arguments import RefusalForm
from remit.operations.table import perform
from remit.operations.upkeep import SEE_REFUSAL
from remit.server.bodies import model_of
from remit.server.call import Call, CallResult, form
from remit.server.problem import Problem, RequestRefused
from remit.server.web import shell

HREF: Final = "/schedule#refused"


async def see(call: Call) -> CallResult:
    """The owner knows of it; if the event changes, it is told anew."""
    if not (await perform(call, call.arguments(RefusalForm))).content["seen"]:
        sentence = "That event is not refused any more; look again."
        raise RequestRefused(Problem("not-found", sentence))
    return shell.elsewhere(HREF)


ROUTES: Final = (
    form(
        "/schedule/refused",
        see,
        "An event that starts nothing was seen",
        model_of(RefusalForm),
        SEE_REFUSAL,
    ),
)
