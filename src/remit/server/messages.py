"""Messages: what became of the owner's own words."""

from typing import Final

from remit.intake.heard import message_result_to_json
from remit.server.call import VIEW, Call, CallResult, QueryParameter, read


async def became(call: Call) -> CallResult:
    """Return what a stored message became; with `wait` once it is read."""
    heard = await call.house.intake.became(call.task_id, wait=call.flag("wait"))
    return CallResult(message_result_to_json(heard, call.view))


ROUTES: Final = (
    read(
        "/api/messages/{id}",
        became,
        "What a message became, by the id of its task; a model may still be reading it",
        "Heard",
        VIEW,
        QueryParameter("wait", "Answer once it is read.", {"type": "boolean"}),
    ),
)
