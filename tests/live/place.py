"""The four places a model may answer from, and a brain that asks there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from remit.brain import choose
from remit.brain.choose import ModelChoice, ModelRole
from remit.brain.models import ModelBrain
from remit.model.reply import Prompt, Reply
from remit.ports import OnText
from remit.settings import BrainSettings, Settings
from remit.testing import World
from tests.live.vendor import Vendor

KEY: Final = "sk-canary-7f3a91c4e2b85d60-Zq9xW"
_WARM: Final = set["Place"]()


class Place(StrEnum):
    ANTHROPIC = "anthropic"
    CHAT = "openai-chat"
    RESPONSES = "openai-responses"
    OLLAMA = "ollama"


# What `[brain]` in the settings may say.
brain_settings = partial(BrainSettings, time_limit=100, token_limit=1000)


def choice(vendor: Vendor, place: Place, *, time_limit: int = 100) -> ModelChoice:
    """Return a choice as the settings and the environment would make it."""
    environ = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": vendor.url,
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{vendor.url}/v1",
        "OLLAMA_API_KEY": KEY,
        "OLLAMA_BASE_URL": vendor.url,
    }
    return choose.choose_models(
        environ, brain_settings(model=f"{place}:test", time_limit=time_limit)
    )


@asynccontextmanager
async def brain(
    vendor: Vendor, place: Place, *, role: ModelRole = ModelRole.THINK, time_limit: int = 100
) -> AsyncIterator[ModelBrain]:
    mind = ModelBrain(choice(vendor, place, time_limit=time_limit), role)
    try:
        yield mind
    finally:
        await mind.close()


@asynccontextmanager
async def opened(
    home: Path,
    vendor: Vendor,
    place: Place,
    *,
    settings: Settings | None = None,
    time_limit: int = 100,
) -> AsyncIterator[World]:
    """A whole app whose brain is a model at this vendor."""
    async with (
        brain(vendor, place, time_limit=time_limit) as mind,
        World(home, brain=mind, settings=settings) as world,
    ):
        yield world


async def say(mind: ModelBrain, prompt: Prompt, on_text: OnText | None = None) -> Reply:
    """Ask a brain, and stream if there is a listener."""
    if on_text is None:
        return await mind.think(prompt, session="s")
    return await mind.think_aloud(prompt, session="s", on_text=on_text)


async def warm(place: Place) -> None:
    """Ask once, streamed and not, so that later requests do not include the loading time."""
    if place in _WARM:
        return

    async def hear(_: str) -> None:
        pass

    async with Vendor() as vendor, brain(vendor, place) as mind:
        await say(mind, Prompt("Hi"))
        await say(mind, Prompt("Hi"), hear)
    _WARM.add(place)
