"""The numbers in an ONNX file: every constant tensor by its name, read where it lies.

An ONNX file is a message of Protocol Buffers. What a model computes is not read from it; that is
written down in `minilm`, and the file is known by its hash.
"""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from remit.errors import StoreTrouble

Tensor: TypeAlias = NDArray[np.float32] | NDArray[np.int8] | NDArray[np.int64]

_GRAPH: Final = 7  # of a model
_INITIALIZER: Final = 5  # of a graph
_TYPES: Final[Mapping[int, type[np.float32 | np.int8 | np.int64]]] = {
    1: np.float32,
    3: np.int8,
    7: np.int64,
}


def tensors(file: memoryview) -> dict[str, Tensor]:
    """Every constant of a kind that is used here; they share the bytes of the file."""
    found: dict[str, Tensor] = {}
    for field, graph in _fields(file):
        if field == _GRAPH and isinstance(graph, memoryview):
            parts = (part for number, part in _fields(graph) if number == _INITIALIZER)
            found |= dict(
                each
                for part in parts
                if isinstance(part, memoryview) and (each := _tensor(part)) is not None
            )
    return found


def _tensor(part: memoryview) -> tuple[str, Tensor] | None:
    dims: list[int] = []
    kind, name, raw = 0, "", memoryview(b"")
    for field, value in _fields(part):
        match field, value:
            case (1, int()):  # how long it is, each way
                dims.append(value)
            case (1, memoryview()):
                dims += _packed(value)
            case (2, int()):  # of what it is made
                kind = value
            case (8, memoryview()):
                name = bytes(value).decode()
            case (9, memoryview()):
                raw = value
            case _:
                pass
    if kind not in _TYPES:
        return None
    return name, cast("Tensor", np.frombuffer(raw, dtype=_TYPES[kind]).reshape(dims))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        field, how = key >> 3, key & 7
        match how:
            case 0:  # a number
                number, at = _varint(message, at)
                yield field, number
            case 2:  # so many bytes
                size, at = _varint(message, at)
                yield field, message[at : at + size]
                at += size
            case 1 | 5:  # eight bytes, or four; none is used here
                at += 8 if how == 1 else 4
            case _:
                raise StoreTrouble("The file of the embedding model cannot be read.")


def _packed(numbers: memoryview) -> Iterator[int]:
    at = 0
    while at < len(numbers):
        number, at = _varint(numbers, at)
        yield number


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the last one has no eighth bit
            return number, at
        shift += 7
