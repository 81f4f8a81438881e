"""An agent that speaks the Agent Client Protocol, with its vendor's own library: run as a program.

What it does is what the prompt says, a line each: `say TEXT`, `write PATH`, `read PATH`,
`run COMMAND` (asks for leave, then runs it), `edit PATH` (asks for leave), `plan`, `crash`, `hang`,
`fail MESSAGE`, `stop REASON`, `daemon FILE`. Its sessions lie in the folder FAKE_STATE.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import cast
from uuid import uuid4

import acp
from acp.schema import (
    AgentCapabilities,
    PermissionOption,
    PermissionOptionKind,
    PlanEntry,
    ToolCallLocation,
    ToolCallUpdate,
)

STATE = Path(os.environ["FAKE_STATE"])


class FakeAgent:
    def __init__(self) -> None:
        self.client: acp.Client
        self.cancelled = asyncio.Event()

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: object) -> acp.InitializeResponse:
        able = AgentCapabilities(load_session="FAKE_FORGETS" not in os.environ)
        spoken = int(os.environ.get("FAKE_VERSION", str(protocol_version)))
        return acp.InitializeResponse(protocol_version=spoken, agent_capabilities=able)

    async def new_session(self, cwd: str, **_: object) -> acp.NewSessionResponse:
        if "FAKE_SIGNED_OUT" in os.environ:
            raise acp.RequestError.auth_required({"details": "run `fake login`"})
        session = uuid4().hex
        (STATE / session).write_text(f"cwd {cwd}\n")
        return acp.NewSessionResponse(session_id=session)

    async def load_session(self, cwd: str, session_id: str, **_: object) -> acp.LoadSessionResponse:
        del cwd
        if not (STATE / session_id).exists():
            raise acp.RequestError.resource_not_found(session_id)
        await self._say(session_id, "what was said long ago")
        return acp.LoadSessionResponse()

    async def prompt(
        self, session_id: str, prompt: list[object], **more: object
    ) -> acp.PromptResponse:
        del more
        words = str(getattr(prompt[0], "text", ""))
        with (STATE / session_id).open("a") as file:
            file.write(words + "\n")
        if words.startswith("The owner has allowed"):
            words = words.replace("\n> ", "\nrun ", 1)  # as it is bidden: in the same words
        for line in words.splitlines():
            verb, _, rest = line.partition(" ")
            stop = await self._do(session_id, verb, rest)
            if stop or self.cancelled.is_set():
                # Also a reason that the protocol does not know.
                return acp.PromptResponse.model_construct(
                    {"stop_reason"}, stop_reason=stop or "cancelled"
                )
        return acp.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: object) -> None:
        del session_id
        self.cancelled.set()

    async def _do(self, session: str, verb: str, rest: str) -> str | None:  # noqa: C901, PLR0912, PLR0915
        match verb:
            case "say":
                await self._say(session, rest + "\n")
            case "history":
                await self._say(session, (STATE / session).read_text())
            case "env":
                await self._say(session, ",".join(sorted(os.environ)))
            case "write":
                await self._tried(session, self.client.write_text_file(session, rest, "by fake\n"))
            case "read":
                await self._tried(session, self.client.read_text_file(session, rest))
            case "lines":
                await self._tried(session, self.client.read_text_file(session, rest, 2, 1))
            case "terminal":
                await self._tried(session, self.client.create_terminal(session, "sh"))
            case "run" | "edit":
                await self._ask(session, verb, rest)
            case "plan":
                done = PlanEntry(content="look", priority="high", status="completed")
                todo = PlanEntry(content="mend", priority="low", status="in_progress")
                await self.client.session_update(session, acp.update_plan([done, todo]))
            case "crash":
                sys.stderr.write(rest + "\n")
                sys.stderr.flush()
                os._exit(3)
            case "hang":
                await asyncio.Event().wait()
            case "fail":
                raise acp.RequestError(-32603, "Internal error", {"details": rest})
            case "garble":
                sys.stdout.buffer.write(b"this is no protocol\n" * 3)
                sys.stdout.buffer.flush()
            case "daemon":
                await asyncio.create_subprocess_exec(sys.executable, "-c", _DAEMON, rest)
                while not await asyncio.to_thread(os.path.exists, rest):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            case "stop":
                return rest
            case _:
                pass
        return None

    async def _say(self, session: str, text: str) -> None:
        await self.client.session_update(session, acp.update_agent_message_text(text))

    async def _tried(self, session: str, asked: object) -> None:
        try:
            found = await cast("asyncio.Future[object]", asked)
            await self._say(session, f"ok {getattr(found, 'content', '')}\n")
        except acp.RequestError as error:
            await self._say(session, f"refused {error.data}\n")

    async def _ask(self, session: str, verb: str, rest: str) -> None:
        """Ask for permission as real agents do: the call first, then the request by its number."""
        number = uuid4().hex
        if verb == "run":
            words = {"command": rest, "description": f"as {number} wishes"}
            start = acp.start_tool_call(number, f"Run {rest}", kind="execute", raw_input=words)
        else:
            places = [ToolCallLocation(path=rest)]
            start = acp.start_tool_call(number, f"Edit {rest}", kind="edit", locations=places)
        await self.client.session_update(session, start)
        kinds: tuple[PermissionOptionKind, ...] = ("allow_always", "allow_once", "reject_once")
        options = [PermissionOption(option_id=kind, name=kind, kind=kind) for kind in kinds]
        asked = ToolCallUpdate(tool_call_id=number)
        answer = (await self.client.request_permission(session, asked, options)).outcome
        chosen = getattr(answer, "option_id", "cancelled")
        await self._say(session, f"leave: {chosen}\n")
        if chosen.startswith("allow") and verb == "run":
            await (await asyncio.create_subprocess_exec(*rest.split())).wait()


_DAEMON = """
import os, sys, time
open(sys.argv[1] + ".half", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".half", sys.argv[1])
time.sleep(600)
"""


if __name__ == "__main__":
    asyncio.run(acp.run_agent(FakeAgent()))  # type: ignore[arg-type]
