"""The client side of the Agent Client Protocol: what an agent may ask of us, and what not."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar, cast

from acp import RequestError
from acp.interfaces import Agent, Client
from acp.schema import (
    AgentMessageChunk,
    AgentPlanContentUpdate,
    AgentPlanRemovedUpdate,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AllowedOutcome,
    AvailableCommandsUpdate,
    ConfigOptionUpdate,
    CreateElicitationResponse,
    CreateTerminalResponse,
    CurrentModeUpdate,
    DeniedOutcome,
    ElicitationMode,
    EnvVariable,
    KillTerminalResponse,
    PermissionOption,
    ReadTextFileResponse,
    ReleaseTerminalResponse,
    RequestPermissionResponse,
    SessionInfoUpdate,
    TerminalOutputResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
    UserMessageChunk,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

from remit.errors import RemitError
from remit.model.codec import Json, JsonMap
from remit.model.reply import Policy, ToolCall
from remit.model.specialist import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.ports import OnText, Permit
from remit.specialist.files import WorkspaceFiles

# ruff: noqa: ARG002 - the protocol hands all this in, and nothing here looks at it


class MinimalAcpClient(Client):
    """A client without terminals and forms."""

    def on_connect(self, conn: Agent) -> None:
        pass

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **kwargs: object,
    ) -> CreateTerminalResponse:
        raise RequestError.method_not_found("terminal/create")

    async def terminal_output(
        self, session_id: str, terminal_id: str, **kwargs: object
    ) -> TerminalOutputResponse:
        raise RequestError.method_not_found("terminal/output")

    async def release_terminal(
        self, session_id: str, terminal_id: str, **kwargs: object
    ) -> ReleaseTerminalResponse | None:
        raise RequestError.method_not_found("terminal/release")

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: object
    ) -> WaitForTerminalExitResponse:
        raise RequestError.method_not_found("terminal/wait_for_exit")

    async def kill_terminal(
        self, session_id: str, terminal_id: str, **kwargs: object
    ) -> KillTerminalResponse | None:
        raise RequestError.method_not_found("terminal/kill")

    async def create_elicitation(
        self, message: str, mode: ElicitationMode, **kwargs: object
    ) -> CreateElicitationResponse:
        raise RequestError.method_not_found("elicitation/create")

    async def complete_elicitation(self, elicitation_id: str, **kwargs: object) -> None:
        pass

    async def ext_method(self, method: str, params: dict[str, object]) -> dict[str, object]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, object]) -> None:
        pass


MAX_OUTPUT_CHARACTERS: Final = 500_000  # characters of what it says; of more the end is kept
_MAX_REMEMBERED_CALLS: Final = 1_000  # that are remembered
T = TypeVar("T")

Update: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | AgentPlanContentUpdate
    | AgentPlanRemovedUpdate
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
)


class AcpClient(MinimalAcpClient):
    """Listens to one agent in one turn."""

    def __init__(self, job: SpecialistJob, emit: OnText, permit: Permit) -> None:
        self.session: str | None = None  # a session that loads replays its past, which is ignored
        self.needs: ToolCall | None = None
        self.stopped = asyncio.Event()
        self._files = WorkspaceFiles(job.workspace)
        self._allowed = list(job.allowed)
        self._emit = emit
        self._permit = permit
        self._said = ""
        self._plan: list[tuple[str, bool]] = []
        self._calls: dict[str, ToolCallUpdate] = {}

    def claim(self, outcome: AttemptOutcome, why: str | None) -> SpecialistClaim:
        """Return the claim for the turn, as far as it came."""
        return SpecialistClaim(
            self._said.strip(),
            outcome,
            self.session,
            why,
            self.needs if outcome is AttemptOutcome.NEEDS_OWNER else None,
            tuple(what for what, done in self._plan if done),
            tuple(what for what, done in self._plan if not done),
        )

    async def request_permission(
        self,
        session_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **kwargs: object,
    ) -> RequestPermissionResponse:
        """Allow a call once; a call that only the owner may allow ends the turn."""
        del session_id, kwargs
        call = called(_merged(self._calls.get(tool_call.tool_call_id), tool_call))
        policy = Policy.DENY if self.needs is not None else await self._ask_permit(call)
        if policy is Policy.ASK:
            self.needs = call
            self.stopped.set()
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        # Never "always": the next such call is judged again.
        kind = "allow_once" if policy is Policy.ALLOW else "reject_once"
        chosen = next((option.option_id for option in options if option.kind == kind), None)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        picked = AllowedOutcome(outcome="selected", option_id=chosen)
        return RequestPermissionResponse(outcome=picked)

    async def _ask_permit(self, call: ToolCall) -> Policy:
        if call.digest in self._allowed:
            self._allowed.remove(call.digest)
            return Policy.ALLOW
        return await self._permit(call)

    async def session_update(self, session_id: str, update: Update, **kwargs: object) -> None:
        del kwargs
        # The turn ends where the owner is needed; later output does not count.
        if self.needs is not None or session_id != self.session:
            return
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._said = (self._said + text)[-MAX_OUTPUT_CHARACTERS:]
                await self._emit(text)
            case ToolCallStart() | ToolCallProgress():
                await self._remember_call(update)
            case AgentPlanUpdate(entries=entries):
                self._plan = [(entry.content, entry.status == "completed") for entry in entries]
            case _:
                pass

    async def _remember_call(self, update: ToolCallStart | ToolCallProgress) -> None:
        """Remember a call: a request for leave may name it by its number alone."""
        fields = {name: getattr(update, name) for name in _FIELDS if hasattr(update, name)}
        known = self._calls.get(update.tool_call_id)
        new = ToolCallUpdate(tool_call_id=update.tool_call_id, **fields)
        self._calls[update.tool_call_id] = _merged(known, new)
        while len(self._calls) > _MAX_REMEMBERED_CALLS:
            del self._calls[next(iter(self._calls))]
        if known is None and update.title:
            await self._emit(f"\n[{' '.join(update.title.split())[:200]}]\n")

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: object
    ) -> WriteTextFileResponse | None:
        del session_id, kwargs
        await _in_folder(lambda: self._files.write(path, content))
        return WriteTextFileResponse()

    async def read_text_file(
        self,
        session_id: str,
        path: str,
        line: int | None = None,
        limit: int | None = None,
        **kwargs: object,
    ) -> ReadTextFileResponse:
        del session_id, kwargs
        text = await _in_folder(lambda: self._files.read(path))
        first = max((line or 1) - 1, 0)
        lines = text.splitlines(keepends=True)[first:] if line or limit is not None else [text]
        return ReadTextFileResponse(content="".join(lines[:limit]))


def called(found: ToolCallUpdate) -> ToolCall:
    """Return the call as it is judged and shown: what it does, without a description."""
    given = cast("Json", found.raw_input)
    args: JsonMap = dict(given) if isinstance(given, dict) else {}
    args.pop("description", None)  # a model's words may differ each time
    if "command" in args:
        # Whatever kind it claims to be.
        return ToolCall(found.tool_call_id, "execute", args)
    whole: JsonMap = {"input": args or given}
    if found.locations:
        whole["locations"] = [place.path for place in found.locations]
    if not args:
        whole["title"] = found.title or ""
    return ToolCall(found.tool_call_id, found.kind or "other", whole)


_FIELDS: Final = ("kind", "title", "locations", "raw_input")


def _merged(known: ToolCallUpdate | None, new: ToolCallUpdate) -> ToolCallUpdate:
    """Return a call's known fields, updated by the latest ones."""
    if known is None:
        return new
    fields = {name: getattr(new, name) or getattr(known, name) for name in _FIELDS}
    return ToolCallUpdate(tool_call_id=new.tool_call_id, **fields)


async def _in_folder(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except RemitError as error:
        raise RequestError.invalid_params({"details": str(error)}) from None
    except OSError as error:
        raise RequestError.internal_error({"details": str(error.strerror)}) from None
