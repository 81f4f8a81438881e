"""An embedder at an address: what is asked there, and what its mistakes become."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, cast

import pytest

from remit.errors import Permanent, Transient

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
