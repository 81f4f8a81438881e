"""Install locks into a venv: one line of progress, and pip's own words only when it fails.

`python requirements/install.py "Remit" .venv build runtime` sets up what is called Remit.
"""

import subprocess
import sys
import time
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this file is what an older one meets first
    sys.exit("Remit needs Python 3.11 or newer, not %d.%d." % sys.version_info[:2])  # noqa: UP031

LOCKS = Path(__file__).resolve().parent


def main(title: str, place: str, *names: str) -> None:
    """Make the venv at `place` if there is none, and install the named locks into it."""
    started = time.monotonic()
    progress = Progress(f"Setting up {title}")
    python = Path(place, "bin", "python")
    if not python.exists():
        progress.show("a virtual environment")
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    locks = [LOCKS / f"{name}.lock" for name in names]
    wanted = sum(lock.read_text().count("==") for lock in locks)
    _install(python, _asked(locks), wanted, progress)
    progress.end(f"{wanted} packages, {time.monotonic() - started:.0f} s")


def _asked(locks: list[Path]) -> list[str]:
    return [word for lock in locks for word in ("-r", str(lock))]


def _install(python: Path, asked: list[str], wanted: int, progress: "Progress") -> None:
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    # A lock is complete, so pip resolves nothing: a newer release of a pinned package cannot break
    # the set-up (pip looks at it for the sake of an extra, and refuses it for want of a hash).
    command = [*pip, "--require-hashes", "--no-deps", *asked]
    said: list[str] = []
    found = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            said.append(line)
            if line.startswith(("Collecting ", "Processing ", "Requirement already satisfied")):
                found += 1
                progress.show(f"{found} of {wanted} packages")
            elif line.startswith("Installing collected"):
                progress.show(f"unpacking {wanted} packages")
    if process.returncode:
        progress.end("pip failed; its last words were:")
        sys.exit("".join(said[-20:]))


class Progress:
    """One line on stderr, rewritten in place on a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._moves = sys.stderr.isatty()
        if not self._moves:
            print(f"{title} …", file=sys.stderr, flush=True)

    def show(self, state: str) -> None:
        if self._moves:
            print(f"\r\033[K{self._title}: {state} …", end="", file=sys.stderr, flush=True)

    def end(self, state: str) -> None:
        start = "\r\033[K" if self._moves else ""
        print(f"{start}{self._title}: {state}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
