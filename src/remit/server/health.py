"""Health: whether Remit answers, and whether every part works."""

from typing import Final

from remit import __version__
from remit.model.codec import Json, stamp
from remit.server.call import Call, CallResult, Route, read
from remit.system.background import LoopState


async def health(call: Call) -> CallResult:
    """Return failing loops by kind and count only, because anybody may ask."""
    failing: dict[str, Json] = {}
    for loop in call.house.background.failing:
        kind = loop.name.partition(":")[0]
        failing[kind] = max(loop.failures, int(str(failing.get(kind, 0))))
    status = "degraded" if failing else "ok"
    return CallResult({"status": status, "version": __version__, "failing": failing})


async def background(call: Call) -> CallResult:
    return CallResult({"loops": [_shown(call, loop) for loop in call.house.background.states]})


def _shown(call: Call, loop: LoopState) -> Json:
    return {
        "name": loop.name,
        "failures": loop.failures,
        "error": call.house.hide(loop.error) or None,
        "since": stamp(loop.since) if loop.since else None,
    }


ROUTES: Final = (
    Route(
        method="GET",
        path="/healthz",
        does=health,
        says="Whether Remit is there, and which of its loops keep failing",
        gives="Health",
        public=True,
    ),
    read(
        "/api/background",
        background,
        "The loops that run in the background, and what those that fail failed with",
        "Background",
    ),
)
