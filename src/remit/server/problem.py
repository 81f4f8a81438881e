"""Errors as RFC 9457 problems: a sentence for a person, a type for a program, no internals."""

import json
import logging
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from remit.errors import (
    AlreadyDecided,
    BadInput,
    Conflict,
    IllegalMove,
    KeyReused,
    NotFound,
    NotPossibleNow,
    OutOfDate,
    RemitError,
    StoreTrouble,
    UnknownName,
)
from remit.model.codec import Json, JsonMap
from remit.operations.permission import NotAllowed

MEDIA_TYPE: Final = "application/problem+json"
URN: Final = "urn:remit:problem:"
RETRY_AFTER: Final = 2  # seconds

# Every problem type: its status, and its title.
KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "malformed": (400, "Not readable"),
    "unauthorized": (401, "Token needed"),
    "unsigned": (401, "Signature needed"),
    "cross-site": (403, "Asked by another site"),
    "forbidden": (403, "Not allowed to this caller"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Not possible here"),
    "conflict": (409, "Not possible as things stand"),
    "illegal-transition": (409, "Not a legal move"),
    "already-decided": (409, "Decided before"),
    "idempotency-in-flight": (409, "Still being done"),
    "idempotency-mismatch": (422, "Key used for another request"),
    "changed": (412, "Not as it was"),
    "too-large": (413, "Too large"),
    "unsupported-media-type": (415, "Not JSON"),
    "misdirected": (421, "Meant for another host"),
    "validation": (422, "Not acceptable"),
    "rate-limited": (429, "Too many calls"),
    "internal": (500, "Our mistake"),
    "store-unavailable": (503, "Store not available"),
}
# Our field names as callers know them.
_OUTSIDE: Final = {"scheduled_for": "scheduledFor"}
# The first that fits. What no schema can foresee has another status than what a schema forbids.
_NAMES: Final[Mapping[type[RemitError], str]] = {
    KeyReused: "idempotency-mismatch",
    UnknownName: "not-found",
    NotPossibleNow: "conflict",
    BadInput: "validation",
    NotFound: "not-found",
    NotAllowed: "forbidden",
    IllegalMove: "illegal-transition",
    OutOfDate: "changed",
    AlreadyDecided: "already-decided",
    Conflict: "conflict",
}
_LOG: Final = logging.getLogger("remit.server")


class Problem(Struct, frozen=True):
    name: str
    detail: str
    more: JsonMap = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> int:
        return KINDS[self.name][0]


class RequestRefused(RemitError):
    """The server refuses a request before any other package sees it."""

    def __init__(
        self,
        name: str,
        detail: str,
        more: "JsonMap | None" = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(name, detail, more or {}, headers or {})


def problem_of_error(error: Exception) -> Problem:
    """Return what to tell the caller. An unexpected error goes to the log only."""
    if isinstance(error, RequestRefused):
        return error.problem
    if isinstance(error, StoreTrouble):
        return _store(error)
    name = next((name for kind, name in _NAMES.items() if isinstance(error, kind)), None)
    if name is None:
        _LOG.error("A request failed for a reason nobody foresaw.", exc_info=error)
        return Problem("internal", "Something broke that should not have; the log says what.")
    more: JsonMap = {}
    if isinstance(error, IllegalMove):
        more = {"allowed": list[Json](error.allowed)}
    if isinstance(error, BadInput) and error.field is not None:
        more = {"field": _OUTSIDE.get(error.field, error.field)}
    return Problem(name, str(error), more)


def _store(error: StoreTrouble) -> Problem:
    # Its sentence names files of this machine: that is for the operator.
    _LOG.warning("%s", error)
    sentence = (
        "The store cannot be used just now; what was acknowledged is safe. Try again in a moment;"
        " `remit doctor` says more."
    )
    return Problem("store-unavailable", sentence, headers={"Retry-After": str(RETRY_AFTER)})


def response(problem: Problem) -> Response:
    status, title = KINDS[problem.name]
    content: JsonMap = {
        "type": URN + problem.name,
        "title": title,
        "status": status,
        "detail": problem.detail,
        **problem.more,
    }
    text = json.dumps(content, ensure_ascii=False)
    return Response(text, status, headers=dict(problem.headers), media_type=MEDIA_TYPE)


def of_router(request: Request, error: Exception) -> Problem:
    """Return what the router says: no such path, or a wrong method."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for nothing else
    if error.status_code == 405:  # noqa: PLR2004
        ways = sorted((error.headers or {})["Allow"].split(", "))
        sentence = f"{request.method} is not possible here; {', '.join(ways)} are."
        headers = {"Allow": ", ".join(ways)}
        return Problem("method-not-allowed", sentence, headers=headers)
    return Problem("not-found", "There is nothing at this address.")
