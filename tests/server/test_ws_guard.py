"""Who may listen, and that nobody who does not read can cost the others anything."""

import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from remit.errors import StoreTrouble
from remit.model.codec import JsonMap
from remit.operations.callers import CallerRegistry
from remit.server import app as pages_app
from remit.server import live as live_module
from remit.server import news
from remit.server.live import LiveConnections
from remit.server.live_connection import MOST_BYTES, MOST_QUEUED, LiveConnection
from remit.server.news import EventMessages
from remit.wiring import App
from tests.server.served import TOKEN, Served
from tests.server.sockets import BEARER, Ear, address, last, listening, many, opened, stalled
from tests.tables import for_each

STALLED, HEALTHY, ROUNDS = 100, 10, 40


def _refused(served: Served, headers: dict[str, str], host: str | None = None) -> tuple[int, str]:
    ours = address(served, pages="Cookie" in headers)
    place = ours if host is None else f"ws://{host}:{served.port}/ws"
    with (
        pytest.raises(InvalidStatus) as refused,
        socket.create_connection(("127.0.0.1", served.port)) as line,
    ):
        connect(place, sock=line, additional_headers=headers, proxy=None)
    body = refused.value.response.body or b""
    return refused.value.response.status_code, body.decode()


def _cookie(served: Served) -> str:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = served.client.post(served.pages + "/sign-in", content=f"token={TOKEN}", headers=form)
    served.client.cookies.clear()
    return str(answer.headers["set-cookie"]).partition(";")[0]


def _origin(served: Served) -> str:
    return served.pages


# The door -----------------------------------------------------------------------------------------


@for_each(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Cookie": "remit-{port}=wrong"},
        {"Cookie": "remit-{port}="},
    ],
)
def test_who_is_not_known_hears_nothing(still: Served, headers: dict[str, str]) -> None:
    sent = {name: value.format(port=still.port) for name, value in headers.items()}
    status, body = _refused(still, sent)

    assert status == 401
    assert "urn:remit:problem:unauthorized" in body


def test_another_site_hears_nothing_even_with_our_cookie(still: Served) -> None:
    cookie = _cookie(still)
    for headers in (
        {**BEARER, "Origin": "http://evil.test"},
        {"Cookie": cookie, "Origin": "http://evil.test"},
        {"Cookie": cookie, "Origin": "null"},
        {"Cookie": cookie, "Origin": "http://127.0.0.1:1"},
        {"Cookie": cookie, "Origin": _origin(still), "Sec-Fetch-Site": "cross-site"},
        {"Cookie": cookie},
    ):
        status, body = _refused(still, headers)
        assert status == 403, headers
        assert "urn:remit:problem:cross-site" in body


def test_another_name_is_misdirected(still: Served) -> None:
    status, body = _refused(still, BEARER, "evil.test")

    assert status == 421
    assert "urn:remit:problem:misdirected" in body


def test_our_own_page_listens_with_its_cookie(still: Served) -> None:
    with listening(still, Cookie=_cookie(still), Origin=_origin(still)) as ear:
        assert ear.next()["type"] == "subscribed"


def test_a_token_that_may_not_read_hears_nothing(still: Served) -> None:
    made = still.post("/api/tokens", {"name": "writes only", "scopes": ["write"]})
    status, body = _refused(still, {"Authorization": f"Bearer {made['secret']}"})

    assert status == 403
    assert "`read`" in body


def test_a_token_that_is_revoked_hears_no_more(still: Served) -> None:
    made = still.post("/api/tokens", {"name": "listens", "scopes": ["read"]})
    with listening(still, Authorization=f"Bearer {made['secret']}") as ear, listening(still) as us:
        ear.next()
        us.next()
        still.ask("DELETE", f"/api/tokens/{made['id']}")
        assert ear.closed() == (4401, "You are signed out.")
        still.add("Still heard by others")
        assert us.next()["type"] == "task:created"


def test_a_browser_that_signs_out_hears_no_more(still: Served) -> None:
    cookie, origin = _cookie(still), _origin(still)
    with listening(still, Cookie=cookie, Origin=origin) as ear:
        ear.next()
        left = still.client.post(
            still.pages + "/sign-out", headers={"Cookie": cookie, "Origin": origin}
        )
        assert left.status_code == 303
        assert ear.closed()[0] == 4401


def test_a_token_that_runs_out_hears_no_more(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        body: JsonMap = {"name": "a day", "scopes": ["read"], "days": 1}
        secret = served.post("/api/tokens", body)["secret"]
        served.clock.advance(timedelta(days=1) - timedelta(seconds=3))
        with listening(served, Authorization=f"Bearer {secret}") as ear:
            assert ear.next()["type"] == "subscribed"
            assert ear.closed()[0] == 4401


def test_the_line_is_no_page(still: Served) -> None:
    assert still.ask("GET", "/ws").status_code == 404


# Those who do not read ----------------------------------------------------------------------------


@pytest.fixture
def lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Served, list[LiveConnections]]]:
    """A Remit whose live line can be looked at."""
    made: list[LiveConnections] = []

    class Kept(LiveConnections):
        def __init__(self, app: App, callers: CallerRegistry) -> None:
            super().__init__(app, callers)
            made.append(self)

    monkeypatch.setattr(pages_app, "LiveConnections", Kept)
    # Who does not read answers no ping either; on a busy machine that would be noticed first.
    monkeypatch.setattr("remit.server.serve.PING_EVERY", 600.0)
    with Served(tmp_path) as served:
        yield served, made


def _over(connections: Iterable[LiveConnection]) -> list[LiveConnection]:
    return [each for each in connections if each.over]


def _until_over(
    served: Served, live: LiveConnections, count: int, ears: list[Ear]
) -> list[LiveConnection]:
    """Let things happen, heard by those who read, until so many were told to come back: these."""
    connections = live.connections  # who was told so leaves soon
    for _ in range(ROUNDS):
        many(served, 200, "Be there. " + "x" * 700)
        for ear in ears:
            heard = [message["seq"] for message in ear.until(last(served))]
            assert heard == list(range(last(served) - 199, last(served) + 1))
        if len(_over(connections)) == count:
            return _over(connections)
    pytest.fail(f"only {len(_over(connections))} of {count} were told to come back")


def test_who_does_not_read_is_told_to_come_back(
    lines: tuple[Served, list[LiveConnections]],
) -> None:
    served, made = lines
    with stalled(served) as line, listening(served) as ear:
        ear.next()
        _until_over(served, made[0], 1, [ear])
        said, rest = b"You read too slowly; come back with `since`.", b""
        while not rest.endswith(said):
            rest = rest[-100:] + line.recv(1 << 16)

    assert rest.endswith(bytes([0x88, 2 + len(said)]) + (1013).to_bytes(2, "big") + said)


def test_those_who_do_not_read_cost_the_others_nothing(
    lines: tuple[Served, list[LiveConnections]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred of them: each keeps a little and is let go of; whoever reads hears everything."""
    served, made = lines
    waited: list[tuple[int, int]] = []
    offer = LiveConnection.offer

    def watch(each: LiveConnection, told: EventMessages) -> None:
        offer(each, told)
        waited.append(each.queued)

    monkeypatch.setattr(LiveConnection, "offer", watch)
    with ExitStack() as stack:
        for _ in range(STALLED):
            stack.enter_context(stalled(served))
        ears = [stack.enter_context(listening(served)) for _ in range(HEALTHY)]
        for ear in ears:
            ear.next()
        assert len(made[0].connections) == STALLED + HEALTHY
        over = _until_over(served, made[0], STALLED, ears)
        kept = [each.queued for each in over]

    assert MOST_QUEUED - 8 <= max(count for count, _ in waited) <= MOST_QUEUED
    assert max(size for _, size in waited) <= MOST_BYTES
    assert kept == [(0, 0)] * STALLED


def test_large_messages_are_bounded_by_their_bytes(
    lines: tuple[Served, list[LiveConnections]],
) -> None:
    served, made = lines
    with stalled(served), listening(served) as ear:
        ear.next()
        connections = made[0].connections
        for _ in range(ROUNDS):
            many(served, 1, "x" * 100_000)
            ear.until(last(served))
            if _over(connections):
                break
        assert len(_over(connections)) == 1
        assert last(served) <= ROUNDS < MOST_QUEUED  # so it was not for their number


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("MOST_CONNECTIONS", "1 listen already; come back later."),
        ("MOST_OF_ONE_CALLER", "1 listen with this token already; close one of them."),
    ],
)
def test_there_is_an_end_to_how_many_listen(
    lines: tuple[Served, list[LiveConnections]],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    sentence: str,
) -> None:
    served, _ = lines
    monkeypatch.setattr(live_module, limit, 1)
    with listening(served) as first:
        first.next()
        with opened(served) as second:
            assert second.closed() == (1013, sentence)
        served.add("Heard")
        assert first.next()["type"] == "task:created"


def test_a_store_that_cannot_be_read_ends_the_line_and_the_next_begins_anew(
    lines: tuple[Served, list[LiveConnections]], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, _ = lines

    def broken(*_: object) -> list[EventMessages]:
        raise StoreTrouble("The disk is gone.")

    with listening(served) as ear:
        ear.next()
        with monkeypatch.context() as patched:
            patched.setattr(news, "event_messages", broken)
            served.add("Not told")
            assert ear.closed()[0] == 1011
    with listening(served, since=0) as ear:
        assert [message["type"] for message in ear.until(1)] == ["subscribed", "task:created"]


def test_who_does_not_answer_a_ping_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.server.serve.PING_EVERY", 2.0)  # who answers may be slow, too
    with Served(tmp_path) as served, stalled(served) as line, listening(served) as ear:
        ear.next()
        heard = b""
        while more := line.recv(1 << 16):
            heard += more
        served.add("Heard by who answers")
        told = ear.next()

    assert b"\x89\x04" in heard  # pinged
    assert heard.endswith((1011).to_bytes(2, "big") + b"keepalive ping timeout")
    assert told["type"] == "task:created"
