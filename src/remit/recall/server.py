"""A Qdrant server by its address, behind the same port as the engine in the process.

It needs the extra `qdrant`. Everything here is also what the client's own local mode can do, and
that is what it is tried with; against a server nobody has tried it yet.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast
from warnings import catch_warnings

from qdrant_client import QdrantClient, models

from remit.errors import StoreTrouble
from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.recall import snippets

NAME: Final = "qdrant"
TIMEOUT: Final = 10  # seconds for one answer
_KEPT: Final = ["task_id", "session", "taint"]


def client(url: str, key: str | None = None) -> QdrantClient:
    """A line to a server; it is not asked anything yet."""
    return QdrantClient(url=url, api_key=key, timeout=TIMEOUT, check_compatibility=False)


class ServerStore:
    def __init__(self, line: QdrantClient, size: int) -> None:
        self._line = line
        self._size = size
        self.began_anew = False  # it held vectors of another length
        with _said("opened"):
            if self._line.collection_exists(snippets.COLLECTION) and not self._fits():
                self._line.delete_collection(snippets.COLLECTION)
                self.began_anew = True
            self._make()

    def put(self, some: Sequence[IndexedTask]) -> None:
        points = [
            models.PointStruct(
                id=snippets.point(each.task_id), vector=list(each.vector), payload=dict(each.beside)
            )
            for each in some
        ]
        with _said("written"):
            self._line.upsert(snippets.COLLECTION, points, wait=True)

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        with _said("written"):
            self._line.overwrite_payload(
                snippets.COLLECTION, dict(beside), [snippets.point(task_id)], wait=True
            )

    def drop(self, tasks: Sequence[TaskId]) -> None:
        gone = models.PointIdsList(points=[snippets.point(each) for each in tasks])
        with _said("written"):
            self._line.delete(snippets.COLLECTION, gone, wait=True)

    def near(
        self, vector: Sequence[float], most: int, without: Sequence[SessionId] = ()
    ) -> list[NearestTask]:
        with _said("searched"):
            found = self._line.query_points(
                snippets.COLLECTION,
                query=list(vector),
                query_filter=_but(without) if without else None,
                limit=most,
                with_payload=_KEPT,
            )
        return [
            snippets.near(each.score, cast("JsonMap", each.payload or {})) for each in found.points
        ]

    def count(self) -> int:
        with _said("counted"):
            return self._line.count(snippets.COLLECTION, exact=True).count

    def clear(self) -> None:
        with _said("cleared"):
            self._line.delete_collection(snippets.COLLECTION)
            self._make()

    def tidy(self) -> None:
        """A server does that by itself."""

    def close(self) -> None:
        with _said("closed"):
            self._line.close()

    def _fits(self) -> bool:
        vectors = self._line.get_collection(snippets.COLLECTION).config.params.vectors
        return isinstance(vectors, models.VectorParams) and vectors.size == self._size

    def _make(self) -> None:
        if not self._line.collection_exists(snippets.COLLECTION):
            params = models.VectorParams(size=self._size, distance=models.Distance.COSINE)
            self._line.create_collection(snippets.COLLECTION, vectors_config=params)
            with catch_warnings(action="ignore"):  # the local mode says that it needs none
                self._line.create_payload_index(
                    snippets.COLLECTION, "session", models.PayloadSchemaType.KEYWORD
                )


def _but(sessions: Sequence[SessionId]) -> models.Filter:
    theirs = models.FieldCondition(
        key="session", match=models.MatchAny(any=[str(each) for each in sessions])
    )
    return models.Filter(must_not=[theirs])


@contextmanager
def _said(what: str) -> Iterator[None]:
    """Whatever the client says, in a sentence; it has a dozen kinds of errors."""
    try:
        yield
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        sentence = f"The index on the Qdrant server cannot be {what}: {first[:300]}"
        raise StoreTrouble(sentence.rstrip(".") + ".") from error
