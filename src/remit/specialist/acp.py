"""An agent over the Agent Client Protocol: Claude Code, Codex, Gemini, OpenCode and others.

It needs the extra `acp`; import it only where such an agent is set up. A callback judges each
permission request. A request that only the owner may allow ends the turn, because an open request
would not survive a restart. The claim then names the exact call; the next job loads the session in
a new process with the call's digest, which allows exactly that call, once.
"""

import asyncio
from asyncio import timeout
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar, cast

from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.client.connection import ClientSideConnection
from acp.interfaces import Client
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    Implementation,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    WriteTextFileResponse,
)
from pydantic import ValidationError

from remit.errors import RemitError
from remit.model.codec import Json, JsonMap
from remit.model.reply import AttemptOutcome, Policy, SpecialistClaim, SpecialistJob, ToolCall
from remit.ports import OnText, Permit
from remit.specialist import chain
from remit.specialist.process import MAX_OUTPUT_BYTES, SpecialistProgram
from remit.specialist.tree import WorkspaceFiles
from remit.system import process as programs

MAX_OUTPUT_CHARACTERS: Final = 500_000  # characters of what it says; of more the end is kept
_MAX_REMEMBERED_CALLS: Final = 1_000  # that are remembered
T = TypeVar("T")

# Without these the router would answer as if a terminal were there.
_REFUSED: Final = {
    "create_terminal": "terminal/create",
    "terminal_output": "terminal/output",
    "release_terminal": "terminal/release",
    "wait_for_terminal_exit": "terminal/wait_for_exit",
    "kill_terminal": "terminal/kill",
}


class AcpClient:
    """Listens to one agent in one turn. It has no terminals and no forms."""

    def __init__(self, job: SpecialistJob, emit: OnText, permit: Permit) -> None:
        self.session: str | None = None  # a session that loads replays its past, which is ignored
        self.needs: ToolCall | None = None
        self.stopped = asyncio.Event()
        self._files = WorkspaceFiles(job.workspace)
        self._allowed = list(job.allowed)
        self._emit = emit
        self._permit = permit
        self._text = ""
        self._plan: list[tuple[str, bool]] = []
        self._calls: dict[str, ToolCallUpdate] = {}

    def __getattr__(self, name: str) -> Callable[..., Awaitable[None]]:
        if name not in _REFUSED:
            raise AttributeError(name)

        async def refuse(**_: object) -> None:
            raise RequestError.method_not_found(_REFUSED[name])

        return refuse

    def claim(self, outcome: AttemptOutcome, why: str | None) -> SpecialistClaim:
        """Return the claim for the turn, as far as it came."""
        return SpecialistClaim(
            self._text.strip(),
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
        call = tool_call_of(_merge_call(self._calls.get(tool_call.tool_call_id), tool_call))
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

    async def session_update(self, session_id: str, update: object, **kwargs: object) -> None:
        del kwargs
        # The turn ends where the owner is needed; later output does not count.
        if self.needs is not None or session_id != self.session:
            return
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._text = (self._text + text)[-MAX_OUTPUT_CHARACTERS:]
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
        self._calls[update.tool_call_id] = _merge_call(known, new)
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


def tool_call_of(found: ToolCallUpdate) -> ToolCall:
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


def _merge_call(known: ToolCallUpdate | None, new: ToolCallUpdate) -> ToolCallUpdate:
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


_CANCEL_GRACE_SECONDS: Final = 5.0  # seconds for a turn that is cancelled to end
_SIGN_IN: Final = -32000  # the protocol's number for one who must sign in
_STOPPED: Final = {
    "end_turn": (AttemptOutcome.SUCCESS, None),
    "max_tokens": (AttemptOutcome.CONTEXT_OVERFLOW, "{name} used up the tokens of its session."),
    "max_turn_requests": (
        AttemptOutcome.BAD_OUTPUT,
        "{name} asked its model more often than it may.",
    ),
    "refusal": (AttemptOutcome.BAD_OUTPUT, "{name} refused the work."),
    "cancelled": (AttemptOutcome.CRASH, "{name} broke its turn off."),
}


class AcpSpecialist:
    def __init__(self, program: SpecialistProgram) -> None:
        self.name = program.name
        self.capabilities = program.capabilities
        self._program = program

    async def work(self, job: SpecialistJob, emit: OnText, permit: Permit) -> SpecialistClaim:
        """Run one turn of a session, in a process of its own."""
        client = AcpClient(job, emit, permit)
        running = await self._program.start(job)
        if isinstance(running, SpecialistClaim):
            return running
        assert running.stderr is not None  # noqa: S101 - it is a pipe
        err = bytearray()
        stderr_reader = asyncio.create_task(
            programs.read_last(running.stderr, err, MAX_OUTPUT_BYTES)
        )
        try:
            return await self._within(running, client, job)
        except ConnectionError:
            await programs.end_group(running)
            await programs.finish_reading(stderr_reader)
            text = bytes(err).decode("utf-8", "replace")
            return self._claim_of_failure(
                client, text, programs.describe_exit(running.returncode, job.time_limit)
            )
        finally:
            await programs.end_group(running)
            await programs.finish_reading(stderr_reader)

    async def _within(
        self, running: asyncio.subprocess.Process, client: AcpClient, job: SpecialistJob
    ) -> SpecialistClaim:
        """Return the claim within the time limit; protocol errors are reported in it."""
        line = connect_to_agent(cast("Client", client), running.stdin, running.stdout)
        try:
            async with timeout(job.time_limit):
                return await self._talk(line, client, job)
        except TimeoutError:
            why = f"{self.name} {programs.describe_exit(None, job.time_limit)}."
            return client.claim(AttemptOutcome.TIMEOUT, why)
        except RequestError as error:
            return self._claim_of_refusal(client, error)
        except ValidationError:
            why = f"{self.name} answered in a form that the protocol does not know."
            return client.claim(AttemptOutcome.BAD_OUTPUT, why)
        finally:
            with suppress(OSError):
                await line.close()

    async def _talk(
        self, line: ClientSideConnection, client: AcpClient, job: SpecialistJob
    ) -> SpecialistClaim:
        me = Implementation(name="remit", version="1")
        files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
        able = ClientCapabilities(fs=files, terminal=False)
        hello = await line.initialize(PROTOCOL_VERSION, client_capabilities=able, client_info=me)
        if hello.protocol_version != PROTOCOL_VERSION:
            why = (
                f"{self.name} speaks version {hello.protocol_version} of the protocol, "
                f"not {PROTOCOL_VERSION}."
            )
            return client.claim(AttemptOutcome.BAD_OUTPUT, why)
        loads = hello.agent_capabilities is not None and hello.agent_capabilities.load_session
        if job.session is None:
            new = await line.new_session(cwd=job.workspace, mcp_servers=[])
            client.session = new.session_id
        elif not loads:
            why = f"{self.name} cannot go on with a session; begin a new one."
            return SpecialistClaim("", AttemptOutcome.BAD_OUTPUT, None, why)
        else:
            await line.load_session(cwd=job.workspace, session_id=job.session, mcp_servers=[])
            client.session = job.session
        return await self._turn(line, client, job)

    async def _turn(
        self, line: ClientSideConnection, client: AcpClient, job: SpecialistJob
    ) -> SpecialistClaim:
        session = str(client.session)
        turn = asyncio.create_task(line.prompt(session_id=session, prompt=[text_block(job.prompt)]))
        asked = asyncio.create_task(client.stopped.wait())
        try:
            await asyncio.wait((turn, asked), return_when=asyncio.FIRST_COMPLETED)
            if client.needs is None:
                return self._claim_when_stopped(client, await turn)
            with suppress(OSError):
                await line.cancel(session_id=session)
            await asyncio.wait((turn,), timeout=_CANCEL_GRACE_SECONDS)
            why = f"{self.name} needs your word before it may go on."
            return client.claim(AttemptOutcome.NEEDS_OWNER, why)
        finally:
            turn.cancel()
            asked.cancel()
            await asyncio.gather(turn, asked, return_exceptions=True)

    def _claim_when_stopped(self, client: AcpClient, response: PromptResponse) -> SpecialistClaim:
        outcome, why = _STOPPED[response.stop_reason]
        return client.claim(outcome, why.format(name=self.name) if why else None)

    def _claim_of_refusal(self, client: AcpClient, error: RequestError) -> SpecialistClaim:
        text = f"{error} {error.data or ''}".strip()
        if error.code == _SIGN_IN:
            why = f"{self.name} must be signed in: {programs.last_lines(text)}"
            return client.claim(AttemptOutcome.NEEDS_OWNER, why)
        return self._claim_of_failure(client, text, "answered with an error")

    def _claim_of_failure(self, client: AcpClient, text: str, how: str) -> SpecialistClaim:
        return client.claim(
            chain.classify_failure(text), programs.describe_failure(self.name, how, text)
        )
