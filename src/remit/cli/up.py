"""`remit up`, `serve`, `worker`, `service` and `open`: start Remit, now or at login; its pages."""

import asyncio
import hashlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

from msgspec.structs import replace

from remit import settings as app_settings
from remit.brain.choose import KEY_NAMES
from remit.cli import codes, out, remote
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Port, flag, number_flag
from remit.cli.remit_client import furnish
from remit.errors import BadInput
from remit.operations.settings_arguments import InviteBrowser
from remit.settings import Settings
from remit.system.files import write_atomic


def up(
    *,
    port: Port = None,
    debug: Annotated[bool, flag("Also open the debug routes.")] = False,
    json: AsJson = False,
) -> int:
    """Start Remit here: it works on tasks and answers on 127.0.0.1 until you stop it."""
    from remit.cli.up_process import UpProcess  # noqa: PLC0415 - the whole app, and not for its help

    settings = app_settings.load()
    furnish(settings)
    if settings.engine.is_shared:
        sentence = "These settings are for several processes: run `remit serve` and `remit worker`."
        raise BadInput(sentence, field="kind")
    return asyncio.run(UpProcess(settings, debug=debug, json=json).run(port))


_EVERY: Final = "all"
_QUEUES: Final = {"main": "", "code": "code"}


def worker(
    *,
    queues: Annotated[
        str, flag("`main`, `code` (machines with the repositories), or both.")
    ] = _EVERY,
    slots: Annotated[int | None, number_flag("Tasks at once; default: [engine] parallel.")] = None,
    json: AsJson = False,
) -> int:
    """Work on the tasks of a store that several processes share, until you stop it."""
    settings = _shared_settings()
    choose_queues(settings, queues)
    code = asyncio.run(_work(settings, queues, slots, json=json))
    sys.stdout.flush()
    # Threads of Temporal's library may still run; they do not survive an orderly exit of Python.
    os._exit(code)


def serve(*, port: Port = None, json: AsJson = False) -> int:
    """Answer on 127.0.0.1 for a store that several processes share; workers do the work."""
    from remit.cli.up_process import ServeProcess  # noqa: PLC0415 - the whole app

    return asyncio.run(ServeProcess(_shared_settings(), debug=False, json=json).run(port))


def _shared_settings() -> Settings:
    settings = app_settings.load()
    furnish(settings)
    if not settings.engine.is_shared:
        sentence = "These settings are for one process: run `remit up`, or set "
        raise BadInput(f'{sentence}[engine] kind = "temporal".', field="kind")
    if find_spec("temporalio") is None:
        sentence = "[engine] names Temporal: install it with `pip install remit[temporal]`."
        raise BadInput(sentence, field="kind")
    return settings


def choose_queues(settings: Settings, wanted: str) -> list[str]:
    """Return Temporal's names of the queues; by default those that this machine can work on."""
    names = [each.strip() for each in wanted.split(",")]
    if wanted == _EVERY:
        able = all(Path(each.path).expanduser().is_dir() for each in settings.projects.values())
        names = [name for name in _QUEUES if able or name != "code"]
    unknown = [name for name in names if name not in _QUEUES]
    if unknown:
        sentence = f"There is no queue {unknown[0]!r}; take `main`, `code` or both."
        raise BadInput(sentence, field="queues")
    base = settings.engine.task_queue
    found = [f"{base}-{short}" if short else base for short in map(_QUEUES.__getitem__, names)]
    if "code" not in names:
        return found
    # The folders of work on code lie on this machine, in this home.
    home = hashlib.sha256(os.fsencode(settings.home.resolve())).hexdigest()[:8]
    return [*found, f"{base}-code-{socket.gethostname()}-{home}"]


async def _work(settings: Settings, queues: str, slots: int | None, *, json: bool) -> int:
    from remit.cli.up_process import StopSignals  # noqa: PLC0415 - the whole app

    signals = StopSignals(lambda: settings.engine.stop_limit)
    signals.listen()
    stop, event = signals.stopping, "up"
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
    from remit.wiring.running import SettingsReload  # noqa: PLC0415 - the whole app
    from remit.wiring.worker import open_worker  # noqa: PLC0415 - as above

    engine, taken = settings.engine, choose_queues(settings, queues)
    used = replace(settings, engine=replace(engine, parallel=slots or engine.parallel))
    new: asyncio.Queue[Settings] = asyncio.Queue()
    async with open_worker(used) as found:
        await found.start(taken)
        # Each duty has its own parts, made with these settings: whatever changes, all is made anew.
        SettingsReload(found.app, settings, new.put_nowait, live=()).start()
        if event:
            out.emit({"event": event, "worker": found.app.engine.worker, "queues": list(taken)})
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
    found = remote.running(app_settings.load().home)
    try:
        link = f"{found.ask(InviteBrowser())['url']}&next={quote(page, safe='/')}"
    finally:
        found.close()
    shown = not print_ and has_screen() and webbrowser.open(link)
    opened = ["Opened in your browser. If nothing shows, this link does the same, once:"]
    return out.print_result(
        json, {"url": link, "opened": shown}, *opened if shown else (), data=link
    )


def has_screen() -> bool:
    """Whether there is a display: without one, a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _SCREENS)


UNIT: Final = "remit.service"
_SECONDS: Final = 60
_NO_SYSTEMD: Final = (
    "There is no systemd here, so nothing was installed. Have whatever starts programs on this "
    "machine start `remit up`."
)
_TEXT: Final = """\
# Written by `remit service install`; `remit service remove` takes it out.
[Unit]
Description=Remit has work done, proves it, and sends it once
After=network-online.target

[Service]
ExecStart={command}
Environment={home}
Restart=on-failure
RestartSec=5
TimeoutStopSec=60

[Install]
WantedBy=default.target
"""

service_app = CommandGroup("service")


@service_app.default
@service_app.command()
def status(*, json: AsJson = False) -> int:
    """Show whether the unit is installed and runs."""
    path = unit_path(os.environ)
    state = _systemctl("is-active", UNIT)[1] if path.exists() and _has_systemd() else "inactive"
    if json:
        out.emit({"installed": path.exists(), "unit": str(path), "state": state})
    elif path.exists():
        out.line(f"Installed as {path}; systemd says: {state or 'nothing'}.")
    else:
        out.line("Not installed. `remit service install` does it.")
    return codes.DONE if state == "active" else codes.WAITS


@service_app.command()
def install(*, json: AsJson = False) -> int:
    """Install the unit and start it, now and at every login."""
    if not _has_systemd():
        raise BadInput(_NO_SYSTEMD)
    settings, path = app_settings.load(), unit_path(os.environ)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, unit_text(settings, _command()))
    results = (_systemctl(*words) for words in (("daemon-reload",), ("enable", "--now", UNIT)))
    failed = next((output for code, output in results if code), "")
    if json:
        out.emit({"unit": str(path), "started": not failed, "detail": failed})
    else:
        _tell(path, failed, settings)
    return codes.WAITS if failed else codes.DONE


@service_app.command()
def remove(*, json: AsJson = False) -> int:
    """Stop Remit and remove the unit; your data stays."""
    path = unit_path(os.environ)
    if not path.exists():
        raise BadInput(f"There is no {path}; nothing is installed.")
    if _has_systemd():
        _systemctl("disable", "--now", UNIT)
    path.unlink()
    if _has_systemd():
        _systemctl("daemon-reload")
    sentence = f"{path} is removed. Tasks and settings stay where they are."
    return out.print_result(json, {"unit": str(path), "removed": True}, sentence)


def unit_path(environ: Mapping[str, str]) -> Path:
    config = environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user" / UNIT


def unit_text(settings: Settings, command: list[str]) -> str:
    """Return the unit; systemd reads % as the beginning of a name of its own."""
    words = " ".join(_quote_for_systemd(word) for word in command)
    return _TEXT.format(command=words, home=_quote_for_systemd(f"REMIT_HOME={settings.home}"))


def _quote_for_systemd(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if escaped != shlex.quote(escaped) else escaped


def _command() -> list[str]:
    """Return how this Remit is started: its program beside the interpreter, or the module."""
    program = Path(sys.executable).with_name("remit")
    start = [str(program)] if program.exists() else [sys.executable, "-m", "remit.cli.main"]
    return [*start, "up"]


def _tell(path: Path, failed: str, settings: Settings) -> None:
    out.say(f"{path} is written.")
    if failed:
        out.hint(f"systemd did not start it: {failed}", "yellow")
        command = f"systemctl --user enable --now {UNIT}"
        out.say(f"Log in with a session of your own and run `{command}`.")
    else:
        out.say("It runs now, and from every login on. `remit service status` shows it.")
    out.say("`loginctl enable-linger` lets it run while you are not logged in.")
    if seen := [name for name in (*KEY_NAMES, settings.brain.key_env) if os.environ.get(name)]:
        text = f"{', '.join(seen)} is set in this shell; a service does not see that."
        out.hint(f"{text} `remit setup brain` stores the key.", "yellow")


def _has_systemd() -> bool:
    return shutil.which("systemctl") is not None


def _systemctl(*words: str) -> tuple[int, str]:
    """Return the exit code and what it said."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["systemctl", "--user", *words],  # noqa: S607 - as the owner's PATH has it
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, (done.stdout or done.stderr).strip()
