"""Files for the browser: ours alone, kept for good by their content; and who gets packed pages."""

import gzip
import http.client
import re
from contextlib import closing

import pytest

from remit.language.sentences import TRANSLATED
from remit.server import static
from remit.server.web import shell
from tests.server.served import LIMIT, TOKEN, Served
from tests.tables import for_each


def test_an_address_that_names_the_content_is_kept_for_good(still: Served) -> None:
    answer = still.client.get(still.url + shell.address("app.css"))

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == (static.FOLDER / "app.css").read_bytes()


@for_each("query", ["", "?v=", "?v=000000000000"])
def test_any_other_address_is_asked_for_again(still: Served, query: str) -> None:
    first = still.client.get(f"{still.url}/static/app.css{query}")
    known = {"If-None-Match": first.headers["etag"]}
    again = still.client.get(f"{still.url}/static/app.css{query}", headers=known)

    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")


def test_a_file_is_packed_for_who_takes_it(still: Served) -> None:
    packed = still.client.get(
        f"{still.url}/static/app.css", headers={"Accept-Encoding": "br, gzip"}
    )
    bare = still.client.get(
        f"{still.url}/static/app.css", headers={"Accept-Encoding": "gzip;q=0, identity"}
    )

    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(bare.headers["content-length"]) / 2
    assert "content-encoding" not in bare.headers
    assert packed.content == bare.content
    assert packed.headers["etag"] != bare.headers["etag"]
    assert packed.headers["vary"] == "Accept-Encoding"


@for_each(
    "path",
    [
        "nothing.css",
        "",
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "js/../../app.py",
        "%2fetc%2fpasswd",
        "..%5capp.py",
        "app.css%00.png",
        "/etc/passwd",
        "js/../../auth.py",
        "js",
    ],
)
def test_nothing_else_can_be_fetched(still: Served, path: str) -> None:
    status, told = still.raw("GET", f"/static/{path}")

    assert (status, told["type"]) == (404, "urn:remit:problem:not-found")


def test_every_file_of_the_folder_is_there() -> None:
    there = {
        path.relative_to(static.FOLDER).as_posix()
        for path in static.FOLDER.rglob("*")
        if path.is_file()
    }
    translated = {f"{each}/{name}" for each in TRANSLATED for name in there if ".js" in name}

    assert set(static.files()) == there | translated
    for name, file in static.files().items():
        assert shell.address(name) == f"/static/{name}?v={file.digest}"
        assert file.packed is None or gzip.decompress(file.packed) == file.raw


def test_a_module_names_the_version_of_what_it_imports() -> None:
    modules = {name: file for name, file in static.files().items() if name.startswith("js/")}
    for name, file in modules.items():
        for found in re.findall(r'\b(?:from|import) "([^"]+)"', file.raw.decode()):
            imported, _, version = found.removeprefix("./").partition("?v=")
            assert version == modules[f"js/{imported}"].digest, name


# Packed pages -------------------------------------------------------------------------------------


def _fetch(still: Served, path: str, **more: str) -> tuple[http.client.HTTPMessage, bytes]:
    """What comes over the line, as it comes: no client unpacks it."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip, br"}
    headers |= {name.replace("_", "-"): said for name, said in more.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", still.port, timeout=LIMIT)) as line:
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        return answer.headers, answer.read()


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_that_we_or_the_owner_ask_for_is_packed(still: Served, site: str) -> None:
    _, plain = _fetch(still, "/inbox")
    headers, packed = _fetch(still, "/inbox", Sec_Fetch_Site=site)

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
def test_what_anybody_else_asks_for_goes_out_as_it_is(still: Served, more: dict[str, str]) -> None:
    headers, body = _fetch(still, "/tasks", **more)
    assert headers["Content-Encoding"] is None
    assert b"<html" in body or int(headers["Content-Length"]) == len(body)


def test_what_programs_are_told_goes_out_as_it_is(still: Served) -> None:
    headers, body = _fetch(still, "/openapi.json", Sec_Fetch_Site="same-origin")
    assert (headers["Content-Encoding"], body[:1]) == (None, b"{")
