"""The toolbox: arguments are checked, results are bounded and cleaned, the owner is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.brain import scripted, task_tools, tools
from remit.brain.tools import MAX_RESULT_CHARACTERS, OwnTool, Toolbox
from remit.errors import BadInput
from remit.model.codec import Json, JsonMap
from remit.model.contract import WorkItem
from remit.model.reply import Policy, Prompt, Tool, ToolCall, ToolResult
from remit.model.task import Taint, Task
from tests.brain.tooling import task
from tests.tables import for_each, table

ARGS: JsonMap = Tool.read(
    "say",
    {
        "says": "Says it.",
        "needs": ["title"],
        "arguments": {
            "title": {"type": "string", "minLength": 1, "maxLength": 5},
            "n": {"type": "integer", "minimum": 1, "maximum": 10},
            "share": {"type": "number"},
            "on": {"type": "boolean"},
            "kind": {"enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "minItems": 1},
            "deep": {
                "type": "object",
                "properties": {"x": {"type": ["string", "null"]}},
                "required": ["x"],
            },
        },
    },
).schema


@for_each(("args", "why"), table(__file__, "wrong"))
def test_the_first_thing_that_is_wrong_is_named(args: JsonMap, why: str) -> None:
    assert (tools.argument_problem(ARGS, args) or "").startswith(why)


@for_each("args", table(__file__, "right"))
def test_what_is_right_passes(args: JsonMap) -> None:
    assert tools.argument_problem(ARGS, args) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda part: (
        st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=9), part, max_size=4)
    ),
    max_leaves=12,
)
WORDS = st.sampled_from(
    ["type", "properties", "items", "required", "enum", "minLength", "maximum", "object", "array"]
)


@given(st.dictionaries(WORDS | st.text(max_size=3), JSON | WORDS), st.dictionaries(st.text(), JSON))
def test_no_schema_of_a_stranger_and_no_arguments_break_the_check(
    strange: JsonMap, args: JsonMap
) -> None:
    assert isinstance(tools.argument_problem(strange, args), str | None)
    parts, _ = tools.schema_size(strange)
    assert parts >= 1


def said(text: str, taint: Taint = Taint.OWNER) -> OwnTool:
    async def say(task: Task, call: ToolCall) -> ToolResult:
        del task
        if text == "raise":
            raise BadInput("That cannot be read.")
        return ToolResult(call.id, text, taint=taint)

    return OwnTool(Tool.read("say", {"says": "Says it.", "needs": []}), Policy.ALLOW, say)


async def use(box: Toolbox, tool: str = "say", **args: Json) -> ToolResult:
    return await box.use(task(), ToolCall("c", tool, args))


async def test_secrets_are_taken_out_of_every_result_before_anybody_reads_it() -> None:
    box = Toolbox([said("the key is canary-1")], redact=lambda text: text.replace("canary-1", "…"))

    assert (await use(box)).text == "the key is …"


async def test_a_long_result_says_how_much_is_left_out() -> None:
    result = await use(Toolbox([said("x" * (MAX_RESULT_CHARACTERS + 7))]))

    assert result.text.endswith("\n(The other 7 characters are left out.)")


@for_each("taint", [Taint.CONTACT, Taint.PUBLIC])
async def test_what_is_not_the_owners_is_marked(taint: Taint) -> None:
    result = await use(Toolbox([said("<b>hi", taint)]))

    assert result.taint is taint
    assert "| \u2039b\u203ahi" in result.text


@for_each(
    ("tool", "why"),
    [
        ("say", "That cannot be read."),
        ("sing", "There is no tool 'sing'."),
        ("tick_item", "This task has no work items."),
    ],
)
async def test_what_a_tool_cannot_do_is_told_to_the_brain(tool: str, why: str) -> None:
    result = await use(Toolbox([said("raise"), task_tools.tick_item(Policy.ALLOW)]), tool, n=1)

    assert (result.failed, result.text) == (True, why)


@for_each("question", ["", "   ", 5, None])
async def test_an_empty_question_is_not_put(question: Json) -> None:
    box = Toolbox([task_tools.ask_owner(Policy.ALLOW)])
    call = ToolCall("c", "ask_owner", {"question": question})

    assert box.asks_owner(call) is None
    assert (await box.use(task(), call)).failed
    # Nobody asks through a tool that is not there.
    assert Toolbox().asks_owner(ToolCall("c", "ask_owner", {"question": "Hm?"})) is None


@for_each(("n", "done"), [(1, (1,)), (2, (2,)), (0, ()), (3, ()), (-1, ())])
async def test_an_item_that_is_there_is_ticked(n: int, done: tuple[int, ...]) -> None:
    box = Toolbox([task_tools.tick_item(Policy.ALLOW)])
    mine = task(work=(WorkItem("Look"), WorkItem("Tell")))
    result = await box.use(mine, ToolCall("c", "tick_item", {"n": n}))

    assert result.done == done
    assert result.failed == (not done)


@for_each(
    ("set_to", "taint", "policy"),
    [
        (Policy.ALLOW, Taint.OWNER, Policy.ALLOW),
        (Policy.ALLOW, Taint.CONTACT, Policy.ASK),
        (Policy.ALLOW, Taint.PUBLIC, Policy.ASK),
        (Policy.ASK, Taint.OWNER, Policy.ASK),
        (Policy.DENY, Taint.PUBLIC, Policy.DENY),
    ],
)
def test_a_tool_with_effects_asks_in_a_tainted_task(
    set_to: Policy, taint: Taint, policy: Policy
) -> None:
    async def nothing(task: Task, call: ToolCall) -> ToolResult:
        del task
        return ToolResult(call.id, "")

    able = OwnTool(Tool("t", ""), set_to, nothing, asks_if_tainted=True)

    assert able.policy(task(taint=taint)) is policy


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
