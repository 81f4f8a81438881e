"""The embedder and the index together, opened at first use.

An error is kept as a sentence for whoever asks about the state of recall. Nothing here stops a
task: while the library is closed, a search finds nothing.
"""

import asyncio
import os
import sys
import threading
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, ParamSpec, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from remit.errors import RemitError, StoreTrouble
from remit.model.codec import JsonMap
from remit.model.ids import SessionId
from remit.model.likeness import NearestTask
from remit.ports import Embedder, SnippetStore
from remit.store import recall
from remit.store.database import Database

if TYPE_CHECKING:
    from remit.recall.vectors import VectorIndex

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE: Final = 5.0  # seconds that a question may take
MAX_RECENT_TEXTS: Final = 2_000  # whose vectors are remembered
_PAGE_ROWS: Final = 2_000
_NICE: Final = 5  # so much later than others the thread gets its turn that indexes


class LibraryParts(Struct, frozen=True):
    """How to make the parts. Making one blocks and may raise: code is loaded, or is missing."""

    embedder: Callable[[], Embedder]
    store: Callable[[int], SnippetStore]  # for vectors of that length
    name: str  # of the store, for a reader


@runtime_checkable
class ClosableStore(Protocol):
    async def close(self) -> None: ...


class _Open(Struct, frozen=True):
    embedder: Embedder
    store: SnippetStore
    pack: Callable[[Sequence[float]], Sequence[float]]  # as the store keeps a vector
    in_memory: bool  # the store is fast, and its vectors are stored in the rows of the database

    async def close(self) -> None:
        if isinstance(self.embedder, ClosableStore):
            await self.embedder.close()


class RecallLibrary:
    def __init__(self, db: Database, means: LibraryParts) -> None:
        self._db = db
        self._means = means
        self._opening: asyncio.Task[None] | None = None
        self._open: _Open | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._recent: dict[str, Sequence[float]] = {}
        self.trouble: str | None = None  # why it is shut, if something is wrong

    @property
    def name(self) -> str:
        return self._means.name

    @property
    def is_open(self) -> bool:
        return self._open is not None

    async def open(self) -> None:
        """Open everything; raises `StoreTrouble` if that fails."""
        if self._open is None:
            # Who asked may lose patience; a store that is half open must not get lost for that.
            await asyncio.shield(self.begin_to_open())

    def begin_to_open(self) -> "asyncio.Task[None]":
        if self._opening is None:
            self._opening = asyncio.create_task(self._try_to_open())
            self._opening.add_done_callback(self._forget_opening)
        return self._opening

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of texts; recent ones are remembered, as callers repeat them.

        Those for the index in this process are written as it keeps them.
        """
        missing = [each for each in dict.fromkeys(texts) if each not in self._recent]
        found = await self._parts.embedder.embed(missing) if missing else ()
        pack = self._parts.pack
        new = {text: pack(each) for text, each in zip(missing, found, strict=True)}
        vectors = [new[text] if text in new else self._recent[text] for text in texts]
        self._recent |= new
        while len(self._recent) > MAX_RECENT_TEXTS:
            del self._recent[next(iter(self._recent))]
        return vectors

    @property
    def keeps_vectors(self) -> bool:
        """Whether the vectors are stored in the rows of the database."""
        return self._open is not None and self._open.in_memory

    async def do(self, work: Callable[[SnippetStore], T]) -> T:
        """Run work on the store: at once if it is in memory, else on the library's thread."""
        store = self._parts.store
        return work(store) if self._parts.in_memory else await self._run(work, store)

    async def look(
        self,
        vector: Sequence[float],
        most: int,
        without: Sequence[SessionId] = (),
        status: str | None = None,
    ) -> list[NearestTask]:
        """Return the tasks near a vector."""
        store = self._parts.store
        if self._parts.in_memory:
            return store.near(vector, most, without, status)
        return await asyncio.to_thread(store.near, vector, most, without, status)

    async def vector(self, text: str) -> Sequence[float] | None:
        """Return the vector of a text; None if that fails or takes too long."""
        try:
            async with asyncio.timeout(PATIENCE):
                if self._open is None and not await self._db.read(recall.has_any):
                    return None  # there is nothing to be found, and much to be loaded
                await self.open()
                return (await self.embed([text]))[0]
        except TimeoutError:
            self.trouble = f"Nothing was found in {PATIENCE:g} s; the embedder is too slow."
        except (RemitError, OSError) as error:
            self.trouble = _sentence(error)
        return None

    def fail(self, error: Exception) -> StoreTrouble:
        """Note what is wrong; the next caller tries again."""
        self.trouble = _sentence(error)
        return StoreTrouble(self.trouble)

    async def close(self) -> None:
        if self._opening is not None:
            await asyncio.wait((self._opening,))
        parts, self._open, self._recent = self._open, None, {}
        if parts is not None:
            with suppress(RemitError):
                await self._run(parts.store.close)
            await parts.close()
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    async def _try_to_open(self) -> None:
        if self._open is not None:
            return
        try:
            self._open = await self._open_parts()
        except (RemitError, ImportError, OSError) as error:
            raise self.fail(error) from error
        self.trouble = None

    def _forget_opening(self, opening: "asyncio.Task[None]") -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # it was told to who waited, and is kept as trouble

    async def _open_parts(self) -> _Open:
        embedder = await self._run(self._means.embedder)
        size = len((await embedder.embed(["how long it is"]))[0])
        store = await self._run(self._means.store, size)
        from remit.recall.vectors import VectorIndex, encode  # noqa: PLC0415 - numpy, of 16 MB

        in_memory = isinstance(store, VectorIndex)
        if isinstance(store, VectorIndex):
            await self._load(store)
        held = await self._run(store.count)
        if not await self._db.write(recall.begin, embedder.name, held) and held:
            await self._run(store.clear)
        return _Open(embedder, store, encode if in_memory else partial(array, "f"), in_memory)

    async def _load(self, store: "VectorIndex") -> None:
        after = ""
        while rows := await self._db.read(recall.vectors, after, _PAGE_ROWS):
            store.load([(each.vector, _index_payload(each)) for each in rows])
            after = rows[-1].task_id

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def call() -> T:
            return work(*args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    @property
    def _thread(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "remit-recall", initializer=_step_back)
        return self._pool

    @property
    def _parts(self) -> _Open:
        if self._open is None:
            raise StoreTrouble(self.trouble or "The index of recall is shut.")
        return self._open


def _index_payload(row: recall.StoredVector) -> JsonMap:
    return {
        "task_id": row.task_id,
        "session": row.session_id,
        "taint": row.taint.value,
        "status": row.status.value,
    }


def _step_back() -> None:
    """Lower the priority of this thread, where the system allows it."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError):
        missing = error.name or str(error)
        package = "remit[qdrant]" if "qdrant" in missing else "remit"
        return f"{missing} is not installed; `pip install '{package}'` may help."
    return str(error)
