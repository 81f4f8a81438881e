"""Servers that speak MCP over HTTP: both revisions, streams, sessions, and lines that break."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.brain.mcp_tools import McpToolSource
from remit.brain.tools import Toolbox
from remit.model.codec import Json
from remit.model.reply import ToolCall, ToolResult
from remit.model.task import Taint
from remit.settings import McpSettings
from remit.testing import FrozenClock
from tests.brain.tooling import task
from tests.engine.rig import until
from tests.live.mcp_web import Heard, Says, Web, answer, refusal, tool
from tests.ports import free_port
from tests.soak import one_in

KEY = "token-canary-91c4e2b85d60"


@asynccontextmanager
async def box(web: Web, tmp_path: Path, **more: object) -> AsyncIterator[Toolbox]:
    chosen = replace(McpSettings(url=web.url, time_limit=100), **more)
    shelf = McpToolSource("s", chosen, folder=tmp_path, environ={"KEY": KEY}, clock=FrozenClock())
    tools = Toolbox(shelves=[shelf])
    try:
        yield tools
    finally:
        await tools.close()


async def use(tools: Toolbox) -> ToolResult:
    return await tools.use(task(), ToolCall("c", "s__note", {"text": "hi"}))


@pytest.mark.parametrize("kind", ["json", "sse"])
async def test_a_tool_is_called_and_the_answer_may_come_as_a_stream(
    tmp_path: Path, kind: str
) -> None:
    async with Web(kind) as web, box(web, tmp_path) as tools:
        result = await use(tools)

    assert "| noted" in result.text
    assert result.taint is Taint.PUBLIC
    assert web.methods == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    assert web.heard[-1].headers["mcp-protocol-version"] == "2025-11-25"
    assert web.notes == [{"text": "hi"}]


async def test_a_server_without_a_handshake_is_told_everything_with_each_request(
    tmp_path: Path,
) -> None:
    def modern(heard: Heard) -> Says | None:
        if heard.method == "initialize":
            return Says((refusal(None, -32022),), status=400)
        if heard.method == "server/discover":
            found: Json = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
            return Says((answer(heard.body["id"], found),))
        return None

    async with Web(decide=modern) as web, box(web, tmp_path) as tools:
        result = await use(tools)

    call = web.heard[-1]
    meta = call.body["params"]["_meta"]  # type: ignore[index, call-overload]
    assert "| noted" in result.text
    assert call.headers["mcp-method"] == "tools/call"
    assert call.headers["mcp-name"] == "note"
    assert call.headers["mcp-protocol-version"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"  # type: ignore[index, call-overload]


async def test_a_session_is_kept_begun_anew_when_it_is_forgotten_and_ended(tmp_path: Path) -> None:
    names = ["one", "two"]

    def forgetful(heard: Heard) -> Says | None:
        if heard.method == "initialize":
            found: Json = {"protocolVersion": "2025-11-25"}
            session = f"Mcp-Session-Id: {names[0]}"
            return Says((answer(heard.body["id"], found),), headers=(session,))
        if heard.headers.get("mcp-session-id") != names[0]:
            return Says(status=404)
        return None

    async with Web(decide=forgetful) as web:
        async with box(web, tmp_path) as tools:
            first = await use(tools)
            names.pop(0)
            lost = await use(tools)
            again = await use(tools)
        ended = web.heard[-1]

    assert "| noted" in first.text
    assert (lost.failed, lost.doubt) == (True, False)
    assert "has forgotten this session" in lost.text
    assert "| noted" in again.text
    assert len(web.notes) == 2
    assert (ended.verb, ended.headers["mcp-session-id"]) == ("DELETE", "two")


async def test_a_token_is_shown_to_the_server_and_to_nobody_else(tmp_path: Path) -> None:
    async with Web() as web, box(web, tmp_path, token_env="KEY") as tools:
        result = await use(tools)

    assert {each.headers["authorization"] for each in web.heard} == {f"Bearer {KEY}"}
    assert KEY not in repr(result)


async def test_without_its_token_nothing_is_sent(tmp_path: Path) -> None:
    async with Web() as web, box(web, tmp_path, token_env="OTHER") as tools:
        result = await use(tools)

    assert "The variable OTHER is not set" in result.text
    assert web.heard == []


def calls_with(says: Says) -> Web:
    return Web(decide=lambda heard: says if heard.method == "tools/call" else None)


@one_in(2)
@pytest.mark.parametrize(
    ("says", "why", "doubt"),
    [
        (Says(status=401), "wants to be shown a token", False),
        (Says(status=500), "failed with status 500", True),
        (Says(status=302, headers=("Location: http://127.0.0.1:9/",)), "sent no answer", True),
        (Says(status=200), "sent no answer", True),
        (Says(breaks=True), "The line to the server s broke", True),
        (Says(("x" * 5_000_000,)), "sent more than", True),
        (Says((answer(999, {}), answer("4", {})), kind="sse"), "sent no answer", True),
    ],
)
async def test_what_goes_wrong_is_told_and_what_may_have_been_done_is_a_doubt(
    tmp_path: Path, says: Says, why: str, doubt: bool
) -> None:
    async with calls_with(says) as web, box(web, tmp_path) as tools:
        result = await use(tools)

    assert result.failed
    assert why in result.text
    assert result.doubt == doubt
    assert web.methods.count("tools/call") == 1


async def test_a_refusal_is_an_answer_in_the_servers_own_words(tmp_path: Path) -> None:
    def refuses(heard: Heard) -> Says | None:
        return Says((refusal(heard.body["id"]),)) if heard.method == "tools/call" else None

    async with Web(decide=refuses) as web, box(web, tmp_path) as tools:
        result = await use(tools)

    assert (result.failed, result.doubt, result.taint) == (True, False, Taint.PUBLIC)
    assert "| It refused: Not that way" in result.text


@pytest.mark.parametrize("kind", ["json", "sse"])
async def test_a_server_that_never_answers_is_left_after_its_time(
    tmp_path: Path, kind: str
) -> None:
    hangs = Says(kind=kind, hangs=True)
    async with calls_with(hangs) as web, box(web, tmp_path, time_limit=3) as tools:
        result = await use(tools)
        await web.left.wait()

    assert "did not answer in 3 s" in result.text
    assert result.doubt
    assert web.methods[-1] == "notifications/cancelled"


async def test_a_cancelled_call_hangs_up_and_says_so(tmp_path: Path) -> None:
    async with calls_with(Says(hangs=True)) as web, box(web, tmp_path) as tools:
        await tools.offered(task())
        calling = asyncio.create_task(use(tools))
        await until(lambda: "tools/call" in web.methods)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await web.left.wait()

    assert web.methods[-1] == "notifications/cancelled"


async def test_nobody_there_means_that_nothing_was_done(tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{free_port()}/mcp"
    shelf = McpToolSource(
        "s", McpSettings(url=gone), folder=tmp_path, environ={}, clock=FrozenClock()
    )
    tools = Toolbox(shelves=[shelf])
    result = await use(tools)
    await tools.close()

    assert "cannot be reached" in result.text
    assert not result.doubt


async def test_news_of_other_tools_in_a_stream_makes_the_list_be_read_again(tmp_path: Path) -> None:
    changed: Json = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    ping: Json = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    listed = [tool("note")]

    def talks(heard: Heard) -> Says | None:
        if heard.method == "tools/call":
            listed[:] = [tool("other")]
            done = answer(heard.body["id"], {"content": []})
            return Says((changed, ping, done), kind="sse")
        if heard.method == "tools/list":
            return Says((answer(heard.body["id"], {"tools": [*listed]}),))
        return None

    async with Web(decide=talks) as web, box(web, tmp_path) as tools:
        result = await use(tools)
        offered = await tools.offered(task())

    assert "It answered with nothing." in result.text
    assert [each.name for each in offered] == ["s__other"]
    assert {"jsonrpc": "2.0", "id": "p", "result": {}} in [each.body for each in web.heard]
