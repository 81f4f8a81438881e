"""Who may come in, and what everyone is told."""

import http.client

import pytest

from tests.server.served import TOKEN, Served, problem
from tests.tables import for_each

UNSAFE = [("POST", "/api/tasks"), ("PATCH", "/api/tasks/x"), ("DELETE", "/api/tasks/x")]
HOSTS = ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"]


@for_each("host", HOSTS)
def test_remit_answers_to_the_names_of_loopback(still: Served, host: str) -> None:
    assert still.ask(
        "GET", "/api/tasks?limit=1", headers={"Host": f"{host}:{still.port}"}
    ).is_success


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "evil.test:{port}",
        "localhost",
        "localhost:1",
        "localhost.:{port}",
        "127.0.0.1.evil.test:{port}",
        "127.0.0.2:{port}",
        "0.0.0.0:{port}",
        "localhost:{port}@evil.test",
        "[::]:{port}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/healthz", "/api/tasks", "/nowhere"])
def test_any_other_name_is_misdirected(still: Served, host: str, path: str) -> None:
    answer = still.ask("GET", path, headers={"Host": host.format(port=still.port)})

    assert problem(answer) == (421, "misdirected")


def test_a_request_without_a_host_is_misdirected(still: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", still.port, timeout=100)
    connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"  # type: ignore[attr-defined]
    connection.putrequest("GET", "/healthz", skip_host=True)
    connection.endheaders()
    answer = connection.getresponse()
    connection.close()

    assert answer.status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "https://localhost:{port}"},
        {"Origin": "http://localhost:{port}.evil.test"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "x"},
        {"Origin": "http://localhost:{port}", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.test", "Sec-Fetch-Site": "same-origin"},
    ],
)
@pytest.mark.parametrize(("method", "path"), UNSAFE)
def test_another_site_changes_nothing(
    still: Served, method: str, path: str, headers: dict[str, str]
) -> None:
    sent = {name: value.format(port=still.port) for name, value in headers.items()}
    answer = still.ask(method, path, {"text": "Obey"}, headers=sent)

    assert problem(answer) == (403, "cross-site")


@for_each(
    "headers",
    [
        {"Origin": "http://localhost:{port}", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://127.0.0.1:{port}"},
        {"Origin": "http://[::1]:{port}"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_our_own_pages_may_change_something(still: Served, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=still.port) for name, value in headers.items()}

    assert still.ask("POST", "/api/tasks", {"text": "Go"}, headers=sent).status_code == 201


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer \u00e9",
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        *UNSAFE,
        ("GET", "/api/tasks"),
        ("GET", "/api/events"),
        ("GET", "/openapi.json"),
        ("GET", "/x"),
    ],
)
def test_a_wrong_token_opens_nothing(still: Served, method: str, path: str, given: str) -> None:
    answer = still.client.request(
        method, still.url + path, headers=[(b"authorization", given.encode("latin-1"))]
    )

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json()["type"] == "urn:remit:problem:unauthorized"
    assert TOKEN not in answer.text


def test_no_token_and_two_tokens_open_nothing(still: Served) -> None:
    right = ("Authorization", f"Bearer {TOKEN}")

    assert still.client.get(still.url + "/api/tasks").status_code == 401
    assert still.client.get(still.url + "/api/tasks", headers=[right]).status_code == 200
    assert still.client.get(still.url + "/api/tasks", headers=[right, right]).status_code == 401


def test_a_token_in_the_address_opens_nothing(still: Served) -> None:
    for query in (f"token={TOKEN}", f"access_token={TOKEN}"):
        assert still.client.get(f"{still.url}/api/tasks?{query}").status_code == 401


@for_each(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/tasks", "GET, HEAD, POST"),
        ("DELETE", "/api/tasks", "GET, HEAD, POST"),
        ("OPTIONS", "/api/tasks", "GET, HEAD, POST"),
        ("PUT", "/api/tasks/x", "DELETE, GET, HEAD, PATCH"),
        ("POST", "/api/tasks/x", "DELETE, GET, HEAD, PATCH"),
        ("POST", "/api/tasks/needs-attention", "GET, HEAD"),
        ("GET", "/api/tasks/x/retry", "POST"),
        ("GET", "/api/reviews/x/decision", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("MKCOL", "/api/events", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    still: Served, method: str, path: str, allowed: str
) -> None:
    answer = still.ask(method, path)

    assert answer.status_code == 405
    assert answer.headers["Allow"] == allowed
    assert answer.json()["type"] == "urn:remit:problem:method-not-allowed"


def test_every_answer_carries_the_headers_that_keep_browsers_honest(still: Served) -> None:
    cases = [
        still.ask("GET", "/api/tasks?limit=1"),
        still.ask("GET", "/nowhere"),
        still.ask("PUT", "/api/tasks"),
        still.ask("POST", "/api/tasks", content=b"{"),
        still.ask("GET", "/healthz", headers={"Host": "evil.test"}),
        still.client.get(still.url + "/api/tasks"),
        still.client.get(still.url + "/"),
    ]
    assert {answer.status_code for answer in cases} == {200, 303, 400, 401, 404, 405, 421}
    for answer in cases:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "server" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_head_is_a_get_without_its_body(still: Served) -> None:
    answer = still.ask("HEAD", "/api/tasks?limit=1")

    assert (answer.status_code, answer.content) == (200, b"")
