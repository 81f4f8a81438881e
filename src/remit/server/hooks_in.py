"""Calls from programs that may start work, each by a hook of its own.

A call is authenticated by its secret. It is answered after it is stored, so a caller without an
answer may call again; the repeat is the same task.
"""

from typing import Final

from remit.errors import NotFound
from remit.operations.upkeep import cue_to_json
from remit.server.call import Call, CallResult, Route
from remit.server.problem import Problem, RequestRefused
from remit.store.cues import CueFate

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
)
