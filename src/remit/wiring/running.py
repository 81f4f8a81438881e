"""What keeps an opened app running: background loops, changed settings, its own modules in memory.

Calendars, hooks, recall and notices are changed in place. For any other change, and for a new key
of the model, `restart` is called with the new settings. A file with an error changes nothing: the
earlier settings stay in use until it is fixed.

While an upgrade replaces the package, its folder may be missing for some seconds and then holds
another version; a running process must need neither. Modules that nothing has imported yet are
copied into a file without a name, so they take no memory until they are used.
"""

import asyncio
import logging
import marshal
import os
import pkgutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from tempfile import TemporaryFile
from types import CodeType, ModuleType
from typing import Final, TypeAlias, cast

from msgspec.structs import replace

import remit
from remit import settings as app_settings
from remit.errors import BadInput, StepFailed
from remit.journal.scribe import FOLDER, keep_logs, keep_queue
from remit.language.files import read_toml
from remit.model.status import Reason
from remit.plan import activities, priority
from remit.recall import static
from remit.settings import Settings, forms
from remit.store import permissions
from remit.store.database import statements
from remit.store.messages import references
from remit.store.opening import task_files
from remit.store.secrets import FILE as SECRETS_FILE
from remit.system.files import FileStamp, file_stamp
from remit.verify import critic
from remit.wiring.app import App
from remit.wiring.app_context import StoreClock
from remit.wiring.readers import model_keys_digest

CLEANUP_LOOP: Final = "file cleanup"
DISPATCH: Final = "dispatch"
_CLEANUP_SECONDS: Final = 3600.0
_LOG: Final = logging.getLogger(__name__)


async def start(app: App) -> None:
    """Start the app. Of several processes the workers do this, each duty in one of them."""
    if not app.settings.engine.is_shared:
        # Missed slots are settled before the engine runs what is due.
        await _begin(app, "series", DISPATCH, "conversations")


async def watch(app: App) -> None:
    """Start what only `remit up` runs, not short commands."""
    await _begin(app, "inbound", "calendars", "reflection", "recall", "notices", "deferred checks")
    await app.leftovers.start(app.journal)
    start_upkeep(app)
    _examine_reader(app)


def start_upkeep(app: App) -> None:
    """Start what every process does for itself: correct its clock, remove files of its own."""
    if isinstance(app.clock, StoreClock):
        app.background.start("clock of the database", app.clock.keep_correct)
    if app.settings.engine.is_shared:
        _compare_secrets(app)
    app.background.start(CLEANUP_LOOP, partial(_keep_clean, app))


def _compare_secrets(app: App) -> None:
    """Say if another process of this store has other secrets."""
    from remit.wiring.shared_documents import SharedSecrets  # noqa: PLC0415 - not for one process

    made = SharedSecrets(app.db, app.clock, app.settings, app.keys)
    app.background.start("secrets of all processes", made.keep)


async def _begin(app: App, *duties: str) -> None:
    for name in duties:
        await DUTIES[name](app)


async def _dispatch(app: App) -> None:
    """Let tasks continue that waited for a brain, once there is one, or for an account."""
    if app.thinks:
        await app.inbox.grant(Reason.AUTH, "a brain is there now")
    # The owner may have fixed an account before the start; a locked one is asked about again. What
    # waits for a channel that is off goes on when the owner switches it on.
    off = await app.db.read(permissions.channels_off)
    for name in app.outfit.channels.keys() - off.keys():
        await app.inbox.grant(Reason.AUTH, "Remit was started again", f"channel:{name}")
    await app.engine.start()


async def _inbound(app: App) -> None:
    app.outfit.start()
    await app.doors.start()


async def _logs(app: App) -> None:
    settings, journal = app.settings, app.journal
    app.background.start("task logs", partial(keep_logs, journal, settings.logs))
    queue = partial(keep_queue, journal, app.db, settings.home / FOLDER)
    app.background.start("review files", queue)


def _at_once(start_loop: Callable[[App], None]) -> Callable[[App], Awaitable[None]]:
    async def begin(app: App) -> None:
        start_loop(app)

    return begin


# What one process does for all: `remit up` everything, of several workers each some of it.
DUTIES: Final[Mapping[str, Callable[[App], Awaitable[None]]]] = {
    DISPATCH: _dispatch,
    "series": lambda app: app.repeater.start(),
    "conversations": lambda app: app.talk.start(),
    "inbound": _inbound,
    "calendars": _at_once(lambda app: app.calendars.start()),
    "notices": _at_once(lambda app: app.herald.start()),
    "recall": _at_once(lambda app: app.recollection.start()),
    "reflection": _at_once(lambda app: app.reflection.start()),
    "deferred checks": _at_once(lambda app: app.deferred.start()),
    "logs": _logs,
}


# They need the repositories: of several machines only those that work on code do them.
ON_CODE: Final = frozenset({"deferred checks"})


def _examine_reader(app: App) -> None:
    """Let a new model take the reading exam, in the background."""
    model = app.model_reader
    if model is None or not model.needs_exam:
        return

    async def examine() -> None:
        try:
            result = await model.take_exam(app.clock.now())
        except StepFailed as silent:
            _LOG.warning("%s Until it does, messages are read without a model.", silent)
        else:
            _LOG.info("%s", result.sentence)

    app.background.start("reader exam", examine)


async def clean_files(app: App) -> int:
    """Remove files of deleted tasks and of messages long gone; return how many."""
    kept, now = task_files(app.settings), app.clock.now()
    if not (await asyncio.to_thread(kept.room))[0]:
        return 0
    needed, gone = await app.db.read(references, now)
    return await asyncio.to_thread(kept.sweep, needed, gone, now)


async def _keep_clean(app: App) -> None:
    while True:
        await clean_files(app)
        await app.clock.sleep(_CLEANUP_SECONDS)


# Changed settings ---------------------------------------------------------------------------------

SETTINGS_LOOP: Final = "settings file"
LOOK_SECONDS: Final = 0.5
_SETTINGS_LOG: Final = logging.getLogger("remit.settings")

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
        self._app.background.start(SETTINGS_LOOP, self._run)

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
            _SETTINGS_LOG.warning("The settings from before stay in use. %s", error)
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


# Modules in memory --------------------------------------------------------------------------------

_LEFT_OUT: Final = ("remit.cli", "remit.testing")  # separate programs


def preload(settings: Settings) -> None:
    """Read every statement and rule of the package, and copy the modules it may need."""
    statements()
    priority.default_rules()
    activities.default_activities()
    critic.packaged_rubrics()
    static.open_files()
    forms.form_words()
    sys.meta_path.insert(0, ModuleCopies(settings.home))


class ModuleCopies:
    """Finds the modules that were not imported at the start, in the copy that was made then."""

    def __init__(self, home: Path) -> None:
        # Open as long as the process runs.
        self._file = TemporaryFile(dir=home, buffering=0)  # noqa: SIM115
        self._specs: dict[str, ModuleSpec] = {}
        self._add(remit.__path__, "remit.")

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return self._specs.get(name)

    def _add(self, folders: Sequence[str], prefix: str) -> None:
        for found in pkgutil.iter_modules(folders, prefix):
            spec = found.module_finder.find_spec(found.name, None)
            if found.name.startswith(_LEFT_OUT) or spec is None:
                continue
            if found.name not in sys.modules and isinstance(spec.loader, SourceFileLoader):
                spec.loader = self._copy(spec.loader)
                self._specs[found.name] = spec
            for folder in spec.submodule_search_locations or ():
                for data in Path(folder).glob("*.toml"):
                    read_toml(data.stem, found.name)
                self._add([folder], f"{found.name}.")

    def _copy(self, loader: SourceFileLoader) -> "ModuleCopy":
        code = marshal.dumps(loader.get_code(loader.name))
        start = self._file.tell()
        self._file.write(code)
        return ModuleCopy(loader, self._file.fileno(), start, len(code))


class ModuleCopy(SourceFileLoader):
    """Loads one module from the copy."""

    def __init__(self, original: SourceFileLoader, file: int, start: int, size: int) -> None:
        super().__init__(original.name, original.path)
        self._place = file, size, start

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return cast("CodeType", marshal.loads(os.pread(*self._place)))  # noqa: S302 - our own
