"""Sockets that flood or talk nonsense: they are told so and closed, and nobody else notices."""

import json
from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from tests.server.served import Served
from tests.server.sockets import LIMIT, opened
from tests.tables import for_each


@for_each("size", [1 << 20, 3 << 20])
def test_what_is_too_large_is_not_read_to_its_end(still: Served, size: int) -> None:
    """Whoever still sends when he is cut off may miss the farewell; the house stays as it was."""
    wish = json.dumps({"subscribe": [f"task-{n:026d}" for n in range(size // 35)]})
    with opened(still) as other:
        other.say({"subscribe": ["*"]})
        other.next()
        with opened(still) as ear:
            with suppress(ConnectionClosed):
                ear.line.send(wish)
                while True:
                    assert json.loads(ear.line.recv(LIMIT))["type"] != "subscribed"
            heard = ear.line.protocol.close_rcvd
        assert heard is None or heard.code == 1009
        still.add("Still heard")
        assert str(other.next()["type"]).startswith("task:")


def test_a_thousand_messages_are_not_listened_to(still: Served) -> None:
    with opened(still) as ear, opened(still) as other:
        other.say({"subscribe": ["*"]})
        other.next()
        for _ in range(1_000):
            try:
                ear.say({"subscribe": ["*"]})
            except ConnectionClosed:
                break
        assert ear.closed() == (1008, "Say at most 30 things a minute.")
        still.add("Still heard")
        assert str(other.next()["type"]).startswith("task:")
