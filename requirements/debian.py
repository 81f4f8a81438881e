"""Install the Debian packages that the tests use, as far as this user may.

Root installs them, and so does a user whose sudo asks for no password. For everybody else one
sentence says what to install; the tests that need nothing of it run all the same.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

LIST = Path(__file__).resolve().parent / "debian.txt"


def main() -> None:
    missing = find_missing(LIST.read_text(encoding="utf-8"), os.environ.get("PATH", os.defpath))
    if not missing:
        return
    names = " ".join(missing)
    apt = find_apt()
    if apt is None:
        print(
            f"Not installed: {names}. Tests that need them will fail; install them first"
            f" (on Debian: sudo apt-get install {names}).",
            file=sys.stderr,
        )
        return
    print(f"Installing Debian packages: {names} …", file=sys.stderr, flush=True)
    error = install(apt, missing)
    if error:
        print(f"apt-get could not install {names}; it said:\n{error}", file=sys.stderr)


def find_missing(listing: str, path: str) -> list[str]:
    """Return the packages of which no program is on `path`."""
    rows = (line.partition(":") for line in listing.splitlines() if not line.startswith("#"))
    return [
        package
        for package, colon, programs in rows
        if colon and not any(shutil.which(program, path=path) for program in programs.split())
    ]


def find_apt() -> list[str] | None:
    """Return how this user calls apt-get without being asked anything, or None."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") is None:
        return None
    allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n", "apt-get"] if allowed.returncode == 0 else None


def install(apt: list[str], packages: list[str]) -> str:
    """Install the packages; return what apt-get said if it failed, else nothing."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    steps = (["update"], ["install", "--yes", "--no-install-recommends", *packages])
    for step in steps:
        done = subprocess.run([*apt, *step], capture_output=True, text=True, check=False, env=quiet)
        if done.returncode:
            return (done.stderr or done.stdout)[-2000:]
    return ""


if __name__ == "__main__":
    main()
