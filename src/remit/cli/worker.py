"""`remit worker` and `remit serve`: parts of one Remit on several machines."""

import asyncio
import os
import signal
import sys
from importlib.util import find_spec
from typing import Annotated, Final

from msgspec.structs import replace

from remit import settings as house_settings
from remit.cli import codes, out
from remit.cli.out import AsJson, Port, flag, number_flag
from remit.cli.remit_client import furnish
from remit.errors import BadInput
from remit.settings import Settings

_ALL: Final = "all"


def worker(
    *,
    queues: Annotated[str, flag("Take work from these queues alone: `code`, or a name.")] = _ALL,
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
    from remit.cli.serve_process import ServeProcess  # noqa: PLC0415 - the whole app

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
    from remit.engine.dispatcher import CODE  # noqa: PLC0415 - the whole app
    from remit.wiring.reload import SettingsReload  # noqa: PLC0415 - as above
    from remit.wiring.worker import opened_worker  # noqa: PLC0415 - as above

    engine = settings.engine
    names = ("", CODE) if queues == _ALL else tuple(each.strip() for each in queues.split(","))
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
