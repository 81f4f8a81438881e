"""`remit up`: start the app, the engine and the HTTP server, and run until stopped."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from typing import Annotated, Final, TypeAlias

from remit import __version__, notify
from remit import settings as house_settings
from remit.cli import codes, out, words
from remit.cli.brain import choice
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.cli.remit_client import furnish
from remit.engine.loops import keep_logs
from remit.errors import HomeLocked
from remit.journal import otlp
from remit.journal.queue_files import FOLDER, keep_queue
from remit.journal.telemetry import Telemetry, flush, keep_told
from remit.model.codec import JsonMap
from remit.model.status import ACTIVE, Status
from remit.notify import TerminalRemark
from remit.operations.callers import CallerRegistry
from remit.server.serve import HOST, pages_url, serve, token_of
from remit.settings import Settings
from remit.store import reviews, tasks
from remit.store.database import Tx
from remit.store.redact import RedactingFilter, Redactor
from remit.system.background import RepeatFilter, Work
from remit.wiring import App, opened, start, watch
from remit.wiring.preload import preload
from remit.wiring.reload import SettingsReload

PATIENCE: Final = 20  # tenths of a second to wait for a short command that holds the directory
PARTING: Final = 10.0  # seconds to send and write down what happened until the end
FOLLOWERS: Final = ("task logs", "review files", "terminal messages", "telemetry")
_ASKS: Final = "asks"
_PORT: Final = ("--port", "-p")
_BRAINS: Final = {
    "none": "none: what needs thinking waits for you; your own texts (--text) go out as they are",
    "scripted": "scripted: answers come from a file; good for rehearsals, not for real work",
}


Say: TypeAlias = Callable[[datetime, TerminalRemark], None]


def up(
    *,
    port: Annotated[int | None, flag("Where to listen; 0 picks a free port.", *_PORT)] = None,
    debug: Annotated[bool, flag("Open the API for testers too.")] = False,
    json: AsJson = False,
) -> int:
    """Start Remit here: it works on tasks and answers on 127.0.0.1 until you stop it."""
    settings = house_settings.load()
    furnish(settings)
    return asyncio.run(_Up(settings, debug=debug, json=json).run(port))


class _Up:
    def __init__(self, settings: Settings, *, debug: bool, json: bool) -> None:
        self._settings = settings
        self._debug = debug
        self._json = json
        self._stop = asyncio.Event()

    async def run(self, port: int | None) -> int:
        async with AsyncExitStack() as stack:
            house = await self._enter(stack)
            hush(house.hide)
            preload()
            self._heed_signals()
            url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            door = asyncio.create_task(
                serve(
                    house,
                    port=self._settings.server.port if port is None else port,
                    debug=self._debug,
                    token=token_of(self._settings.home),
                    ready=url.set_result,
                )
            )
            await asyncio.wait((door, url), return_when=asyncio.FIRST_COMPLETED)
            if door.done():
                await door  # raises what kept it from listening
            await self._work(house, door, url.result())
        self._say_down()
        return codes.DONE

    async def _enter(self, stack: AsyncExitStack) -> App:
        for _ in range(PATIENCE):
            try:
                return await stack.enter_async_context(opened(self._settings))
            except HomeLocked:
                if (self._settings.home / "server.json").exists():
                    raise  # not just a short command
                await asyncio.sleep(0.1)
        return await stack.enter_async_context(opened(self._settings))

    async def _work(self, house: App, door: "asyncio.Task[None]", url: str) -> None:
        since = await house.journal.last()
        before = await house.db.read(_standing)
        pages = pages_url(self._settings, int(url.rpartition(":")[2]))
        link = await self._callers(house, pages).link()
        await start(house)
        await watch(house, pages)
        SettingsReload(house, self._settings).start()
        telemetry = _collected()
        follow(house, since, self._say, telemetry)
        self._say_up(url, link, before)
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait((stop, door), return_when=asyncio.FIRST_COMPLETED)
        door.cancel()
        closed = await asyncio.gather(door, return_exceptions=True)
        await house.engine.stop()
        stop.cancel()
        # Events are sent and written before the exit; a slow follower is not waited for.
        house.journal.end()
        await house.background.finish(*FOLLOWERS, within=PARTING)
        await flush(telemetry)
        if isinstance(closed[0], Exception):
            raise closed[0]

    def _heed_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._heed)

    def _heed(self) -> None:
        """First signal: stop in good order. Second: at once; the next start recovers."""
        if self._stop.is_set():
            os._exit(codes.INTERRUPTED)
        self._stop.set()
        out.say(
            StyledText("Stopping; steps that run may end first. Once more stops at once.", "dim")
        )

    def _say(self, at: datetime, notice: TerminalRemark) -> None:
        if self._json:
            about: JsonMap = {"taskId": notice.task_id, "urgent": notice.urgent}
            out.emit({"event": "notice", **about, "text": notice.text})
        else:
            style = "yellow" if notice.urgent else ""
            out.line(StyledText(f"{words.clock(at)}  ", "dim"), StyledText(notice.text, style))

    def _callers(self, house: App, pages: str) -> CallerRegistry:
        token = token_of(self._settings.home)
        return CallerRegistry(house.db, house.clock, house.ids, token, pages_url=pages)

    def _say_up(self, url: str, link: str, before: dict[str, int]) -> None:
        home, brain = str(self._settings.home), self._settings.brain.kind
        again = sum(before.get(status, 0) for status in ACTIVE)
        if self._json:
            told: JsonMap = {
                "url": url,
                "signIn": link,
                "home": home,
                "pickedUp": again,
                "brain": brain,
            }
            out.emit({"event": "up", **told})
            return
        rows: list[tuple[str, Piece]] = [
            ("Listens", url),
            ("Open", link),
            ("Home", home),
            ("Tasks", _tasks(again, before)),
            (
                "Brain",
                _BRAINS.get(brain) or choice(self._settings).sentence,
            ),
        ]
        if self._settings.calendar.own:
            where = f"http://{HOST}:{self._settings.calendar.port}/"
            rows.append(
                ("Calendar", f"{where} for a calendar program; `remit calendar password` opens it")
            )
        out.say(StyledText(f"Remit {__version__} is up.", "bold"))
        wide = max(len(name) for name, _ in rows)
        for name, said in rows:
            out.say(StyledText(f"  {name:<{max(8, wide + 1)}}", "dim"), said)
        out.say(StyledText('In another terminal: remit add "…". Here, Ctrl-C stops it.', "dim"))

    def _say_down(self) -> None:
        if self._json:
            out.emit({"event": "down"})
        else:
            out.say("Stopped. What was at work goes on at the next start.")


def follow(house: App, since: int, say: Say, telemetry: Telemetry | None) -> None:
    """Start the followers of the journal: terminal, logs and telemetry."""
    journal, settings = house.journal, house.settings
    works: list[Work] = [
        partial(keep_logs, journal, settings.logs),
        partial(keep_queue, journal, house.db, settings.home / FOLDER),
        _Remarks(house, since, say).follow,
    ]
    if telemetry is not None:
        works.append(partial(keep_told, journal, since, telemetry))
    for name, work in zip(FOLLOWERS, works, strict=False):
        house.background.start(name, work)


def hush(hide: Redactor) -> None:
    """Remove secrets and repetitions from what is logged to the terminal."""
    if logging.lastResort is not None:
        logging.lastResort.addFilter(RepeatFilter())
        logging.lastResort.addFilter(RedactingFilter(hide))


def _collected() -> Telemetry | None:
    """Return the telemetry if configured; say if it is not installed."""
    try:
        return otlp.configured()
    except otlp.NoOtlp as missing:
        out.say(StyledText(str(missing), "yellow"))
        return None


class _Remarks:
    """Prints what happens to tasks; a restarted loop continues where it was."""

    def __init__(self, house: App, since: int, say: Say) -> None:
        self._house = house
        self._since = since
        self._say = say

    async def follow(self) -> None:
        async for page in self._house.journal.pages(self._since, ends=True):
            # Most of what happens needs no word: only the tasks of what does are looked at.
            worth = [each for each in page if each.task_id and notify.remark(each, "")]
            ids = [each.task_id for each in worth if each.task_id]
            found = await self._house.db.read(tasks.statuses_of, ids) if ids else []
            titles = {str(each.id): each.title for each in found}
            for event in worth:
                if notice := notify.remark(event, titles[str(event.task_id)]):
                    self._say(event.at, notice)
                self._since = event.seq
            self._since = page[-1].seq


def _standing(tx: Tx) -> dict[str, int]:
    """Return the number of tasks by status. Unbegun ones may ask, so questions are counted."""
    counts = tasks.counts(tx)
    unbegun = counts.get(Status.NEW, 0) - reviews.count_unbegun(tx)
    return counts | {Status.NEW: unbegun, _ASKS: reviews.count_waiting(tx, 10_000)}


def _tasks(again: int, before: dict[str, int]) -> str:
    waiting = before.get(_ASKS, 0)
    parts = [f"{words.count(again, 'task')} picked up again" if again else "none was half done"]
    if planned := before.get(Status.NEW, 0) + before.get(Status.READY, 0):
        parts.append(f"{planned:,} to come")
    if waiting:
        parts.append(f"{waiting:,} waiting for you (remit inbox)")
    return ", ".join(parts)
