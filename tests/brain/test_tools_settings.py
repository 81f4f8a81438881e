"""Policies and servers in the settings, and tools in a script: what is wrong is named."""

from pathlib import Path

import pytest

from remit.brain import scripted
from remit.errors import BadInput
from remit.model.codec import Json
from remit.model.reply import Policy, Prompt, ToolCall, ToolResult
from remit.settings import DEFAULT_FILE, ToolSettings, load
from tests.tables import for_each


def written(home: Path, text: str) -> dict[str, str]:
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return {"REMIT_HOME": str(home)}


def test_policies_and_servers_are_read(tmp_path: Path) -> None:
    text = """
[tools]
create_task = "ask"

[mcp.files]
command = ["mcp-files", "--root", "docs"]
tools = { list = "allow", erase = "deny" }
env = ["FILES_KEY"]
repeat = true

[mcp.web]
url = "https://example.com/mcp"
policy = "allow"
token_env = "WEB_TOKEN"
"""
    found = load(written(tmp_path, text) | {"REMIT_TOOLS_WRITE_FILE": "deny"})
    files, web = found.mcp["files"], found.mcp["web"]

    assert (found.tools.create_task, found.tools.write_file) == (Policy.ASK, Policy.DENY)
    assert found.tools.read_task_log is Policy.ALLOW
    assert [files.policy_of(name) for name in ("list", "erase", "other")] == [
        Policy.ALLOW,
        Policy.DENY,
        Policy.ASK,
    ]
    assert (files.repeat, web.repeat, web.policy_of("any")) == (True, False, Policy.ALLOW)


@for_each(
    ("text", "sentence"),
    [
        ("[tools]\ncreate_tusk = 'ask'", "no setting 'create_tusk'. Did you mean 'create_task'?"),
        ("[tools]\ncreate_task = 'maybe'", "create_task in [tools]"),
        ("[tools]\ncreate_task = 'maybe'", "is 'maybe'; it may be deny, ask, allow."),
        ("[tools]\ncreate_task = true", "is True; it may be deny, ask, allow."),
        ("mcp = 5", "must be a table of servers"),
        ("[mcp]\nx = 5", "[mcp.x] in"),
        ("[mcp.x]\n", "it needs either a command or a url"),
        ("[mcp.x]\ncommand=['a']\nurl='https://b'", "it needs either a command or a url"),
        ("[mcp.x]\ncommand='a b'", "command must be a list"),
        ("[mcp.x]\ncommand=['a']\npolicy='yes'", "policy is 'yes'; it may be deny, ask, allow."),
        ("[mcp.x]\ncommand=['a']\ntools={b='yes'}", "b in tools is 'yes'; it may be deny"),
        ("[mcp.x]\ncommand=['a']\ntool={}", "it has no field 'tool'."),
        ("[mcp.x]\ncommand=['a']\ntime_limit=0", "time_limit must be a whole number above 0"),
        ("[mcp.x]\nurl='http://example.com/'", "must begin with https://, or be on this machine"),
        ("[mcp.x]\nurl='http://localhost.evil.com/'", "must begin with https://"),
        ("[mcp.x]\nurl='http://127.0.0.1.evil.com/'", "must begin with https://"),
        ("[mcp.x__y]\ncommand=['a']", "its name must be of small letters and digits"),
        ('[mcp.x]\ncommand=["a\\u0000"]', "may not hold a NUL"),
    ],
)
def test_a_mistake_is_refused_by_name(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        load(written(tmp_path, text))

    assert sentence in str(refused.value)


@for_each("url", ["http://localhost:9/mcp", "http://127.0.0.1", "http://[::1]:9/"])
def test_a_server_on_this_machine_needs_no_tls(tmp_path: Path, url: str) -> None:
    assert load(written(tmp_path, f"[mcp.x]\nurl='{url}'")).mcp["x"].url == url


def test_every_tool_stands_in_the_commented_file() -> None:
    assert all(f'# {name} = "allow"' in DEFAULT_FILE for name in ToolSettings.__struct_fields__)


async def test_a_script_calls_tools_and_the_next_prompt_holds_what_came_of_it() -> None:
    entries: list[Json] = [
        {"when": "noted", "reply": "Good."},
        {"use": {"tool": "note", "args": {"n": 1}}, "reply": "I note.", "times": 1},
        {"use": [{"tool": "a", "id": "mine"}, {"tool": "b"}]},
    ]
    brain = scripted.parse(entries)
    first = await brain.think(Prompt("Go"), session="s")
    second = await brain.think(Prompt("Go", earlier=(first.state,)), session="s")

    assert first.text == "I note."
    assert first.state
    assert first.calls == (ToolCall("call-0-0", "note", {"n": 1}),)
    assert [(call.id, call.tool) for call in second.calls] == [("mine", "a"), ("call-1-1", "b")]
    third = Prompt("", results=(ToolResult("mine", "it is noted"),))
    assert (await brain.think(third, session="s")).text == "Good."


@for_each(
    ("entry", "why"),
    [
        ({}, "needs one of reply, ask, fail, use, extract."),
        ({"use": {"tool": "a"}, "ask": "b"}, "needs one of reply, ask, fail, use, extract."),
        ({"use": {"args": {}}}, "lacks the field 'tool'"),
        ({"use": {"tool": "a", "arg": {}}}, "has no field 'arg'"),
        ({"use": "a"}, "must be a list"),
    ],
)
def test_a_mistake_in_a_script_is_named(entry: Json, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        scripted.parse([entry])

    assert why in str(refused.value)
