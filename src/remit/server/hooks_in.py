"""Calls from programs that may start work, each by a hook of its own; and what came by any door.

A call holds no token of ours: it is believed by its secret. It is answered once it is kept, so that
whoever gets no answer may call again, and again is the same task.
"""

from typing import Final

from remit.errors import NotFound
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.server.call import Answer, Call, Route
from remit.server.problem import Problem, Refused
from remit.store.cues import Fate, Kept

RETRY_AFTER: Final = 600  # seconds


async def take(call: Call) -> Answer:
    """Keep what a program tells, once, and start what its owner wants done with it."""
    from remit.trigger import hook  # noqa: PLC0415 - who has no hook need not wait for it
    from remit.wiring.entrance import TooLarge, Unsigned  # noqa: PLC0415 - as above

    try:
        kept = await call.house.doors.called(call.path["name"], hook.Call(call.headers, call.body))
    except NotFound:
        raise Refused(Problem("not-found", "There is no hook of this name.")) from None
    except Unsigned as error:
        raise Refused(Problem("unsigned", str(error))) from None
    except TooLarge as error:
        raise Refused(Problem("too-large", str(error))) from None
    if kept.fate is Fate.OVER:
        sentence = f"This hook has started enough for now: {kept.why}. Come again later."
        again = {"Retry-After": str(RETRY_AFTER)}
        raise Refused(Problem("rate-limited", sentence, headers=again))
    return Answer(told(kept), 202)


async def begin(call: Call) -> Answer:
    """Begin what was kept and started nothing, because its owner says so."""
    return Answer(told(await call.house.doors.begin(call.path["id"])))


def told(kept: Kept) -> JsonMap:
    """A cue, as it is told."""
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
