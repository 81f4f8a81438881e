"""Plays the console blocks of a page in a real shell, and compares the output loosely.

A block in ```console is played. A line that starts with `$ ` is typed (`> ` continues it), the rest
is the expected output: ids, times, ports and paths may differ, `…` alone on a line stands for any
lines, at the end of a line for its rest. The blocks of a page are one session. A block under the
remark `<!-- first terminal -->` runs in the background.
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Self

from tests.docs_forks import Forker
from tests.ports import free_port

ROOT: Final = Path(__file__).resolve().parent.parent
PATIENCE: Final = 100.0
ELLIPSIS: Final = "…"

# A test need not wait like a reader; and a busy machine is slower than one.
HASTE: Final = {"--in 1m": "--in 40s"}
LEISURE: Final = {"seconds: 3\n": "seconds: 20\n"}

ID: Final = re.compile(r"\b(?:(?:task|rev|run|dlv|ses|wrk)-)?01[0-9A-HJKMNP-TV-Z]{8,24}\b")
_MASKS: Final = (
    (ID, "<id>"),
    (re.compile(r"[\w~./-]*/\.remit\b"), "<home>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<hash>"),
    (re.compile(r"\d{8}T\d{6}Z"), "<time>"),
    (re.compile(r"[+-]\d\d:\d\d \([\w/+-]+\)"), "<zone>"),
    (
        re.compile(
            r"(?:\b[MTWFS][a-z]{2} )?\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?"
        ),
        "<time>",
    ),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r"just now|in \d+ (?:s|min|h|d)\b|\d+ (?:s|min|h|d) ago"), "<when>"),
    (re.compile(r"\b\d+\.\d+ ?(?:s|ms|kB|KB|MB|GB|GiB|MiB|%)\b"), "<much>"),
    (re.compile(r"(127\.0\.0\.1|(remit-(…|[0-9a-f]{20})\.)?localhost):\d+"), "<host>"),
    (re.compile(r"\b(process|pid) \d+"), "<process>"),
    (re.compile(r"\s+"), " "),
)

# `make run` would set up the environment first; what it does then is compared with the Makefile.
MAKE: Final = """\
#!/bin/sh
export REMIT_HOME="${REMIT_HOME:-$PWD/.remit}"
case "$1" in
  run) exec remit up ;;
  hitl) exec remit inbox ;;
  *) echo "not played: make $*"; exit 2 ;;
esac
"""

# For machines without curl: as much of it as the docs use.
CURL: Final = """\
#!/usr/bin/env python3
import pathlib, sys, urllib.error, urllib.request
words, headers, data, method, url = iter(sys.argv[1:]), {}, None, None, None
for word in words:
    if word == "-H":
        value = next(words)
        value = pathlib.Path(value[1:]).read_text() if value[0] == "@" else value
        name, _, value = value.partition(":")
        headers[name] = value.strip()
    elif word == "-X":
        method = next(words)
    elif word == "-d":
        data = next(words).encode()
    elif word != "-s":
        url = word
request = urllib.request.Request(url, data, headers, method=method)
try:
    print(urllib.request.urlopen(request).read().decode(), end="")
except urllib.error.HTTPError as error:
    print(error.read().decode(), end="")
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, and the remark above it."""

    language: str
    text: str
    line: int
    at: int = 0  # where its text begins in the page
    remark: str = ""

    @property
    def turns(self) -> list[tuple[str, list[str]]]:
        """What is typed, each with what must be shown then."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.startswith("> ") and found and not found[-1][1]:
                found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
            else:
                found[-1][1].append(line)
        return found


_FENCE: Final = re.compile(
    r"(?:<!-- ([^\n]*) -->\n+)?^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


_TOLD: Final = re.compile(r"\d\d:\d\d:\d\d  ")  # what `remit up` says of a task


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[2], found[3], text.count("\n", 0, at) + 1, at, found[1] or "")
        for found in _FENCE.finditer(text)
        for at in [found.start(3)]
    ]


def differences(wanted: Sequence[str], shown: Sequence[str]) -> str | None:
    """Return what differs, in a sentence; None if nothing."""
    try:
        list(pairs(wanted, shown))
    except AssertionError as error:
        return str(error)
    return None


def pairs(wanted: Sequence[str], shown: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each expected line with the shown one."""
    rest, skips = [line for line in shown if line.strip()], False
    for line in (line for line in wanted if line.strip()):
        if line.strip() == ELLIPSIS:
            skips = True
            continue
        while rest and skips and not _alike(line, rest[0]):
            rest.pop(0)
        assert rest, f"{line!r} was not shown"
        assert _alike(line, rest[0]), f"instead of {line!r} was shown {rest[0]!r}"
        yield line, rest.pop(0)
        skips = False
    assert skips or not rest, f"more was shown: {rest[:3]}"


def _alike(wanted: str, shown: str) -> bool:
    if wanted.endswith(ELLIPSIS):
        return masked(shown).startswith(masked(wanted.removesuffix(ELLIPSIS)))
    return masked(wanted) == masked(shown)


def _in_the_order_of(wanted: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return the output; what tasks say that run beside each other stands as on the page."""
    order = {masked(line): number for number, line in enumerate(wanted)}
    told = sorted(filter(_TOLD.match, shown), key=lambda line: order.get(masked(line), 0))
    ranked = iter(told)
    return [next(ranked) if _TOLD.match(line) else line for line in shown]


def _trimmed(wanted: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return the output, shortened where the page is; whole, if that is unclear."""
    if ELLIPSIS not in wanted:
        return list(shown)
    try:
        matched = iter(list(pairs(wanted, shown)))
    except AssertionError:
        return list(shown)
    kept = (line if not line.strip() or line == ELLIPSIS else next(matched)[1] for line in wanted)
    return list(kept)


def masked(line: str) -> str:
    """Return the line without what differs between runs."""
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line)
    return line.strip()


@dataclass
class Terminal:
    """One shell, in a folder that looks like a checkout; learns which id is which."""

    folder: Path
    played: bool = True  # otherwise it is recorded, as a reader sees it
    port: int = field(default_factory=free_port)
    _ids: dict[str, str] = field(default_factory=dict)
    _behind: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _forker: Forker | None = None

    def __enter__(self) -> Self:
        tools = self.folder / "bin"
        tools.mkdir()
        if self.played:
            self._forker = Forker()
            self._forker.write_client(tools)
        for name, text in {"make": MAKE, "curl": CURL}.items():
            if name == "make" or not shutil.which(name):
                (tools / name).write_text(text)
                (tools / name).chmod(0o755)
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        if self.played:
            brain = self.folder / "examples" / "brain.yml"
            brain.write_text(_replaced(brain.read_text(), LEISURE))
        self._shell = subprocess.Popen(
            ["sh"],
            cwd=self.folder,
            env=self._environment(tools),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._behind:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)
        self._in.close()
        self._shell.wait(PATIENCE)
        self._out.close()
        if self._forker:
            self._forker.close()

    def play(self, block: Block) -> None:
        """Type a block's commands; raises AssertionError for different output."""
        for command, wanted in block.turns:
            shown = self._shown(block, command, wanted)
            until = time.monotonic() + PATIENCE if command == "remit ls" else 0.0
            while time.monotonic() < until and differences(wanted, shown):  # work continues
                time.sleep(0.05)
                shown = self._shown(block, command, wanted)
            try:
                self._learn(list(pairs(wanted, shown)))
            except AssertionError as error:
                told = "\n".join(shown)
                raise AssertionError(f"line {block.line}, $ {command}: {error}\n{told}") from None

    def record(self, block: Block) -> str:
        """Type a block's commands; return the block as it went, at full length."""
        went: list[str] = []
        for command, wanted in block.turns:
            shown = self._shown(block, command, wanted)
            assert not any("stumbled" in line for line in shown), "\n".join(shown)
            typed = ID.sub(lambda found: self._ids.get(found[0], found[0]), command)
            went += ["$ " + typed.replace("\n", "\n> "), *_trimmed(wanted, self._told(shown))]
            flat = (ID.findall("\n".join(lines)) for lines in (wanted, shown))
            self._ids.update(zip(*flat, strict=False))
        return "".join(f"{line.rstrip()}\n" for line in went)

    def type(self, command: str) -> list[str]:
        """Run a command; `$?` is kept for the next one."""
        ends = 'code=$?; printf "\\n\\037\\n"; (exit $code)'
        self._in.write(f"(exit ${{code:-0}})\n{{ {command}\n}} </dev/null\n{ends}\n")
        self._in.flush()
        lines: list[str] = []
        for line in self._out:
            if line == "\x1f\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise AssertionError(f"the shell ended at: {command}\n" + "\n".join(lines))

    def _shown(self, block: Block, command: str, wanted: Sequence[str]) -> list[str]:
        if self.played and command.startswith("sleep "):
            self._rest()
            return []
        command = _replaced(command, HASTE) if self.played else command
        command = command.replace("127.0.0.1:7316", f"127.0.0.1:{self.port}")
        command = ID.sub(lambda found: self._ids.get(found[0], found[0]), command)
        if block.remark == "first terminal":
            return self._start(command, wanted)
        return self.type(command)

    def _rest(self) -> None:
        """Wait until nothing runs: where a reader is told to sleep a while."""
        end = time.monotonic() + PATIENCE
        path = self.folder / ".remit" / "agent.db"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            while time.monotonic() < end and store.execute(_AT_WORK).fetchone()[0]:
                time.sleep(0.05)

    def _told(self, shown: Sequence[str]) -> list[str]:
        """Return the output as if the checkout were in ~/remit and the port the default."""
        text = "\n".join(shown).strip("\n").replace(str(self.folder), "~/remit")
        text = text.replace(str(Path(sys.executable).parent), "~/remit/.venv/bin")
        # A used-up secret is still a secret.
        text = re.sub(r"(sign-in\?code=|remit_)[\w-]{43}", r"\1…", text)
        text = re.sub(r"remit-[0-9a-f]{20}\.localhost", "remit-….localhost", text)
        return text.replace(f":{self.port}", ":7316").splitlines()

    def _start(self, command: str, wanted: Sequence[str]) -> list[str]:
        """Run in the background, once all expected output was shown."""
        log = self.folder / f"terminal-{len(self._behind)}.log"
        with log.open("wb") as file:
            environment = self._environment(self.folder / "bin")
            process = subprocess.Popen(
                ["sh", "-c", f"exec env {command}"],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._behind.append(process)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            shown = _in_the_order_of(wanted, log.read_text().splitlines())
            if differences([*wanted, ELLIPSIS], shown) is None:
                break
            time.sleep(0.05)
        return _in_the_order_of(wanted, log.read_text().splitlines())

    def _learn(self, found: Sequence[tuple[str, str]]) -> None:
        """Remember which id of the page is which of this run."""
        for wanted, shown in found:
            for theirs, ours in zip(ID.findall(wanted), ID.findall(shown), strict=True):
                known = self._ids.setdefault(theirs, ours)
                assert known == ours, f"{theirs} was {known} before, and is {ours} now"
                others = [name for name, value in self._ids.items() if value == ours]
                assert others == [theirs], f"{' and '.join(others)} are one and the same"

    def _environment(self, tools: Path) -> Mapping[str, str]:
        plain = {key: value for key, value in os.environ.items() if not key.startswith("REMIT_")}
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), plain["PATH"]])
        told = {"PATH": path, "HOME": str(self.folder), "REMIT_SERVER_PORT": str(self.port)}
        quiet = {"REMIT_CALENDAR_OWN": "false"}  # its port is fixed, and many run here at once
        return plain | told | quiet | {"NO_COLOR": "1", "TZ": "UTC"}

    @property
    def _in(self) -> IO[str]:
        assert self._shell.stdin
        return self._shell.stdin

    @property
    def _out(self) -> IO[str]:
        assert self._shell.stdout
        return self._shell.stdout


def _replaced(text: str, others: Mapping[str, str]) -> str:
    for old, new in others.items():
        text = text.replace(old, new)
    return text


_AT_WORK: Final = """
SELECT count(*) FROM tasks
 WHERE status IN ('new', 'running', 'verifying', 'delivering')
    OR status = 'ready' AND scheduled_for IS NULL
"""
