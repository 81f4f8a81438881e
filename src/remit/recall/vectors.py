"""The index in memory: every vector is compared, first by its signs and then exactly.

The signs of a vector are a few whole numbers; how many differ from those of the query is counted
for all tasks at once. Those that differ least are compared exactly, number by number. The vectors
are stored in the rows of the database, as `encode` writes them. This loads numpy, so it is imported
when the first task is indexed.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.recall import snippets

MIN_COMPARED: Final = 128  # tasks that are compared exactly
_LENGTH_BYTES: Final = 4
_BIAS: Final = 128  # whole numbers are kept as unsigned bytes
_SIGNS: Final = 64  # signs in one whole number
_FAR: Final = np.iinfo(np.uint16).max  # more signs than can differ
_ROOM: Final = 256  # rows at first


def encode(vector: Sequence[float]) -> bytes:
    """Write a vector as its length, then eight bits for each number; bytes are written already."""
    if isinstance(vector, bytes):
        return vector
    numbers = np.asarray(vector, np.float64)
    widest = float(np.abs(numbers).max(initial=0.0))
    factor = (_BIAS - 1) / widest if widest else 0.0
    raw = (numbers * factor + _BIAS + 0.5).astype(np.uint8)
    length = np.linalg.norm(raw.astype(np.float64) - _BIAS)
    return np.array(length, "<f4").tobytes() + raw.tobytes()


class VectorIndex:
    """A `SnippetStore` in memory, fast enough for the event loop.

    A task is a row of every array; a dropped one keeps its row, but is not present.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.clear()

    def clear(self) -> None:
        self._tasks: list[NearestTask] = []
        self._rows: dict[TaskId, int] = {}  # of the tasks that are present
        self._statuses = {"": 0}  # each has a number
        self._numbers = np.empty((0, self._size), np.uint8)
        self._lengths = np.empty(0, np.float32)
        self._signs = np.empty((-(-self._size // _SIGNS), 0), np.uint64)
        self._session_keys = np.empty(0, np.int64)
        self._status = np.empty(0, np.uint8)
        self._present = np.empty(0, np.bool_)

    def put(self, some: Sequence[IndexedTask]) -> None:
        self.load([(encode(each.vector), each.beside) for each in some])

    def load(self, some: Sequence[tuple[bytes, JsonMap]]) -> None:
        """Add what `encode` wrote; a vector of another length is ignored."""
        rows = [
            (blob, snippets.parse_near(0, beside))
            for blob, beside in some
            if len(blob) == self._size + _LENGTH_BYTES
        ]
        self.drop([near.task_id for _, near in rows])
        first = len(self._tasks)
        self._make_room(first + len(rows))
        part = slice(first, first + len(rows))
        blobs = np.frombuffer(b"".join(blob for blob, _ in rows), np.uint8)
        blobs = blobs.reshape(len(rows), self._size + _LENGTH_BYTES)
        self._lengths[part] = blobs[:, :_LENGTH_BYTES].copy().view("<f4")[:, 0]
        self._numbers[part] = blobs[:, _LENGTH_BYTES:]
        self._signs[:, part] = _signs(self._numbers[part])
        self._present[part] = True
        for row, (_, near) in enumerate(rows, first):
            self._rows[near.task_id] = row
            self._tasks.append(near)
            self._note(row)

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        row = self._rows.get(task_id)
        if row is not None:
            self._tasks[row] = snippets.parse_near(0, beside)
            self._note(row)

    def drop(self, tasks: Sequence[TaskId]) -> None:
        for task_id in tasks:
            row = self._rows.pop(task_id, None)
            if row is not None:
                self._present[row] = False

    def near(
        self,
        vector: Sequence[float],
        most: int,
        without: Sequence[SessionId] = (),
        status: str | None = None,
    ) -> list[NearestTask]:
        """Return the nearest; `vector` may be what `encode` wrote. Of equal ones, the newest."""
        blob = encode(vector)
        asked = np.frombuffer(blob, np.uint8, offset=_LENGTH_BYTES)
        length = np.frombuffer(blob, "<f4", 1)[0]
        rows = self._compare_signs(asked, max(most, MIN_COMPARED), without, status)
        centred = asked.astype(np.float32) - _BIAS
        # Not `@`: for so little work its threads would cost more than they save.
        products = np.einsum("ij,j->i", self._numbers.take(rows, 0).astype(np.float32), centred)
        products -= _BIAS * centred.sum()
        scale = self._lengths[rows] * length
        scores = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
        best = np.argsort(-scores, kind="stable")[:most]
        found = zip(scores[best].tolist(), rows[best].tolist(), strict=True)
        return [replace(self._tasks[row], score=score) for score, row in found]

    def count(self) -> int:
        return len(self._rows)

    def tidy(self) -> None:
        """Forget everything if no task is present; nothing is on the disk."""
        if not self.count():
            self.clear()

    def close(self) -> None:
        self.clear()

    def _compare_signs(
        self, asked: NDArray[np.uint8], most: int, without: Sequence[SessionId], status: str | None
    ) -> NDArray[np.intp]:
        """Return the allowed rows whose signs differ least from those of a vector, newest first."""
        held = len(self._tasks)
        allowed = self._present[:held]
        if status is not None:
            allowed = allowed & (self._status[:held] == self._statuses.get(status, _FAR))
        for session in without:
            allowed = allowed & (self._session_keys[:held] != hash(session))
        if np.count_nonzero(allowed) <= most:
            return allowed.nonzero()[0][::-1]
        apart = np.bitwise_count(self._signs[:, :held] ^ _signs(asked[None]))
        differ = np.add.reduce(apart, 0, np.uint16)
        differ[~allowed] = _FAR
        limit = np.partition(differ, most - 1)[most - 1]
        sure, tied = (differ < limit).nonzero()[0], (differ == limit).nonzero()[0]
        found = np.concatenate((sure, tied[sure.size - most :]))
        found.sort()
        return found[::-1]

    def _note(self, row: int) -> None:
        """Note what a search may be limited by."""
        near = self._tasks[row]
        self._session_keys[row] = hash(near.session_id)
        self._status[row] = self._statuses.setdefault(near.status, len(self._statuses))

    def _make_room(self, rows: int) -> None:
        """Lengthen the arrays, twice as long at least."""
        more = max(rows, 2 * len(self._present), _ROOM) - len(self._present)
        if rows <= len(self._present):
            return
        for name in ("_numbers", "_lengths", "_session_keys", "_status", "_present"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate((old, np.zeros((more, *old.shape[1:]), old.dtype))))
        added = np.zeros((len(self._signs), more), np.uint64)
        self._signs = np.concatenate((self._signs, added), axis=1)


def _signs(numbers: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the signs of some rows: for every 64 dimensions a whole number of each row."""
    bits = np.packbits(numbers >= _BIAS, axis=1)
    if missing := -bits.shape[1] % (_SIGNS // 8):
        bits = np.pad(bits, ((0, 0), (0, missing)))
    return bits.view(np.uint64).T
