"""`remit service`: run Remit from login on, as a systemd unit of the user."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from remit import settings as house_settings
from remit.brain.choose import KEY_NAMES
from remit.cli import codes, out
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson
from remit.errors import BadInput
from remit.settings import Settings
from remit.system.files import write_atomic

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

app = CommandGroup("service")


@app.default
@app.command()
def status(*, json: AsJson = False) -> int:
    """Whether the unit is installed, and whether it runs."""
    path = unit_path(os.environ)
    state = _systemctl("is-active", UNIT)[1] if path.exists() and _has_systemd() else "inactive"
    if json:
        out.emit({"installed": path.exists(), "unit": str(path), "state": state})
    elif path.exists():
        out.line(f"Installed as {path}; systemd says: {state or 'nothing'}.")
    else:
        out.line("Not installed. `remit service install` does it.")
    return codes.DONE if state == "active" else codes.WAITS


@app.command()
def install(*, json: AsJson = False) -> int:
    """Write the unit, start it, and start it at every login."""
    if not _has_systemd():
        raise BadInput(_NO_SYSTEMD)
    settings, path = house_settings.load(), unit_path(os.environ)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, unit_text(settings, _command()))
    results = (_systemctl(*words) for words in (("daemon-reload",), ("enable", "--now", UNIT)))
    failed = next((output for code, output in results if code), "")
    if json:
        out.emit({"unit": str(path), "started": not failed, "detail": failed})
    else:
        _tell(path, failed, settings)
    return codes.WAITS if failed else codes.DONE


@app.command()
def remove(*, json: AsJson = False) -> int:
    """Stop it, and take the unit out. What Remit keeps stays."""
    path = unit_path(os.environ)
    if not path.exists():
        raise BadInput(f"There is no {path}; nothing is installed.")
    if _has_systemd():
        _systemctl("disable", "--now", UNIT)
    path.unlink()
    if _has_systemd():
        _systemctl("daemon-reload")
    sentence = f"{path} is removed. Tasks and settings stay where they are."
    return out.done(json, {"unit": str(path), "removed": True}, sentence)


def unit_path(environ: Mapping[str, str]) -> Path:
    config = environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user" / UNIT


def unit_text(settings: Settings, command: list[str]) -> str:
    """Return the unit; systemd reads % as the beginning of a name of its own."""
    words = " ".join(_quoted(word) for word in command)
    return _TEXT.format(command=words, home=_quoted(f"REMIT_HOME={settings.home}"))


def _quoted(word: str) -> str:
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
