"""A row of the route table: a read, a page or a form, as a decorator of what it does."""

from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict

from remit.errors import BadInput, Conflict
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.operations.arguments import Arguments
from remit.operations.operation import Operation
from remit.operations.settings_arguments import KeepFile
from remit.server import bodies
from remit.server.call import Call, CallResult, result_of

T = TypeVar("T")
UNSAFE: Final = frozenset({"POST", "PATCH", "DELETE"})
Does: TypeAlias = Callable[[Call], Awaitable[CallResult]]
Act: TypeAlias = Callable[..., Awaitable[CallResult]]  # of a form: of the call, and of its fields
Refused: TypeAlias = Callable[..., Awaitable[CallResult]]  # of the call, its fields and the error


class QueryParameter(Struct, frozen=True):
    """A query parameter, as documented."""

    name: str
    says: str = ""
    schema: JsonMap = field(default_factory=lambda: {"type": "string"})
    many: bool = False


class NumberParameter(QueryParameter, frozen=True, kw_only=True):
    """A whole number, with its bounds and what it is if it is not given."""

    default: int
    least: int
    most: int

    def of(self, call: Call) -> int:
        return call.number(self.name, self.default, least=self.least, most=self.most)


class RouteTerms(Struct, frozen=True, kw_only=True):
    """A row of the route table without its function; called with that, it is the row.

    The first line of the function's docstring is the summary.
    """

    method: str
    path: str
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

    def __call__(self, does: Does) -> "Route":
        says = (does.__doc__ or "").partition("\n")[0].removesuffix(".")
        return Route(**asdict(self), does=does, says=says)


class Route(RouteTerms, frozen=True, kw_only=True):
    does: Does
    says: str  # what the documentation says of it

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


CURSOR: Final = QueryParameter("cursor", "`next` of the page before.")
VIEW: Final = QueryParameter("view", "In whose words.", {"enum": ["s3", "s4"], "default": "s3"})


def route_of(operation: Operation) -> Route:
    """Return the route by which programs ask for an operation."""
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


def read(
    path: str,
    gives: str,
    *query: QueryParameter,
    tagged: bool = False,
    scope: Scope | None = None,
    public: bool = False,
) -> RouteTerms:
    """Declare what programs may look at."""
    return RouteTerms(
        method="GET", path=path, gives=gives, query=query, tagged=tagged, scope=scope, public=public
    )


def page(path: str, *query: str, scope: Scope | None = None, public: bool = False) -> RouteTerms:
    """Declare a page, or a part of one, with the names of its query parameters."""
    known = tuple(map(QueryParameter, query))
    return RouteTerms(method="GET", path=path, query=known, scope=scope, public=public, page=True)


def form(  # noqa: PLR0913 - what a form may differ in
    path: str,
    operation: Operation | None = None,
    *,
    body: type[Struct] | None = None,
    scope: Scope | None = None,
    public: bool = False,
    files: bool = False,
    refused: Refused | None = None,
) -> Callable[[Act], Route]:
    """Declare a form of a page; `files`: it may carry files.

    Its fields are those of `body`, or of the type that the function's second parameter names.
    `refused` shows the page again if the input is wrong; without it the error has its own page.
    """

    def route(act: Act) -> Route:
        taken = [kind for name, kind in act.__annotations__.items() if name != "return"][1:]
        kind: type[Struct] = body or next(iter(taken), bodies.EmptyBody)

        async def does(call: Call) -> CallResult:
            sent = call.arguments(kind) if issubclass(kind, Arguments) else call.read(kind)
            work = act(call, sent) if taken else act(call)
            return await (_or_again(work, call, sent, refused) if refused else work)

        terms = RouteTerms(
            method="POST",
            path=path,
            body=kind,
            operation=operation,
            kept=operation is None or operation.arguments.kept,
            scope=scope,
            public=public,
            page=True,
            files=files,
            max_bytes=KeepFile.max_bytes if files else bodies.MOST_BYTES,
        )
        return terms(does)

    return route


async def _or_again(
    work: Awaitable[CallResult], call: Call, sent: Struct, refused: Refused
) -> CallResult:
    """Show the page again if the input is wrong."""
    try:
        return await work
    except (BadInput, Conflict) as wrong:
        return await refused(call, sent, wrong)


def routes_in(*modules: ModuleType) -> tuple[Route, ...]:
    """Return the routes that these modules define."""
    found = (each for module in modules for each in vars(module).values())
    return tuple(each for each in found if isinstance(each, Route))


def numbers(name: str, says: str, default: int, least: int, most: int) -> NumberParameter:
    schema: JsonMap = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return NumberParameter(name, says, schema, default=default, least=least, most=most)


def cut(found: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """Return a page of what was asked for with one more, and its last one if there is more."""
    return found[:limit], found[limit - 1] if len(found) > limit else None
