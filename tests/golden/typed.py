"""Types commands in this process, as the program `remit` would be run, and keeps what it says."""

import io
import json
import os
import re
import shlex
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Final

from cyclopts import App

from remit.cli import clock
from remit.cli.main import run
from remit.ports import Clock
from remit.wiring import WallClock

# Typed at the end of the day, while nothing is worked on, and while no Remit runs.
FILES: Final = ("cli_reads", "cli_writes", "cli_alone")
_COLUMNS: Final = "100"
_RULE: Final = re.compile("─{3,}")
_PADDING: Final = re.compile(" +│$", re.MULTILINE)
_LONG: Final = 50_000  # characters: a completion script, which is made from the help
_HEAD: Final = 20  # lines
_ENVIRON: Final = {"COLUMNS": _COLUMNS, "TERM": "dumb", "NO_COLOR": "1", "LANG": "C.UTF-8"}


@contextmanager
def at_home(home: Path, time: Clock) -> Iterator[None]:
    """Let commands work in a home, at the time of the day that is played."""
    kept = ("PATH", "HOME", "TZ")
    os.environ.update(_ENVIRON | {"REMIT_HOME": str(home)})
    for name in [each for each in os.environ if each not in (*kept, *_ENVIRON, "REMIT_HOME")]:
        del os.environ[name]
    clock.now = time.now

    def now(self: WallClock) -> datetime:
        return time.now()

    WallClock.now = now  # type: ignore[method-assign]
    yield


def type_line(line: str, stdin: str = "") -> str:
    raw, err, was = io.BytesIO(), io.StringIO(), sys.stdin
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run(shlex.split(line))
    finally:
        sys.stdin = was
    said = _shortened(_readable(raw.getvalue().decode()))
    said += f"--- stderr\n{err.getvalue()}" if err.getvalue() else ""
    return said + (f"--- exit {code}\n" if code else "")


def commands(app: App, path: str = "") -> Iterator[str]:
    """Everything that has a help of its own, each group before what is below it."""
    for name in app:
        if not name.startswith("-"):
            whole = f"{path} {name}".strip()
            yield whole
            yield from commands(app[name], whole)


def _shortened(said: str) -> str:
    """Help without the width of its frame; of a script only its head, and a sum of the rest."""
    said = _PADDING.sub(" │", _RULE.sub("──", said))
    lines = said.splitlines(keepends=True)
    if len(said) < _LONG:
        return said
    rest = "".join(lines[_HEAD:])
    return (
        "".join(lines[:_HEAD])
        + f"[{len(lines) - _HEAD} more lines, {zlib.crc32(rest.encode()):08x}]\n"
    )


def _readable(said: str) -> str:
    """Lines of JSON are written out, so that a difference is one line."""
    lines = said.splitlines(keepends=True)
    if not all(line.startswith("{") and line.endswith("}\n") for line in lines):
        return said
    return "".join(
        json.dumps(json.loads(line), indent=1, ensure_ascii=False) + "\n" for line in lines
    )
