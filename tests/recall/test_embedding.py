"""The embedder in this process: the pieces it reads, and the vectors it gives."""

import sys
from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.recall import static
from tests.soak import examples

# As the tokenizer of the model cuts them from which the vectors were taken.
PIECES: Final[tuple[tuple[str, list[int]], ...]] = (
    ("schedule", [6134]),
    ("cuesta", [23391, 2696]),
    ("naive", [15743]),
    ("مرحبا", [1295, 17149, 29820, 29816, 25573]),
    ("\U0001f44d", []),
)


@pytest.mark.parametrize(("word", "pieces"), PIECES)
def test_a_word_is_cut_into_the_longest_pieces_that_are_known(word: str, pieces: list[int]) -> None:
    assert list(static.pieces(word)) == pieces


@given(st.text(max_size=300))
@settings(max_examples=examples(100), deadline=None)
def test_any_text_has_a_vector_of_one_length(text: str) -> None:
    found = static.vector(text)

    assert len(found) == static.MEANING_DIMENSIONS + static.NGRAM_DIMENSIONS
    assert near(found, found) == pytest.approx(1, abs=1e-5) or not any(found)
    assert bool(any(found)) >= bool(static.words(text) and text.isascii())


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        ("Find a plumber for the leaking tap", "Somebody must repair the faucet", "Write a poem"),
        ("Die Rechnungen prüfen", "Eine Rechnung überprüfen", "Den Rasenmäher reparieren"),
        ("Pagar la factura del agua", "Hay que pagar las facturas", "Pintar el salón"),
    ],
)
def test_what_means_the_same_lies_nearer_than_what_does_not(
    text: str, same: str, other: str
) -> None:
    here, close, far = (static.vector(each) for each in (text, same, other))

    assert near(here, close) > near(here, far) + 0.15


def test_each_ideogram_is_a_word() -> None:
    assert static.words("日本語 テキスト") == ["日", "本", "語", "テキスト"]


def test_common_words_case_and_accents_change_nothing() -> None:
    plain = static.vector("factura agua")

    assert static.vector("La FACTURA del água") == plain


def test_the_sums_of_a_very_long_text_do_not_run_over() -> None:
    text = " ".join(f"word{n} heizung" for n in range(20_000))

    assert near(static.vector(text), static.vector(text)) == pytest.approx(1, abs=1e-5)


def test_neither_numpy_nor_an_engine_is_loaded_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("numpy", "qdrant_edge"):
        monkeypatch.setitem(sys.modules, name, None)  # to import it would raise

    assert any(static.vector("anything"))


def near(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
