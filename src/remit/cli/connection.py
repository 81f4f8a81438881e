"""A command's connection to the running Remit: reconnects, and repeats requests without an answer.

A repeated request has the same Idempotency-Key, so the server does it once; the key is kept for an
hour for the next call of the same command. While no answer comes, /healthz tells whether waiting
makes sense.
"""

import http.client
import json
import os
import select
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from remit.cli import clock, out
from remit.errors import Unreachable
from remit.store.home import is_locked

HEALTH_LIMIT_SECONDS: Final = 30.0
RECONNECT_SECONDS: Final = 5.0  # for a Remit that is restarting
RESTART_SECONDS: Final = 15.0  # without a Remit in the directory; then nobody waits for its work
QUIET_SECONDS: Final = 5.0  # without an answer; then we check whether Remit is alive
_TELL_EVERY: Final = 6  # quiet periods between messages; the first is reported, too
_MAX_TRIES: Final = 5
_PAUSE: Final = 0.2
_LOCK_CHECK_SECONDS: Final = 1.0
_IN_FLIGHT: Final = b"idempotency-in-flight"


class ServerAddress(Struct, frozen=True):
    """Where the Remit of a directory listens, and its token."""

    url: str
    token: str


class ClientRequest(Struct, frozen=True):
    method: str
    path: str
    body: str | None
    key: str
    repeatable: bool = True  # False: a repeat would be done twice


class ServerConnection:
    """One connection, kept between requests."""

    def __init__(
        self,
        home: Path,
        address: ServerAddress,
        connection: http.client.HTTPConnection,
        *,
        quiet: float = QUIET_SECONDS,
    ) -> None:
        self.address = address
        self._home = home
        self._connection = connection
        self._quiet = quiet
        self._silences = 0

    def ask(self, request: ClientRequest) -> tuple[int, bytes]:
        """Send a request until it is answered; return status and body."""
        tries = 0
        self._silences = 0
        while True:
            try:
                status, raw = self._exchange(request)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                tries += 1
                if tries == _MAX_TRIES or not request.repeatable:
                    raise Unreachable(self.address.url, why(error)) from None
                self._reopen()
                continue
            if status != HTTPStatus.CONFLICT or _IN_FLIGHT not in raw:
                return status, raw
            self._still_waiting()  # the first attempt of this request is still running
            clock.pause(self._quiet)

    def absence(self) -> "ServerAbsence":
        return ServerAbsence(self._home, self.address.url)

    def close(self) -> None:
        self._connection.close()

    def _exchange(self, request: ClientRequest) -> tuple[int, bytes]:
        held = self._connection.sock
        if held is not None and select.select([held], [], [], 0)[0]:
            self.close()  # the server closed it while idle; the next request reopens it
        self._connection.request(
            request.method, request.path, request.body, self._headers(request.key)
        )
        while not select.select([self._connection.sock], [], [], self._quiet)[0]:
            self._still_waiting()
        response = self._connection.getresponse()
        return response.status, response.read()

    def _headers(self, key: str) -> Mapping[str, str]:
        return {
            "Authorization": f"Bearer {self.address.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }

    def _still_waiting(self) -> None:
        """Say that Remit is working; if it does not answer at all, give up."""
        place = urlsplit(self.address.url)
        health = http.client.HTTPConnection(
            str(place.hostname), place.port, timeout=HEALTH_LIMIT_SECONDS
        )
        try:
            health.request("GET", "/healthz")
            health.getresponse().read()
        except TimeoutError:
            sentence = f"it has not even said that it is there for {HEALTH_LIMIT_SECONDS:g} s."
            raise Unreachable(self.address.url, sentence) from None
        except (OSError, http.client.HTTPException):
            return  # it ended: the connection breaks, and a new one is tried
        finally:
            health.close()
        if self._silences % _TELL_EVERY == 0:
            out.hint("Remit is still at work on this request; Ctrl-C stops waiting.")
        self._silences += 1

    def _reopen(self) -> None:
        """Find the Remit of this directory again: it may have restarted on another port."""
        until = clock.seconds() + RECONNECT_SECONDS
        while isinstance(found := _open(self._home), str):
            if clock.seconds() >= until:
                raise Unreachable(self.address.url, found)
            clock.pause(_PAUSE)
        self.address, self._connection = found


class ServerAbsence:
    """Notices that no Remit runs in the directory for longer than a restart takes."""

    def __init__(self, home: Path, url: str) -> None:
        self._home = home
        self._url = url
        self._seen_at = self._looked_at = clock.seconds()

    def check(self, task: str) -> None:
        now = clock.seconds()
        if now - self._looked_at < _LOCK_CHECK_SECONDS:
            return
        self._looked_at = now
        if is_locked(self._home):
            self._seen_at = now
        elif now - self._seen_at > RESTART_SECONDS:
            sentence = f"it has ended. Task {task} is kept and goes on with `remit up`."
            raise Unreachable(self._url, sentence)


def connect(home: Path, *, quiet: float = QUIET_SECONDS) -> ServerConnection | str:
    """Connect to the Remit of this directory, or return why that is not possible."""
    found = _open(home)
    return found if isinstance(found, str) else ServerConnection(home, *found, quiet=quiet)


def _open(home: Path) -> tuple[ServerAddress, http.client.HTTPConnection] | str:
    try:
        fields = json.loads((home / "server.json").read_text(encoding="utf-8"))
        token = (home / "token").read_text(encoding="utf-8").strip()
        url, pid = str(fields["url"]), int(fields["pid"])
        os.kill(pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return "it has not said where it listens."
    place = urlsplit(url)
    connection = http.client.HTTPConnection(
        place.hostname or "127.0.0.1", place.port, timeout=HEALTH_LIMIT_SECONDS
    )
    try:
        connection.connect()
    except OSError as error:
        return f"{url}: {why(error)}"
    return ServerAddress(url, token), connection


def why(error: Exception) -> str:
    return (str(error) or type(error).__name__).removesuffix(".") + "."
