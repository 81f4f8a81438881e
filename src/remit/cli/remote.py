"""The client over HTTP, used when a Remit runs in this directory."""

import json
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from remit.cli import clock, codes, connection
from remit.cli.codes import ServerRefusal, TimedOut
from remit.cli.connection import ClientRequest, ServerConnection
from remit.cli.out import part
from remit.cli.request_key import key_for, new_key
from remit.cli.watch import PAUSE, EventWatch
from remit.errors import Unreachable
from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.operations.arguments import Arguments, NewMessage, RunTask
from remit.operations.settings_arguments import RebuildRecall
from remit.store.home import is_locked

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


class RemoteClient:
    serves: Final = True

    def __init__(self, home: Path, link: ServerConnection) -> None:
        self._home = home
        self._link = link

    @property
    def url(self) -> str:
        return self._link.address.url

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
        gone = self._link.absence()
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
        self._link.close()

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
        status, raw = self._link.ask(request)
        answer = _parse_json(raw)
        if status >= HTTPStatus.BAD_REQUEST:
            raise _refusal(status, answer)
        return answer


def reach(home: Path, *, quiet: float = connection.QUIET_SECONDS) -> RemoteClient | str:
    """Return the Remit of this directory, or why it cannot be reached."""
    link = connection.connect(home, quiet=quiet)
    return link if isinstance(link, str) else RemoteClient(home, link)


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
