"""A real Remit behind a real socket, and a client that checks answers against the API."""

import asyncio
import http.client
import json
import re
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeAlias, TypeVar  # noqa: TID251
from urllib.parse import urlencode

import httpx2
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from remit.brain.scripted import parse
from remit.intake.admit import Intake
from remit.model.codec import Json
from remit.model.ids import TaskId, task_id
from remit.model.task import Cue, Task
from remit.ports import Brain
from remit.server.serve import pages_url, serve
from remit.settings import Settings
from remit.store import tasks
from remit.store.database import Tx
from remit.testing import FrozenClock, Outbox, provide_database
from remit.wiring import App, opened

T = TypeVar("T")
P = ParamSpec("P")
# What the API answers; each answer is checked against its description.
Answer: TypeAlias = dict[str, Any]
Fields: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]

TOKEN: Final = "a-token-for-the-tests"
FORM: Final = "application/x-www-form-urlencoded"
LIMIT: Final = 100  # seconds, against a hang: a busy machine is slow, not wrong
SCRIPT: Final[list[Json]] = [
    {"when": "passport", "ask": "Which passport do you hold?"},
    {"when": "visa", "ask": "Single or multiple entry?", "times": 1},
    {"when": "hopeless", "fail": "permanent"},
    {"when": "untagged", "reply": "I looked around and marked nothing."},
    {"when": "slow", "seconds": 600, "reply": "<deliverable>At last.</deliverable>"},
    {"reply": "I looked around.\n<deliverable>Lumphini Park.</deliverable>"},
]


def _same(app: App) -> App:
    return app


class Loopback(httpx2.HTTPTransport):
    """Resolves names under .localhost to this machine, as browsers do."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.host.endswith(".localhost"):
            return super().handle_request(request)
        here = httpx2.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1"),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        return super().handle_request(here)


def admitting(admit: Callable[[Intake, Cue], Awaitable[Task]]) -> Callable[[App], App]:
    """Return an app whose intake admits a cue with `admit`."""

    class Told(Intake):
        async def admit(self, cue: Cue) -> Task:
            return await admit(app.intake, cue)

    app: App

    def alter(opened: App) -> App:
        nonlocal app
        app = opened
        return replace(opened, intake=Told(opened.db, opened.clock, opened.ids, ["dashboard"]))

    return alter


class Served:
    """Opens an app in its own thread and serves it; the engine runs only on request."""

    def __init__(  # noqa: PLR0913 - each may be given, none must
        self,
        home: Path,
        *,
        works: bool = False,
        debug: bool = False,
        brain: Brain | None = None,
        alter: Callable[[App], App] = _same,
        settings: Settings | None = None,
        port: int = 0,
    ) -> None:
        self.home = home
        self.clock = FrozenClock()
        self.outbox = Outbox()
        self.app: App
        self.url = ""
        self._port = port
        self._works, self._debug, self._alter = works, debug, alter
        self._brain = brain or parse(SCRIPT)
        self._settings = settings or Settings(home=home)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._serving: asyncio.Task[None]
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)
        # The server may close a kept connection just as the next request goes out.
        fresh = httpx2.Limits(max_keepalive_connections=0)
        self.client = httpx2.Client(
            timeout=LIMIT,
            trust_env=False,
            transport=Loopback(limits=fresh, trust_env=False, verify=False),
        )

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(LIMIT), "the server did not start"
        assert self.url, "the server ended before it listened"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.close()
        self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()

    @property
    def pages(self) -> str:
        """Where browsers see the pages."""
        return pages_url(self._settings, self.port)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    # Asking -------------------------------------------------------------------------------------

    def ask(  # noqa: PLR0913 - each may be given, none must
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        secret: str = TOKEN,
    ) -> httpx2.Response:
        """Send a request; its answer must be documented in the API."""
        sent = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        if key is not None:
            sent["Idempotency-Key"] = key
        raw = content if content is not None else b"" if body is None else json.dumps(body).encode()
        sent |= headers or {}
        answer = self.client.request(method, self.url + path, content=raw, headers=sent)
        self.page.check(method, path, answer)
        return answer

    def get(self, path: str) -> Answer:
        return self._right(self.ask("GET", path))

    def post(self, path: str, body: Json = None) -> Answer:
        return self._right(self.ask("POST", path, body))

    def patch(self, task: str, action: str) -> Answer:
        return self._right(self.ask("PATCH", f"/api/tasks/{task}", {"action": action}))

    def add(self, text: str, **more: Json) -> str:
        return str(self.post("/api/tasks", {"text": text, **more})["id"])

    def look(self, path: str, *, part: bool = False, **headers: str) -> httpx2.Response:
        """Get a page as the owner sees it, or a part of one as our script asks for it."""
        return self.client.get(self.url + path, headers=_as_owner(headers, part=part))

    def submit(
        self, path: str, fields: Fields | str = "", *, part: bool = False, **more: str
    ) -> httpx2.Response:
        """Send a form of a page, as a browser without a script."""
        form = fields if isinstance(fields, str) else urlencode(fields)
        sent = _as_owner({"Content-Type": FORM}, part=part)
        content = "&".join(filter(None, (form, urlencode(more))))
        return self.client.post(self.url + path, content=content, headers=sent)

    def raw(
        self, method: str, target: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, Answer]:
        """Send the target exactly as it is written, without a client's cleanup."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        sent = {"Authorization": f"Bearer {TOKEN}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, body, sent)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        return answer.status, told

    @cached_property
    def page(self) -> "Page":
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return Page(self.client.get(self.url + "/openapi.json", headers=headers).json())

    def _right(self, answer: httpx2.Response) -> Answer:
        assert answer.is_success, answer.text
        told: Answer = answer.json()
        return told

    # Behind the door ----------------------------------------------------------------------------

    def do(self, work: Coroutine[None, None, T]) -> T:
        """Run something on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LIMIT)

    def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb of the store that only looks."""
        return self.do(_awaited(self.app.db.read(work, *args, **kwargs)))

    def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(_awaited(self.app.db.write(work, *args, **kwargs)))

    def settle(self) -> None:
        """Return when nothing runs and nothing is due."""
        self.do(self._settle())

    def stored(self, task: str) -> Task:
        return self.read(tasks.get, TaskId(task_id(task)))

    async def _settle(self) -> None:
        self.app.engine.nudge()
        await self.app.engine.settled()

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        channels = {"outbox": self.outbox}
        provide_database(self._settings.database_file)
        try:
            async with opened(
                self._settings, clock=self.clock, brain=self._brain, channels=channels
            ) as app:
                self.app = self._alter(app)
                await self._serve()
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        if self._works:
            await self.app.talk.start()
            await self.app.repeater.catch_up()  # before the engine, as at every start
            await self.app.engine.start()
        self._serving = asyncio.create_task(
            serve(self.app, port=self._port, debug=self._debug, token=TOKEN, ready=self._listens)
        )
        with suppress(asyncio.CancelledError):
            await self._serving
        if self._works:
            await self.app.engine.stop()

    def _listens(self, url: str) -> None:
        self.url = url
        self._ready.set()


def problem(answer: httpx2.Response) -> tuple[int, str]:
    """Return how a request was refused: the status, and the name of the problem."""
    kind = str(answer.json()["type"])
    assert kind.startswith("urn:remit:problem:")
    return answer.status_code, kind.rpartition(":")[2]


async def _awaited(work: Awaitable[T]) -> T:
    return await work


def _as_owner(headers: Mapping[str, str], *, part: bool) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"Authorization": f"Bearer {TOKEN}", **named} | ({"HX-Request": "true"} if part else {})


class Page:
    """The API's own document, used as a contract."""

    def __init__(self, told: Answer) -> None:
        self.told = told
        self.paths: dict[str, dict[str, Answer]] = told["paths"]
        self._validators: dict[str, Draft202012Validator] = {}

    def check(self, method: str, path: str, answer: httpx2.Response) -> None:
        """Check that the status and the body are documented for this route."""
        media = answer.headers["content-type"].partition(";")[0]
        template = self._template(path.partition("?")[0])
        ways = self.paths.get(template, {})
        way = ways.get("get" if method == "HEAD" else method.lower())
        if way is None:  # no such route: the answer must still be a problem
            assert answer.status_code in (401, 403, 404, 405, 421), (method, path, answer.text)
            assert media == "application/problem+json"
            return
        responses, status = way["responses"], str(answer.status_code)
        assert status in responses, f"{method} {template} gave {status}: {answer.text[:300]}"
        content = responses[status]["content"]
        assert list(content) == [media]
        if method != "HEAD" and media != "text/plain":
            self.validate(content[media]["schema"], answer.json())

    def validate(self, schema: Answer, value: Json) -> None:
        key = json.dumps(schema)
        if key not in self._validators:
            whole = {**schema, "components": self.told["components"]}
            self._validators[key] = Draft202012Validator(whole)
        self._validators[key].validate(value)

    def _template(self, path: str) -> str:
        if path in self.paths:
            return path
        for template in self.paths:
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
                return template
        return path
