"""The rules that rank tasks: what is in force, what is wrong with the file, what was learned."""

from typing import Final

from remit.server import lessons
from remit.server.call import Answer, Call, Route
from remit.server.priority_shapes import told


async def every(call: Call) -> Answer:
    """The rules in force; while the file is wrong these are not the ones that stand in it."""
    found = call.house.priority
    return Answer(told(found(), found.complaint))


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/priority-rules",
        does=every,
        says="The rules that rank tasks, in their order, and what is wrong with their file",
        gives="PriorityRules",
    ),
    *lessons.ROUTES,
)
