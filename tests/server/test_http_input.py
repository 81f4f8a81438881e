"""What cannot be read is refused by name, and nothing is stored."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Final

import pytest

from remit.model.codec import Json, JsonMap, stamp
from tests.server.served import TOKEN, Served, problem
from tests.tables import for_each

MANY = "x" * 1_000_000
TASK = "task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"
REVIEW = "rev-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"


@pytest.fixture(scope="module")
def there(still: Served) -> dict[str, str]:
    """What the addresses of the table stand for."""
    asked = still.post("/api/messages", {"text": "Remind me soon to call mom"})
    first = stamp(still.clock.now() + timedelta(hours=1))
    repeats: JsonMap = {"rule": "FREQ=DAILY", "zone": "UTC", "first": first}
    repeated = still.post("/api/tasks", {"text": "Oven", "repeats": repeats})
    return {
        "task": still.add("Water the plants"),
        "review": str(asked["questions"][0]["id"]),
        "series": str(repeated["recurrenceId"]),
        "talk": str(still.post("/api/conversations", {})["id"]),
    }


@pytest.fixture(autouse=True)
def nothing_is_stored(still: Served, there: dict[str, str]) -> Iterator[None]:
    before = still.get("/api/events?limit=1")["last"]
    yield
    assert still.get("/api/events?limit=1")["last"] == before, there


WHEN: Final = "2031-01-01T09:00:00Z"
UNREADABLE: Final = ("tomorrow", "2026-13-01T00:00:00Z", "2026-05-01T09:00:00")
PAST: Final = "2001-01-01T00:00:00Z"
EVERY: Final[JsonMap] = {"rule": "FREQ=HOURLY", "zone": "UTC", "first": WHEN}


def _wrong(field: str, *values: Json) -> list[tuple[Json, str]]:
    return [({field: value}, field) for value in values]


WRONG_REPEATS: Final[list[tuple[Json, str]]] = [
    ({"repeats": {**EVERY, "rule": "FREQ=SECONDLY"}}, "rule"),
    ({"repeats": {**EVERY, "zone": "Atlantis"}}, "zone"),
    ({"repeats": {**EVERY, "first": "soon"}}, "repeats.first"),
    ({"repeats": {**EVERY, "more": 1}}, "repeats.more"),
]
# By where it is sent: what is refused, and the field that is named.
REFUSED: Final[dict[str, list[tuple[Json, str]]]] = {
    "POST /api/tasks": [
        ({}, "text"),
        ({"instructions": "Go"}, "text"),
        ({"text": None, "title": None}, "text"),
        ({"text": 7}, "text"),
        ({"title": ["a"]}, "title"),
        *_wrong("title", "", "   ", "\n", MANY),
        ([{"text": "Go"}], ""),
        ("Go", ""),
        (7, ""),
    ],
    # With a text that is right.
    "POST /api/tasks +": [
        ({"work": "do it"}, "work"),
        ({"work": [7]}, "work.0"),
        ({"work": [{"description": None}]}, "work.0.description"),
        ({"work": [{"description": "a", "status": "completed"}]}, "work.0.status"),
        ({"work": ["a"] * 201}, "work"),
        ({"delivery": [{"recipient": "Mia"}]}, "delivery.0.channel"),
        ({"delivery": [{"channel": "a", "status": "sent"}]}, "delivery.0.status"),
        ({"delivery": [{"channel": "a"}] * 51}, "delivery"),
        ({"delivery": {"channel": "a"}}, "delivery"),
        ({"priority": "urgent"}, "priority"),
        ({"priority": 3}, "priority"),
        *_wrong("scheduledFor", 1772442000, True, "", PAST),
        *_wrong("scheduledFor", *UNREADABLE),
        ({"context": [1]}, "context"),
        ({"contract": {"type": "verifiable"}}, "contract.criteria"),
        ({"contract": {"type": "strict", "criteria": []}}, "contract.type"),
        ({"repeats": EVERY, "scheduledFor": WHEN}, "scheduledFor"),
        *WRONG_REPEATS,
    ],
    "POST /api/tasks?view=s5 +": [({}, "view")],
    "POST /api/tasks?viev=s3 +": [({}, "viev")],
    "PATCH /api/tasks/{task}": [  # as strictly as a new task
        ({}, "action"),
        ({"title": " "}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"scheduledFor": PAST}, "scheduledFor"),
        ({"delivery": [{"channel": "pigeon"}]}, "channel"),
        ({"delivery": [{"channel": "outbox", "content": " "}]}, "content"),
        ({"action": "pause", "title": "x"}, "action"),
        ({"colour": "red"}, "colour"),
    ],
    "DELETE /api/tasks/{task}": [({"force": True}, "force")],
    "POST /api/tasks/{task}/retry": [({"force": True}, "force")],
    "POST /api/messages": [*_wrong("text", 7, " ", "x" * 100_001)],
    "POST /api/messages +": [
        ({"colour": "red"}, "colour"),
        ({"scheduledFor": "tomorrow"}, "scheduledFor"),
        ({"scheduledFor": PAST}, "scheduledFor"),
        ({"text": "Go at 5pm", "scheduledFor": WHEN}, "scheduledFor"),
        ({"priority": "huge"}, "priority"),
        ({"dryRun": "yes"}, "dryRun"),
        *WRONG_REPEATS,
        # In a conversation they are said in words.
        ({"conversationId": "{talk}", "priority": "high"}, "priority"),
        ({"conversationId": "{talk}", "scheduledFor": WHEN}, "scheduledFor"),
    ],
    "POST /api/conversations/{talk}/turns": [
        *_wrong("text", "", "   ", None),
        ({}, "text"),
        ({"text": "x", "about": "nonsense"}, "id"),
        ({"txt": "x"}, "txt"),
    ],
    "POST /api/reviews/{review}/decision": [
        ({"answer": "approve"}, "answer"),
        ({"answer": "answer", "text": " "}, "text"),
    ],
    "POST /api/reviews/{review}/later": [
        ({}, "until"),
        ({"hours": 0}, "hours"),
        ({"hours": 1, "until": WHEN}, "until"),
        ({"until": "soon"}, "until"),
        ({"until": PAST}, "until"),
    ],
    "POST /api/series/{series}/skip": [({"slot": WHEN}, "slot")],
    "POST /api/series/{series}/move": [({"to": PAST}, "to")],
    "POST /api/series/{series}/rules": [({"missed": "never"}, "missed")],
    "POST /api/tasks/bulk": [
        ({"action": "pause"}, "ids"),
        ({"action": "pause", "ids": [], "filter": "x"}, "ids"),
        ({"action": "explode", "ids": []}, "action"),
        ({"action": "pause", "ids": ["x"]}, "id"),
        ({"action": "pause", "filter": "colour:red"}, "q"),
    ],
    "POST /api/views": [
        ({"name": "x", "filter": "colour:red"}, "q"),
        ({"name": "a/b", "filter": ""}, "name"),
    ],
    "POST /api/contacts": [
        ({"name": "a\tb"}, "name"),
        ({"name": "Otto", "channels": {"email": "otto"}}, "address"),  # before mail is set up
    ],
}


@for_each("address", REFUSED)
def test_what_cannot_be_is_refused_by_name(
    still: Served, there: dict[str, str], address: str
) -> None:
    method, path, *more = address.split()
    for body, field in REFUSED[address]:
        written = json.dumps({"text": "Go", **body} if more and isinstance(body, dict) else body)
        content = written.replace("{talk}", there["talk"]).encode()
        answer = still.ask(method, path.format(**there), content=content)
        told = answer.json()

        assert answer.status_code in (404, 409, 422), (written[:200], told)
        assert told.get("field") == field, (written[:200], told)
        assert len(answer.content) < 4000


def test_an_unknown_field_is_named_with_the_known_ones(still: Served) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": "Go", "colour": "red"})

    assert answer.json()["type"] == "urn:remit:problem:validation"
    assert "'colour'" in answer.json()["detail"]
    assert "scheduledFor" in answer.json()["detail"]


@for_each("name", ["id", "status", "logPath", "scheduled_for", "taint", "sessionId"])
def test_a_field_of_the_inside_is_unknown_outside(still: Served, name: str) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": "Go", name: "x"})

    assert (answer.status_code, answer.json()["field"]) == (422, name)


def test_every_mistake_is_listed(still: Served) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": 7, "title": 8, "colour": "red"})
    named = {error["field"] for error in answer.json()["errors"]}

    assert named == {"text", "title", "colour"}


def test_a_field_name_of_a_million_letters_is_not_repeated(still: Served) -> None:
    answer = still.ask("POST", "/api/tasks", {"text": "Go", MANY: 1})

    assert answer.status_code == 422
    assert len(answer.content) < 1000


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\x08", "\ud800"])
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
        ("/api/reviews?cursor=x", "cursor"),
        ("/api/series?cursor=x", "cursor"),
        ("/api/notices?cursor=x", "cursor"),
        ("/api/conversations?before=conv-none", "before"),
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
