"""The model in this process: the pieces it reads, the vectors it gives, the file it trusts."""

from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import StoreTrouble
from remit.recall import minilm, wordpiece
from remit.recall.minilm import MiniLm
from tests.soak import examples

# As the tokenizer that the model was trained with cuts them.
PIECES: Final[tuple[tuple[str, list[int]], ...]] = (
    ("Schedule a meeting with Dr. Smith!", [6134, 1037, 3116, 2007, 2852, 1012, 3044, 999]),
    (
        "¿Cuánto cuesta el café, niño?",
        [1094, 12731, 21634, 23391, 2696, 3449, 7668, 1010, 20801, 1029],
    ),
    ("日本語 テキスト", [1864, 1876, 1950, 1713, 30227, 30233, 30240]),
    (
        "naïve—quoted 3.5% £20",
        [15743, 1517, 9339, 1017, 1012, 1019, 1003, 21853, 2692],
    ),
    (
        "مرحبا بالعالم",
        [1295, 17149, 29820, 29816, 25573, 1271, 25573, 23673, 29830, 25573, 23673, 22192],
    ),
    ("👍 ok\u200bay", [100, 3100]),
    ("don't re-do it_now", [2123, 1005, 1056, 2128, 1011, 2079, 2009, 1035, 2085]),
    ("  \t\n ", []),
)


@pytest.mark.parametrize(("text", "pieces"), PIECES)
def test_a_text_is_cut_as_the_model_was_taught(text: str, pieces: list[int]) -> None:
    assert wordpiece.pieces(text, 100) == [wordpiece.BEGIN, *pieces, wordpiece.END]


@given(st.text(max_size=300), st.integers(2, 40))
@settings(max_examples=examples(100), deadline=None)
def test_whatever_is_read_has_an_end_and_is_not_longer_than_may_be(text: str, most: int) -> None:
    found = wordpiece.pieces(text, most)

    assert found[0] == wordpiece.BEGIN
    assert found[-1] == wordpiece.END
    assert len(found) <= most
    assert all(0 <= number < len(wordpiece.vocabulary()) for number in found)


def test_what_means_the_same_lies_near_and_what_does_not_lies_far() -> None:
    here, same, other = MiniLm().vectors(
        ["Find a plumber for the leaking tap", "Somebody must repair the faucet", "Write a poem"]
    )

    assert near(here, same) > 0.5
    assert near(here, other) < 0.2
    assert near(here, here) == pytest.approx(1, abs=1e-5)


def test_a_vector_does_not_depend_on_what_is_read_with_it() -> None:
    texts = ["short", "one that is a good deal longer than the others are, by some words", "a b"]

    together = MiniLm().vectors(texts)

    for text, vector in zip(texts, together, strict=True):
        assert near(MiniLm().vectors([text])[0], vector) == pytest.approx(1, abs=1e-5)


def test_a_model_file_that_is_not_the_known_one_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    minilm._weights.cache_clear()
    monkeypatch.setattr(minilm, "SHA256", "0" * 64)
    try:
        with pytest.raises(StoreTrouble, match="not the one that is known"):
            MiniLm().vectors(["anything"])
    finally:
        minilm._weights.cache_clear()


def near(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
