"""`remit up`, `serve`, `worker` and `open`: start Remit, and open its dashboard."""

import asyncio
import os
import signal
import sys
import webbrowser
from importlib.util import find_spec
from typing import Annotated, Final
from urllib.parse import quote

from msgspec.structs import replace

from remit import settings as house_settings
from remit.cli import codes, out, remote
from remit.cli.out import AsJson, Port, flag, number_flag
from remit.cli.remit_client import furnish
from remit.errors import BadInput
from remit.operations.settings_arguments import InviteBrowser
from remit.settings import Settings


def up(
    *,
    port: Port = None,
    debug: Annotated[bool, flag("Open the API for testers too.")] = False,
    json: AsJson = False,
) -> int:
    """Start Remit here: it works on tasks and answers on 127.0.0.1 until you stop it."""
    from remit.cli.up_process import UpProcess  # noqa: PLC0415 - the whole app, and not for its help

    settings = house_settings.load()
    furnish(settings)
    if settings.engine.is_shared:
        sentence = "These settings are for several processes: run `remit serve` and `remit worker`."
        raise BadInput(sentence, field="kind")
    return asyncio.run(UpProcess(settings, debug=debug, json=json).run(port))


_EVERY: Final = "all"


def worker(
    *,
    queues: Annotated[str, flag("Take work from these queues alone: `code`, or a name.")] = _EVERY,
    slots: Annotated[int | None, number_flag("Tasks at once; default: [engine] parallel.")] = None,
    json: AsJson = False,
) -> int:
    """Work on the tasks of a store that several processes share, until you stop it."""
    code = asyncio.run(_work(_shared_settings(), queues, slots, json=json))
    sys.stdout.flush()
    # Threads of Temporal's library may still run; they do not survive an orderly exit of Python.
    os._exit(code)


def serve(
    *,
    port: Port = None,
    json: AsJson = False,
) -> int:
    """Answer on 127.0.0.1 for a store that several processes share; workers do the work."""
    from remit.cli.up_process import ServeProcess  # noqa: PLC0415 - the whole app

    return asyncio.run(ServeProcess(_shared_settings(), debug=False, json=json).run(port))


def _shared_settings() -> Settings:
    settings = house_settings.load()
    furnish(settings)
    if not settings.engine.is_shared:
        sentence = "These settings are for one process: run `remit up`, or set "
        raise BadInput(f'{sentence}[engine] kind = "temporal".', field="kind")
    if find_spec("temporalio") is None:
        sentence = "[engine] names Temporal: install it with `pip install remit[temporal]`."
        raise BadInput(sentence, field="kind")
    return settings


async def _work(settings: Settings, queues: str, slots: int | None, *, json: bool) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    event = "up"
    while not stop.is_set():
        settings = await _work_with(settings, queues, slots, stop, event if json else "")
        event = "restarted"
    if json:
        out.emit({"event": "down"})
    return codes.DONE


async def _work_with(
    settings: Settings, queues: str, slots: int | None, stop: asyncio.Event, event: str
) -> Settings:
    """Work until it is stopped, or until the settings change; return those to go on with."""
    from remit.store.queue import QUEUES  # noqa: PLC0415 - the whole app
    from remit.wiring.reload import SettingsReload  # noqa: PLC0415 - as above
    from remit.wiring.worker import opened_worker  # noqa: PLC0415 - as above

    engine = settings.engine
    names = QUEUES if queues == _EVERY else tuple(each.strip() for each in queues.split(","))
    taken = [f"{engine.task_queue}-{name}" if name else engine.task_queue for name in names]
    used = replace(settings, engine=replace(engine, parallel=slots or engine.parallel))
    new: asyncio.Queue[Settings] = asyncio.Queue()
    async with opened_worker(used) as found:
        await found.start(taken)
        # Each duty has its own parts, made with these settings: whatever changes, all is made anew.
        SettingsReload(found.house, settings, new.put_nowait, live=()).start()
        if event:
            out.emit({"event": event, "worker": found.house.engine.worker, "queues": list(taken)})
        else:
            out.hint(f"This worker takes tasks from {', '.join(taken)}.", "bold")
        waits = asyncio.create_task(stop.wait()), asyncio.create_task(new.get())
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        await found.stop()
        stopped, changed = waits
        stopped.cancel()
        changed.cancel()
    return changed.result() if changed.done() and not changed.cancelled() else settings


_SCREENS: Final = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def open_(
    page: Annotated[str, flag("Which page, such as /inbox or /tasks/task-….")] = "/",
    /,
    *,
    print_: Annotated[bool, flag("Only print the link.", "--print")] = False,
    json: AsJson = False,
) -> int:
    """Make a link that signs a browser in, once, within 15 minutes; and open it."""
    found = remote.running(house_settings.load().home)
    try:
        link = f"{found.ask(InviteBrowser())['url']}&next={quote(page, safe='/')}"
    finally:
        found.close()
    shown = not print_ and has_screen() and webbrowser.open(link)
    opened = ["Opened in your browser. If nothing shows, this link does the same, once:"]
    return out.done(json, {"url": link, "opened": shown}, *opened if shown else (), data=link)


def has_screen() -> bool:
    """Whether there is a display: without one, a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _SCREENS)
