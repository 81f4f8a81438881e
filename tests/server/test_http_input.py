"""What cannot be read is refused by name, and nothing is stored."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from remit.model.codec import Json
from tests.server.served import TOKEN, Served, problem

MANY = "x" * 1_000_000
TASK = "task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"
REVIEW = "rev-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"


@pytest.fixture(autouse=True)
def nothing_is_stored(still: Served) -> Iterator[None]:
    before = still.get("/api/events?limit=1")["last"]
    yield
    assert still.get("/api/events?limit=1")["last"] == before


def _refused(still: Served, body: Json, field: str | None) -> str:
    answer = still.ask("POST", "/api/tasks", body)
    told = answer.json()
    assert answer.status_code == 422, told
    assert told["type"] == "urn:remit:problem:validation"
    assert told.get("field") == field
    assert len(answer.content) < 4000
    return str(told["detail"])


def test_an_unknown_field_is_named_with_the_known_ones(still: Served) -> None:
    sentence = _refused(still, {"text": "Go", "colour": "red"}, "colour")

    assert "'colour'" in sentence
    assert "scheduledFor" in sentence


def test_a_field_of_the_inside_is_unknown_outside(still: Served) -> None:
    for name in ("id", "status", "logPath", "scheduled_for", "taint", "sessionId"):
        _refused(still, {"text": "Go", name: "x"}, name)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": 7}, "text"),
        ({"title": ["a"]}, "title"),
        ({"text": "Go", "work": "do it"}, "work"),
        ({"text": "Go", "work": [7]}, "work.0"),
        ({"text": "Go", "work": [{"description": None}]}, "work.0.description"),
        ({"text": "Go", "work": [{"description": "a", "status": "completed"}]}, "work.0.status"),
        ({"text": "Go", "work": ["a"] * 201}, "work"),
        ({"text": "Go", "delivery": [{"recipient": "Mia"}]}, "delivery.0.channel"),
        ({"text": "Go", "delivery": [{"channel": "a", "status": "sent"}]}, "delivery.0.status"),
        ({"text": "Go", "delivery": [{"channel": "a"}] * 51}, "delivery"),
        ({"text": "Go", "delivery": {"channel": "a"}}, "delivery"),
        ({"text": "Go", "priority": "urgent"}, "priority"),
        ({"text": "Go", "priority": 3}, "priority"),
        ({"text": "Go", "scheduledFor": 1772442000}, "scheduledFor"),
        ({"text": "Go", "scheduledFor": True}, "scheduledFor"),
        ({"text": "Go", "context": [1]}, "context"),
        ({"text": "Go", "contract": {"type": "verifiable"}}, "contract.criteria"),
        ({"text": "Go", "contract": {"type": "strict", "criteria": []}}, "contract.type"),
        ([{"text": "Go"}], ""),
        ("Go", ""),
        (7, ""),
    ],
)
def test_a_wrong_type_is_named(still: Served, body: Json, field: str) -> None:
    _refused(still, body, field)


def test_every_mistake_is_listed(still: Served) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": 7, "title": 8, "colour": "red"})
    named = {error["field"] for error in answer.json()["errors"]}

    assert named == {"text", "title", "colour"}


@pytest.mark.parametrize("body", [{}, {"instructions": "Go"}, {"text": None, "title": None}])
def test_a_task_needs_a_text_or_a_title(still: Served, body: Json) -> None:
    assert "text" in _refused(still, body, "text")


@pytest.mark.parametrize("title", ["", "   ", "\n"])
def test_an_empty_title_is_no_title(still: Served, title: str) -> None:
    _refused(still, {"title": title}, "title")


def test_a_title_of_a_million_letters_is_refused_without_being_repeated(still: Served) -> None:
    sentence = _refused(still, {"title": MANY}, "title")

    assert "1000000 characters" in sentence


def test_a_field_name_of_a_million_letters_is_not_repeated(still: Served) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": "Go", MANY: 1})

    assert answer.status_code == 422
    assert len(answer.content) < 1000


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\x08"])
@pytest.mark.parametrize(
    "shape",
    [
        {"text": "a%b"},
        {"title": "a%b"},
        {"text": "Go", "instructions": "a%b"},
        {"text": "Go", "work": ["a%b"]},
        {"text": "Go", "delivery": [{"channel": "a%b"}]},
        {"text": "Go", "delivery": [{"channel": "outbox", "recipient": "a%b"}]},
        {"text": "Go", "context": {"a": ["a%b"]}},
        {"text": "Go", "context": {"a%b": 1}},
    ],
)
def test_control_characters_are_refused_wherever_they_stand(
    still: Served, shape: Json, character: str
) -> None:
    written = json.dumps(shape).replace("%", json.dumps(character)[1:-1])
    answer = still.ask("POST", "/api/tasks", content=written.encode())

    assert answer.status_code == 422
    assert f"U+{ord(character):04X}" in answer.json()["detail"]
    assert character not in answer.text


def test_half_a_character_is_refused(still: Served) -> None:
    for shape in (b'{"text": "a\\ud800"}', b'{"text": "a", "context": {"b": "\\udfff"}}'):
        answer = still.ask("POST", "/api/tasks", content=shape)
        assert answer.status_code == 422
        assert "U+D" in answer.json()["detail"]


def test_a_time_that_has_passed_is_refused(still: Served) -> None:
    body: Json = {"text": "Go", "scheduledFor": "2001-01-01T00:00:00Z"}

    answer = still.ask("POST", "/api/tasks", body)

    assert (answer.status_code, answer.json()["field"]) == (409, "scheduledFor")
    assert "has passed" in answer.json()["detail"]


@pytest.mark.parametrize("text", ["tomorrow", "2026-13-01T00:00:00Z", "", "2026-05-01T09:00:00"])
def test_a_time_that_nobody_can_read_is_refused(still: Served, text: str) -> None:
    _refused(still, {"text": "Go", "scheduledFor": text}, "scheduledFor")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"text": "Go"',
        b'{"text": "Go"} {}',
        b"{'text': 'Go'}",
        b'{"text": NaN}',
        b'{"text": "Go", "context": {"a": 1e999}}',
        b'{"text": "Go", "context": {"a": -Infinity}}',
        b'{"text": "Go", "text": "Stop"}',
        b'{"text": "Go", "context": {"n": ' + b"9" * 5000 + b"}}",
        b'\xef\xbb\xbf{"text": "Go"}',
        b'{"text": "G\xff"}',
        b'\xff\xfe{\x00"\x00',
        b"\x1f\x8b\x08\x00",
    ],
)
def test_what_is_not_json_in_utf8_is_refused_as_such(still: Served, raw: bytes) -> None:
    answer = still.ask("POST", "/api/tasks", content=raw)

    assert problem(answer) == (400, "malformed")


@pytest.mark.parametrize("depth", [40, 900, 100_000])
@pytest.mark.parametrize("pair", [(b"[", b"]"), (b'{"a":', b"}")])
def test_what_is_nested_without_end_is_refused(
    still: Served, depth: int, pair: tuple[bytes, bytes]
) -> None:
    opens, closes = pair
    inside = opens * depth + b"1" + closes * depth
    answer = still.ask(
        "POST", "/api/tasks", content=b'{"text":"Go","context":{"a":' + inside + b"}}"
    )

    assert answer.status_code == 422
    assert "nested" in answer.json()["detail"]


def test_more_than_a_mebibyte_is_too_large(still: Served) -> None:
    body = json.dumps({"text": "x" * 1024 * 1024}).encode()
    answer = still.ask("POST", "/api/tasks", content=body)

    assert problem(answer) == (413, "too-large")


def test_what_announces_itself_as_too_large_is_not_waited_for(still: Served) -> None:
    head = (
        f"POST /api/tasks HTTP/1.1\r\nHost: localhost:{still.port}\r\n"
        "Authorization: Bearer a-token-for-the-tests\r\nContent-Length: 9999999\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", still.port), timeout=100) as caller:
        caller.sendall(head.encode())
        assert caller.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_header_without_end_is_refused(still: Served) -> None:
    answer = b"HTTP/1.1 400 "  # a reset may come before it
    with socket.create_connection(("127.0.0.1", still.port), timeout=5) as caller:
        caller.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{still.port}\r\n".encode())
        with suppress(ConnectionError):
            for _ in range(100):
                caller.sendall(b"X-More: " + b"x" * 2_000 + b"\r\n")
            answer = caller.recv(100)
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_more_than_a_mebibyte_in_unannounced_pieces_is_too_large(still: Served) -> None:
    pieces = (b" " * 65536 for _ in range(20))
    headers = {"Authorization": "Bearer a-token-for-the-tests", "Content-Type": "application/json"}
    answer = still.client.post(still.url + "/api/tasks", content=pieces, headers=headers)

    assert answer.request.headers["Transfer-Encoding"] == "chunked"
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/jsonx",
        "",
    ],
)
def test_only_json_is_taken(still: Served, kind: str) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": "Go"}, headers={"Content-Type": kind})

    assert problem(answer) == (415, "unsupported-media-type")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/api/tasks/{TASK}", None),
        ("GET", f"/api/tasks/{TASK}/log", None),
        ("PATCH", f"/api/tasks/{TASK}", {"action": "pause"}),
        ("PATCH", f"/api/tasks/{TASK}", {"action": "resume"}),
        ("PATCH", f"/api/tasks/{TASK}", {"action": "cancel"}),
        ("PATCH", f"/api/tasks/{TASK}", {"action": "run"}),
        ("DELETE", f"/api/tasks/{TASK}", None),
        ("POST", f"/api/tasks/{TASK}/retry", None),
        ("GET", f"/api/reviews/{REVIEW}", None),
        ("POST", f"/api/reviews/{REVIEW}/decision", {"answer": "approve"}),
        ("GET", "/api/tasks/1", None),
        ("GET", f"/api/tasks/{REVIEW}", None),
        ("GET", f"/api/reviews/{TASK}", None),
        ("GET", "/api/tasks/%00", None),
        ("GET", "/api/tasks/%ff%fe", None),
        ("GET", "/api/tasks/' OR 1=1 --", None),
        ("GET", "/api/tasks/", None),
        ("GET", "/nowhere", None),
    ],
)
def test_what_is_not_there_is_not_found(still: Served, method: str, path: str, body: Json) -> None:
    answer = still.ask(method, path, body)

    assert problem(answer) == (404, "not-found")


def test_a_browser_that_went_astray_gets_a_page_and_a_way_back(still: Served) -> None:
    sent = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/html,*/*;q=0.8"}
    answer = still.client.get(f"{still.url}/nowhere", headers=sent)

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "There is nothing at this address." in answer.text
    assert 'href="/' in answer.text


@pytest.mark.parametrize(
    "target",
    [
        "/api/tasks/..",
        "/api/tasks/../../agent.db",
        "/api/tasks/../../../../etc/passwd",
        "/api/tasks/%2e%2e",
        "/api/tasks/%2e%2e%2f%2e%2e%2fagent.db",
        "/api/tasks/..%2f..%2ftoken/log",
        "/api/tasks/%2e%2e/log",
        "/api/tasks/%252e%252e/log",
        "/api/reviews/..%5c..%5ctoken",
        "/api/debug/../tasks",
        "//api/tasks",
        "/./api/tasks",
    ],
)
def test_no_address_leads_out_of_the_app(still: Served, target: str) -> None:
    status, told = still.raw("GET", target)

    assert status == 404
    assert told["type"] == "urn:remit:problem:not-found"


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/tasks?colour=red", "colour"),
        ("/api/tasks?status=done", "status"),
        ("/api/tasks?status=", "status"),
        ("/api/tasks?type=weekly", "type"),
        ("/api/tasks?source=fax", "source"),
        ("/api/tasks?priority=urgent", "priority"),
        ("/api/tasks?view=s5", "view"),
        ("/api/tasks?view=s3&view=s4", "view"),
        ("/api/tasks?limit=0", "limit"),
        ("/api/tasks?limit=501", "limit"),
        ("/api/tasks?limit=-1", "limit"),
        ("/api/tasks?limit=1e2", "limit"),
        ("/api/tasks?limit=1_0", "limit"),
        ("/api/tasks?limit=%D9%A1", "limit"),
        ("/api/tasks?limit=" + "9" * 400, "limit"),
        ("/api/tasks?deleted=yes", "deleted"),
        ("/api/tasks?q=", "q"),
        ("/api/tasks?q=%22%2A", "q"),
        ("/api/tasks?cursor=abc", "cursor"),
        (f"/api/tasks?cursor={TASK}", "cursor"),
        ("/api/tasks/needs-attention?limit=5", "limit"),
        ("/api/events?since=-1", "since"),
        ("/api/events?limit=100000", "limit"),
        ("/api/reviews?limit=x", "limit"),
        ("/healthz?verbose=1", "verbose"),
    ],
)
def test_a_parameter_that_cannot_be_is_named(still: Served, path: str, field: str) -> None:
    answer = still.ask("GET", path)

    assert answer.status_code in (404, 422)
    assert answer.json()["field"] == field


@pytest.mark.parametrize(
    "text", ['"', "a OR b", "NEAR(a b)", "title:a", "-a", "a*", "'; DROP", "ß"]
)
def test_a_search_is_never_read_as_a_command(still: Served, text: str) -> None:
    answer = still.client.get(
        still.url + "/api/tasks",
        params={"q": text},
        headers={"Authorization": "Bearer a-token-for-the-tests"},
    )

    assert answer.status_code in (200, 404, 422)


def test_a_wrong_view_is_refused_before_anything_is_done(still: Served) -> None:
    assert still.ask("POST", "/api/tasks?view=s5", {"text": "Go"}).status_code == 422
    assert still.ask("POST", "/api/tasks?viev=s3", {"text": "Go"}).status_code == 422


def test_a_body_that_breaks_off_is_nobody_s_mistake(
    still: Served, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        f"POST /api/tasks HTTP/1.1\r\nHost: localhost:{still.port}\r\n"
        "Authorization: Bearer a-token-for-the-tests\r\nContent-Length: 100\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", still.port), timeout=100) as caller:
        caller.sendall(head.encode() + b'{"text": "Br')
        caller.shutdown(socket.SHUT_WR)
        while caller.recv(4096):
            pass
    still.ask("GET", "/healthz")

    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_what_comes_along_with_a_get_means_nothing(still: Served) -> None:
    headers = {"Content-Type": "text/plain"}
    answer = still.ask("GET", "/api/tasks?limit=1", content=b"x" * 2_000_000, headers=headers)

    assert answer.status_code == 200


def test_a_request_without_a_body_takes_none(still: Served) -> None:
    for method, path in (("DELETE", f"/api/tasks/{TASK}"), ("POST", f"/api/tasks/{TASK}/retry")):
        assert still.ask(method, path, {"force": True}).status_code == 422
