"""An app to talk to: words in, answers out."""

from collections.abc import Sequence
from pathlib import Path

from remit.brain.scripted import parse
from remit.model.codec import Json
from remit.model.conversation import Role, Turn
from remit.model.ids import ConversationId, TaskId
from remit.ports import Brain
from remit.settings import DeliverSettings, Settings
from remit.store import conversations
from remit.testing import World

SCRIPT: list[Json] = [
    {"when": "spider", "reply": "Eight legs."},
    {"when": "the lie", "reply": "Spiders are nice. I sent the list to Anna."},
    {"when": "passport", "ask": "Which passport do you hold?"},
    {"when": "hopeless", "fail": "permanent"},
    {"when": "broken", "fail": "transient"},
    {"reply": "I looked around.\n<deliverable>Lumphini Park.</deliverable>"},
]


def world(home: Path, brain: Brain | None = None, **more: object) -> World:
    settings = Settings(home=home, zone="Europe/Berlin", deliver=DeliverSettings(undo=0), **more)  # type: ignore[arg-type]
    return World(home, brain=brain or parse(SCRIPT), settings=settings)


async def began(world: World) -> ConversationId:
    return (await world.app.talk.begin()).id


async def say(world: World, talk: ConversationId, text: str, about: TaskId | None = None) -> Turn:
    """Say something, and return the answer."""
    turn = await world.app.talk.say(talk, text, about=about)
    answer = await world.app.talk.answered(turn, 100)
    assert answer is not None, "no answer came"
    return answer


async def turns(world: World, talk: ConversationId) -> list[Turn]:
    return await world.app.db.read(conversations.turns, talk)


async def told(world: World, talk: ConversationId) -> list[str]:
    """Return what the agent said, in order."""
    said = await turns(world, talk)
    return [turn.content for turn in said if turn.role is Role.ASSISTANT]


def ids(turn: Turn) -> Sequence[TaskId]:
    return [ref.task_id for ref in turn.task_refs]
