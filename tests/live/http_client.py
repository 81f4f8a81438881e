"""A real `remit up`, used only over HTTP."""

import http.client
import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Final, cast

from remit.model.codec import Json, JsonMap
from tests.cli.terminal import Terminal, Up

LIMIT_SECONDS: Final = 100.0  # against a hang: a busy machine is slow, not wrong


class Client:
    """Talks to the Remit of a home. Every answer that is no success is an error."""

    def __init__(self, seat: Terminal, up: Up) -> None:
        self.seat = seat
        self.up = up
        self._token = (seat.home / "token").read_text(encoding="utf-8").strip()
        self._port = int(str(up.told["url"]).rpartition(":")[2])

    def ask(
        self, method: str, path: str, body: Json = None, *, key: str | None = None
    ) -> tuple[int, JsonMap]:
        """Send one request under a key; return its status and answer."""
        sent = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key or os.urandom(16).hex(),
        }
        return self.raw(method, path, b"" if body is None else json.dumps(body).encode(), sent)

    def raw(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, JsonMap]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LIMIT_SECONDS)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer.status, cast("JsonMap", json.loads(answer.read() or b"{}"))
        finally:
            connection.close()

    def bytes(self, path: str) -> bytes:
        """Return what lies at an address, as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LIMIT_SECONDS)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def get(self, path: str) -> JsonMap:
        return self._good("GET", path, self.ask("GET", path))

    def post(self, path: str, body: Json, *, key: str | None = None) -> JsonMap:
        return self._good("POST", path, self.ask("POST", path, body, key=key))

    def patch(self, task: str, **change: Json) -> JsonMap:
        path = f"/api/tasks/{task}"
        return self._good("PATCH", path, self.ask("PATCH", path, change))

    def add(self, text: str, *, key: str | None = None, **more: Json) -> str:
        return str(self.post("/api/tasks", {"text": text, **more}, key=key)["id"])

    def send(self, text: str, *channels: str, to: str | None = None) -> str:
        """Send a text as it is, over some channels."""
        whom: JsonMap = {"recipient": to} if to else {}
        parts: list[Json] = [{"channel": each, "content": text, **whom} for each in channels]
        return self.add(f"Send: {text}", delivery=parts)

    def task(self, task: str) -> JsonMap:
        return self.get(f"/api/tasks/{task}")

    def question(self, task: str) -> JsonMap:
        """The open question of a task."""
        reviews = cast("list[JsonMap]", self.task(task)["reviews"])
        (found,) = (each for each in reviews if each["decision"] is None)
        return found

    def decide(self, task: str, answer: str, text: str | None = None) -> None:
        review = self.question(task)
        assert answer in cast("list[Json]", review["options"]), review
        said: JsonMap = {"answer": answer, "text": text}
        self.post(f"/api/reviews/{review['id']}/decision", said)

    def until(self, task: str, *statuses: str) -> None:
        what = f"{task} {statuses}"
        self.wait(lambda: self.seat.status(task) in statuses, what, lambda: self.seat.status(task))

    def wait(
        self,
        holds: Callable[[], object],
        what: str,
        now: Callable[[], object] = str,
        seconds: float = LIMIT_SECONDS,
    ) -> None:
        """Wait until something holds; a failure shows the state from `now`."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"in vain: {what} {now()}"
            assert self.up.process.poll() is None, f"Remit ended while waiting: {what}"
            time.sleep(0.05)

    def _good(self, method: str, path: str, answer: tuple[int, JsonMap]) -> JsonMap:
        status, told = answer
        assert status < 400, (method, path, status, told)
        return told
