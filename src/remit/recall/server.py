"""Recall over the network: a Qdrant server as index, and any OpenAI-compatible embedder.

The index needs the extra `qdrant`. It is tested with the client's local mode only, not against a
server. The texts for an embedder leave this machine, unless its address is local; secrets are
removed before.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, cast
from warnings import catch_warnings

import httpx2
from qdrant_client import QdrantClient, models

from remit.errors import Permanent, StoreTrouble, Transient
from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.recall import snippets
from remit.system.http_client import trusted_authorities

NAME: Final = "qdrant"
TIMEOUT: Final = 10  # seconds for one answer
_KEPT: Final = ["task_id", "session", "taint", "status"]


def client(url: str, key: str | None = None) -> QdrantClient:
    """Return a client for a server; it sends nothing yet."""
    return QdrantClient(url=url, api_key=key, timeout=TIMEOUT, check_compatibility=False)


class ServerStore:
    def __init__(self, line: QdrantClient, size: int) -> None:
        self._line = line
        self._size = size
        self.began_anew = False  # it held vectors of another length
        with _errors_as_sentences("opened"):
            if self._line.collection_exists(snippets.COLLECTION) and not self._has_right_size():
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
        with _errors_as_sentences("written"):
            self._line.upsert(snippets.COLLECTION, points, wait=True)

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        with _errors_as_sentences("written"):
            self._line.overwrite_payload(
                snippets.COLLECTION, dict(beside), [snippets.point(task_id)], wait=True
            )

    def drop(self, tasks: Sequence[TaskId]) -> None:
        gone = models.PointIdsList(points=[snippets.point(each) for each in tasks])
        with _errors_as_sentences("written"):
            self._line.delete(snippets.COLLECTION, gone, wait=True)

    def near(
        self,
        vector: Sequence[float],
        most: int,
        without: Sequence[SessionId] = (),
        status: str | None = None,
    ) -> list[NearestTask]:
        with _errors_as_sentences("searched"):
            found = self._line.query_points(
                snippets.COLLECTION,
                query=list(vector),
                query_filter=_filter(without, status),
                limit=most,
                with_payload=_KEPT,
            )
        return [
            snippets.parse_near(each.score, cast("JsonMap", each.payload or {}))
            for each in found.points
        ]

    def count(self) -> int:
        with _errors_as_sentences("counted"):
            return self._line.count(snippets.COLLECTION, exact=True).count

    def clear(self) -> None:
        with _errors_as_sentences("cleared"):
            self._line.delete_collection(snippets.COLLECTION)
            self._make()

    def tidy(self) -> None:
        """Do nothing: a server does that by itself."""

    def close(self) -> None:
        with _errors_as_sentences("closed"):
            self._line.close()

    def _has_right_size(self) -> bool:
        vectors = self._line.get_collection(snippets.COLLECTION).config.params.vectors
        return isinstance(vectors, models.VectorParams) and vectors.size == self._size

    def _make(self) -> None:
        if not self._line.collection_exists(snippets.COLLECTION):
            params = models.VectorParams(size=self._size, distance=models.Distance.COSINE)
            self._line.create_collection(snippets.COLLECTION, vectors_config=params)
            with catch_warnings(action="ignore"):  # the local mode says that it needs none
                for key in ("session", "status"):
                    self._line.create_payload_index(
                        snippets.COLLECTION, key, models.PayloadSchemaType.KEYWORD
                    )


def _filter(without: Sequence[SessionId], status: str | None) -> models.Filter:
    return models.Filter(
        must=[_has("status", [status])] if status else None,
        must_not=[_has("session", without)] if without else None,
    )


def _has(key: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=[str(each) for each in values]))


@contextmanager
def _errors_as_sentences(what: str) -> Iterator[None]:
    """Turn any error of the client into a sentence; there are a dozen kinds."""
    try:
        yield
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        sentence = f"The index on the Qdrant server cannot be {what}: {first[:300]}"
        raise StoreTrouble(sentence.rstrip(".") + ".") from error


REMOTE_TIMEOUT: Final = 20.0  # seconds for one answer
MOST_TEXTS: Final = 64  # in one request


class RemoteEmbedder:
    def __init__(self, url: str, model: str, key: str | None) -> None:
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        tls = trusted_authorities(trust_env=False)
        self._line = httpx2.AsyncClient(
            headers=headers, timeout=REMOTE_TIMEOUT, trust_env=False, verify=tls
        )

    @property
    def name(self) -> str:
        return f"{self._model} at {self._url}"

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        found: list[list[float]] = []
        for start in range(0, len(texts), MOST_TEXTS):
            found += await self._embed_page(list(texts[start : start + MOST_TEXTS]))
        return found

    async def close(self) -> None:
        await self._line.aclose()

    async def _embed_page(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = await self._line.post(self._url, json={"model": self._model, "input": texts})
        except httpx2.HTTPError as error:
            raise Transient(f"The embedder at {self._url} does not answer: {error}.") from error
        if answer.status_code != HTTPStatus.OK:
            text = f"The embedder at {self._url} answered with {answer.status_code}."
            temporary = answer.status_code in _TEMPORARY or answer.status_code >= _THEIRS
            raise Transient(text) if temporary else Permanent(text)
        return _read(answer, len(texts))


def _read(answer: httpx2.Response, count: int) -> list[list[float]]:
    """Return one vector for each text, in order, all of the same length."""
    try:
        rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
        found = [[float(number) for number in row["embedding"]] for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise Permanent("The embedder's answer is none of OpenAI's protocol.") from error
    if len(found) != count or len({len(each) for each in found}) != 1 or not found[0]:
        raise Permanent("The embedder answered with other vectors than it was asked for.")
    return found


_TEMPORARY: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
_THEIRS: Final = 500
