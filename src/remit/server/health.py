"""Whether Remit is there."""

from typing import Final

from remit import __version__
from remit.server.call import Answer, Call, Route


async def health(_: Call) -> Answer:
    return Answer({"status": "ok", "version": __version__})


ROUTES: Final = (
    Route(
        method="GET",
        path="/healthz",
        does=health,
        says="Whether Remit is there",
        gives="Health",
        public=True,
    ),
)
