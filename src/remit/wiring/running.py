"""Starts the background loops of an opened app, and removes files that nothing refers to."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from remit.errors import StepFailed
from remit.journal.scribe import FOLDER, keep_logs, keep_queue
from remit.model.status import Reason
from remit.store.messages import references
from remit.store.opening import task_files
from remit.wiring.app import App
from remit.wiring.app_context import StoreClock

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
    # The owner may have fixed an account before the start; a locked one is asked about again.
    for name in app.outfit.channels:
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
