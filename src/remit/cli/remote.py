"""The client over HTTP, used when a Remit runs in this directory.

Its connection reconnects, and repeats requests without an answer. A repeated request has the same
Idempotency-Key, so the server does it once; the key is kept for an hour for the next call of the
same command. While no answer comes, /healthz tells whether waiting makes sense.
"""

import http.client
import json
import os
import select
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote, urlsplit

from msgspec import Struct

from remit.cli import clock, codes, out
from remit.cli.codes import ServerRefusal, TimedOut
from remit.cli.lookup import PAUSE, EventWatch
from remit.cli.out import part
from remit.cli.request_key import key_for, new_key
from remit.errors import Unreachable
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.operations.arguments import Arguments, NewMessage, RunTask
from remit.operations.settings_arguments import RebuildRecall
from remit.store.home import is_locked

HEALTH_LIMIT_SECONDS: Final = 30.0
RECONNECT_SECONDS: Final = 5.0  # for a Remit that is restarting
RESTART_SECONDS: Final = 15.0  # without a Remit in the directory; then nobody waits for its work
QUIET_SECONDS: Final = 5.0  # without an answer; then we check whether Remit is alive
_TELL_EVERY: Final = 6  # quiet periods between messages; the first is reported, too
_MAX_TRIES: Final = 5
_REOPEN_PAUSE: Final = 0.2
_LOCK_CHECK_SECONDS: Final = 1.0
_IN_FLIGHT: Final = b"idempotency-in-flight"
_LOOK_AGAIN: Final = 0.3  # seconds
_CODES: Final = {
    HTTPStatus.BAD_REQUEST: codes.USAGE,
    HTTPStatus.UNPROCESSABLE_ENTITY: codes.USAGE,
    HTTPStatus.NOT_FOUND: codes.NOT_FOUND,
    HTTPStatus.CONFLICT: codes.CONFLICT,
    HTTPStatus.UNAUTHORIZED: codes.UNREACHABLE,
    HTTPStatus.FORBIDDEN: codes.UNREACHABLE,
    HTTPStatus.SERVICE_UNAVAILABLE: codes.UNREACHABLE,
}


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


class RemoteClient:
    """One connection, kept between requests."""

    serves: Final = True

    def __init__(
        self, home: Path, address: ServerAddress, connection: http.client.HTTPConnection
    ) -> None:
        self._home = home
        self._address = address
        self._connection = connection
        self._silences = 0

    @property
    def url(self) -> str:
        return self._address.url

    def ask(self, arguments: Arguments, key: str | None = None) -> JsonMap:
        method, path, body = arguments.request()
        given = body if body or method != "DELETE" else None
        return self._ask(method, path, given, key, repeatable=arguments.kept)

    def hear(self, message: NewMessage, key: str) -> JsonMap:
        return self.ask(message, key)

    def run(self, task: TaskId) -> TaskId:
        return TaskId(str(self.ask(RunTask(task), new_key())["id"]))

    def background(self) -> JsonMap:
        """Return the loops of the running Remit, and their state."""
        return self._ask("GET", "/api/background")

    def recall_state(self) -> JsonMap:
        return self._ask("GET", "/api/recall")

    def rebuild_recall(self, report_progress: Callable[[float], None]) -> JsonMap:
        state = self.ask(RebuildRecall())
        while not state["trouble"] and (so_far := part(state)) < 1:
            report_progress(so_far)
            clock.pause(_LOOK_AGAIN)
            state = self.recall_state()
        return state

    def find_like(self, like: str, limit: int) -> JsonMap:
        return self._ask("GET", f"/api/search?like={quote(like, safe='')}&limit={limit}")

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Wait until the task rests; the running Remit does the work."""
        until = None if timeout is None else clock.seconds() + timeout
        gone = ServerAbsence(self._home, self.url)
        while True:
            gone.check(watch.task_id)
            task = watch.poll()
            if task is not None and watch.rests(task):
                return task
            if until is not None and clock.seconds() >= until:
                raise TimedOut(
                    f"Task {watch.task_id} did not come to rest within {timeout:g} s; it goes on."
                )
            clock.pause(PAUSE)

    def close(self) -> None:
        self._connection.close()

    def _ask(
        self,
        method: str,
        path: str,
        body: "JsonMap | None" = None,
        key: str | None = None,
        *,
        repeatable: bool = True,
    ) -> JsonMap:
        """Send a request; one that creates a task has a key that outlives this command."""
        text = None if body is None else json.dumps(body)
        if key is None:
            request = ClientRequest(method, path, text, new_key(), repeatable)
            return self._answer(request)
        with key_for(self._home, f"{method} {path} {text}", key) as used:
            return self._answer(ClientRequest(method, path, text, used))

    def _answer(self, request: ClientRequest) -> JsonMap:
        status, raw = self._send(request)
        answer = _parse_json(raw)
        if status >= HTTPStatus.BAD_REQUEST:
            raise _refusal(status, answer)
        return answer

    def _send(self, request: ClientRequest) -> tuple[int, bytes]:
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
                    raise Unreachable(self.url, error_words(error)) from None
                self._reconnect()
                continue
            if status != HTTPStatus.CONFLICT or _IN_FLIGHT not in raw:
                return status, raw
            self._still_waiting()  # the first attempt of this request is still running
            clock.pause(QUIET_SECONDS)

    def _exchange(self, request: ClientRequest) -> tuple[int, bytes]:
        held = self._connection.sock
        if held is not None and select.select([held], [], [], 0)[0]:
            self.close()  # the server closed it while idle; the next request reopens it
        self._connection.request(
            request.method, request.path, request.body, self._headers(request.key)
        )
        while not select.select([self._connection.sock], [], [], QUIET_SECONDS)[0]:
            self._still_waiting()
        response = self._connection.getresponse()
        return response.status, response.read()

    def _headers(self, key: str) -> Mapping[str, str]:
        return {
            "Authorization": f"Bearer {self._address.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }

    def _still_waiting(self) -> None:
        """Say that Remit is working; if it does not answer at all, give up."""
        place = urlsplit(self.url)
        health = http.client.HTTPConnection(
            str(place.hostname), place.port, timeout=HEALTH_LIMIT_SECONDS
        )
        try:
            health.request("GET", "/healthz")
            health.getresponse().read()
        except TimeoutError:
            sentence = f"it has not even said that it is there for {HEALTH_LIMIT_SECONDS:g} s."
            raise Unreachable(self.url, sentence) from None
        except (OSError, http.client.HTTPException):
            return  # it ended: the connection breaks, and a new one is tried
        finally:
            health.close()
        if self._silences % _TELL_EVERY == 0:
            out.hint("Remit is still at work on this request; Ctrl-C stops waiting.")
        self._silences += 1

    def _reconnect(self) -> None:
        """Find the Remit of this directory again: it may have restarted on another port."""
        until = clock.seconds() + RECONNECT_SECONDS
        while isinstance(found := _open(self._home), str):
            if clock.seconds() >= until:
                raise Unreachable(self.url, found)
            clock.pause(_REOPEN_PAUSE)
        self._address, self._connection = found


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


def reach(home: Path) -> RemoteClient | str:
    """Return the Remit of this directory, or why it cannot be reached."""
    found = _open(home)
    return found if isinstance(found, str) else RemoteClient(home, *found)


def running(home: Path) -> RemoteClient:
    """Return the Remit of this directory; raises if none can be reached."""
    found = reach(home)
    if isinstance(found, RemoteClient):
        return found
    if is_locked(home):
        raise Unreachable(str(home), found)
    sentence = f"No Remit runs in {home}; `remit up` starts one."
    raise ServerRefusal(sentence, codes.UNREACHABLE, "unreachable")


def _parse_json(raw: bytes) -> JsonMap:
    try:
        found = json.loads(raw) if raw else {}
    except ValueError:
        return {}
    return cast("JsonMap", found) if isinstance(found, dict) else {}


def _refusal(status: int, problem: JsonMap) -> ServerRefusal:
    kind = str(problem.get("type", "")).rpartition(":")[2] or "failed"
    code = next((code for known, code in _CODES.items() if known == status), codes.FAILED)
    if "field" in problem or kind == "idempotency-mismatch":
        code = codes.USAGE
    sentence = problem.get("detail") or problem.get("title") or f"The running Remit said {status}."
    return ServerRefusal(str(sentence), code, kind)


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
        return f"{url}: {error_words(error)}"
    return ServerAddress(url, token), connection


def error_words(error: Exception) -> str:
    return (str(error) or type(error).__name__).removesuffix(".") + "."
