"""An app that notifies its owner on a channel called `outbox`, and what came there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from remit.brain.scripted import parse
from remit.delivery.notice_sender import NoticeSender
from remit.model.codec import Json
from remit.model.conversation import SCHEDULED, Notice, Role
from remit.ports import Channel
from remit.settings import DeliverSettings, NoticeSettings, Settings
from remit.settings.parts import ServerSettings
from remit.store import conversations, notices
from remit.testing import World

SCRIPT: Final[list[Json]] = [
    {"when": "passport", "ask": "Which passport do you hold?"},
    {"when": "hopeless", "fail": "permanent"},
    {"reply": "Done.\n<deliverable>Lumphini Park.</deliverable>"},
]
OUT: Final = "outbox"
BY_OUTBOX: Final = NoticeSettings(question=(OUT,), done=(OUT,), failed=(OUT,), lost=(OUT,))


def town(
    home: Path,
    wishes: NoticeSettings = BY_OUTBOX,
    quiet: str = "",
    channels: Mapping[str, Channel] | None = None,
    public_url: str = "",
) -> World:
    deliver = DeliverSettings(undo=0, quiet=quiet)
    server = ServerSettings(public_url=public_url)
    settings = Settings(
        home=home, zone="Europe/Berlin", deliver=deliver, notices=wishes, server=server
    )
    return World(home, brain=parse(SCRIPT), settings=settings, channels=channels)


def herald(world: World) -> NoticeSender:
    return world.app.herald


async def told(world: World) -> list[str]:
    """Send all due notices; return what the owner got on the channel, in order."""
    await world.app.talk.settled()
    await world.app.herald.catch_up()
    return [each.body for each in world.outbox.sent]


async def kept(world: World) -> list[Notice]:
    """Return every notice, oldest first."""
    return [each for _, each in reversed(await world.app.db.read(notices.recent))]


async def states(world: World) -> list[tuple[str, str]]:
    return [(each.way, each.state.value) for each in await kept(world)]


async def planned(world: World) -> list[str]:
    """Return the turns of the conversation about planned tasks."""
    found = await world.app.db.read(conversations.find_by_title, SCHEDULED)
    if found is None:
        return []
    said = await world.app.db.read(conversations.turns, found.id)
    return [turn.content for turn in said if turn.role is Role.ASSISTANT]
