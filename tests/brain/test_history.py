"""What earlier runs left is read by this version, whichever version wrote it.

The golden files are what was once stored. They are never written anew: an upgrade that cannot read
them would strand a task that waits for its owner. `REMIT_WRITE_GOLDEN=1` adds what is missing.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest
from pydantic_ai import ToolApproved
from pydantic_ai.messages import ModelRequest, ModelResponse

from remit.brain import history
from remit.errors import Permanent
from remit.model.reply import Prompt
from tests.brain.states import ANSWER, QUESTION, agent, made
from tests.live.place import Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer

GOLDEN = Path(__file__).parent / "golden"

if os.environ.get("REMIT_WRITE_GOLDEN") == "1":
    for name, state in asyncio.run(made()).items():
        if not (path := GOLDEN / f"v1-{name}.json").exists():
            path.write_text(json.dumps(json.loads(state), indent=1, ensure_ascii=False) + "\n")

STATES = sorted(GOLDEN.glob("*.json"))
ANSWERED = [path for path in STATES if "answered" in path.name]
PAUSED = [path for path in STATES if "paused" in path.name]


def _text(path: Path) -> str:
    return path.read_text()


def test_there_is_a_state_of_each_kind() -> None:
    assert len(ANSWERED) == len(PAUSED) == len(Place)


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_a_stored_state_is_read_and_written_again_as_it_was(path: Path) -> None:
    run = history.load(path.read_text())

    assert run.conversation_id == "ses-1"
    assert run.usage.total_tokens == 30
    assert history.load(history.dump(run)) == run
    asked, answered = run.messages
    assert isinstance(asked, ModelRequest)
    assert QUESTION in str(asked.parts)
    assert isinstance(answered, ModelResponse)
    assert answered.text in (ANSWER, "One moment.")


@pytest.mark.parametrize("place", Place)
@pytest.mark.parametrize("path", ANSWERED, ids=lambda path: path.stem)
async def test_a_stored_state_is_thought_on_from(path: Path, place: Place) -> None:
    async with Vendor() as vendor, brain(vendor, place) as mind:
        await mind.turn(Prompt("And now?"), session="ses-1", earlier=[_text(path)])

        told = vendor.heard[0].text
    assert "Which park" in told
    assert "Lumphini 🌳" in told
    assert told.index("Lumphini") < told.index("And now?")


@pytest.mark.parametrize("path", PAUSED, ids=lambda path: path.stem)
async def test_a_stored_question_is_answered_and_the_call_made_once(path: Path) -> None:
    calls: list[tuple[str, int]] = []

    def book(park: str, people: int) -> str:
        calls.append((park, people))
        return "Booked."

    run = history.load(_text(path))
    assert run.deferred_tool_requests is not None
    (waiting,) = run.deferred_tool_requests.approvals
    place = Place(path.stem.removeprefix("v1-paused-"))
    async with Vendor() as vendor, agent(vendor, place, book) as asking:
        vendor.orders = [Order(Answer("Done."))]
        result = await asking.run(
            message_history=run.messages,
            deferred_tool_results=run.deferred_tool_requests.build_results(
                approvals={waiting.tool_call_id: ToolApproved()}
            ),
        )

    assert result.output == "Done."
    assert calls == [("Lumphini", 2)]


@pytest.mark.parametrize(
    "state",
    ["", "{", "[]", "null", '{"version": 2, "run": {}}', '{"version": 1, "run": {"messages": 3}}'],
)
def test_what_cannot_be_read_is_refused(state: str) -> None:
    with pytest.raises(Permanent, match="cannot be read"):
        history.load(state)
