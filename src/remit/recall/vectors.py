"""The index in memory: every vector is compared, without numpy.

The signs of all vectors are kept a second time, by dimension: one long number with a bit for each
task. Adding these numbers bit by bit counts, for thousands of tasks at once, in how many signs they
differ from the query. Those that differ least are compared exactly. The vectors are stored in the
rows of the database, as `encode` writes them.
"""

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import islice
from math import sqrt
from operator import attrgetter, mul
from struct import Struct as Packing
from typing import Final

from msgspec import Struct, field

from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.likeness import IndexedTask, NearestTask
from remit.recall import snippets

NAME: Final = "this process"
MAX_BLOCK_ROWS: Final = 8_192  # longer numbers cost more to append to
MIN_COMPARED: Final = 24  # tasks of a block that are compared exactly
_LENGTH: Final = Packing("<f")
_KEY_BYTES: Final = 8
_BIAS: Final = 128  # unsigned bytes are multiplied faster than signed ones
_SIGN_DIGITS: Final = bytes(48 + (number >= _BIAS) for number in range(256))  # "1" from zero up


def encode(vector: Sequence[float]) -> bytes:
    """Write a vector as its length, then eight bits for each number."""
    small = _whole_numbers(vector)
    length = _LENGTH.pack(sqrt(sum(map(mul, small, small))))
    return length + bytes([each + _BIAS for each in small])


def _whole_numbers(vector: Sequence[float]) -> list[int]:
    widest = max(max(vector, default=0.0), -min(vector, default=0.0))
    factor = 127 / widest if widest else 0.0
    return [round(each * factor) for each in vector]


class VectorIndex:
    """A `SnippetStore` in memory, fast enough for the event loop."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._blocks: list[_Block] = []

    def put(self, some: Sequence[IndexedTask]) -> None:
        self.load([(encode(each.vector), each.beside) for each in some])

    def load(self, some: Sequence[tuple[bytes, JsonMap]]) -> None:
        """Add what `encode` wrote; a vector of another length is ignored."""
        rows = [
            (blob, snippets.near(0, beside))
            for blob, beside in some
            if len(blob) == self._size + _LENGTH.size
        ]
        self.drop([near.task_id for _, near in rows])
        for start in range(0, len(rows), MAX_BLOCK_ROWS // 4):
            if not self._blocks or len(self._blocks[-1].tasks) >= MAX_BLOCK_ROWS:
                self._blocks.append(_Block(self._size))
            self._blocks[-1].append(rows[start : start + MAX_BLOCK_ROWS // 4])

    def mark(self, task_id: TaskId, beside: JsonMap) -> None:
        for block in self._blocks:
            block.mark(task_id, snippets.near(0, beside))

    def drop(self, tasks: Sequence[TaskId]) -> None:
        for block in self._blocks:
            block.drop(tasks)

    def near(
        self, vector: Sequence[float], most: int, without: Sequence[SessionId] = ()
    ) -> list[NearestTask]:
        asked = _whole_numbers(vector)
        compared = max(most, MIN_COMPARED)
        found = (each for block in self._blocks for each in block.near(asked, compared, without))
        return nlargest(most, found, key=attrgetter("score"))

    def count(self) -> int:
        return sum(block.present.bit_count() for block in self._blocks)

    def clear(self) -> None:
        self._blocks = []

    def tidy(self) -> None:
        """Forget blocks without a task; nothing is on the disk."""
        self._blocks = [block for block in self._blocks if block.present]

    def close(self) -> None:
        self.clear()


class _Block(Struct):
    """Some thousand tasks, one per row; a dropped one keeps its row, but is not `present`."""

    size: int
    tasks: list[NearestTask] = field(default_factory=list)
    task_keys: bytearray = field(default_factory=bytearray)
    session_keys: bytearray = field(default_factory=bytearray)
    lengths: list[float] = field(default_factory=list)
    numbers: bytearray = field(default_factory=bytearray)
    planes: list[int] = field(default_factory=list)  # for each dimension, the signs of all rows
    present: int = 0  # a bit for each row

    def append(self, rows: Sequence[tuple[bytes, NearestTask]]) -> None:
        first, raw = len(self.tasks), b"".join(blob[_LENGTH.size :] for blob, _ in rows)
        digits = raw.translate(_SIGN_DIGITS)
        # The least bit is the last digit, and belongs to the first row.
        added = (int(digits[place :: self.size][::-1], 2) << first for place in range(self.size))
        old = self.planes or [0] * self.size
        self.planes = [signs | more for signs, more in zip(old, added, strict=True)]
        self.present |= (1 << len(rows)) - 1 << first
        self.numbers += raw
        for blob, near in rows:
            self.lengths.append(_LENGTH.unpack_from(blob)[0])
            self.tasks.append(near)
            self.task_keys += _key(near.task_id)
            self.session_keys += _key(near.session_id)

    def mark(self, task_id: TaskId, near: NearestTask) -> None:
        for row in _find(self.task_keys, task_id):
            self.tasks[row] = near
            self.session_keys[row * _KEY_BYTES : (row + 1) * _KEY_BYTES] = _key(near.session_id)

    def drop(self, tasks: Sequence[TaskId]) -> None:
        for task_id in tasks:
            for row in _find(self.task_keys, task_id):
                self.present &= ~(1 << row)

    def near(
        self, asked: Sequence[int], most: int, without: Sequence[SessionId]
    ) -> Iterator[NearestTask]:
        """Yield the exact similarity of the rows that are nearest by their signs."""
        allowed = self.present
        for session in without:
            for row in _find(self.session_keys, session):
                allowed &= ~(1 << row)
        length, bias = sqrt(sum(map(mul, asked, asked))), _BIAS * sum(asked)
        for row in _lowest(self._differences(asked), allowed, most):
            start, scale = row * self.size, length * self.lengths[row]
            product = sum(map(mul, asked, self.numbers[start : start + self.size])) - bias
            near = self.tasks[row]
            score = product / scale if scale else 0.0
            yield NearestTask(near.task_id, score, near.session_id, near.taint)

    def _differences(self, asked: Sequence[int]) -> list[int]:
        """Return in how many signs each row differs: the bits of that count, lowest first.

        Three numbers of one weight become one of that weight and one of the double.
        """
        every = (1 << len(self.tasks)) - 1
        adding = [
            signs ^ every if number >= 0 else signs
            for number, signs in zip(asked, self.planes, strict=True)
        ]
        counts: list[int] = []
        while adding:
            carried: list[int] = []
            while len(adding) > 1:
                one, two = adding.pop(), adding.pop()
                three = adding.pop() if adding else 0
                either = one ^ two
                adding.insert(0, either ^ three)
                carried.append(one & two | either & three)
            counts.append(adding[0])
            adding = carried
        return counts


def _lowest(counts: Sequence[int], allowed: int, most: int) -> Iterator[int]:
    """Return the rows with the lowest counts; of equal ones at the end, the newest."""
    sure, tied = 0, allowed
    for bits in reversed(counts):
        low = tied & ~bits
        if (sure | low).bit_count() >= most:
            tied = low
        else:
            sure, tied = sure | low, tied & bits
    yield from _rows(sure)
    yield from islice(_rows(tied), max(0, most - sure.bit_count()))


def _rows(bits: int) -> Iterator[int]:
    """Yield the bits that are set, the highest first."""
    while bits:
        row = bits.bit_length() - 1
        yield row
        bits ^= 1 << row


def _key(name: str | None) -> bytes:
    return hash(name).to_bytes(_KEY_BYTES, "little", signed=True)


def _find(keys: bytearray, name: str) -> Iterator[int]:
    """Return the rows whose key belongs to a name."""
    key, at = _key(name), -1
    while (at := keys.find(key, at + 1)) >= 0:
        if at % _KEY_BYTES == 0:
            yield at // _KEY_BYTES
