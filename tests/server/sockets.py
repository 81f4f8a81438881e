"""Socket clients: the real one of the `websockets` library, and one that never reads."""

import base64
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, cast

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from remit.intake.admit import make
from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.store import tasks
from remit.store.database import Tx
from remit.triggers import cue_admission
from tests.server.served import TOKEN, Served

LIMIT: Final = 100.0
BEARER: Final = {"Authorization": f"Bearer {TOKEN}"}


class Ear:
    """One socket, and what came over it."""

    def __init__(self, line: ClientConnection) -> None:
        self.line = line

    def say(self, message: Json) -> None:
        self.line.send(json.dumps(message))

    def next(self) -> JsonMap:
        return cast("JsonMap", json.loads(self.line.recv(LIMIT)))

    def until(self, seq: int) -> list[JsonMap]:
        """Return all messages up to the last one of an event."""
        heard = [self.next()]
        while heard[-1].get("seq", 0) != seq or heard[-1].get("more"):
            heard.append(self.next())
        return heard

    def closed(self) -> tuple[int, str]:
        """Read to the end; return how it was closed."""
        with suppress(ConnectionClosed):
            while True:
                self.line.recv(LIMIT)
        found = self.line.protocol.close_rcvd
        assert found is not None, "the line broke without a word"
        return found.code, found.reason


@contextmanager
def listening(
    served: Served, *tasks: str, since: int | None = None, **headers: str
) -> Iterator[Ear]:
    """Subscribe to some tasks, or to all."""
    with opened(served, **headers) as ear:
        wish: JsonMap = {"subscribe": list(tasks or ("*",))}
        ear.say(wish if since is None else wish | {"since": since})
        yield ear


@contextmanager
def opened(served: Served, **headers: str) -> Iterator[Ear]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()} or BEARER
    with connect(
        address(served, pages="Cookie" in sent),
        sock=socket.create_connection(("127.0.0.1", served.port)),
        additional_headers=sent,
        proxy=None,
        max_size=None,
        open_timeout=LIMIT,
        ping_interval=None,  # the server's pings are under test
    ) as line:
        yield Ear(line)


def address(served: Served, *, pages: bool = False) -> str:
    """Return the socket's address for programs, or for pages: a cookie counts only there."""
    return f"{served.pages if pages else served.url}/ws".replace("http", "ws", 1)


def last(served: Served) -> int:
    return served.do(served.app.journal.last())


def many(served: Served, count: int, text: str = "Be there") -> list[TaskId]:
    """Make that many new tasks in one transaction, each with one event."""
    app = served.app

    def admit(tx: Tx) -> list[TaskId]:
        cues = [cue_admission.cue(text, ref=f"many-{app.ids.ulid()}") for _ in range(count)]
        made = [make(cue, app.ids, app.clock.now()) for cue in cues]
        return [tasks.admit(tx, task).id for task in made]

    return served.write(admit)


def stalled(served: Served) -> socket.socket:
    """Return a client that subscribes to everything and never reads a byte."""
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(LIMIT)
    line.connect(("127.0.0.1", served.port))
    key = base64.b64encode(os.urandom(16)).decode()
    line.sendall(
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
    )
    assert line.recv(12) == b"HTTP/1.1 101"
    line.sendall(_frame(b'{"subscribe":["*"]}'))
    return line


def _frame(payload: bytes) -> bytes:
    mask = os.urandom(4)
    masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(payload))
    return bytes([0x81, 0x80 | len(payload)]) + mask + masked
