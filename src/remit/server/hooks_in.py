"""Webhook calls that start work, each on its own hook; and the list of what came in.

A call is authenticated by its secret. It is answered after it is stored, so a caller without an
answer may call again; the repeat is the same task.
"""

from typing import Final

from remit.errors import NotFound
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.server.call import Call, CallResult, Route
from remit.server.problem import Problem, RequestRefused
from remit.store.cues import CueFate, StoredCue

RETRY_AFTER: Final = 600  # seconds


async def take(call: Call) -> CallResult:
    """Store a program's call once, and start what the owner's settings say."""
    from remit.channels.webhook import receiving  # noqa: PLC0415 - who has no hook need not wait for it
    from remit.wiring.inbound_registry import CallTooLarge, CallUnsigned  # noqa: PLC0415 - as above

    try:
        kept = await call.house.doors.called(
            call.path["name"], receiving.HookCall(call.headers, call.body)
        )
    except NotFound:
        raise RequestRefused(Problem("not-found", "There is no hook of this name.")) from None
    except CallUnsigned as error:
        raise RequestRefused(Problem("unsigned", str(error))) from None
    except CallTooLarge as error:
        raise RequestRefused(Problem("too-large", str(error))) from None
    if kept.fate is CueFate.OVER:
        sentence = f"This hook has started enough for now: {kept.why}. Come again later."
        again = {"Retry-After": str(RETRY_AFTER)}
        raise RequestRefused(Problem("rate-limited", sentence, headers=again))
    return CallResult(cue_to_json(kept), 202)


async def begin(call: Call) -> CallResult:
    """Start a stored cue that started nothing, because the owner says so."""
    return CallResult(cue_to_json(await call.house.doors.begin(call.path["id"])))


def cue_to_json(kept: StoredCue) -> JsonMap:
    """Return a cue as JSON."""
    return {"cue": kept.name, "fate": kept.fate.value, "taskId": kept.task_id, "why": kept.why}


ROUTES: Final = (
    Route(
        method="POST",
        path="/hooks/in/{name}",
        does=take,
        says="An event from a program, by the secret of its hook",
        gives="Cue",
        status=202,
        public=True,
        raw=True,
    ),
    Route(
        method="POST",
        path="/api/cues/{id}/start",
        does=begin,
        says="Start what came in and was kept without starting anything",
        gives="Cue",
        scope=Scope.ADMIN,
    ),
)
