"""The index in Qdrant's engine inside this process: a folder in Remit's home, no server.

The engine's write-ahead log is off: deleted texts would stay readable in it, and what a crash
destroys is rebuilt from the tasks. So every method that writes also flushes, and a folder that
cannot be read is started anew; `opened` says so.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

import qdrant_edge as qdrant

from remit.errors import StoreTrouble
from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.recall import snippets

NAME: Final = "qdrant-edge"
_LOCK: Final = "lock"
# So many kilobytes of vectors are looked through one by one; above it, tidying makes a graph.
_LOOKED_THROUGH: Final = 64_000


class EdgeStore:
    """An index in one folder, for one process; a second process gets an error."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder / snippets.COLLECTION
        self._size = size
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._held = _hold(folder)
        self.began_anew = False  # it was damaged, or made for other vectors
        try:
            self._shard = self._open()
        except BaseException:
            os.close(self._held)
            raise

    def put(self, some: Sequence[IndexedTask]) -> None:
        points = [
            qdrant.Point(snippets.point(each.task_id), list(each.vector), dict(each.beside))
            for each in some
        ]
        with _errors_as_sentences("written"):
            self._shard.update(qdrant.UpdateOperation.upsert_points(points))
            self._shard.flush()

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        with _errors_as_sentences("written"):
            operation = qdrant.UpdateOperation.overwrite_payload(
                [snippets.point(task_id)], dict(beside)
            )
            self._shard.update(operation)
            self._shard.flush()

    def drop(self, tasks: Sequence[TaskId]) -> None:
        gone = [snippets.point(each) for each in tasks]
        with _errors_as_sentences("written"):
            self._shard.update(qdrant.UpdateOperation.delete_points(list(gone)))
            self._shard.flush()

    def near(
        self,
        vector: Sequence[float],
        most: int,
        without: Sequence[SessionId] = (),
        status: str | None = None,
    ) -> list[NearestTask]:
        asked = qdrant.QueryRequest(
            limit=most,
            query=qdrant.Query.Nearest(list(vector)),
            filter=_filter(without, status),
            with_payload=["task_id", "session", "taint", "status"],
        )
        with _errors_as_sentences("searched"):
            found = self._shard.query(asked)
        return [
            snippets.parse_near(each.score, cast("JsonMap", each.payload or {})) for each in found
        ]

    def count(self) -> int:
        with _errors_as_sentences("counted"):
            return self._shard.count(qdrant.CountRequest(exact=True))

    def clear(self) -> None:
        with _errors_as_sentences("cleared"):
            self._shard.close()
            self._shard = self._create()

    def tidy(self) -> None:
        with _errors_as_sentences("tidied"):
            self._shard.optimize()
            self._shard.flush()

    def close(self) -> None:
        try:
            with _errors_as_sentences("closed"):
                self._shard.flush()
                self._shard.close()
        finally:
            os.close(self._held)

    def _open(self) -> qdrant.EdgeShard:
        if not (self._folder / "segments").exists():
            return self._create()
        try:
            with _errors_as_sentences("opened"):
                shard = qdrant.EdgeShard.load(str(self._folder), _config(self._size))
                shard.query(_first(self._size))  # what cannot be searched is not whole
        except StoreTrouble:
            self.began_anew = True
            return self._create()
        return shard

    def _create(self) -> qdrant.EdgeShard:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        with _errors_as_sentences("made"):
            shard = qdrant.EdgeShard.create(str(self._folder), _config(self._size))
            # Without it every search would unpack what stands beside every vector.
            kind = qdrant.PayloadSchemaType.Keyword
            for key in ("session", "status"):
                shard.update(qdrant.UpdateOperation.create_field_index(key, kind))
            return shard


def _config(size: int) -> qdrant.EdgeConfig:
    """Return the configuration: one thread each, so that searches leave the machine to the work."""
    return qdrant.EdgeConfig(
        vectors=qdrant.EdgeVectorParams(size=size, distance=qdrant.Distance.Cosine),
        hnsw_config=qdrant.HnswIndexConfig(16, 100, 10_000, max_indexing_threads=1),
        optimizers=qdrant.EdgeOptimizersConfig(
            # The least that was dropped is taken from the disk.
            deleted_threshold=1e-9,
            vacuum_min_vector_number=1,
            default_segment_number=1,
            indexing_threshold=_LOOKED_THROUGH,
        ),
        max_search_threads=1,
        wal_enabled=False,
    )


def _first(size: int) -> qdrant.QueryRequest:
    return qdrant.QueryRequest(limit=1, query=qdrant.Query.Nearest([1.0] + [0.0] * (size - 1)))


def _filter(without: Sequence[SessionId], status: str | None) -> qdrant.Filter:
    return qdrant.Filter(
        must=[_has("status", [status])] if status else None,
        must_not=[_has("session", without)] if without else None,
    )


def _has(key: str, values: Sequence[str]) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key=key, match=qdrant.MatchAny([str(each) for each in values]))


def _hold(folder: Path) -> int:
    held = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        sentence = f"Another process uses the index in {folder}; what is alike is not looked for."
        raise StoreTrouble(sentence) from None
    return held


@contextmanager
def _errors_as_sentences(what: str) -> Iterator[None]:
    """Turn any error of the engine into a sentence; it may even panic."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        sentence = f"The index of recall cannot be {what}: {str(error)[:300]}"
        raise StoreTrouble(sentence.rstrip(".") + ".") from error
