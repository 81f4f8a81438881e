"""MCP and A2A over HTTP, behind the same guard as everything else.

A task can be followed as an event stream. Their number is limited, and a stream ends when its token
is revoked.
"""

import asyncio
import json
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import datetime
from typing import Final

from msgspec.structs import replace
from starlette import routing
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from remit import a2a
from remit.a2a import messages as a2a_messages
from remit.mcp import server as mcp
from remit.model.codec import JsonMap
from remit.operations.callers import PROGRAM, CallerRegistry
from remit.operations.operation import OperationRequest
from remit.peer.agent_operations import AgentOperations
from remit.server import bodies, problem
from remit.server.call import Call, CallResult
from remit.server.problem import Problem, RequestRefused
from remit.server.routes import Route, page
from remit.wiring import App

MOST_STREAMS: Final = 100
QUIET: Final = 15.0  # seconds of silence until a keep-alive is sent
_STREAMED: Final = {"X-Accel-Buffering": "no"}


def card(port: int) -> Route:
    """Return the route of the agent card; it is no part of the API."""

    @page("/.well-known/agent-card.json", public=True)
    async def show(_: Call) -> CallResult:
        card_json = a2a_messages.card(f"http://127.0.0.1:{port}")
        return CallResult(json.dumps(card_json), media="application/json")

    return show


class AgentEndpoints:
    """Serves other agents, and counts the open streams."""

    def __init__(self, app: App, callers: CallerRegistry) -> None:
        self._app = app
        self._callers = callers
        self._open: dict[asyncio.Event, str] = {}
        callers.on_gone(self._end)

    @property
    def routes(self) -> list[routing.Route]:
        return [
            routing.Route("/mcp", self._mcp, methods=["POST"]),
            routing.Route(a2a_messages.ENDPOINT, self._a2a, methods=["POST"]),
        ]

    async def _mcp(self, request: Request) -> Response:
        raw = await _body(request)
        if isinstance(raw, Problem):
            return problem.response(raw)
        operations = AgentOperations(self._asker(request), _url(request), wide=True)
        reply = await mcp.answer(raw, operations, self._app.ids.ulid(), _headers(request))
        if reply.body is None:
            return Response(status_code=reply.status)
        return JSONResponse(reply.body, reply.status)

    async def _a2a(self, request: Request) -> Response:
        raw = await _body(request)
        if isinstance(raw, Problem):
            return problem.response(raw)
        operations = AgentOperations(self._asker(request), _url(request), wide=False)
        version = _headers(request).get("a2a-version")
        reply = await a2a.answer(raw, operations, self._app.journal, version)
        if reply.stream is None:
            return JSONResponse(reply.body, reply.status)
        if len(self._open) >= MOST_STREAMS:
            sentence = f"{MOST_STREAMS} tasks are followed just now; ask for this one instead."
            return problem.response(Problem("store-unavailable", sentence))
        lines = self._lines(reply.stream, request.scope["key"], request.scope.get("until"))
        return StreamingResponse(lines, headers=_STREAMED, media_type="text/event-stream")

    def _asker(self, request: Request) -> OperationRequest:
        """Who calls, as an agent; the owner is the same one by whatever way in."""
        caller, key = request.scope["caller"], str(request.scope["key"])
        return OperationRequest(
            app=self._app,
            ref="",
            callers=self._callers,
            caller=replace(caller, agent=True),
            key=key if key.startswith(PROGRAM) else "owner",
        )

    async def _lines(
        self, stream: AsyncGenerator[JsonMap, None], key: str, until: datetime | None
    ) -> AsyncIterator[str]:
        """Yield each message as an event, with keep-alives in between."""
        gone = asyncio.Event()
        self._open[gone] = key
        ended = asyncio.create_task(gone.wait())
        following = asyncio.create_task(_next(stream))
        try:
            while True:
                await asyncio.wait((following, ended), timeout=QUIET, return_when=FIRST_COMPLETED)
                if gone.is_set() or self._is_over(until):
                    return
                if not following.done():
                    yield ": still here\n\n"
                elif (update := following.result()) is None:
                    return
                else:
                    yield f"data: {json.dumps(update, ensure_ascii=False)}\n\n"
                    following = asyncio.create_task(_next(stream))
        finally:
            del self._open[gone]
            for task in (ended, following):
                task.cancel()
            await asyncio.gather(ended, following, return_exceptions=True)
            await stream.aclose()

    def _is_over(self, until: datetime | None) -> bool:
        return until is not None and self._app.clock.now() >= until

    def _end(self, key: str) -> None:
        for gone, whose in self._open.items():
            if whose == key:
                gone.set()


async def _next(stream: AsyncIterator[JsonMap]) -> "JsonMap | None":
    return await anext(stream, None)


def _url(request: Request) -> str:
    """Return the dashboard's address, by the Host that was used; the guard has checked it."""
    return f"http://{request.headers['host']}"


def _headers(request: Request) -> Mapping[str, str]:
    """Return headers that came once; repeated ones are dropped."""
    names = [name for name, _ in request.headers.items()]
    return {name: text for name, text in request.headers.items() if names.count(name) == 1}


async def _body(request: Request) -> bytes | Problem:
    """Return the body, if it is JSON and not too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        sentence = "Send JSON, as `Content-Type: application/json`."
        return Problem("unsupported-media-type", sentence)
    try:
        return await bodies.receive(request)
    except RequestRefused as refused:
        return refused.problem
