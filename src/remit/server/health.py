"""Whether Remit is there."""

from typing import Final

from remit import __version__
from remit.server.call import Answer, Call, Route


async def health(_: Call) -> Answer:
    return Answer({"status": "ok", "version": __version__})


async def greeting(_: Call) -> Answer:
    return Answer(
        f"Remit {__version__} is running. Its API is described at /openapi.json;"
        " `remit --help` shows the way in the terminal.\n"
    )


ROUTES: Final = (
    Route(
        method="GET",
        path="/",
        does=greeting,
        says="A word to whoever comes by",
        gives="Greeting",
        public=True,
    ),
    Route(
        method="GET",
        path="/healthz",
        does=health,
        says="Whether Remit is there",
        gives="Health",
        public=True,
    ),
)
