"""An agent over the Agent Client Protocol: Claude Code, Codex, Gemini, OpenCode and others.

It needs the extra `acp`; import it only where such an agent is set up. A callback judges each
permission request. A request that only the owner may allow ends the turn, because an open request
would not survive a restart. The claim then names the exact call; the next job loads the session in
a new process with the call's digest, which allows exactly that call, once.
"""

import asyncio
from asyncio import timeout
from contextlib import suppress
from typing import Final

from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    ClientCapabilities,
    FileSystemCapabilities,
    Implementation,
    PromptResponse,
)
from pydantic import ValidationError

from remit.model.specialist import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.ports import OnText, Permit
from remit.specialist import failures
from remit.specialist.acp_client import AcpClient
from remit.specialist.process import MAX_OUTPUT_BYTES, SpecialistProgram
from remit.system.process import describe_exit, end_group, finish_reading, read_last

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
        grumbling = asyncio.create_task(read_last(running.stderr, err, MAX_OUTPUT_BYTES))
        try:
            return await self._within(running, client, job)
        except ConnectionError:
            await end_group(running)
            await finish_reading(grumbling)
            said = bytes(err).decode("utf-8", "replace")
            return self._failed(client, said, describe_exit(running.returncode, job.time_limit))
        finally:
            await end_group(running)
            await finish_reading(grumbling)

    async def _within(
        self, running: asyncio.subprocess.Process, client: AcpClient, job: SpecialistJob
    ) -> SpecialistClaim:
        """Return the claim within the time limit; protocol errors are reported in it."""
        line = connect_to_agent(client, running.stdin, running.stdout)
        try:
            async with timeout(job.time_limit):
                return await self._talk(line, client, job)
        except TimeoutError:
            why = f"{self.name} {describe_exit(None, job.time_limit)}."
            return client.claim(AttemptOutcome.TIMEOUT, why)
        except RequestError as error:
            return self._refused(client, error)
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
            begun = await line.new_session(cwd=job.workspace, mcp_servers=[])
            client.session = begun.session_id
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

    def _claim_when_stopped(self, client: AcpClient, said: PromptResponse) -> SpecialistClaim:
        outcome, why = _STOPPED[said.stop_reason]
        return client.claim(outcome, why.format(name=self.name) if why else None)

    def _refused(self, client: AcpClient, error: RequestError) -> SpecialistClaim:
        said = f"{error} {error.data or ''}".strip()
        if error.code == _SIGN_IN:
            why = f"{self.name} must be signed in: {failures.last_words(said)}"
            return client.claim(AttemptOutcome.NEEDS_OWNER, why)
        return self._failed(client, said, "answered with an error")

    def _failed(self, client: AcpClient, said: str, how: str) -> SpecialistClaim:
        words = failures.last_words(said)
        why = f"{self.name} {how}{f': {words}' if words else '.'}"
        return client.claim(failures.sort(said), why)
