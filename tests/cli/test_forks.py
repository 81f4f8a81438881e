"""A process that is forked is the process that a fresh interpreter would have been."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests import forks
from tests.cli.terminal import LIMIT, Terminal

BOTH = pytest.mark.parametrize("fresh", [False, True], ids=["forked", "fresh"])
PLAIN = {name: os.environ[name] for name in forks.PLAIN if name in os.environ}

SEES = """
import atexit, json, os, signal, sys, threading, time

def closed(number):
    try:
        os.fstat(number)
    except OSError:
        return True
    return False

streams = (sys.stdin, sys.stdout, sys.stderr)
said = {
    "words": sys.argv[1:],
    "name": __name__,
    "environ": {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "FAKETIME"))},
    "directory": os.getcwd(),
    "zone": time.tzname,
    "stdin": "" if sys.stdin.isatty() else sys.stdin.read(),
    "terminals": [each.isatty() for each in streams],
    "read as": [(each.encoding, each.errors, each.line_buffering) for each in streams],
    "signals": [str(signal.getsignal(n)) for n in sorted(signal.valid_signals())],
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "leads": os.getsid(0) == os.getpid(),
    "threads": threading.active_count(),
    "open": [n for n in range(64) if not closed(n)],
}
print(json.dumps(said))
atexit.register(print, "at last")
"""
ENDS = {
    "pass": 0,
    "raise SystemExit(7)": 7,
    "raise SystemExit('in words')": 1,
    "raise ValueError('a surprise')": 1,
    "import os; os._exit(9)": 9,
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL,
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)": -signal.SIGTERM,
    "import signal; signal.raise_signal(signal.SIGINT)": -signal.SIGINT,
}
WAITS = "import sys; print('here', flush=True); sys.stdin.read(); print('told')"


def script(folder: Path, code: str) -> str:
    path = folder / "script.py"
    path.write_text(code)
    return str(path)


def test_it_sees_what_a_fresh_one_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, env = script(tmp_path, SEES), PLAIN | {"REMIT_X": "ä", "TZ": "Asia/Bangkok"}
    del env["PATH"]  # its parent has one
    words = (path, "one", "", "zwei\n")

    forked, fresh = (
        forks.run(*words, env=env, stdin="Grüße\n", timeout=LIMIT, fresh=each)
        for each in (False, True)
    )

    assert forked == fresh
    assert json.loads(forked[1].splitlines()[0])["zone"] == ["+07", "+07"]
    assert forked[1].endswith("at last\n")


def test_it_sees_a_terminal_where_a_fresh_one_does(tmp_path: Path) -> None:
    path = script(tmp_path, SEES)
    seen = []
    for fresh in (False, True):
        screen, ours = pty.openpty()
        process = forks.start(
            path, env=PLAIN, stdin=ours, stdout=ours, stderr=ours, session=True, fresh=fresh
        )
        assert process.wait(LIMIT) == 0
        os.close(ours)
        seen.append(json.loads(os.read(screen, 65536).splitlines()[0]))
        os.close(screen)

    assert seen[0] == seen[1]
    assert seen[0]["terminals"] == [True] * 3
    assert seen[0]["leads"]


@BOTH
@pytest.mark.parametrize("code", ENDS)
def test_it_ends_as_it_says(tmp_path: Path, code: str, *, fresh: bool) -> None:
    path = script(tmp_path, code)

    ended, _, err = forks.run(path, env=PLAIN, stdin="", timeout=LIMIT, fresh=fresh)

    assert ended == ENDS[code]
    assert ("Traceback" in err) == ("surprise" in code or "SIGINT" in code)


@BOTH
def test_who_kills_one_kills_no_other(tmp_path: Path, *, fresh: bool) -> None:
    path, pipe = script(tmp_path, WAITS), subprocess.PIPE
    one, other = (
        forks.start(path, env=PLAIN, stdin=pipe, stdout=pipe, stderr=pipe, fresh=fresh)
        for _ in range(2)
    )
    for process in (one, other):
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0)

    one.kill()

    assert one.wait(LIMIT) == one.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(one.pid, 0)
    assert other.poll() is None
    assert other.communicate("go on", LIMIT) == ("told\n", "")
    assert other.returncode == 0
    one.communicate(timeout=LIMIT)


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("--help",),
        ("ls",),
        ("nonsense",),
        ("show", "task-none", "--json"),
        ("secrets", "set", "slack"),
        ("rehearse", "Remind me of the milk tomorrow at nine"),
    ],
    ids=" ".join,
)
def test_a_command_says_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    seats = []
    for fresh in (False, True):
        (tmp_path / str(fresh)).mkdir()
        seats.append(Terminal(tmp_path / str(fresh), fresh=fresh))

    forked, fresh_ = (seat.run(*words) for seat in seats)

    assert forked.code == fresh_.code
    assert forked.out == fresh_.out
    assert forked.err.replace(str(seats[0].home), str(seats[1].home)) == fresh_.err


def test_an_interpreter_that_is_spoken_to_is_a_fresh_one(tmp_path: Path) -> None:
    path = script(tmp_path, "import sys; print(sys.flags.utf8_mode, sys.flags.optimize)")
    env = PLAIN | {"PYTHONUTF8": "1", "PYTHONOPTIMIZE": "2"}

    assert forks.run(path, env=env, stdin="", timeout=LIMIT) == (0, "1 2\n", "")
