"""The ASGI application: the route table behind the guard."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from msgspec.json import encode
from msgspec.structs import replace
from starlette import routing
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from remit.errors import BadInput
from remit.model.caller import Caller
from remit.model.view import JsonView
from remit.operations.arguments import TaskChange
from remit.operations.callers import PROGRAM, CallerRegistry, source_of
from remit.operations.operation import Operation
from remit.operations.permission import access
from remit.operations.table import OPERATIONS
from remit.server import (
    bodies,
    files,
    listing,
    open_addresses,
    openapi,
    page_language,
    peers,
    problem,
    reads,
    static,
    tasks,
    tokens,
)
from remit.server.auth import RequestGuard
from remit.server.call import Call, CallResult, IdempotencyKeys, digest_of, name_of
from remit.server.live import LiveConnections
from remit.server.problem import RequestRefused
from remit.server.routes import UNSAFE, Route, read, route_of, routes_in
from remit.server.web import (
    attempts,
    connect,
    conversations,
    inbox,
    schedule,
    section_forms,
    settings,
    shell,
    task,
    task_forms,
)
from remit.server.web import tasks as task_pages
from remit.store import meta
from remit.store.callers import RequestKey
from remit.wiring import App

_MODULES: Final = (
    *(open_addresses, listing, reads, tasks, tokens),
    *(attempts, connect, conversations, inbox, schedule, section_forms, shell),
    *(settings, task, task_forms, task_pages),
)
_FORM: Final = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded;charset=utf-8",
)
_AS_IT_IS: Final = "%/:?#[]@!$&'()*+,;="
_JSON: Final = ("application/json", "application/json;charset=utf-8")


def build(app: App, token: str, *, debug: bool, port: int) -> Starlette:
    """Build the application; `port` is the one that callers use."""
    routes = table(port, debug=debug)
    keys = IdempotencyKeys(app.db, app.clock)
    pages_url = files.pages_url(app.settings, port)
    callers = CallerRegistry(app.db, app.clock, app.ids, token, port, pages_url)
    site = Starlette(
        routes=[
            *_paths(app, keys, routes),
            *peers.AgentEndpoints(app, callers).routes,
            static.ROUTE,
            LiveConnections(app, callers).route,
        ],
        middleware=[
            Middleware(
                RequestGuard,
                callers=callers,
                port=port,
                routes=routes,
                public_url=app.settings.server.public_url,
            )
        ],
        exception_handlers={HTTPException: _nowhere},
    )
    site.router.redirect_slashes = False  # an address has one spelling
    return site


def _nowhere(request: Request, error: Exception) -> Response:
    """Answer an unknown path: a page for a browser, a problem for a program."""
    page_language.choose(request.headers.get("accept-language", ""))
    found_problem = problem.of_router(request, error)
    wants_page = "text/html" in request.headers.get("accept", "")
    return shell.problem_page(found_problem) if wants_page else problem.response(found_problem)


def table(port: int, *, debug: bool) -> tuple[Route, ...]:
    """Return every route."""

    @read("/openapi.json", "OpenApi")
    async def describe(_: Call) -> CallResult:
        """This page."""
        return CallResult(openapi.document(routes, port))

    reads_and_pages = (*routes_in(*_MODULES), *schedule.ORDERS, peers.card(port), describe)
    writes = (route_of(each) for each in OPERATIONS if not _is_shared(each))
    found = (*reads_and_pages, *writes, *(reads.DEBUG_ROUTES if debug else ()))
    # By address, and a word before a name: the first that fits answers.
    routes = tuple(sorted(found, key=lambda each: (each.path, each.method)))
    return routes


def _is_shared(operation: Operation) -> bool:
    """Whether something else takes it: a form of a page, or the address of several."""
    return operation.page or operation.arguments.address == TaskChange.address


class FixedPaths(routing.BaseRoute):
    """Finds the routes without a variable part by their path, instead of trying one by one."""

    def __init__(self, routes: Iterable[routing.Route]) -> None:
        self.routes = tuple(routes)
        self._by_path = {each.path: each for each in self.routes}

    def matches(self, scope: Scope) -> tuple[routing.Match, Scope]:
        found = self._by_path.get(scope["path"]) if scope["type"] == "http" else None
        return found.matches(scope) if found else (routing.Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._by_path[scope["path"]].handle(scope, receive, send)


def _paths(app: App, keys: IdempotencyKeys, routes: Sequence[Route]) -> list[routing.BaseRoute]:
    """Return one path with all its methods, so that a wrong method is told the right ones."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, {})[route.method] = route
    made = [
        routing.Route(path, partial(_answer, app, keys, ways), methods=list(ways))
        for path, ways in by_path.items()
    ]
    fixed = [each for each in made if not each.param_convertors]
    return [FixedPaths(fixed), *(each for each in made if each.param_convertors)]


async def _answer(
    app: App, keys: IdempotencyKeys, ways: Mapping[str, Route], request: Request
) -> Response:
    route = ways["GET" if request.method == "HEAD" else request.method]
    page_language.choose(request.headers.get("accept-language", ""))
    try:
        _allow(route, request)
        call = await _call(app, route, request)
        answer = await _perform_once(keys, route, request, call)
        # A refused form says nothing about who sent it: a stale page may have.
        if answer.status < HTTPStatus.BAD_REQUEST and _is_click(route, request):
            await _note_act(app)
        plain = _not_modified(request, answer) or _response(answer)
        return static.compress(request, plain) if route.page and route.kept else plain
    except Exception as error:  # noqa: BLE001 - whatever breaks, the caller gets a problem
        found_problem = problem.problem_of_error(error)
        return shell.problem_page(found_problem) if route.page else problem.response(found_problem)


def _is_click(route: Route, request: Request) -> bool:
    """Whether a person did something on a page; background requests do not count."""
    chosen = request.headers.get("sec-fetch-user") == "?1"  # set by a browser after a click
    return route.page and not route.public and (route.method in UNSAFE or chosen)


async def _note_act(app: App) -> None:
    """Record that the owner is active here, so that notices come here."""
    now = app.clock.now()
    if await app.db.read(meta.is_news, now):
        await app.db.write(meta.note, now)


def _not_modified(request: Request, answer: CallResult) -> Response | None:
    """Return 304 if the client has the current version; If-None-Match is a list or `*`."""
    tag, held = answer.headers.get("ETag"), request.headers.get("if-none-match")
    if tag is None or held is None or request.method not in ("GET", "HEAD"):
        return None
    known = {each.strip().removeprefix("W/") for each in held.split(",")}
    fits = tag in known or known == {"*"}
    return Response(status_code=304, headers={"ETag": tag}) if fits else None


def _allow(route: Route, request: Request) -> None:
    """Refuse a caller without permission before anything is read."""
    caller: Caller = request.scope["caller"]
    if route.page and not route.public and request.scope["key"].startswith(PROGRAM):
        sentence = f"{caller.name} is a program's token, and pages are for people; use the API."
        raise RequestRefused("forbidden", sentence)
    if not route.public:
        access(caller, request.scope["key"]).check(*route.scopes)


async def _perform_once(
    keys: IdempotencyKeys, route: Route, request: Request, call: Call
) -> CallResult:
    given = request.headers.getlist("idempotency-key")
    # Without a token nothing may be stored under a caller's own key.
    name = name_of(given) if route.method in UNSAFE and not route.public else None
    # A secret that is shown once is stored nowhere, so not here either.
    if name is None or not route.kept:
        return await route.does(call)
    # By the token's id, not its name: another token may get that name later.
    key = RequestKey(f"{call.key} {route.method} {route.path}", name)
    digest = digest_of(f"{request.url.path}?{request.url.query}", call.body)
    return await keys.once(key, digest, call.ref, lambda ref: route.does(replace(call, ref=ref)))


async def _call(app: App, route: Route, request: Request) -> Call:
    content_type = request.headers.get("content-type", "")
    kind = content_type.lower().replace(" ", "")
    has_files = route.files and kind.startswith("multipart/form-data;")
    most = route.max_bytes if has_files or not route.files else bodies.MOST_BYTES
    # The body of a GET means nothing, so it is not read.
    body = await bodies.receive(request, most) if route.method in UNSAFE else b""
    body, uploads = bodies.read_multipart(body, content_type) if has_files else (body, ())
    form = has_files or (route.page and kind in _FORM)
    if body and kind not in _JSON and not form and not route.raw:
        sentence = "Send JSON, as `Content-Type: application/json`."
        raise RequestRefused("unsupported-media-type", sentence)
    part = "hx-request" in request.headers
    call = Call(
        app=app,
        path=request.path_params,
        query=_query(route, request),
        body=body,
        ref=_ref(app, request.scope["key"]),
        signature=request.headers.get("x-hub-signature-256"),
        headers=_headers(request) if route.raw else {},
        callers=request.scope["callers"],
        caller=request.scope["caller"],
        key=request.scope["key"],
        channel="dashboard" if route.page else "api",
        form=form,
        uploads=uploads,
        part=part,
        at_pages=request.scope["at_pages"],
        is_public=request.scope["is_public"],
        cookie=request.scope["cookie"],
        device=request.scope["callers"].device_of(request.scope["device"]),
        source=_source(request),
        from_elsewhere=request.headers.get("sec-fetch-site") in ("cross-site", "same-site"),
        seq=await app.journal.last() if route.page and not (route.public or part) else None,
        if_match=", ".join(request.headers.getlist("if-match")) or None,
    )
    # Parsed now: a wrong value must be refused before anything is done.
    return replace(call, view=call.word("view", JsonView) or JsonView.S3)


def _source(request: Request) -> str:
    """Return who asks: behind a proxy on this machine, whom that saw last."""
    peer = request.client.host if request.client else ""
    forwarded = request.headers.getlist("x-forwarded-for")
    if forwarded and peer in files.LOOPBACK and request.scope["is_public"]:
        peer = forwarded[-1].rpartition(",")[2].strip()
    return source_of(peer)


def _ref(app: App, key: str) -> str:
    """Return the ref of a request; a program's is named after its token."""
    ref = f"api:{app.ids.ulid()}"
    return f"{key}/{ref}" if key.startswith(PROGRAM) else ref


def _headers(request: Request) -> dict[str, str]:
    """Return every header; a repeated one becomes invalid."""
    found: dict[str, str] = {}
    for name, value in request.headers.items():
        found[name] = f"{found[name]}\n{value}" if name in found else value
    return found


def _query(route: Route, request: Request) -> dict[str, list[str]]:
    known = {query.name: query for query in route.query}
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        if name not in known:
            hint = f"known: {', '.join(known)}" if known else "there are none"
            raise BadInput(f"There is no parameter {name!r:.60} here; {hint}.", field=name[:60])
        if name in found and not known[name].many:
            raise BadInput(f"The parameter {name!r} stands twice.", field=name)
        found.setdefault(name, []).append(value)
    return found


def _response(answer: CallResult) -> Response:
    headers = {**answer.headers}
    if answer.location:
        # As browsers encode it: a header is ASCII only.
        headers["Location"] = quote(answer.location, safe=_AS_IT_IS)
    if answer.replayed:
        headers["Idempotency-Replayed"] = "true"
    if answer.raw is not None:
        return Response(answer.raw, answer.status, headers, media_type=answer.media)
    if isinstance(answer.content, str):
        media = answer.media or "text/plain"
        return Response(answer.content, answer.status, headers, media_type=media)
    content = encode(answer.content)
    return Response(content, answer.status, headers, media_type="application/json")
