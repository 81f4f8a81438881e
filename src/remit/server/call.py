"""A request and its result, and a row of the route table."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct, field
from pydantic import BaseModel

from remit.errors import BadInput
from remit.model import ids
from remit.model.caller import OWNER, Caller, Scope
from remit.model.codec import Json, JsonMap
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.task import Task
from remit.model.view import JsonView, show
from remit.owner import Owner
from remit.peer.permission import CallerAccess, access
from remit.server import bodies
from remit.server.callers import CallerRegistry
from remit.server.problem import Problem, RequestRefused
from remit.wiring import App

W = TypeVar("W", bound=StrEnum)
M = TypeVar("M", bound=BaseModel)
Id = TypeVar("Id", TaskId, ReviewId, SeriesId)

UNSAFE: Final = frozenset({"POST", "PATCH", "DELETE"})
_TAG: Final = re.compile(r'"([\x21\x23-\x7e]{1,200})"')
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


class Call(Struct, frozen=True, kw_only=True):
    """A request that passed the guard."""

    house: App
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    body: bytes
    ref: str  # names this request: what was done under it is not repeated
    view: JsonView = JsonView.S3
    signature: str | None = None  # of the body, by a provider without a token
    headers: Mapping[str, str] = field(default_factory=dict)  # of a call that is taken as it comes
    callers: CallerRegistry
    caller: Caller = OWNER
    key: str = "owner"  # the id of the token or sign-in, or this
    form: bool = False  # the body is a page's form, not JSON
    part: bool = False  # our script asks for a part of a page
    at_pages: bool = True  # requested under the pages' host name, where cookies count
    from_elsewhere: bool = False  # a browser came by a link on another site
    if_match: str | None = None  # only if it is still this version
    seq: int | None = None  # of a whole page: the last event before anything was read

    @property
    def task_id(self) -> TaskId:
        return _known(ids.task_id, self.path["id"])

    @property
    def review_id(self) -> ReviewId:
        return _known(ids.review_id, self.path["id"])

    @property
    def series_id(self) -> SeriesId:
        return _known(ids.series_id, self.path["id"])

    @property
    def access(self) -> CallerAccess:
        """What the caller may do and see."""
        return access(self.caller, self.key)

    async def told(self, task: Task) -> JsonMap:
        """Return a task as far as the caller may see it."""
        return show(await self.house.db.read(self.access.as_told, task), self.view)

    @property
    def owner(self) -> Owner:
        """The owner's operations, directly or on behalf of the calling program."""
        return self.house.owner.through(self.caller.name if self.caller.agent else None)

    @property
    def version(self) -> str | None:
        """The version that is required; None for any."""
        said = (self.if_match or "*").strip()
        if said == "*":
            return None
        found = _TAG.fullmatch(said)
        if found is None:
            raise BadInput("If-Match must be one ETag as we gave it, or *.", field="If-Match")
        return found[1]

    def read(self, kind: type[M]) -> M:
        """Return the parsed body."""
        return bodies.read_form(kind, self.body) if self.form else bodies.read(kind, self.body)

    def text(self, name: str) -> str | None:
        return self.query[name][0] if name in self.query else None

    def word(self, name: str, kind: type[W]) -> W | None:
        said = self.text(name)
        try:
            return None if said is None else kind(said)
        except ValueError:
            raise _not_a_word(name, said, kind) from None

    def words(self, name: str, known: Mapping[str, Sequence[W]]) -> tuple[W, ...]:
        """Return values of a parameter; each word may stand for several."""
        for said in self.query.get(name, ()):
            if said not in known:
                raise _not_a_word(name, said, known)
        return tuple(ours for said in self.query.get(name, ()) for ours in known[said])

    def number(self, name: str, default: int, *, least: int = 0, most: int = 10**15) -> int:
        said = self.text(name)
        if said is None:
            return default
        if not _NUMBER.fullmatch(said) or not least <= int(said) <= most:
            sentence = f"{name} must be a whole number from {least} to {most}, not {said!r:.60}."
            raise BadInput(sentence, field=name)
        return int(said)

    def flag(self, name: str) -> bool:
        return self.word(name, _Flag) is _Flag.TRUE


class CallResult(Struct, frozen=True):
    content: Json  # plain text, if it is a string
    status: int = 200
    location: str | None = None
    replayed: bool = False
    media: str | None = None  # if it is neither JSON nor plain text
    headers: Mapping[str, str] = field(default_factory=dict)


async def task_answer(call: Call, task: Task) -> CallResult:
    return CallResult(await call.told(task))


async def created(call: Call, task: Task) -> CallResult:
    return CallResult(await call.told(task), 201, f"/api/tasks/{task.id}")


Does: TypeAlias = Callable[[Call], Awaitable[CallResult]]


class QueryParameter(Struct, frozen=True):
    """A query parameter, as documented."""

    name: str
    says: str
    schema: JsonMap
    many: bool = False


class Route(Struct, frozen=True, kw_only=True):
    """One row of the route table: what it does, and what the documentation says."""

    method: str
    path: str
    does: Does
    says: str
    gives: str  # the schema of its answer
    status: int = 200
    also: int | None = None  # another success status, with the same answer
    query: tuple[QueryParameter, ...] = ()
    body: type[BaseModel] | None = None
    public: bool = False  # needs no token
    scope: Scope | None = None  # the required scope; by default from the method
    reveals: bool = False  # its answer reveals what needs `read`, whatever it does
    kept: bool = True  # its answer may be stored and repeated for the same key
    raw: bool = False  # takes any body as it comes, with its headers
    page: bool = False  # for people: HTML, forms, and sign-in instead of a problem
    tagged: bool = False  # returns an ETag; a write checks If-Match

    @property
    def needs(self) -> Scope:
        return self.scope or (Scope.WRITE if self.method in UNSAFE else Scope.READ)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """All scopes a caller needs: for the action, and for what the answer reveals."""
        return (self.needs, Scope.READ) if self.reveals else (self.needs,)


VIEW: Final = QueryParameter("view", "In whose words.", {"enum": ["s3", "s4"], "default": "s3"})


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
    name: str, said: str | None, known: type[StrEnum] | Mapping[str, object]
) -> BadInput:
    return BadInput(f"{name} is {said!r:.60}; it may be {', '.join(known)}.", field=name)
