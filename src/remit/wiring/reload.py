"""Applies changes of settings.toml while Remit runs.

Calendars, hooks, recall and notices are changed in place. For any other change, and for a new key
of the model, `restart` is called with the new settings. A file with an error changes nothing: the
earlier settings stay in use until it is fixed.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit import settings as app_settings
from remit.errors import BadInput
from remit.settings import Settings
from remit.store.secrets import FILE as SECRETS_FILE
from remit.system.files import FileStamp, file_stamp
from remit.wiring.app import App
from remit.wiring.readers import model_keys_digest

LOOP: Final = "settings file"
LOOK_SECONDS: Final = 0.5
_LOG: Final = logging.getLogger("remit.settings")

_LIVE: Final = ("calendar", "calendars", "hooks", "recall", "notices")

FileStates: TypeAlias = tuple[FileStamp | None, ...]


class SettingsReload:
    """Checks the files every second from `start` on. `settings` is what was read last."""

    def __init__(
        self,
        app: App,
        settings: Settings,
        restart: Callable[[Settings], None],
        refused: FileStates | None = None,
        live: Sequence[str] = _LIVE,
    ) -> None:
        """`live` are the sections that are changed in place."""
        self._app = app
        self._settings = settings
        self._restart = restart
        self._live = live
        self._paths = settings.home / "settings.toml", settings.home / SECRETS_FILE
        self._keys = model_keys_digest(settings)
        self.seen: FileStates | None = None
        self._done = refused  # what was applied or refused

    def start(self) -> None:
        self._app.background.start(LOOP, self._run)

    async def _run(self) -> None:
        while True:
            await self._look()
            await self._app.clock.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        # An editor may be replacing the file; a deleted one changes nothing.
        states = [await asyncio.to_thread(file_stamp, path) for path in self._paths]
        before, self.seen = self.seen, tuple(states) if states[0] else None
        if self.seen is None:
            return
        # A file still being written is ignored until two checks agree.
        if self.seen == before and self.seen != self._done:
            await self._reload()
            self._done = self.seen

    async def _reload(self) -> None:
        environ = {**os.environ, "REMIT_HOME": str(self._settings.home)}
        try:
            read = await asyncio.to_thread(app_settings.load, environ)
        except (BadInput, OSError) as error:
            _LOG.warning("The settings from before stay in use. %s", error)
            return
        keys = await asyncio.to_thread(model_keys_digest, read)
        live = {name: getattr(read, name) for name in self._live}
        if replace(self._settings, **live) != read or keys != self._keys:
            self._restart(read)
            return
        await self._apply(read)

    async def _apply(self, new: Settings) -> None:
        old, app = self._settings, self._app
        if new.hooks != old.hooks:
            await app.doors.apply(new)
        if (new.calendar, new.calendars) != (old.calendar, old.calendars):
            await app.calendars.apply(new)
        # `remit recall off` and the API switch it off before the file says so.
        if new.recall != old.recall or app.recollection.is_off != new.recall.is_off:
            await app.recollection.apply(new)
        app.wishes.notices = new.notices
        self._settings = new
