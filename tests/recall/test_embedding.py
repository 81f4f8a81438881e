"""The embedders, here and at an address: pieces and vectors, what is asked, and wrong answers."""

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import Permanent, Transient
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


# At an address ------------------------------------------------------------------------------------

ASKED: Final[list[dict[str, object]]] = []


class Answers(BaseHTTPRequestHandler):
    """Says of each text how long it is, the last one first; or what its model is called for."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append({**body, "path": self.path, "key": self.headers.get("Authorization")})
        model = str(body["model"])
        code = int(model) if model.isdecimal() else 200
        rows = [{"index": n, "embedding": [len(t), 1]} for n, t in enumerate(body["input"])]
        told: object = {"data": rows[::-1]}
        if model == "few":
            told = {"data": rows[:-1]}
        elif model == "odd":
            told = {"vectors": []}
        raw = json.dumps(told).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - it is called so
        """Nobody reads it."""


@pytest.fixture
def url() -> Iterator[str]:
    ASKED.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/"
    server.shutdown()
    thread.join()
    server.server_close()


async def embedded(url: str, model: str, texts: list[str]) -> list[list[float]]:
    from remit.recall.server import RemoteEmbedder  # noqa: PLC0415 - takes a second

    embedder = RemoteEmbedder(url, model, "a-key")
    try:
        return [list(each) for each in await embedder.embed(texts)]
    finally:
        await embedder.close()


async def test_each_text_has_its_vector_in_its_place_however_they_come_back(url: str) -> None:
    from remit.recall.server import MOST_TEXTS  # noqa: PLC0415 - takes a second

    texts = ["x" * n for n in range(1, MOST_TEXTS + 4)]

    found = await embedded(url, "bge-m3", texts)

    assert found == [[len(text), 1] for text in texts]
    assert [len(cast("list[str]", each["input"])) for each in ASKED] == [MOST_TEXTS, 3]
    assert {(each["path"], each["key"]) for each in ASKED} == {("/v1/embeddings", "Bearer a-key")}


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("429", Transient),
        ("503", Transient),
        ("401", Permanent),
        ("few", Permanent),
        ("odd", Permanent),
    ],
)
async def test_what_is_no_answer_is_a_sentence(url: str, model: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="embedder"):
        await embedded(url, model, ["one", "two"])


async def test_nobody_there_is_tried_again_later() -> None:
    with pytest.raises(Transient, match="does not answer"):
        await embedded("http://127.0.0.1:9/v1", "bge-m3", ["one"])
