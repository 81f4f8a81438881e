"""A request and its result, a row of the route table, and the Idempotency-Key.

The same request twice under one key is done once: a successful answer is kept for a day and
returned again, a refused request frees its key. A process that dies in between leaves a reservation
with a ref, by which a repeat finds the stored result.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from remit.errors import BadInput, KeyReused, RemitError, StoreTrouble
from remit.model import ids
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.task_file import FileContent
from remit.operations.arguments import Arguments, ReviewArguments, SeriesArguments, TaskArguments
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.operations.settings_arguments import KeepFile
from remit.ports import Clock
from remit.server import bodies
from remit.server.problem import Problem, RequestRefused
from remit.store import callers
from remit.store.callers import RequestKey, StoredReply
from remit.store.database import Database
from remit.wiring import App

W = TypeVar("W", bound=StrEnum)
M = TypeVar("M", bound=Struct)
A = TypeVar("A", bound=Arguments)
Id = TypeVar("Id", TaskId, ReviewId, SeriesId)

UNSAFE: Final = frozenset({"POST", "PATCH", "DELETE"})
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


class Call(OperationRequest, frozen=True, kw_only=True):
    """A request that has come through the door."""

    house: App
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    body: bytes
    signature: str | None = None  # of the body, by a provider that holds no token of ours
    headers: Mapping[str, str] = field(default_factory=dict)  # of a call that is taken as it comes
    form: bool = False  # the body is what a page's form sent, not JSON
    uploads: tuple[FileContent, ...] = ()  # the files of that form
    part: bool = False  # a script of ours asks for a part of a page, not for the whole
    at_pages: bool = True  # asked under the name of the pages, where cookies count
    from_elsewhere: bool = False  # a browser came by a link on another site
    is_public: bool = False  # asked under `public_url`
    cookie: str = ""  # the name of the session cookie there
    device: str = ""  # of a browser that has signed in before
    source: str = "unknown"  # who asks: an address, or a network
    seq: int | None = None  # of a whole page: the last event before anything for it was read

    @property
    def task_id(self) -> TaskId:
        return _known(ids.task_id, self.path["id"])

    @property
    def review_id(self) -> ReviewId:
        return _known(ids.review_id, self.path["id"])

    @property
    def series_id(self) -> SeriesId:
        return _known(ids.series_id, self.path["id"])

    def read(self, kind: type[M]) -> M:
        """Return the parsed body."""
        return self._read(kind)

    def arguments(self, kind: type[A], *, bodiless: bool = False) -> A:
        """What an operation is asked to do: the body, and what the address names."""
        in_path = self._in_path(kind)
        return kind(**in_path) if bodiless else self._read(kind, in_path)

    def _read(self, kind: type[M], given: Mapping[str, object] | None = None) -> M:
        parse = bodies.read_form if self.form else bodies.read
        return parse(kind, self.body, given)

    def _in_path(self, kind: type[Arguments]) -> dict[str, str]:
        if issubclass(kind, TaskArguments):
            return {"id": self.task_id}
        if issubclass(kind, SeriesArguments):
            return {"id": self.series_id}
        if issubclass(kind, ReviewArguments):
            return {"id": self.review_id}
        return {field: self.path[name] for name, field in kind.in_path().items()}

    def text(self, name: str) -> str | None:
        return self.query[name][0] if name in self.query else None

    def word(self, name: str, kind: type[W]) -> W | None:
        text = self.text(name)
        try:
            return None if text is None else kind(text)
        except ValueError:
            raise _not_a_word(name, text, kind) from None

    def words(self, name: str, known: Mapping[str, Sequence[W]]) -> tuple[W, ...]:
        """Return values of a parameter; each word may stand for several."""
        for text in self.query.get(name, ()):
            if text not in known:
                raise _not_a_word(name, text, known)
        return tuple(ours for text in self.query.get(name, ()) for ours in known[text])

    def number(self, name: str, default: int, *, least: int = 0, most: int = 10**15 - 1) -> int:
        text = self.text(name)
        if text is None:
            return default
        if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
            sentence = f"{name} must be a whole number from {least} to {most}, not {text!r:.60}."
            raise BadInput(sentence, field=name)
        return int(text)

    def flag(self, name: str) -> bool:
        return self.word(name, _Flag) is _Flag.TRUE


class CallResult(Struct, frozen=True):
    content: Json  # plain text, if it is a string
    status: int = 200
    location: str | None = None
    replayed: bool = False
    media: str | None = None  # if it is neither JSON nor plain text
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # a file, instead of the content


def result_of(answer: Answer, status: int = 200) -> CallResult:
    headers = {"ETag": f'"{answer.etag}"'} if answer.etag else {}
    status = answer.status or status
    return CallResult(answer.content, status, answer.location, headers=headers)


Does: TypeAlias = Callable[[Call], Awaitable[CallResult]]


class QueryParameter(Struct, frozen=True):
    """A query parameter, as documented."""

    name: str
    says: str = ""
    schema: JsonMap = field(default_factory=lambda: {"type": "string"})
    many: bool = False


class Route(Struct, frozen=True, kw_only=True):
    """One row of the route table: what it does, and what the documentation says of the API."""

    method: str
    path: str
    does: Does
    says: str = ""
    gives: str = "Page"  # the schema of its answer
    status: int = 200
    also: int | None = None  # another success status, with the same answer
    query: tuple[QueryParameter, ...] = ()
    body: type[Struct] | None = None
    public: bool = False  # needs no token
    operation: Operation | None = None  # what it writes, and so who may
    scope: Scope | None = None  # what a caller must be allowed; else the operation's, or by method
    kept: bool = True  # its answer may be kept, and told again to who comes with the same key
    raw: bool = False  # takes any body as it comes, with its headers
    max_bytes: int = bodies.MOST_BYTES  # of the body
    files: bool = False  # a form that may carry files
    page: bool = False  # for people: HTML, forms, and sign-in instead of a problem
    tagged: bool = False  # returns an ETag; a write checks If-Match

    @property
    def needs(self) -> Scope:
        if self.operation is not None and self.scope is None:
            return self.operation.scope
        return self.scope or (Scope.WRITE if self.method in UNSAFE else Scope.READ)

    @property
    def reveals(self) -> bool:
        """Whether its answer tells what only `read` opens, whatever it does."""
        return self.operation is not None and self.operation.reveals and not self.page

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """All scopes a caller needs: for the action, and for what the answer reveals."""
        return (self.needs, Scope.READ) if self.reveals else (self.needs,)


VIEW: Final = QueryParameter("view", "In whose words.", {"enum": ["s3", "s4"], "default": "s3"})


def route_of(operation: Operation) -> Route:
    """How programs ask for an operation."""
    kind = operation.arguments

    async def does(call: Call) -> CallResult:
        asked = call.arguments(kind, bodiless=operation.bodiless)
        return result_of(await operation.perform(call, asked), operation.status)

    return Route(
        method=kind.http_method(),
        path=kind.http_path(),
        does=does,
        says=operation.summary,
        gives=operation.result,
        status=operation.status,
        also=operation.also,
        query=(VIEW,) if operation.view else (),
        body=None if operation.bodiless else kind if bodies.body_fields(kind) else bodies.EmptyBody,
        operation=operation,
        kept=kind.kept,
        tagged=operation.tagged,
        max_bytes=kind.max_bytes,
    )


def read(  # noqa: PLR0913 - as the columns of a table
    path: str,
    does: Does,
    says: str,
    gives: str,
    *query: QueryParameter,
    tagged: bool = False,
    scope: Scope | None = None,
    public: bool = False,
) -> Route:
    """What programs may look at."""
    return Route(
        method="GET",
        path=path,
        does=does,
        says=says,
        gives=gives,
        query=query,
        tagged=tagged,
        scope=scope,
        public=public,
    )


def page(
    path: str, does: Does, *query: str, scope: Scope | None = None, public: bool = False
) -> Route:
    """A page, or a part of one, with the names of its query parameters."""
    known = tuple(map(QueryParameter, query))
    return Route(
        method="GET", path=path, does=does, query=known, scope=scope, public=public, page=True
    )


def form(
    path: str,
    does: Does,
    body: type[Struct],
    operation: Operation | None = None,
    *,
    scope: Scope | None = None,
    public: bool = False,
) -> Route:
    """What a form of a page sends."""
    return Route(
        method="POST",
        path=path,
        does=does,
        body=body,
        operation=operation,
        kept=operation is None or operation.arguments.kept,
        scope=scope,
        public=public,
        page=True,
    )


def with_files(route: Route) -> Route:
    """A form that may carry files."""
    return replace(route, files=True, max_bytes=KeepFile.max_bytes)


def numbers(name: str, says: str, default: int, least: int, most: int) -> QueryParameter:
    schema: JsonMap = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return QueryParameter(name, says, schema)


class _Flag(StrEnum):
    TRUE = "true"
    FALSE = "false"


def _known(read: Callable[[str], Id], text: str) -> Id:
    """Parse an id of a path; an impossible one is not found."""
    try:
        return read(text)
    except BadInput as bad:
        raise RequestRefused(Problem("not-found", str(bad))) from None


def _not_a_word(
    name: str, text: str | None, known: type[StrEnum] | Mapping[str, object]
) -> BadInput:
    return BadInput(f"{name} is {text!r:.60}; it may be {', '.join(known)}.", field=name)


_MOST: Final = 255
_SWEEP_EVERY: Final = timedelta(hours=1)


class IdempotencyKeys:
    """Which keys are in use now, and what is stored under the others."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._at_work: dict[RequestKey, str] = {}
        self._swept_at: datetime | None = None

    async def once(
        self, key: RequestKey, digest: str, ref: str, work: Callable[[str], Awaitable[CallResult]]
    ) -> CallResult:
        """Do the work under a ref, or return the stored answer."""
        if key in self._at_work:
            raise self._in_flight(key, digest)
        self._at_work[key] = digest
        try:
            await self._sweep()
            kept = await self._db.write(callers.reserve, key, digest, ref, self._clock.now())
            if kept.digest != digest:
                raise KeyReused(key.name)
            return _again(kept) if kept.answered else await self._first(key, kept.body, work)
        finally:
            del self._at_work[key]

    async def _first(
        self, key: RequestKey, ref: str, work: Callable[[str], Awaitable[CallResult]]
    ) -> CallResult:
        try:
            answer = await work(ref)
        except StoreTrouble:
            raise  # unknown how far it came: the ref stays reserved for the retry
        except RemitError:
            await self._db.write(callers.release, key)
            raise
        fields = {"location": answer.location, "content": answer.content, "media": answer.media}
        kept = json.dumps(fields)
        await self._db.write(callers.answer, key, answer.status, kept)
        return answer

    async def _sweep(self) -> None:
        now = self._clock.now()
        if self._swept_at is None or now - self._swept_at >= _SWEEP_EVERY:
            self._swept_at = now
            await self._db.write(callers.sweep, now)

    def _in_flight(self, key: RequestKey, digest: str) -> RemitError:
        if self._at_work[key] != digest:
            return KeyReused(key.name)
        sentence = f"The request with Idempotency-Key {key.name!r} is being done; ask again."
        return RequestRefused(Problem("idempotency-in-flight", sentence))


def name_of(given: list[str]) -> str | None:
    """Return the key the caller sent; None if none."""
    if not given:
        return None
    name = given[0]
    if len(given) > 1 or not 1 <= len(name) <= _MOST or not (name.isascii() and name.isprintable()):
        sentence = f"Idempotency-Key must come once, with 1 to {_MOST} printable ASCII characters."
        raise BadInput(sentence, field="Idempotency-Key")
    return name


def digest_of(target: str, body: bytes) -> str:
    return hashlib.sha256(target.encode() + b"\x00" + body).hexdigest()


def _again(kept: StoredReply) -> CallResult:
    fields = json.loads(kept.body)
    media = fields.get("media")  # answers stored before an upgrade lack it
    return CallResult(
        fields["content"], kept.status, fields["location"], replayed=True, media=media
    )
