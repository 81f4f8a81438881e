"""Pages are packed for our own pages and for who types an address, and for nobody else."""

import gzip
import http.client
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.server.served import LIMIT, TOKEN, Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pack")) as opened:
        yield opened


def _fetch(served: Served, path: str, **more: str) -> tuple[http.client.HTTPMessage, bytes]:
    """What comes over the line, as it comes: no client unpacks it."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip, br"}
    headers |= {name.replace("_", "-"): said for name, said in more.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=LIMIT)) as line:
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        return answer.headers, answer.read()


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_that_we_or_the_owner_ask_for_is_packed(served: Served, site: str) -> None:
    _, plain = _fetch(served, "/inbox")
    headers, packed = _fetch(served, "/inbox", Sec_Fetch_Site=site)

    assert headers["Content-Encoding"] == "gzip"
    assert int(headers["Content-Length"]) == len(packed) < len(plain) / 3
    assert b"<html" in gzip.decompress(packed)
    assert "Accept-Encoding" in headers["Vary"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},  # another program's page on this machine
        {"Sec_Fetch_Site": "same-origin", "Accept_Encoding": "br"},
        {"Sec_Fetch_Site": "same-origin", "Accept_Encoding": "gzip;q=0"},
    ],
)
def test_what_anybody_else_asks_for_goes_out_as_it_is(served: Served, more: dict[str, str]) -> None:
    headers, body = _fetch(served, "/tasks", **more)
    assert headers["Content-Encoding"] is None
    assert b"<html" in body or int(headers["Content-Length"]) == len(body)


def test_what_programs_are_told_goes_out_as_it_is(served: Served) -> None:
    headers, body = _fetch(served, "/openapi.json", Sec_Fetch_Site="same-origin")
    assert (headers["Content-Encoding"], body[:1]) == (None, b"{")
