"""Messages: what became of the owner's own words."""

from typing import Final

from remit.intake.heard import message_result_to_json
from remit.server.call import VIEW, Call, CallResult, QueryParameter, Route


async def became(call: Call) -> CallResult:
    """What a stored message became; with `wait` once it is read."""
    heard = await call.house.intake.became(call.task_id, wait=call.flag("wait"))
    return CallResult(message_result_to_json(heard, call.view))


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/messages/{id}",
        does=became,
        says="What a message became, by the id of its task; a model may still be reading it",
        gives="Heard",
        query=(VIEW, QueryParameter("wait", "Answer once it is read.", {"type": "boolean"})),
    ),
)
