"""Settings, contacts, rules and guidelines of several machines: one version for all of them.

The store holds each file as a document with versions. The first machine's files are imported. What
is changed on one machine becomes the next version; every other process writes it into its own
directory, where it is read as ever. If two change one file at once, the version in the store stays
in use, and the other text is kept beside it.

Each process has its own secrets, from its environment or a file. Of these only fingerprints are
stored: slow, with a key of this store, and too short to be the value's own.
"""

import asyncio
import hashlib
import json
import logging
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remit import settings as app_settings
from remit.brain import choose
from remit.brain.prompt import GUIDELINES_FILE
from remit.channels.oauth.tokens import parse_sign_in
from remit.channels.registry import ChannelSecrets
from remit.contacts.book import FILE as CONTACTS
from remit.errors import BadInput
from remit.plan.activities import FILE as ACTIVITIES
from remit.plan.priority import FILE as PRIORITY
from remit.ports import Clock
from remit.settings import Settings
from remit.settings.sections import FILE as SETTINGS
from remit.settings.sections import names_in_use
from remit.store.database import Database
from remit.store.postgres import machines
from remit.store.postgres.machines import NO_SECRET, TELL_SECONDS, Document
from remit.system.files import write_atomic

NAMES: Final = (SETTINGS, CONTACTS, PRIORITY, ACTIVITIES, GUIDELINES_FILE)
LOOK_SECONDS: Final = 1.0
_KNOWN: Final = "shared-documents.json"  # in the home: version and digest of each file, as shared
_LOG: Final = logging.getLogger("remit.documents")


class SharedDocuments:
    def __init__(self, db: Database, clock: Clock, home: Path) -> None:
        self._db = db
        self._clock = clock
        self._home = home
        self._place = f"{socket.gethostname()}:{os.getpid()}"
        self._changed: dict[str, str] = {}  # a file that is still being written is not shared

    async def keep(self) -> None:
        """Share changes until the process ends."""
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            await self.share()

    async def share(self) -> None:
        """Share what was changed here, and write what was changed elsewhere."""
        stored = await self._db.read(machines.newest_documents)
        for name in NAMES:
            text = await asyncio.to_thread(self._read, name)
            await self._settle(name, text, stored.get(name))

    async def _settle(self, name: str, text: str | None, stored: Document | None) -> None:
        version, digest = await asyncio.to_thread(self._known_version, name)
        if stored is not None and text == stored.content:
            if (version, digest) != (stored.version, _digest(text)):
                await asyncio.to_thread(self._remember, stored)
        elif text is None or (stored is not None and digest == _digest(text)):
            if stored is not None:  # it is missing, or as it was last shared: the store has news
                await asyncio.to_thread(self._write, stored)
        elif stored is None or version == stored.version:
            await self._put(Document(name, (stored.version if stored else 0) + 1, text))
        else:
            await asyncio.to_thread(self._set_aside, name, text)
            await asyncio.to_thread(self._write, stored)

    async def _put(self, changed: Document) -> None:
        """Make a change the next version; if another process was quicker, it is looked at again."""
        before = self._changed.get(changed.name)
        self._changed[changed.name] = changed.content
        if changed.version > 1 and before != changed.content:
            return  # until two looks agree
        if changed.name == SETTINGS and not await asyncio.to_thread(self._can_be_read):
            return  # this process says why, and goes on with the settings from before
        if await self._db.write(machines.put_document, changed, self._place, self._clock.now()):
            await asyncio.to_thread(self._remember, changed)

    def _can_be_read(self) -> bool:
        try:
            app_settings.load({**os.environ, "REMIT_HOME": str(self._home)})
        except (BadInput, OSError):
            return False
        return True

    def _set_aside(self, name: str, text: str) -> None:
        aside = self._home / f"{name}.mine"
        write_atomic(aside, text)
        _LOG.warning(
            "%s was changed on another machine, too. That version is in use; the text from here is"
            " in %s.",
            name,
            aside,
        )

    def _write(self, document: Document) -> None:
        write_atomic(self._home / document.name, document.content)
        self._remember(document)

    def _read(self, name: str) -> str | None:
        try:
            return (self._home / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _known_version(self, name: str) -> tuple[int, str]:
        found = self._all_known().get(name)
        return (int(found[0]), str(found[1])) if found else (0, "")

    def _all_known(self) -> dict[str, list[int | str]]:
        try:
            return dict(json.loads((self._home / _KNOWN).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _remember(self, document: Document) -> None:
        known = {**self._all_known(), document.name: [document.version, _digest(document.content)]}
        write_atomic(self._home / _KNOWN, json.dumps(known))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_BYTES: Final = 4
_COST: Final = 2**14  # of one guess: some 50 ms and 16 MB
_SECRETS_LOG: Final = logging.getLogger("remit.secrets")


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
            await self.compare()
            await self._clock.sleep(TELL_SECONDS)

    async def compare(self) -> None:
        if not self._key:
            fresh = secrets.token_hex(32)
            self._key = await self._db.write(machines.fingerprint_key, fresh)
        known = await asyncio.to_thread(self._fingerprints)
        now = self._clock.now()
        await self._db.write(machines.tell_fingerprints, self._place, known, now)
        found = await self._db.read(machines.differing_secrets, now)
        values = {each.sentence: each.todo for each in found}
        for sentence in values.keys() - self._logged:
            _SECRETS_LOG.warning("%s %s", sentence, values[sentence])
        self._logged = frozenset(values)

    def _fingerprints(self) -> Mapping[str, str]:
        return {name: self._fingerprint(name, value) for name, value in self._values()}

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield every secret that the settings name or that is kept here, and models' keys."""
        from remit.wiring.calendar import PASSWORD  # noqa: PLC0415 - loaded by then

        settings, environ = self._settings, self._keys.environ
        tokens = (each.token_env for each in settings.mcp.values())
        variables = {settings.brain.key_env, settings.brain.fallback.key_env, *tokens}
        models = {each for each in choose.KEY_NAMES if environ.get(each)}
        kept = {*self._keys.kept.names(), settings.web.key, *names_in_use(settings)}
        kept.discard(PASSWORD)  # of the own calendar, which is off here
        for name in sorted((kept | variables | models) - {""}):
            # A variable that is named as such counts more than what is kept under its name.
            given = environ.get(name, "") if name in variables | models else ""
            yield name, given or self._keys.get(name)

    def _fingerprint(self, name: str, value: str) -> str:
        signed_in = parse_sign_in(value)
        value = signed_in.refresh if signed_in else value.strip()  # access tokens come and go
        if not value:
            return NO_SECRET
        if (made := self._made.get((name, value))) is None:
            salt = f"{self._key} {name}".encode()
            made = hashlib.scrypt(value.encode(), salt=salt, n=_COST, r=8, p=1, dklen=_BYTES).hex()
            self._made[name, value] = made
        return made
