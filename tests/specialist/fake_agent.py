"""An agent that speaks the Agent Client Protocol, a line of JSON a message; run as a program.

What it does is what the prompt says, a line each: `say TEXT`, `write PATH`, `read PATH`,
`run COMMAND` (asks for leave, then runs it), `edit PATH` (asks for leave), `plan`, `crash`, `hang`,
`fail MESSAGE`, `stop REASON`, `daemon FILE`. Its sessions lie in the folder FAKE_STATE.

It uses no library of the protocol, so that it starts at once; the client of Remit uses the
vendor's, which refuses a message of another form.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any  # noqa: TID251 - JSON of another program
from uuid import uuid4

STATE = Path(os.environ["FAKE_STATE"])
KINDS = ("allow_always", "allow_once", "reject_once")


class RefusedError(Exception):
    def __init__(self, code: int, message: str, details: object) -> None:
        self.error = {"code": code, "message": message, "data": {"details": details}}


class FakeAgent:
    def __init__(self) -> None:
        self.cancelled = False
        self.answers: dict[int, asyncio.Future[Any]] = {}
        self.turns: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 24)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        async for line in reader:
            message = json.loads(line)
            if "method" not in message:
                self.answers.pop(message["id"]).set_result(message)
            elif message["method"] == "session/cancel":
                self.cancelled = True
            else:
                turn = asyncio.create_task(self.answer(message))
                self.turns.add(turn)
                turn.add_done_callback(self.turns.discard)

    async def answer(self, message: dict[str, Any]) -> None:
        try:
            found = {"result": await self.do(message["method"], message["params"])}
        except RefusedError as refused:
            found = {"error": refused.error}
        send(id=message["id"], **found)

    async def do(self, method: str, given: dict[str, Any]) -> dict[str, object]:
        match method:
            case "initialize":
                spoken = int(os.environ.get("FAKE_VERSION", given["protocolVersion"]))
                able = {"loadSession": "FAKE_FORGETS" not in os.environ}
                return {"protocolVersion": spoken, "agentCapabilities": able}
            case "session/new":
                if "FAKE_SIGNED_OUT" in os.environ:
                    raise RefusedError(-32000, "Authentication required", "run `fake login`")
                session = uuid4().hex
                (STATE / session).write_text(f"cwd {given['cwd']}\n")
                return {"sessionId": session}
            case "session/load":
                if not (STATE / given["sessionId"]).exists():
                    raise RefusedError(-32002, "Resource not found", given["sessionId"])
                say(given["sessionId"], "what was said long ago")
                return {}
        return {"stopReason": await self.prompt(given["sessionId"], given["prompt"][0]["text"])}

    async def prompt(self, session: str, words: str) -> str:
        with (STATE / session).open("a") as file:
            file.write(words + "\n")
        if words.startswith("The owner has allowed"):
            words = words.replace("\n> ", "\nrun ", 1)  # as it is bidden: in the same words
        for line in words.splitlines():
            verb, _, rest = line.partition(" ")
            stop = await self.carry_out(session, verb, rest)
            if stop or self.cancelled:
                return stop or "cancelled"  # also a reason that the protocol does not know
        return "end_turn"

    async def carry_out(self, session: str, verb: str, rest: str) -> str | None:  # noqa: C901, PLR0912, PLR0915
        match verb:
            case "say":
                say(session, rest + "\n")
            case "history":
                say(session, (STATE / session).read_text())
            case "env":
                say(session, ",".join(sorted(os.environ)))
            case "write":
                await self.tried(session, "fs/write_text_file", path=rest, content="by fake\n")
            case "read":
                await self.tried(session, "fs/read_text_file", path=rest)
            case "lines":
                await self.tried(session, "fs/read_text_file", path=rest, line=2, limit=1)
            case "terminal":
                await self.tried(session, "terminal/create", command="sh")
            case "run" | "edit":
                await self.ask(session, verb, rest)
            case "plan":
                done = {"content": "look", "priority": "high", "status": "completed"}
                todo = {"content": "mend", "priority": "low", "status": "in_progress"}
                update(session, "plan", entries=[done, todo])
            case "crash":
                sys.stderr.write(rest + "\n")
                sys.stderr.flush()
                os._exit(3)
            case "hang":
                await asyncio.Event().wait()
            case "fail":
                raise RefusedError(-32603, "Internal error", rest)
            case "garble":
                sys.stdout.write("this is no protocol\n" * 3)
                sys.stdout.flush()
            case "daemon":
                await asyncio.create_subprocess_exec(sys.executable, "-c", _DAEMON, rest)
                while not await asyncio.to_thread(os.path.exists, rest):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            case "stop":
                return rest
        return None

    async def call(self, session: str, method: str, **params: object) -> dict[str, Any]:
        number = len(self.answers) + 1_000 + uuid4().int % 1_000_000
        self.answers[number] = asyncio.get_running_loop().create_future()
        send(id=number, method=method, params={"sessionId": session, **params})
        answer: dict[str, Any] = await self.answers[number]
        return answer

    async def tried(self, session: str, method: str, **params: object) -> None:
        answer = await self.call(session, method, **params)
        if "error" in answer:
            say(session, f"refused {answer['error'].get('data')}\n")
        else:
            say(session, f"ok {(answer['result'] or {}).get('content', '')}\n")

    async def ask(self, session: str, verb: str, rest: str) -> None:
        """Ask for permission as real agents do: the call first, then the request by its number."""
        call: dict[str, object] = {"toolCallId": uuid4().hex}
        if verb == "run":
            words = {"command": rest, "description": f"as {call['toolCallId']} wishes"}
            more = {"title": f"Run {rest}", "kind": "execute", "rawInput": words}
        else:
            more = {"title": f"Edit {rest}", "kind": "edit", "locations": [{"path": rest}]}
        update(session, "tool_call", **call, **more)
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in KINDS]
        method = "session/request_permission"
        answer = await self.call(session, method, toolCall=call, options=options)
        chosen = answer["result"]["outcome"].get("optionId", "cancelled")
        say(session, f"leave: {chosen}\n")
        if chosen.startswith("allow") and verb == "run":
            await (await asyncio.create_subprocess_exec(*rest.split())).wait()


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session: str, name: str, /, **fields: object) -> None:
    what = {"sessionUpdate": name, **fields}
    send(method="session/update", params={"sessionId": session, "update": what})


def say(session: str, text: str) -> None:
    update(session, "agent_message_chunk", content={"type": "text", "text": text})


_DAEMON = """
import os, sys, time
open(sys.argv[1] + ".half", "w").write(str(os.getpid()))
os.rename(sys.argv[1] + ".half", sys.argv[1])
time.sleep(600)
"""


if __name__ == "__main__":
    asyncio.run(FakeAgent().listen())
