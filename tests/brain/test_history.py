"""What earlier runs left is read by this version, whichever version wrote it.

The golden files are what was once stored. They are never written anew: an upgrade that cannot read
them would strand a task that waits for its owner. `REMIT_WRITE_GOLDEN=1` adds what is missing.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart

from remit.brain import talk
from remit.errors import Permanent
from remit.model.reply import Prompt, ToolResult
from tests.brain.states import ANSWER, QUESTION, TOOLS, made
from tests.live.place import Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer
from tests.soak import each_value
from tests.tables import for_each

GOLDEN = Path(__file__).parent / "golden"

if os.environ.get("REMIT_WRITE_GOLDEN") == "1":
    for name, state in asyncio.run(made()).items():
        if not (path := GOLDEN / f"v1-{name}.json").exists():
            path.write_text(json.dumps(json.loads(state), indent=1, ensure_ascii=False) + "\n")

STATES = sorted(GOLDEN.glob("*.json"))
ANSWERED = [path for path in STATES if "answered" in path.name]
CALLED = [path for path in STATES if "called" in path.name or "paused" in path.name]


def _text(path: Path) -> str:
    return path.read_text()


def test_there_is_a_state_of_each_kind() -> None:
    assert len(ANSWERED) == len(Place)
    assert len(CALLED) == 2 * len(Place)


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_a_stored_state_is_read_and_written_again_as_it_was(path: Path) -> None:
    run = talk.load_run(path.read_text())

    assert run.conversation_id == "ses-1"
    assert run.usage.total_tokens == 30
    assert talk.load_run(talk.dump_run(run)) == run
    asked, answered = run.messages
    assert isinstance(asked, ModelRequest)
    assert QUESTION in str(asked.parts)
    assert isinstance(answered, ModelResponse)
    assert answered.text in (ANSWER, "One moment.")


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
async def test_a_stored_state_is_thought_on_from(path: Path, place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        await mind.think(Prompt("And now?", earlier=(_text(path),)), session="ses-1")

        told = vendor.heard[0].text
    assert "Which park" in told
    assert "Lumphini 🌳" in told
    assert told.index("Lumphini") < told.index("And now?")


@each_value
@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("path", CALLED, ids=lambda path: path.stem)
async def test_a_stored_call_is_thought_on_from_with_any_vendor(path: Path, place: Place) -> None:
    (call,) = [
        part
        for message in talk.load_run(_text(path)).messages
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    results = (ToolResult(call.tool_call_id, "Booked for two."),)
    async with Vendor() as vendor, brain(vendor, place) as mind:
        vendor.orders = [Order(Answer("Done."))]
        prompt = Prompt("", tools=TOOLS, earlier=(_text(path),), results=results)
        reply = await mind.think(prompt, session="ses-1")

    told = vendor.heard[0].text
    assert reply.text == "Done."
    assert told.index("Which park") < told.index("Lumphini") < told.index("Booked for two.")


@for_each(
    "state",
    ["", "{", "[]", "null", '{"version": 2, "run": {}}', '{"version": 1, "run": {"messages": 3}}'],
)
def test_what_cannot_be_read_is_refused(state: str) -> None:
    with pytest.raises(Permanent, match="cannot be read"):
        talk.load_run(state)


async def test_what_another_kind_of_brain_left_is_passed_over() -> None:
    assert talk.join_runs(["scripted", _text(ANSWERED[0]), "obedient"]) == talk.join_runs(
        [_text(ANSWERED[0])]
    )
