"""Applies changes of settings.toml while Remit runs: calendars, hooks and recall.

All other settings count from the next start. A file with an error changes nothing: the earlier
settings stay in use until it is fixed.
"""

import asyncio
import logging
import os
from typing import Final, TypeAlias

from msgspec.structs import replace

from remit import settings as house_settings
from remit.errors import BadInput
from remit.settings import Settings
from remit.wiring.app import App

LOOP: Final = "settings file"
LOOK_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger("remit.settings")

_FileState: TypeAlias = tuple[int, int, int]  # inode, size, time of the last change


class SettingsReload:
    """Checks the file every second from `start` on. `settings` is what was read last."""

    def __init__(self, house: App, settings: Settings) -> None:
        self._house = house
        self._settings = settings
        self._path = settings.home / "settings.toml"
        self._seen: _FileState | None = None
        self._done: _FileState | None = None  # the file state that was applied or refused

    def start(self) -> None:
        self._house.background.start(LOOP, self._run)

    async def _run(self) -> None:
        while True:
            await self._look()
            await self._house.clock.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        try:
            found = self._path.stat()
        except OSError:
            self._seen = None  # an editor may be replacing it; a deleted file changes nothing
            return
        before, self._seen = self._seen, (found.st_ino, found.st_size, found.st_mtime_ns)
        # A file still being written is ignored until two checks agree.
        if self._seen == before and self._seen != self._done:
            await self._reload()
            self._done = self._seen

    async def _reload(self) -> None:
        environ = {**os.environ, "REMIT_HOME": str(self._settings.home)}
        try:
            read = await asyncio.to_thread(house_settings.load, environ)
        except (BadInput, OSError) as error:
            _LOG.warning("The settings from before stay in use. %s", error)
            return
        await self._apply(
            replace(
                self._settings,
                calendar=read.calendar,
                calendars=read.calendars,
                hooks=read.hooks,
                recall=read.recall,
            )
        )

    async def _apply(self, new: Settings) -> None:
        old, house = self._settings, self._house
        if new.hooks != old.hooks:
            await house.doors.apply(new)
        if (new.calendar, new.calendars) != (old.calendar, old.calendars):
            await house.calendars.apply(new)
        # `remit recall off` and the API switch it off before the file says so.
        if new.recall != old.recall or house.recollection.is_off != new.recall.is_off:
            await house.recollection.apply(new)
        self._settings = new
