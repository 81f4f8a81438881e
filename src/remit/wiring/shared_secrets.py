"""Compares the secrets of several processes: each has its own, from its environment or a file.

Only fingerprints are stored: slow, with a key of this store, and too short to be the value's own.
"""

import asyncio
import hashlib
import logging
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from typing import Final

from remit.brain import choose
from remit.channels.oauth.tokens import parse_sign_in
from remit.channels.registry import ChannelSecrets
from remit.errors import StoreTrouble
from remit.ports import Clock
from remit.settings import Settings
from remit.settings.sections import names_in_use
from remit.store.database import Database
from remit.store.postgres import fingerprints
from remit.store.postgres.fingerprints import NONE, TELL_SECONDS

_BYTES: Final = 4
_COST: Final = 2**14  # of one guess: some 50 ms and 16 MB
_LOG: Final = logging.getLogger("remit.secrets")


class SharedSecrets:
    """Tells this process's fingerprints, and logs what differs elsewhere."""

    def __init__(
        self, db: Database, clock: Clock, settings: Settings, keys: ChannelSecrets
    ) -> None:
        self._db = db
        self._clock = clock
        self._settings = settings
        self._keys = keys
        self._place = f"{socket.gethostname()}:{os.getpid()}"
        self._key = ""
        self._made: dict[tuple[str, str], str] = {}  # each is made once: that is slow
        self._logged: frozenset[str] = frozenset()

    async def keep(self) -> None:
        """Compare now and then until the process ends."""
        while True:
            try:
                await self.compare()
            except StoreTrouble as trouble:
                _LOG.debug("%s", trouble)  # others say that the database is away
            await self._clock.sleep(TELL_SECONDS)

    async def compare(self) -> None:
        if not self._key:
            fresh = secrets.token_hex(32)
            self._key = await self._db.write(fingerprints.fingerprint_key, fresh)
        known = await asyncio.to_thread(self._fingerprints)
        now = self._clock.now()
        await self._db.write(fingerprints.tell, self._place, known, now)
        found = await self._db.read(fingerprints.differing, now)
        values = {each.sentence: each.todo for each in found}
        for sentence in values.keys() - self._logged:
            _LOG.warning("%s %s", sentence, values[sentence])
        self._logged = frozenset(values)

    def _fingerprints(self) -> Mapping[str, str]:
        return {name: self._fingerprint(name, value) for name, value in self._values()}

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield every secret that the settings name or that is kept here, and models' keys."""
        settings, environ = self._settings, self._keys.environ
        tokens = (each.token_env for each in settings.mcp.values())
        variables = {settings.brain.key_env, settings.brain.fallback.key_env, *tokens}
        models = {each for each in choose.KEY_NAMES if environ.get(each)}
        kept = {*self._keys.kept.names(), settings.web.key, *names_in_use(settings)}
        for name in sorted((kept | variables | models) - {""}):
            # A variable that is named as such counts more than what is kept under its name.
            given = environ.get(name, "") if name in variables | models else ""
            yield name, given or self._keys.get(name)

    def _fingerprint(self, name: str, value: str) -> str:
        signed_in = parse_sign_in(value)
        value = signed_in.refresh if signed_in else value.strip()  # access tokens come and go
        if not value:
            return NONE
        if (made := self._made.get((name, value))) is None:
            salt = f"{self._key} {name}".encode()
            made = hashlib.scrypt(value.encode(), salt=salt, n=_COST, r=8, p=1, dklen=_BYTES).hex()
            self._made[name, value] = made
        return made
