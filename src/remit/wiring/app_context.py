"""What every part of the app uses (store, clock, brain, channels, budget), and all known secrets.

The secrets are collected so that none is shown or sent.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.brain.budget import Budget
from remit.brain.choose import ModelRole, Secret
from remit.brain.models import ModelBrain
from remit.channels.registry import ChannelSecrets
from remit.contacts.book import Contacts
from remit.journal.follow import Journal
from remit.model.conversation import Turn
from remit.model.ids import Ids
from remit.model.permit import Reach
from remit.model.task import Cue, Task
from remit.ports import Brain, Channel, Clock
from remit.settings import Settings
from remit.settings.parts import SearchProvider
from remit.store.cues import InboundMessage
from remit.store.database import Database
from remit.store.postgres import database_time
from remit.store.redact import SHORTEST, lines_of, secret_values
from remit.store.secrets import Secrets, machine_ring
from remit.system.background import Background

CLOCK_CHECK_SECONDS: Final = 60.0
_SUPPLY_BYTES: Final = 1_024
Admit: TypeAlias = Callable[[Cue], Awaitable[Task]]
TakeMessage: TypeAlias = Callable[[InboundMessage], Awaitable[Turn | None]]


class RandomBits:
    """Draws random numbers from a supply: asking the system for each would let other threads in."""

    def __init__(self, draw: Callable[[int], bytes]) -> None:
        self._draw = draw  # of the system, such as `os.urandom`
        self._supply = b""
        self._process = 0

    def __call__(self, bits: int) -> int:
        """Return a number of at most so many bits."""
        size = (bits + 7) // 8
        # A process that was forked off must not draw what its parent draws.
        if len(self._supply) < size or self._process != os.getpid():
            self._supply, self._process = self._draw(_SUPPLY_BYTES), os.getpid()
        drawn, self._supply = self._supply[:size], self._supply[size:]
        return int.from_bytes(drawn, "big") >> 8 * size - bits


class WallClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place where time comes from

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class StoreClock(WallClock):
    """The machine's clock, corrected by that of the database, which decides what is due."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._ahead = timedelta()  # of the database

    def now(self) -> datetime:
        return super().now() + self._ahead

    async def correct(self) -> None:
        before = super().now()
        theirs = await self._db.read(database_time)
        self._ahead = theirs - (before + (super().now() - before) / 2)

    async def keep_correct(self) -> None:
        while True:
            await self.sleep(CLOCK_CHECK_SECONDS)
            await self.correct()


class AppContext(Struct, frozen=True):
    """What every part of the app uses."""

    settings: Settings
    db: Database
    clock: Clock
    ids: Ids
    journal: Journal
    brain: Brain
    keys: ChannelSecrets  # every secret: none may be sent
    channels: Mapping[str, Channel]
    contacts: Contacts
    zone: ZoneInfo
    budget: Budget
    redact: Callable[[str], str]
    background: Background

    async def moment(self) -> datetime:
        """Return the time, for a step that records it."""
        return self.clock.now()

    def mind(self, role: ModelRole) -> ModelBrain | None:
        """Return the model for a role, if there is one."""
        mind = self.brain.as_role(role) if isinstance(self.brain, ModelBrain) else None
        return mind if mind is not None and mind.ready else None

    def owner_address(self, channel: str) -> str:
        """Return the owner's address: of the contact book, else of the channel's settings."""
        reach = self.contacts.find(None, channel)
        known = reach.address if isinstance(reach, Reach) and reach.owner else None
        return known or str(getattr(self.settings.channels.get(channel), "owner", ""))


def keys_of(settings: Settings) -> ChannelSecrets:
    """Return the channels' secrets; all current ones are known from the start."""
    used = settings.channels or settings.hooks or settings.web.search is not SearchProvider.NONE
    ring = machine_ring(settings.home) if used else None  # loads slowly
    keys = ChannelSecrets(Secrets(settings.home, ring), os.environ, settings.channels)
    keys.learn((*secret_values(os.environ), *_named_in(settings, os.environ)))
    keys.learn_all()
    return keys


def make_redactor(keys: ChannelSecrets) -> Callable[[str], str]:
    """Return a function that removes every known secret from a text, including renewed ones."""
    # Of a multi-line secret each line is known separately.
    hidden = [Secret(value) for value in keys.seen if len(value) >= SHORTEST and "\n" not in value]
    hide = keys.kept.hide.known
    return lambda text: reduce(lambda words, secret: secret.scrub(words), hidden, hide(text))


def _named_in(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of the variables that the settings name as a key or token."""
    brain = settings.brain
    tokens = (each.token_env for each in settings.mcp.values())
    names = (brain.key_env, brain.fallback.key_env, *tokens)
    for name in filter(None, names):
        yield from lines_of(environ.get(name, "").strip())
