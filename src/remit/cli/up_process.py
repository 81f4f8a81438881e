"""The process of `remit up`: the app, the engine and the HTTP server, until it is stopped."""

import asyncio
import ctypes
import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from remit import __version__, notify
from remit.cli import codes, out, words
from remit.cli.out import Piece, StyledText
from remit.errors import BadInput, HomeLocked
from remit.journal.follow import NEWS_SECONDS
from remit.journal.scribe import FOLDER, keep_logs, keep_queue
from remit.journal.telemetry import NoOtlp, Telemetry, configured_exporter, flush, keep_told
from remit.model.codec import JsonMap
from remit.model.status import ACTIVE, Status
from remit.notify import TerminalRemark
from remit.operations.callers import CallerRegistry
from remit.server.files import holder_listens
from remit.server.serve import HOST, listening, pages_url, serve, token_of
from remit.settings import Settings
from remit.store import inbox, reviews, tasks
from remit.store.database import Tx
from remit.store.home import lock
from remit.store.redact import Redactor
from remit.system.background import RedactingFilter, RepeatFilter, Work
from remit.wiring import App, opened, start, watch
from remit.wiring.readers import model_choice
from remit.wiring.running import FileStates, SettingsReload, preload, start_upkeep

PATIENCE_SECONDS: Final = 10.0  # to wait for a short command that holds the directory
PARTING: Final = 10.0  # seconds to send and write down what happened until the end
FOLLOWERS: Final = ("task logs", "review files", "terminal messages", "telemetry")
_ASKS: Final = "asks"
_M_ARENA_MAX: Final = -8  # in malloc.h: how many places memory is taken from
_LOG: Final = logging.getLogger("remit.settings")
_BRAINS: Final = {
    "none": "none: what needs thinking waits for you; `remit setup brain` connects a model",
    "scripted": "scripted: answers come from a file; good for rehearsals, not for real work",
}


Say: TypeAlias = Callable[[datetime, TerminalRemark], None]


class UpProcess:
    """Everything that runs until it is stopped.

    When the settings change, all of it is stopped in good order and built anew, in this process
    and on the same socket: a browser that asks meanwhile waits a moment.
    """

    def __init__(self, settings: Settings, *, debug: bool, json: bool) -> None:
        self._settings = settings
        self._debug = debug
        self._json = json
        self._signals = StopSignals(lambda: self._settings.engine.stop_limit)
        self._stop = self._signals.stopping
        self._new: asyncio.Future[Settings]  # the settings to go on with, once they changed
        self._reload: SettingsReload
        self._refused: FileStates | None = None  # the files of settings that could not be used

    async def run(self, port: int | None) -> int:
        self._signals.listen()
        preload(self._settings)
        gc.freeze()  # code stays as long as the process, so no collection looks through it
        _limit_malloc_arenas()
        first, worked = True, self._settings
        while not self._stop.is_set():
            try:
                with self._listening(port) as listener:
                    port = listener.getsockname()[1] if port == 0 else port
                    while not self._stop.is_set() and self._is_wanted_port(port, listener):
                        await self._round(listener, first=first)
                        first, worked = False, self._settings
                        self._settings = self._new.result() if self._new.done() else worked
            except (BadInput, OSError) as error:
                if first or self._settings == worked:
                    raise
                _LOG.warning("The settings from before stay in use. %s", error)
                self._settings, self._refused = worked, self._reload.seen
        self._say_down()
        return codes.DONE

    @contextmanager
    def _listening(self, port: int | None) -> Iterator[socket.socket]:
        """Open the socket; if its port is taken by the Remit of this directory, say that."""
        home = self._settings.home
        with ExitStack() as stack:
            try:
                wanted = self._settings.server.port if port is None else port
                listener = stack.enter_context(listening(wanted))
            except BadInput:
                if holder_listens(home):
                    with lock(home):  # raises `HomeLocked` if another process holds it
                        pass
                raise
            yield listener

    def _is_wanted_port(self, port: int | None, listener: socket.socket) -> bool:
        """Whether the socket is the one that the settings want."""
        wanted = self._settings.server.port if port is None else port
        return bool(listener.getsockname()[1] == wanted)

    async def _round(self, listener: socket.socket, *, first: bool) -> None:
        """Work until it is stopped, or until the settings change."""
        self._new = asyncio.get_running_loop().create_future()
        async with AsyncExitStack() as stack:
            app = await self._enter(stack)
            if first:
                redact_logs(app.hide)
            url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            token = token_of(self._settings.home)
            ready, debug = url.set_result, self._debug
            pages = serve(app, listener=listener, debug=debug, token=token, ready=ready)
            door = asyncio.create_task(pages)
            await asyncio.wait((door, url), return_when=asyncio.FIRST_COMPLETED)
            if door.done():
                await door  # raises what kept it from listening
            await self._work(app, door, url.result(), first=first)

    async def _enter(self, stack: AsyncExitStack) -> App:
        until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while True:
            try:
                return await stack.enter_async_context(opened(self._settings))
            except HomeLocked:
                is_late = asyncio.get_running_loop().time() > until
                if is_late or holder_listens(self._settings.home):
                    raise  # not just a short command
                await asyncio.sleep(0.1)

    async def _work(self, app: App, door: "asyncio.Task[None]", url: str, *, first: bool) -> None:
        since = await app.journal.last()
        before = await app.db.read(_task_counts, app.clock.now())
        pages = pages_url(self._settings, int(url.rpartition(":")[2]))
        link = await self._callers(app, pages).link()
        telemetry = _find_telemetry()
        await self._start(app, since, telemetry)
        self._say_up(url, link, before) if first else self._say_again()
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait((stop, door, self._new), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        await self._end(app, door, telemetry)

    async def _end(self, app: App, door: "asyncio.Task[None]", telemetry: Telemetry | None) -> None:
        if self._new.done():  # the pages answer for as long as tests and steps need to end
            await app.section_tests.idle()
            await app.engine.stop()
        door.cancel()
        closed = await asyncio.gather(door, return_exceptions=True)
        await app.engine.stop()
        # Events are sent and written before the exit; a slow follower is not waited for.
        app.journal.end()
        await app.background.finish(*FOLLOWERS, within=PARTING)
        await flush(telemetry)
        if isinstance(closed[0], Exception):
            raise closed[0]

    def _take_new_settings(self, settings: Settings) -> None:
        if not self._new.done():
            self._new.set_result(settings)

    async def _start(self, app: App, since: int, telemetry: Telemetry | None) -> None:
        await start(app)
        await watch(app)
        self._reload = SettingsReload(
            app, self._settings, self._take_new_settings, refused=self._refused
        )
        self._reload.start()
        follow(app, since, self._say, telemetry)

    def _say(self, at: datetime, notice: TerminalRemark) -> None:
        if self._json:
            about: JsonMap = {"taskId": notice.task_id, "urgent": notice.urgent}
            out.emit({"event": "notice", **about, "text": notice.text})
        else:
            style = "yellow" if notice.urgent else ""
            out.line(StyledText(f"{words.clock(at)}  ", "dim"), StyledText(notice.text, style))

    def _callers(self, app: App, pages: str) -> CallerRegistry:
        token = token_of(self._settings.home)
        return CallerRegistry(app.db, app.clock, app.ids, token, pages_url=pages)

    def _say_up(self, url: str, link: str, before: dict[str, int]) -> None:
        home, brain = str(self._settings.home), self._settings.brain.kind
        again = sum(before.get(status, 0) for status in ACTIVE)
        if self._json:
            content: JsonMap = {"url": url, "signIn": link, "home": home}
            out.emit({"event": "up", **content, "pickedUp": again, "brain": brain})
            return
        rows: list[tuple[str, Piece]] = [
            ("Listens", url),
            ("Open", link),
            ("Home", home),
            ("Tasks", _tasks(again, before, shared=self._settings.engine.is_shared)),
            ("Brain", _BRAINS.get(brain) or model_choice(self._settings).sentence),
        ]
        if self._settings.calendar.own:
            where = f"http://{HOST}:{self._settings.calendar.port}/"
            rows.append(
                ("Calendar", f"{where} for a calendar program; `remit calendar password` opens it")
            )
        out.hint(f"Remit {__version__} is up.", "bold")
        wide = max(len(name) for name, _ in rows)
        for name, value in rows:
            out.say(StyledText(f"  {name:<{max(8, wide + 1)}}", "dim"), value)
        out.hint('In another terminal: remit add "…". Here, Ctrl-C stops it.')

    def _say_again(self) -> None:
        if self._json:
            out.emit({"event": "restarted", "brain": self._settings.brain.kind})
        else:
            out.hint("The new settings are in use.")

    def _say_down(self) -> None:
        if self._json:
            out.emit({"event": "down"})
        else:
            shared = self._settings.engine.is_shared
            goes_on = (
                "The workers go on." if shared else "What was at work goes on at the next start."
            )
            out.say(f"Stopped. {goes_on}")


MAX_PARTING_SECONDS: Final = 20.0  # for everything after the steps


class StopSignals:
    """The first signal stops in good order, the second at once; the next start recovers.

    If a thread, a follower or a server does not end in time, the process is ended.
    """

    def __init__(self, step_seconds: Callable[[], float]) -> None:
        """`step_seconds` is how long the steps that run may go on."""
        self._step_seconds = step_seconds
        self._last_moment: threading.Timer | None = None
        self.stopping = asyncio.Event()

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal)
            # Called even if the event loop is busy; the line above still takes effect, too.
            signal.signal(number, self._limit_stop)

    def _on_signal(self) -> None:
        if self.stopping.is_set():
            os._exit(codes.INTERRUPTED)
        self.stopping.set()
        out.hint("Stopping; steps that run may end first. Once more stops at once.")

    def _limit_stop(self, *_: object) -> None:
        if self._last_moment is None:
            seconds = self._step_seconds() + MAX_PARTING_SECONDS
            self._last_moment = threading.Timer(seconds, os._exit, (codes.INTERRUPTED,))
            self._last_moment.daemon = True
            self._last_moment.start()


def _limit_malloc_arenas() -> None:
    """Let all threads take memory from one place, so that none holds on to what it once needed."""
    with suppress(OSError, AttributeError):  # only the C library of GNU knows it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def follow(app: App, since: int, say: Say, telemetry: Telemetry | None) -> None:
    """Start the followers of the journal: terminal, logs and telemetry."""
    journal, settings = app.journal, app.settings
    works: list[Work] = [
        partial(keep_logs, journal, settings.logs),
        partial(keep_queue, journal, app.db, settings.home / FOLDER),
        _Remarks(app, since, say).follow,
    ]
    if telemetry is not None:
        works.append(partial(keep_told, journal, since, telemetry))
    for name, work in zip(FOLLOWERS, works, strict=False):
        app.background.start(name, work)


def redact_logs(hide: Redactor) -> None:
    """Remove secrets and repetitions from what is logged to the terminal."""
    if logging.lastResort is not None:
        logging.lastResort.addFilter(RepeatFilter())
        logging.lastResort.addFilter(RedactingFilter(hide))


def _find_telemetry() -> Telemetry | None:
    """Return the telemetry if configured; say if it is not installed."""
    try:
        return configured_exporter()
    except NoOtlp as missing:
        out.hint(str(missing), "yellow")
        return None


class _Remarks:
    """Prints what happens to tasks; a restarted loop continues where it was."""

    def __init__(self, app: App, since: int, say: Say) -> None:
        self._app = app
        self._since = since
        self._say = say

    async def follow(self) -> None:
        pages = self._app.journal.pages(self._since, ends=True, gather_seconds=NEWS_SECONDS)
        async for page in pages:
            # Most of what happens needs no word: only the tasks of what does are looked at.
            worth = [each for each in page if each.task_id and notify.remark(each, "")]
            ids = [each.task_id for each in worth if each.task_id]
            found = await self._app.db.read(tasks.statuses_of, ids) if ids else []
            titles = {str(each.id): each.title for each in found}
            for event in worth:
                if notice := notify.remark(event, titles[str(event.task_id)]):
                    self._say(event.at, notice)
                self._since = event.seq
            self._since = page[-1].seq


def _task_counts(tx: Tx, now: datetime) -> dict[str, int]:
    """Return the number of tasks by status. Unbegun ones may ask, so questions are counted."""
    counts = tasks.counts(tx)
    unbegun = counts.get(Status.NEW, 0) - reviews.count_unbegun(tx)
    return counts | {Status.NEW: unbegun, _ASKS: inbox.needs(tx, now).decisions}


_PICKED_UP: Final = ("picked up again", "none was half done")


def _tasks(again: int, before: dict[str, int], *, shared: bool) -> str:
    waiting = before.get(_ASKS, 0)
    doing, none = ("at work", "none at work") if shared else _PICKED_UP
    parts = [f"{words.count(again, 'task')} {doing}" if again else none]
    if planned := before.get(Status.NEW, 0) + before.get(Status.READY, 0):
        parts.append(f"{planned:,} to come")
    if waiting:
        parts.append(f"{waiting:,} waiting for you (remit inbox)")
    return ", ".join(parts)


class ServeProcess(UpProcess):
    """The process of `remit serve`: the API and the pages, beside workers that do the work."""

    async def _start(self, app: App, since: int, telemetry: Telemetry | None) -> None:
        del since, telemetry  # the workers write logs
        start_upkeep(app)
        self._reload = SettingsReload(
            app, self._settings, self._take_new_settings, refused=self._refused
        )
        self._reload.start()
