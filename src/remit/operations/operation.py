"""A row of the table of operations, the request for it, and the check of what a caller may do."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from types import ModuleType
from typing import TYPE_CHECKING, Final, Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import asdict, replace

from remit.channels.registry import ChannelRegistry
from remit.contacts.permits import Permits
from remit.intake.admit import Intake
from remit.model.caller import OWNER, Caller, Scope
from remit.model.codec import JsonMap, sha256, text_of
from remit.model.ids import Ids, SeriesId, TaskId
from remit.model.likeness import FileVersion
from remit.model.task import Task
from remit.model.view import JsonView, show
from remit.operations.arguments import Arguments, SeriesArguments, TaskArguments
from remit.operations.callers import CallerRegistry
from remit.operations.permission import CallerAccess, access
from remit.owner import Owner
from remit.ports import Clock
from remit.recall.finder import TaskFinder
from remit.review import Inbox
from remit.settings import NoticeSettings, Settings
from remit.store import tasks
from remit.store.cues import StoredCue
from remit.store.database import Database, Tx, quick

if TYPE_CHECKING:
    from remit.channels.push import PushNotifier
    from remit.converse import ConversationLoop
    from remit.delivery.notice_sender import NoticeSender


class AgentRule(StrEnum):
    """What an agent may do with an operation, once its token has the scope for it."""

    NEVER = "never"  # it is for people
    SCOPE = "scope"  # what its scopes allow; no task is named
    KNOWN = "known"  # on tasks and series that it may know of: its own, with `read` all
    OWN_WORDS = "own words"  # as KNOWN, and only on a task that is in its own words
    NOT_HELD = "not held"  # as KNOWN, and not on what was held back before it was sent
    UNTRUSTED = "untrusted"  # as KNOWN; the task it makes counts as read from someone else


class Answer(Struct, frozen=True):
    """The result of an operation, as every caller gets it."""

    content: JsonMap
    status: int | None = None  # if it is not the one of the row
    location: str | None = None
    etag: str | None = None
    value: object = None  # what was made, for a page that shows more of it


def etag_of(content: JsonMap) -> str:
    """Return what names this state of something, to be compared later."""
    return sha256(text_of(content).encode()).hex()[:32]


class OperationTerms(Struct, frozen=True):
    """What a row of the table says besides its effect; called with the effect, it is the row.

    The function is called as the operation, the first line of its docstring is the summary, and the
    type of its second parameter names the arguments.
    """

    scope: Scope
    result: str  # the schema of its answer
    sentence: str  # what a person is told when it is done
    agents: AgentRule = AgentRule.NEVER
    reveals: bool = False  # its answer tells what only `read` opens, whatever it does
    people: str = ""  # why it is for people alone, if its scope does not say so
    status: int = 200
    also: int | None = None  # another way to succeed, with the same answer
    view: bool = False  # the answer can be had in two forms
    tagged: bool = False  # gives an ETag, and heeds If-Match
    bodiless: bool = False  # takes no body at all
    page: bool = False  # has no address for programs: a form of a page asks for it

    def __call__(self, effect: Callable[..., Awaitable[Answer]]) -> "Operation":
        return Operation(
            **asdict(self),
            name=effect.__name__,
            arguments=list(effect.__annotations__.values())[1],
            effect=effect,
            summary=(effect.__doc__ or "").partition("\n")[0].removesuffix("."),
        )


operation: Final = OperationTerms  # as a decorator


class Operation(OperationTerms, frozen=True, kw_only=True):
    name: str
    arguments: type[Arguments]
    effect: Callable[..., Awaitable[Answer]]  # of an `OperationRequest` and the arguments
    summary: str  # what it does

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Return all scopes that a caller needs, for the effect and for the answer."""
        return (self.scope, Scope.READ) if self.reveals else (self.scope,)

    def allow(self, caller: CallerAccess) -> None:
        """Refuse a caller without the scopes, before the request is read."""
        caller.check(*self.scopes)

    async def perform(self, request: "OperationRequest", arguments: Arguments) -> Answer:
        """Run the operation, if the caller may."""
        self.allow(request.access)
        if self.people:
            request.access.check_person(self.people)
        named = isinstance(arguments, SeriesArguments | TaskArguments)
        if named and self.agents not in (AgentRule.NEVER, AgentRule.SCOPE):
            request = await request.app.db.read(check_permission, self.agents, request, arguments)
        return await self.effect(request, arguments)


def rows_of(*modules: ModuleType) -> dict[type[Arguments], Operation]:
    """Return the operations that these modules define, in order, by their arguments."""
    found = (each for module in modules for each in vars(module).values())
    return {each.arguments: each for each in found if isinstance(each, Operation)}


class OperationRequest(Struct, frozen=True, kw_only=True):
    """Who asks, with which key, and under which ref."""

    app: "OperationPorts"
    ref: str  # names this request: what is done under it once is not done again
    callers: CallerRegistry
    caller: Caller = OWNER
    key: str = "owner"  # what it came in with: the id of a token or a sign-in, or this
    view: JsonView = JsonView.S3
    if_match: str | None = None  # only if it is still this version
    channel: str = "api"  # where something is said

    @property
    def access(self) -> CallerAccess:
        """Return what the caller may do and see."""
        return access(self.caller, self.key)

    @property
    def owner(self) -> Owner:
        """Return the owner's actions, done directly or through the calling program."""
        return self.app.owner.through(self.program)

    @property
    def program(self) -> str | None:
        """Return the name of the calling agent; None if a person asks."""
        return self.caller.name if self.caller.agent else None

    @property
    def version(self) -> str | None:
        """Return the version that must be unchanged; None if any will do."""
        given = (self.if_match or "*").strip()
        return None if given == "*" else given.strip('"')

    async def task_json(self, task: Task) -> JsonMap:
        """Return a task as far as the caller may see it."""
        if self.access.reads:
            return show(task, self.view)
        return show(await self.app.db.read(self.access.as_told, task), self.view)


@quick
def check_permission(
    tx: Tx, rule: AgentRule, request: OperationRequest, arguments: Arguments
) -> OperationRequest:
    """Refuse what this caller may not do to this task or series; return the request."""
    caller = request.access
    if isinstance(arguments, SeriesArguments):
        caller.check_finds_series(tx, SeriesId(arguments.id))
    if not isinstance(arguments, TaskArguments):
        return request
    task_id = TaskId(arguments.id)
    caller.check_finds(tx, task_id)
    if not caller.agent:
        return request
    if rule is AgentRule.OWN_WORDS:
        # Neither of both ever becomes the owner's again: what holds now holds at the write.
        caller.check_edit(tx, tasks.get(tx, task_id))
    if rule is AgentRule.NOT_HELD:
        caller.check_resume(tasks.get(tx, task_id))
        return replace(request, if_match=request.if_match or f'"{tasks.version(tx, task_id)}"')
    return request


# What the effects need of the whole; the wiring's App is one --------------------------------------


class SectionResult(Struct, frozen=True):
    """What came of trying a section of the settings out."""

    ok: bool
    detail: str


class SectionTestPort(Protocol):
    async def run(self, section: str) -> SectionResult: ...


class CalendarPort(Protocol):
    async def look(self) -> dict[str, str | None]: ...


class CuePort(Protocol):
    async def begin(self, name: str) -> StoredCue: ...


class RecallPort(Protocol):
    finder: TaskFinder

    async def rebuild(self) -> None: ...
    async def turn_off(self) -> None: ...
    async def state(self) -> JsonMap: ...


class ReflectionPort(Protocol):
    async def now(self) -> Task: ...
    async def revert(self, no: int | None = None, *, force: bool = False) -> FileVersion: ...


class NoticeWishes(Protocol):
    notices: NoticeSettings


class EnginePort(Protocol):
    def nudge(self) -> None:
        """Wake the engine after a change."""

    def heed(self, task: Task) -> None:
        """Apply the owner's pause or cancel to a task that may be running."""


class OperationPorts(Protocol):
    @property
    def settings(self) -> Settings: ...
    @property
    def db(self) -> Database: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def zone(self) -> ZoneInfo: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def intake(self) -> Intake: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def owner(self) -> Owner: ...
    @property
    def permits(self) -> Permits: ...
    @property
    def engine(self) -> EnginePort: ...
    @property
    def talk(self) -> "ConversationLoop": ...
    @property
    def outfit(self) -> ChannelRegistry: ...
    @property
    def push(self) -> "PushNotifier": ...
    @property
    def herald(self) -> "NoticeSender": ...
    @property
    def calendars(self) -> CalendarPort: ...
    @property
    def doors(self) -> CuePort: ...
    @property
    def recollection(self) -> RecallPort: ...
    @property
    def reflection(self) -> ReflectionPort: ...
    @property
    def wishes(self) -> NoticeWishes: ...
    @property
    def section_tests(self) -> SectionTestPort: ...
