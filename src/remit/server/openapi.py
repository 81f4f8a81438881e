"""The OpenAPI document, generated from the route table."""

import re
from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from typing import Final, cast

from msgspec import Struct
from msgspec.json import schema_components

from remit import __version__
from remit.model.codec import Json, JsonMap
from remit.operations.arguments import ArgumentPart
from remit.operations.callers import cookie_of
from remit.operations.texts import PRINTABLE
from remit.server import problem, shapes
from remit.server.auth import HOOKS
from remit.server.bodies import body_fields
from remit.server.routes import UNSAFE, QueryParameter, Route

# Statuses of every request, of those with a token, of writes, of those with a body.
_ALWAYS: Final = frozenset({421, 500})
_INSIDE: Final = frozenset({401, 403, 503})
_CHANGES: Final = frozenset({403, 409, 413, 422})
_BODY: Final = frozenset({400, 415, 422})
_SIGNED: Final = frozenset({400, 401, 404, 415, 503})  # a provider's call
_ANY_JSON: Final = "JsonValue"
_TEXTS: Final = frozenset({"Greeting", "Challenge"})


def document(routes: Sequence[Route], port: int) -> JsonMap:
    """Return the OpenAPI 3.1 document: every route, and every status it can return."""
    paths: dict[str, Json] = {}
    # A signed-in browser; its writes must come from our own pages.
    browser: JsonMap = {"type": "apiKey", "in": "cookie", "name": cookie_of(port)}
    for route in _routes_for_programs(routes):
        paths.setdefault(route.path, {})
        cast("JsonMap", paths[route.path])[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Remit", "version": __version__, "license": {"name": "MIT"}},
        "servers": [{"url": f"http://127.0.0.1:{port}"}],
        "security": [{"token": list[Json]()}, {"browser": list[Json]()}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}, "browser": browser},
            "schemas": {**shapes.schemas(), **_bodies(_routes_for_programs(routes))},
        },
    }


def _routes_for_programs(routes: Iterable[Route]) -> list[Route]:
    """Return the routes for programs, without pages."""
    return [route for route in routes if not route.page]


def statuses(route: Route) -> frozenset[int]:
    """Return every status a route may refuse with."""
    found = _ALWAYS
    if not route.public:
        found |= _INSIDE
    if route.method in UNSAFE:
        found |= _CHANGES
    if route.body is not None:
        found |= _BODY
    if "{" in route.path or route.query or route.body is not None:
        found |= {404}
    if route.tagged and route.method in UNSAFE:
        found |= {412}
    if route.path.startswith(HOOKS):
        found |= _SIGNED
    if route.raw:
        found |= {429}
    # Even a route without parameters refuses unknown ones.
    return found | {422}


def _operation(route: Route) -> JsonMap:
    payload: JsonMap = {
        "operationId": _name(route),
        "summary": route.says,
        "x-scope": None if route.public else route.needs.value,
        "x-scopes": [] if route.public else [scope.value for scope in route.scopes],
        "parameters": list[Json](_parameters(route)),
        "responses": _responses(route),
    }
    if route.public:
        payload["security"] = []
    if route.body is not None:
        content: JsonMap = {"application/json": {"schema": _ref(route.body.__name__)}}
        payload["requestBody"] = {"required": bool(body_fields(route.body)), "content": content}
    return payload


def _name(route: Route) -> str:
    """GET /api/tasks/{id}/log is get_tasks_id_log."""
    words = re.findall(r"\w+", route.path.removeprefix("/api")) or ["root"]
    return "_".join((route.method.lower(), *words))


def _parameters(route: Route) -> Iterator[JsonMap]:
    for name in re.findall(r"\{(\w+)\}", route.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for query in route.query:
        yield _query(query)
    if route.tagged:
        yield _condition(route)
    if route.method in UNSAFE and not route.public and route.kept:
        yield {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "The same key with the same request is done once; kept for 24 hours.",
            "schema": {"type": "string", "pattern": "^[ -~]{1,255}$"},
        }


def _condition(route: Route) -> JsonMap:
    changes = route.method in UNSAFE
    return {
        "name": "If-Match" if changes else "If-None-Match",
        "in": "header",
        "description": "Only if it is still as it was then."
        if changes
        else "An ETag of before: if nothing has changed, nothing is sent again.",
        "schema": {"type": "string"},
    }


def _query(query: QueryParameter) -> JsonMap:
    many: JsonMap = {"type": "array", "items": query.schema}
    schema = many if query.many else query.schema
    return {"name": query.name, "in": "query", "description": query.says, "schema": schema}


def _responses(route: Route) -> JsonMap:
    media = "text/plain" if route.gives in _TEXTS else "application/json"
    media = "application/octet-stream" if route.gives == "FileContent" else media
    schema = shapes.in_views(_ref(route.gives))
    given: JsonMap = {"description": route.says, "content": {media: {"schema": schema}}}
    text: JsonMap = {"schema": {"type": "string"}}
    if route.status == 201:  # noqa: PLR2004
        given["headers"] = {"Location": text}
    also: JsonMap = {}
    if route.tagged and route.method == "GET":
        given["headers"] = {"ETag": text}
        also["304"] = {"description": "It is as it was"}
    if route.also is not None:
        also[str(route.also)] = {key: each for key, each in given.items() if key != "headers"}
    refusals: JsonMap = {str(status): _refusal(status) for status in sorted(statuses(route))}
    return {str(route.status): given, **also, **refusals}


def _refusal(status: int) -> JsonMap:
    kinds = [name for name, (of, _) in problem.KINDS.items() if of == status]
    content: JsonMap = {
        "description": " or ".join(kinds),
        "content": {problem.MEDIA_TYPE: {"schema": _ref("Problem")}},
    }
    if status == 503:  # noqa: PLR2004
        content["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return content


def _bodies(routes: Iterable[Route]) -> dict[str, Json]:
    kinds = {route.body for route in routes if route.body is not None}
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    template = shapes.REFERENCE + "{name}"
    _, made = schema_components(ordered, ref_template=template, schema_hook=_any_value)
    found = cast("dict[str, Json]", made)
    for kind in (*ordered, *ArgumentPart.__subclasses__()):
        if kind.__name__ in found:
            _describe(cast("JsonMap", found[kind.__name__]), kind)
    _mark_texts(found)
    return dict(sorted({**found, _ANY_JSON: _any_json()}.items()))


def _describe(schema: JsonMap, kind: type[Struct]) -> None:
    """Leave out what the address of an operation names, and add what its fields are together."""
    names = {field.encode_name for field in body_fields(kind)}
    properties = cast("JsonMap", schema["properties"])
    schema["properties"] = {name: properties[name] for name in properties if name in names}
    required: list[Json] = [
        each for each in cast("list[Json]", schema.pop("required")) if each in names
    ]
    schema |= {"required": required} if required else {}
    schema |= {"additionalProperties": False, **getattr(kind, "together", {})}
    if isinstance(text := schema.get("description"), str):
        schema["description"] = cleandoc(text)


def _mark_texts(schema: Json) -> None:
    """Say which values are texts, and that a text holds no control characters."""
    if isinstance(schema, dict):
        if isinstance(schema.get("enum"), list):
            schema["type"] = "string"
        is_text = schema.get("type") == "string" and not schema.keys() & {"enum", "const", "format"}
        if is_text and not schema.keys() & {"pattern", "not"}:
            schema |= PRINTABLE
        if isinstance(schema.get("additionalProperties"), dict):  # names that a client chooses
            schema.setdefault("propertyNames", {})
        if isinstance(names := schema.get("propertyNames"), dict):
            names |= PRINTABLE
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        _mark_texts(part)


def _any_value(kind: type) -> JsonMap:
    del kind  # only `object` is nothing more exact
    return _ref(_ANY_JSON)


def _any_json() -> JsonMap:
    """Any value whose texts hold no control characters. Without a type, so that clients take it."""
    inside = _ref(_ANY_JSON)
    return {
        **PRINTABLE,
        "items": inside,
        "additionalProperties": inside,
        "propertyNames": PRINTABLE,
    }


def _ref(name: str) -> JsonMap:
    return {"$ref": shapes.REFERENCE + name}
